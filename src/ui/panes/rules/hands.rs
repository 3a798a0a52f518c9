//! What an operator does to alerts: see to them, silence them, try rules, edit them, read the runbook.

use super::detail::fired_at;
use super::{Class, RuleGrouping, View, chosen, dry, silences};
use crate::event::{Command, SafeText, Silence, SilenceKind, SilenceMatcher};
use crate::state::{DashState, Stand};
use crate::ui::backstage::{Ask, OpenAt};
use crate::ui::desk::Desk;
use crate::ui::lang::tr;
use crate::ui::panes::alerts::{Item, items};
use crate::ui::runbooks;
use crate::ui::silence_form::{Purpose, SILENCE_MS_MAX, SilenceForm};
use crate::ui::update::{Effect, Facts, ReplayEffect};
use crate::ui::view::{PaneId, ScreenId};

/// How long an acknowledgement holds where nothing else is configured: somebody who sees to it comes back to it.
const ACKNOWLEDGED_MINUTES: u32 = 30;
/// How long a silence lasts where nothing else is said, and by how much one is extended.
const SILENCE_MS: i64 = 2 * 3_600_000;
const EXTENSION_MS: i64 = 3_600_000;

/// Who silences: the user of this console.
pub fn operator(desk: &Desk) -> String {
    desk.operator.clone().unwrap_or_else(|| tr!("operator"))
}

/// Matchers that meet the alert of an item; of several alerts, those labels that all have in common.
pub fn matchers_of(item: &Item<'_>) -> Vec<SilenceMatcher> {
    let equal = |name: &str, value: &SafeText| SilenceMatcher { name: name.into(), value: value.clone(), is_regex: false, is_equal: true };
    let mut matchers = vec![equal("alertname", &SafeText::new(item.name))];
    let sets: Vec<_> = item.alerts.iter().filter_map(|a| a.change.detail.as_ref()).map(|d| &d.labels).collect();
    let Some((first, rest)) = sets.split_first() else { return matchers };
    let is_of_all = |name: &str, value: &SafeText| rest.iter().all(|set| set.get(name) == Some(value));
    let own = first.iter().filter(|(n, v)| !matches!(n.as_str(), "alertname" | "severity") && is_of_all(n.as_str(), v));
    matchers.extend(own.map(|(n, v)| equal(n.as_str(), v)));
    matchers
}

fn nothing() -> Vec<Effect> {
    vec![Effect::Notice(tr!("no alert is chosen"))]
}

/// `a` or `:ack NOTE`: what is chosen is seen to, for as long as the configuration says.
pub fn acknowledge(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(item) = chosen(facts.state, view) else { return nothing() };
    let lasts_ms = i64::from(facts.desk.acknowledge_minutes.unwrap_or(ACKNOWLEDGED_MINUTES)) * 60_000;
    if argument.is_empty() {
        return form(Purpose::Acknowledge, &matchers_of(&item), lasts_ms, facts);
    }
    send(SilenceKind::Acknowledgement, matchers_of(&item), lasts_ms, argument, facts)
}

fn form(purpose: Purpose, matchers: &[SilenceMatcher], lasts_ms: i64, facts: &Facts<'_>) -> Vec<Effect> {
    vec![Effect::OpenSilence(Box::new(SilenceForm::new(purpose, matchers, lasts_ms, &operator(facts.desk))))]
}

/// `z` opens the form, filled in for what is chosen; `:silence [TIME] [MATCHER…] COMMENT` is for those who know what they want.
pub fn silence(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let item = chosen(facts.state, view);
    if argument.is_empty() {
        let matchers = item.as_ref().map(matchers_of).unwrap_or_default();
        return form(Purpose::New, &matchers, SILENCE_MS, facts);
    }
    let typed = match typed(argument) {
        Ok(typed) => typed,
        Err(told) => return vec![Effect::Mistake(told)],
    };
    let matchers = if typed.matchers.is_empty() { item.as_ref().map(matchers_of).unwrap_or_default() } else { typed.matchers };
    if matchers.is_empty() {
        return nothing();
    }
    if typed.comment.is_empty() {
        return vec![Effect::Mistake(tr!("say why, behind the matchers: who comes next is to know"))];
    }
    send(SilenceKind::Silence, matchers, typed.lasts_ms, &typed.comment, facts)
}

/// What stands behind `:silence`.
#[derive(Debug, PartialEq)]
struct Typed {
    lasts_ms: i64,
    matchers: Vec<SilenceMatcher>,
    comment: String,
}

