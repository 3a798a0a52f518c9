//! Alertmanagers, by their API v2: alerts, and silences both ways.

use super::http::{Caller, Credential};
use super::message::{Facts, time};
use super::{Deliver, Order, Undelivered};
use crate::alert::pager::Page;
use crate::event::{Event, LogLevel, LogLine, Matching, SafeText, Silence, SilenceEnded, SilenceKind, SilenceMatcher, SilenceSet};
use crate::net::{Method, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Alerts of one request, as Prometheus sends them.
const BATCH: usize = 64;
/// Silences are read back this often.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Silences that are taken over.
const SILENCES_MAX: usize = 500;
/// Orders that wait.
const ORDERS_MAX: usize = 1_000;
/// Alerts that are left out of a request are named up to here.
const NAMED_MAX: usize = 3;
/// By which a comment says that a silence is an acknowledgement; other dashboards write it so, too.
const ACKNOWLEDGED: &str = "ACK!";

#[derive(Clone, Debug)]
pub struct AlertmanagerPlan {
    pub urls: Vec<String>,
    pub credential: Option<Credential>,
    /// Whether silences are made there and read back.
    pub silences: bool,
}

pub struct Alertmanager {
    plan: AlertmanagerPlan,
    name: String,
    caller: Caller,
    facts: Facts,
    /// To be made or ended there.
    orders: Vec<Order>,
    /// Silences that stand there, as they were told here.
    known: BTreeMap<SafeText, Silence>,
    looked_ms: Option<i64>,
    /// What was said last of silences that can't be read, so that it is said once.
    trouble: Option<String>,
    /// Silences there that make no sense here.
    unread: Vec<String>,
}

impl Alertmanager {
    pub fn new(plan: AlertmanagerPlan, name: String, caller: Caller, facts: Facts) -> Self {
        Self { plan, name, caller, facts, orders: Vec::new(), known: BTreeMap::new(), looked_ms: None, trouble: None, unread: Vec::new() }
    }

    fn body(&self, page: &Page, at_ms: i64) -> Value {
        // Without news it ends by itself after four refreshes.
        let ends_ms = page.ends_ms.unwrap_or(at_ms.saturating_add(self.facts.refresh_ms.saturating_mul(4)));
        let labels: BTreeMap<_, _> = self.facts.labels(page).into_iter().filter(|(_, value)| !value.is_empty()).collect();
        json!({
            "labels": labels,
            "annotations": self.facts.annotations(page),
            "startsAt": time(page.starts_ms.min(ends_ms)),
            "endsAt": time(ends_ms),
            "generatorURL": self.facts.generator_url(page),
        })
    }

    /// One batch to one of them; what failed. One that it refuses as a whole goes alert by alert, so that a bad one spoils nothing.
    fn post(&self, url: &str, batch: &[Value]) -> Vec<Undelivered> {
        let url = format!("{}/api/v2/alerts", url.trim_end_matches('/'));
        let send = |alerts: &[Value]| {
            let body = json!(alerts).to_string().into_bytes();
            self.caller.hand(&url, body).map(drop)
        };
        match send(batch) {
            Ok(()) => Vec::new(),
            Err(error) if batch.len() > 1 && !error.again => {
                batch.iter().filter_map(|alert| send(std::slice::from_ref(alert)).err()).collect()
            }
            Err(error) => vec![error],
        }
    }

    /// All batches, whatever became of those before. What it refused for good is told where others arrived.
    fn tell_one(&self, url: &str, alerts: &[Value]) -> Result<Option<String>, Undelivered> {
        let mut refused = Vec::new();
        for batch in alerts.chunks(BATCH) {
            for error in self.post(url, batch) {
                if error.again {
                    return Err(error);
                }
                refused.push(error);
            }
        }
        let count = refused.len();
        match refused.into_iter().next() {
            Some(error) if count == alerts.len() => Err(error),
            first => Ok(first.map(|error| format!("{count} refused: {}", error.reason))),
        }
    }

    /// All of them at the same time: one that hangs keeps no alert from the others.
    fn tell_each(&self, alerts: &[Value]) -> Vec<Result<Option<String>, Undelivered>> {
        if let [url] = self.plan.urls.as_slice() {
            return vec![self.tell_one(url, alerts)];
        }
        let failed = |what: String| Err(Undelivered { reason: what, again: true });
        std::thread::scope(|scope| {
            let urls = self.plan.urls.iter();
            let asked: Vec<_> =
                urls.map(|url| std::thread::Builder::new().spawn_scoped(scope, move || self.tell_one(url, alerts))).collect();
            type Thread<'t> = std::thread::ScopedJoinHandle<'t, Result<Option<String>, Undelivered>>;
            let outcome = |thread: std::io::Result<Thread<'_>>| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|_| failed("its thread failed".into())),
                Err(error) => failed(format!("no thread for it: {error}")),
            };
            asked.into_iter().map(outcome).collect()
        })
    }
}