fn typed(argument: &str) -> Result<Typed, String> {
    let mut words = words(argument);
    let lasts_ms = match words.first().and_then(|word| duration_ms(word)) {
        Some(ms) => {
            words.remove(0);
            ms
        }
        None => SILENCE_MS,
    };
    if !(1..=SILENCE_MS_MAX).contains(&lasts_ms) {
        return Err(tr!("a silence lasts from a second to a year"));
    }
    let mut matchers = Vec::new();
    let mut rest = words.as_slice();
    while let Some((word, behind)) = rest.split_first() {
        if !is_matcher(word) {
            break;
        }
        matchers.push(word.parse()?);
        rest = behind;
    }
    Ok(Typed { lasts_ms, matchers, comment: rest.join(" ").trim().to_owned() })
}

/// A name with an operator right behind it: a comment has blanks.
fn is_matcher(word: &str) -> bool {
    let name = word.split(['=', '!']).next().unwrap_or_default();
    name.len() < word.len() && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Words with blanks between, of which those in double quotes are none.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut escaped) = (Vec::new(), String::new(), false, false);
    for c in text.chars() {
        if c.is_whitespace() && !quoted {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped && quoted;
        word.push(c);
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// `90s`, `30m`, `2h`, `1d`, `1h30m`.
pub fn duration_ms(text: &str) -> Option<i64> {
    let (mut total, mut digits) = (0i64, String::new());
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit = match c {
            's' => 1_000,
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            'w' => 604_800_000,
            _ => return None,
        };
        total = total.checked_add(std::mem::take(&mut digits).parse::<i64>().ok()?.checked_mul(unit)?)?;
    }
    (digits.is_empty() && !text.is_empty()).then_some(total)
}

/// The same the other way, to the second and at least one: `1h30m`.
pub fn duration_words(ms: i64) -> String {
    let mut seconds = (ms / 1_000).max(1);
    let mut words = String::new();
    for (unit, length) in [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)] {
        if seconds >= length {
            words.push_str(&format!("{}{unit}", seconds / length));
            seconds %= length;
        }
    }
    words
}

fn send(kind: SilenceKind, matchers: Vec<SilenceMatcher>, lasts_ms: i64, comment: &str, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(now) = now_ms(facts.state) else { return vec![Effect::Mistake(tr!("the run has not said yet when it began"))] };
    let matching = silences::hushed(facts.state, &matchers).len();
    let silence = Silence {
        kind,
        matchers,
        starts_ms: now,
        ends_ms: now.saturating_add(lasts_ms),
        created_by: SafeText::from(operator(facts.desk)),
        comment: SafeText::new(comment),
    };
    let until = super::value::clock(silence.ends_ms);
    let told = tr!("until {clock}; alerts that it silences now: {n}", clock = until, n = matching);
    vec![Effect::Send(Command::Silence(silence)), Effect::Notice(told)]
}

/// Alert time is the run's: what is folded says what it is.
fn now_ms(state: &DashState) -> Option<i64> {
    state.alerting.at_ms(state.t_ns)
}

/// The silence that is meant: that under the cursor where silences have the keys, else that which hushes the chosen alert.
fn meant(view: &View, state: &DashState) -> Option<SafeText> {
    let of_alert = || match chosen(state, view)?.standing.stand {
        Stand::Silenced(hush) | Stand::Acknowledged(hush) => Some(hush.id),
        Stand::Firing | Stand::Pending | Stand::Error(_) | Stand::NoData | Stand::Ok => None,
    };
    let of_list = silences::chosen(state, view).map(|(id, _)| id.clone()).filter(|_| view.active() == PaneId::Silences);
    of_list.or_else(of_alert)
}

/// `Z`, or `:unsilence ID`.
pub fn unsilence(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let named = Some(argument.trim()).filter(|id| !id.is_empty()).map(SafeText::new);
    match named.or_else(|| meant(view, facts.state)) {
        Some(id) => vec![Effect::Send(Command::Unsilence { id })],
        None => vec![Effect::Notice(tr!("nothing silences it; :unsilence takes the name of a silence"))],
    }
}