/// Why an Alertmanager would refuse it.
fn fault(page: &Page, facts: &Facts) -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let labels = facts.labels(page);
    if labels.values().all(String::is_empty) {
        return Some("it has no label".into());
    }
    let annotations = facts.annotations(page);
    let bad = labels.keys().chain(annotations.keys()).find(|name| !is_name(name))?;
    Some(format!("`{bad}` is no name of a label"))
}

impl Deliver for Alertmanager {
    fn deliver(&mut self, pages: &[Page], at_ms: i64) -> Result<String, Undelivered> {
        let (mut alerts, mut left_out) = (Vec::new(), Vec::new());
        for page in pages {
            match fault(page, &self.facts) {
                None => alerts.push(self.body(page, at_ms)),
                Some(why) => left_out.push(format!("{}: {why}", page.rule)),
            }
        }
        let mut reached = 0;
        let (mut failures, mut again) = (Vec::new(), false);
        for outcome in self.tell_each(&alerts) {
            match outcome {
                Ok(refused) => {
                    reached += 1;
                    failures.extend(refused);
                }
                Err(error) => {
                    again |= error.again;
                    failures.push(error.reason);
                }
            }
        }
        if !left_out.is_empty() {
            let count = left_out.len();
            left_out.truncate(NAMED_MAX);
            failures.push(format!("{count} alerts left out: {}", left_out.join(", ")));
        }
        let text = failures.join("; ");
        match (reached, failures.is_empty()) {
            // They tell each other: one that has heard of it does.
            (1.., true) => Ok("200".into()),
            (1.., false) => Ok(format!("200; {text}")),
            (_, _) => Err(Undelivered { reason: text, again }),
        }
    }

    fn order(&mut self, order: Order) {
        if self.plan.silences && self.orders.len() < ORDERS_MAX {
            self.orders.push(order);
        }
    }

    fn look(&mut self, at_ms: i64, told: &mut Vec<Event>) -> Option<Duration> {
        if !self.plan.silences {
            return None;
        }
        let every_ms = i64::try_from(LOOK_EVERY.as_millis()).unwrap_or(i64::MAX);
        let is_due = self.looked_ms.is_none_or(|looked| at_ms - looked >= every_ms);
        if is_due || !self.orders.is_empty() {
            self.looked_ms = Some(at_ms);
            // An order that fails holds up neither the others nor what is told from there.
            let outcome = self.carry_out(at_ms, told);
            let outcome = self.read_back(at_ms, told).and(outcome);
            self.say(outcome.err().map(|error| error.reason), told);
        }
        Some(LOOK_EVERY)
    }
}

/// A silence as the API gives it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    id: String,
    status: Status,
    matchers: Vec<GivenMatcher>,
    starts_at: String,
    ends_at: String,
    #[serde(default)]
    created_by: String,
    #[serde(default)]
    comment: String,
}

#[derive(Deserialize)]
struct Status {
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GivenMatcher {
    name: String,
    value: String,
    is_regex: bool,
    #[serde(default = "yes")]
    is_equal: bool,
}

fn yes() -> bool {
    true
}

impl Given {
    fn silence(&self) -> Option<Silence> {
        let last = jiff::Timestamp::MAX;
        // "For ever" is written as a time that is later than any.
        let end = |text: &str| text.parse().ok().or_else(|| text.starts_with("9999-").then_some(last));
        let ms = |text: &str| end(text).map(|at: jiff::Timestamp| at.as_millisecond());
        let matcher = |m: &GivenMatcher| SilenceMatcher {
            name: SafeText::new(&m.name),
            value: SafeText::new(&m.value),
            is_regex: m.is_regex,
            is_equal: m.is_equal,
        };
        let (kind, comment) = match self.comment.strip_prefix(ACKNOWLEDGED) {
            Some(rest) => (SilenceKind::Acknowledgement, rest.trim_start()),
            None => (SilenceKind::Silence, self.comment.as_str()),
        };
        Some(Silence {
            kind,
            matchers: self.matchers.iter().map(matcher).collect(),
            starts_ms: ms(&self.starts_at)?,
            ends_ms: ms(&self.ends_at)?,
            created_by: SafeText::new(&self.created_by),
            comment: SafeText::new(comment),
        })
    }
}

/// A silence as the API takes it.
fn asked(silence: &Silence) -> Value {
    let matchers: Vec<Value> = silence
        .matchers
        .iter()
        .map(|m| json!({"name": m.name.as_str(), "value": m.value.as_str(), "isRegex": m.is_regex, "isEqual": m.is_equal}))
        .collect();
    let comment = match silence.kind {
        SilenceKind::Silence => silence.comment.to_string(),
        SilenceKind::Acknowledgement => format!("{ACKNOWLEDGED} {}", silence.comment),
    };
    // It takes none without these.
    let or = |text: String, other: &str| if text.trim().is_empty() { other.to_owned() } else { text };
    json!({
        "matchers": matchers,
        "startsAt": time(silence.starts_ms),
        "endsAt": time(silence.ends_ms),
        "createdBy": or(silence.created_by.to_string(), "pilothouse"),
        "comment": or(comment, "by pilothouse"),
    })
}

impl Alertmanager {
    /// The first that answers: they share silences among themselves. It is asked first the next time, so that one that hangs is not waited for again.
    fn first(&mut self, method: Method, path: &str, body: Option<&[u8]>) -> Result<Response, Undelivered> {
        let mut failed = Undelivered { reason: "no Alertmanager is named".into(), again: false };
        for at in 0..self.plan.urls.len() {
            let url = format!("{}{path}", self.plan.urls[at].trim_end_matches('/'));
            match self.caller.ask(method, &url, body.map(<[u8]>::to_vec)) {
                Ok(response) => {
                    self.plan.urls.rotate_left(at);
                    return Ok(response);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// Makes and ends silences there. What fails for good is told and stays as it is here; the rest is tried again.
    fn carry_out(&mut self, at_ms: i64, told: &mut Vec<Event>) -> Result<(), Undelivered> {
        let mut failed = Ok(());
        let mut at = 0;
        while let Some(order) = self.orders.get(at).cloned() {
            let outcome = match &order {
                // One of the Alertmanager itself comes back as an event.
                Order::Silence(id, silence) if self.known.contains_key(id) || silence.ends_ms <= at_ms => Ok(()),
                Order::Silence(id, silence) => self.make(id, silence, told),
                Order::End(id) => self.end(id),
            };
            match outcome {
                Err(error) if error.again => {
                    failed = Err(error);
                    at += 1;
                    continue;
                }
                Err(error) => told.push(self.line(format!("{}: {}", words(&order), error.reason))),
                Ok(()) => {}
            }
            // An end takes the order that it cancels away, too.
            self.orders.iter().position(|own| *own == order).map(|place| self.orders.remove(place));
            at = at.min(self.orders.len());
        }
        failed
    }

    /// It takes the name that the Alertmanager gives it, and nothing is unsilenced meanwhile.
    fn make(&mut self, id: &SafeText, silence: &Silence, told: &mut Vec<Event>) -> Result<(), Undelivered> {
        #[derive(Deserialize)]
        struct Made {
            #[serde(rename = "silenceID")]
            id: String,
        }
        let body = asked(silence).to_string().into_bytes();
        let response = self.first(Method::Post, "/api/v2/silences", Some(&body))?;
        let made: Made = serde_json::from_slice(&response.body).map_err(unreadable)?;
        let given = SafeText::new(&made.id);
        self.known.insert(given.clone(), silence.clone());
        told.push(SilenceSet { id: given, silence: silence.clone() }.into());
        told.push(SilenceEnded { id: id.clone() }.into());
        Ok(())
    }

    fn end(&mut self, id: &SafeText) -> Result<(), Undelivered> {
        if !self.known.contains_key(id) {
            // Made here, and not there: one that was still to be made is made no more.
            self.orders.retain(|order| !matches!(order, Order::Silence(own, _) if own == id));
            return Ok(());
        }
        self.first(Method::Delete, &format!("/api/v2/silence/{id}"), None)?;
        self.known.remove(id);
        Ok(())
    }

    /// Tells what others made, changed or ended there.
    fn read_back(&mut self, at_ms: i64, told: &mut Vec<Event>) -> Result<(), Undelivered> {
        let response = self.first(Method::Get, "/api/v2/silences", None)?;
        let given: Vec<Given> = serde_json::from_slice(&response.body).map_err(unreadable)?;
        let mut standing = BTreeMap::new();
        let mut unread = Vec::new();
        for one in given.iter().filter(|one| one.status.state != "expired") {
            let silence = one.silence().filter(|silence| Matching::new(&silence.matchers).is_ok());
            if silence.is_none() {
                unread.push(one.id.clone());
            }
            let Some(silence) = silence.filter(|silence| silence.ends_ms > at_ms) else { continue };
            if standing.len() < SILENCES_MAX {
                standing.insert(SafeText::new(&one.id), silence);
            }
        }
        for (id, silence) in &standing {
            if self.known.get(id).is_none_or(|known| known.matchers != silence.matchers || !is_same_time(known, silence)) {
                told.push(SilenceSet { id: id.clone(), silence: silence.clone() }.into());
            }
        }
        // Those whose time is over are told by the monitor.
        let ended = self.known.iter().filter(|(id, known)| !standing.contains_key(*id) && known.ends_ms > at_ms);
        told.extend(ended.map(|(id, _)| Event::from(SilenceEnded { id: id.clone() })));
        self.known = standing;
        if self.unread != unread {
            told.extend(
                unread
                    .iter()
                    .filter(|id| !self.unread.contains(id))
                    .map(|id| self.line(format!("silence {id} of the Alertmanager can't be read, and hushes nothing here"))),
            );
            self.unread = unread;
        }
        Ok(())
    }

    fn line(&self, text: String) -> Event {
        LogLine { level: LogLevel::Warn, target: SafeText::new(&self.name), text: text.into() }.into()
    }

    /// Trouble with silences is said when it begins, when it changes and when it is over.
    fn say(&mut self, trouble: Option<String>, told: &mut Vec<Event>) {
        if self.trouble != trouble {
            let text = match &trouble {
                Some(reason) => format!("silences are not shared with the Alertmanager: {reason}"),
                None => "silences are shared with the Alertmanager again".to_owned(),
            };
            told.push(self.line(text));
            self.trouble = trouble;
        }
    }
}

/// An Alertmanager moves a beginning that has passed to now.
fn is_same_time(a: &Silence, b: &Silence) -> bool {
    a.ends_ms == b.ends_ms
}

fn words(order: &Order) -> String {
    match order {
        Order::Silence(id, _) => format!("silence {id} stands here alone"),
        Order::End(id) => format!("silence {id} can't be ended there"),
    }
}

fn unreadable(error: serde_json::Error) -> Undelivered {
    Undelivered { reason: format!("what it answers can't be read: {error}"), again: true }
}