/// `x`, or `:extend TIME`: the same silence for longer. The new one stands before the old one ends.
pub fn extend(argument: &str, view: &View, facts: &Facts<'_>) -> Vec<Effect> {
    let more_ms = match argument.trim() {
        "" => EXTENSION_MS,
        text => match duration_ms(text).filter(|ms| (1..=SILENCE_MS_MAX).contains(ms)) {
            Some(ms) => ms,
            None => return vec![Effect::Mistake(tr!("a time is needed, such as 30m, 2h or 1d"))],
        },
    };
    let Some(now) = now_ms(facts.state) else { return vec![Effect::Mistake(tr!("the run has not said yet when it began"))] };
    let found = meant(view, facts.state).and_then(|id| Some((id.clone(), facts.state.alerting.silences.get(&id)?.silence.clone())));
    let Some((id, silence)) = found else { return vec![Effect::Notice(tr!("nothing silences it: there is nothing to extend"))] };
    let longer =
        Silence { starts_ms: now, ends_ms: silence.ends_ms.saturating_add(more_ms), created_by: operator(facts.desk).into(), ..silence };
    let told = tr!("silenced until {clock}", clock = super::value::clock(longer.ends_ms));
    vec![Effect::Send(Command::Silence(longer)), Effect::Send(Command::Unsilence { id }), Effect::Notice(told)]
}

/// Enter on a silence: its form.
pub fn edit_silence(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    if !facts.can_command {
        return vec![Effect::Notice(tr!("silences are changed in a live run that takes commands"))];
    }
    let Some((id, row)) = silences::chosen(facts.state, view) else { return vec![Effect::Notice(tr!("no silence stands; z makes one"))] };
    let Some(now) = now_ms(facts.state) else { return Vec::new() };
    vec![Effect::OpenSilence(Box::new(SilenceForm::of(id, &row.silence, now)))]
}

/// `D` asks on which recording the rule under the cursor is to be tried; `:dry-run RECORDING` says so.
pub fn dry_run(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let rule = chosen(facts.state, view).filter(|i| i.rule.is_some()).map(|i| i.name.to_owned());
    if argument.is_empty() {
        return dry::choose(rule, view);
    }
    dry::ask(rule, Some(argument.to_owned()), view, facts)
}

/// `:alert NAME` goes to a rule; `:alert test NAME [RECORDING]` tries it.
pub fn test(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let mut words = argument.split_whitespace();
    match (words.next(), words.next()) {
        (Some("test"), Some(name)) => {
            let name = name.to_owned();
            let recording = words.next().map(str::to_owned);
            let found = find(&name, view, facts);
            if !found.is_empty() {
                return found;
            }
            match recording {
                None => dry::choose(Some(name), view),
                recording => dry::ask(Some(name), recording, view, facts),
            }
        }
        (Some("test"), None) => dry_run("", view, facts),
        (Some(name), _) => find(name, view, facts),
        (None, _) => {
            view.go(ScreenId::Alerts);
            Vec::new()
        }
    }
}

/// Goes to the rule of that name.
pub fn find(name: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let items = items(facts.state);
    let exact = items.iter().find(|i| i.name == name);
    let found = exact.or_else(|| items.iter().find(|i| i.name.to_lowercase().starts_with(&name.to_lowercase())));
    let Some(item) = found else {
        let near = crate::event::nearest(name, items.iter().map(|i| i.name));
        return vec![Effect::Mistake(match near {
            Some(n) => tr!("no rule is named {name}; did you mean {n}?", name = name, n = n),
            None => tr!("no rule is named {name}", name = name),
        })];
    };
    view.go(ScreenId::Alerts);
    view.focus = PaneId::Rules;
    view.rules.filter.clear();
    view.rules.hidden.clear();
    view.rules.at = Some(item.key.clone());
    Vec::new()
}

pub fn toggle(class: Class, view: &mut View) -> Vec<Effect> {
    view.rules.toggle(class);
    Vec::new()
}

/// `:rules`: goes to the alerts screen and says which file is in force.
pub fn file(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    view.go(ScreenId::Alerts);
    let alerting = &facts.state.alerting;
    let rules = crate::ui::widgets::format::counted(alerting.rules.len() as u64, "rule");
    vec![Effect::Notice(match (&alerting.error, alerting.file.is_empty()) {
        (Some(error), _) => tr!("not in force: {error}", error = error),
        (None, true) => tr!("no rule file is in force"),
        (None, false) => tr!("{file}: {rules} in force", file = alerting.file, rules = rules),
    })]
}

/// `:group severity|group|instance|none`; without one, the next.
pub fn group(argument: &str, view: &mut View) -> Vec<Effect> {
    let next = match (argument, view.rules.grouping) {
        ("severity", _) | ("", RuleGrouping::None) => RuleGrouping::Severity,
        ("group", _) | ("", RuleGrouping::Severity) => RuleGrouping::Group,
        ("instance", _) | ("", RuleGrouping::Group) => RuleGrouping::Instance,
        ("none", _) | ("", RuleGrouping::Instance) => RuleGrouping::None,
        (other, _) => return vec![Effect::Mistake(tr!("`{text}` groups nothing: severity, group, instance or none", text = other))],
    };
    view.rules.grouping = next;
    Vec::new()
}

/// Enter on a rule: on the live screen its place in the list; there the event at which it fired, or the rule in full where that is not in view.
pub fn open(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    match (view.screen, view.focus) {
        (ScreenId::Alerts, PaneId::RuleDetail) => to_event(view, facts),
        (ScreenId::Alerts, _) => {
            let is_in_view = crate::ui::panes::inside(view, facts.area, PaneId::RuleDetail).is_some();
            let has_fired = chosen(facts.state, view).as_ref().and_then(fired_at).is_some();
            if is_in_view && has_fired {
                return to_event(view, facts);
            }
            view.focus = PaneId::RuleDetail;
            Vec::new()
        }
        (
            ScreenId::Live
            | ScreenId::Replay
            | ScreenId::Checkpoints
            | ScreenId::Training
            | ScreenId::Memory
            | ScreenId::Log
            | ScreenId::Diff,
            _,
        ) => {
            let key = chosen(facts.state, view).map(|i| i.key);
            view.go(ScreenId::Alerts);
            view.focus = PaneId::Rules;
            view.rules.at = key;
            Vec::new()
        }
    }
}

fn to_event(view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let Some(seq) = chosen(facts.state, view).as_ref().and_then(fired_at) else {
        return vec![Effect::Notice(tr!("it has not fired: there is no event to go to"))];
    };
    match facts.playback {
        Some(_) => {
            view.go(ScreenId::Replay);
            view.marks.insert(seq);
            vec![Effect::Replay(ReplayEffect::SeekEvent(seq)), Effect::Notice(tr!("event {seq} is marked m", seq = seq))]
        }
        None => vec![
            Effect::Notice(tr!("opening event {seq} in this run's recording", seq = seq)),
            Effect::Ask(Ask::Open { path: None, at: Some(OpenAt::Event { seq, is_marked: true }) }),
        ],
    }
}

/// `r`: the runbook of the rule, above the panes.
pub fn runbook(argument: &str, view: &mut View, facts: &Facts<'_>) -> Vec<Effect> {
    let item = chosen(facts.state, view);
    let of_rule = item.as_ref().and_then(|i| {
        let expanded = i.alerts.first().and_then(|a| a.change.detail.as_ref()).and_then(|d| d.annotations.get("runbook_url"));
        expanded.or_else(|| i.rule.and_then(|r| r.info.annotations.get("runbook_url"))).map(ToString::to_string)
    });
    let named = (!argument.is_empty()).then(|| argument.to_owned()).or(of_rule).or_else(|| item.map(|i| i.name.to_owned()));
    let Some(url) = named else { return nothing() };
    match runbooks::text(&url) {
        Ok(text) => {
            view.rules.page = Some((url, text));
            view.scroll.remove(&PaneId::Runbook);
            view.popup = Some(PaneId::Runbook);
            Vec::new()
        }
        Err(told) => vec![Effect::Notice(told)],
    }
}

/// `e`: the file in $EDITOR.
pub fn edit(facts: &Facts<'_>) -> Vec<Effect> {
    if facts.state.alerting.file.is_empty() {
        return vec![Effect::Mistake(tr!("no rule file is in force: there is nothing to edit"))];
    }
    vec![Effect::EditRules]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_is_a_time_matchers_and_why() {
        let of = |text: &str| typed(text).map(|t| (t.lasts_ms, t.matchers.iter().map(ToString::to_string).collect::<Vec<_>>(), t.comment));
        let all = of("30m alertname=\"GpuHot\" gpu!=\"0 1\" fans are swapped a=b").unwrap();
        assert_eq!(all, (1_800_000, vec!["alertname=\"GpuHot\"".into(), "gpu!=\"0 1\"".into()], "fans are swapped a=b".into()));
        assert_eq!(of("known").unwrap(), (7_200_000, vec![], "known".into()));
        assert_eq!(
            [duration_ms("1h30m"), duration_ms("2"), duration_ms("x"), duration_ms("99999999999999999h")],
            [Some(5_400_000), None, None, None]
        );
        assert!(of("0s x").is_err() && of("2y x").unwrap().2 == "2y x" && of("h=\"x y").is_err());
    }
}
