//! Where the two part, how they came out, what it cost.

use super::{compared, steps, told};
use crate::source::diff::{Cost, EpisodeDiff, First, Found, Given, Mark, RecordingDiff, Story, records as in_json};
use crate::ui::diff::Compared;
use crate::ui::lang::tr;
use crate::ui::panes::lines::{self, Line, wrapped};
use crate::ui::panes::replay::Scene;
use crate::ui::panes::{Pane, notice};
use crate::ui::widgets::text::Ambiguous;
use crate::ui::widgets::{Canvas, Glyphs, Role, format};
use serde_json::Value;

pub fn draw(canvas: &mut Canvas<'_>, pane: &Pane<'_>) {
    let scene = Scene::of(pane.ctx);
    let mut inner = pane.open(canvas, "");
    if compared(scene).is_none() {
        notice(&mut inner, &steps::nothing(scene));
        return;
    }
    let lines = lines(scene, inner.width(), inner.glyphs());
    lines::draw(&mut inner, &lines, pane.scroll().up);
}

pub fn records(scene: Scene<'_>) -> Vec<Value> {
    let Some(compared) = compared(scene) else { return Vec::new() };
    let names = [0, 1].map(|side| compared.files[side].path.display().to_string());
    match &compared.found {
        Found::Episodes(diff) => {
            let (a, b) = diff.costs();
            let mut all = vec![in_json::episodes(diff, (&names[0], &names[1]))];
            all.extend(diff.given.iter().map(|g| in_json::given(g, true)));
            all.extend(diff.first.iter().map(|f| in_json::first("divergence", f)));
            all.extend(diff.drift.iter().map(|f| in_json::first("drift", f)));
            all.extend(diff.outcome.iter().map(in_json::outcome));
            all.extend([in_json::cost("a", &a), in_json::cost("b", &b), in_json::summary(diff)]);
            all
        }
        Found::Recordings(diff, _) => {
            let mut all: Vec<Value> = diff.given.iter().map(|g| in_json::given(g, true)).collect();
            all.extend(diff.told.iter().map(|g| in_json::given(g, false)));
            all.extend([in_json::cost("a", &diff.costs.0), in_json::cost("b", &diff.costs.1), in_json::summary_of_all(diff)]);
            all
        }
    }
}

pub fn lines(scene: Scene<'_>, width: u16, glyphs: Glyphs) -> Vec<Line> {
    let Some(compared) = compared(scene) else { return Vec::new() };
    let mut page = Page { lines: Vec::new(), width, ambiguous: glyphs.ambiguous };
    match &compared.found {
        Found::Episodes(diff) => page.episodes(diff, compared),
        Found::Recordings(diff, pairs) => page.recordings(diff, pairs.len(), compared),
    }
    for broken in &compared.broken {
        page.text(&format!("! {broken}"), Role::Warn);
    }
    page.lines
}

struct Page {
    lines: Vec<Line>,
    width: u16,
    ambiguous: Ambiguous,
}

impl Page {
    fn text(&mut self, text: &str, role: Role) {
        self.lines.extend(wrapped(text, self.width, self.ambiguous, role));
    }

    fn episodes(&mut self, diff: &EpisodeDiff, compared: &Compared) {
        if diff.is_same() {
            self.text(&format!("= {}", tr!("nothing differs")), Role::Good);
        }
        if let Some(first) = &diff.first {
            self.text(&tr!("they part at step {step}", step = first.step), Role::Warn);
            self.first(first, diff);
        } else if let Some(drift) = &diff.drift {
            self.text(&tr!("the same is done, with another confidence from step {step} on", step = drift.step), Role::Warn);
            self.first(drift, diff);
        }
        if let (Some(first), Some(drift)) = (&diff.first, &diff.drift)
            && drift.row < first.row
        {
            self.text(&tr!("log-probabilities part before, at step {step}", step = drift.step), Role::Dim);
        }
        self.given(&diff.given);
        for (letter, side, story) in [("A", 0, &diff.a), ("B", 1, &diff.b)] {
            self.text(&format!("{letter} {}#{}", steps::named(compared, side), about(story)), Role::Text);
        }
        self.outcome(diff);
        let (a, b) = diff.costs();
        self.costs(&a, &b);
        let counts = [Mark::Same, Mark::Differs, Mark::OnlyA, Mark::OnlyB].map(|mark| diff.count(mark));
        let [same, differ, only_a, only_b] = counts;
        self.text(
            &tr!(
                "steps: = {same} same, ~ {differ} differ, - {a} only A, + {b} only B",
                same = same,
                differ = differ,
                a = only_a,
                b = only_b
            ),
            Role::Dim,
        );
        self.text(&tr!("letters: O observation, T thought, A action, E result, R reward, S state, L log-probabilities"), Role::Dim);
    }

    fn first(&mut self, first: &First, diff: &EpisodeDiff) {
        let text = match &first.difference {
            Some(difference) => told(difference),
            None if diff.decisions(first.row).0.is_some() => tr!("A goes on, B has no such step"),
            None => tr!("B goes on, A has no such step"),
        };
        self.text(&format!("  {text}"), Role::Text);
    }

    fn given(&mut self, given: &[Given]) {
        for Given { what, a, b } in given {
            let text = |v: &Option<String>| format::or_unset(v.as_ref(), |v| v.replace('\n', " "));
            self.text(&format!("~ {}: {} -> {}", name(what), text(a), text(b)), Role::Text);
        }
    }

    fn outcome(&mut self, diff: &EpisodeDiff) {
        let [a, b] = format::apart(diff.a.episode_return(), diff.b.episode_return());
        self.columns(&tr!("return"), a, b, Role::Text);
        let verdict = |story: &Story| story.end.as_ref().map_or_else(|| tr!("unfinished"), |e| verdict(e.verdict().word()));
        let (a, b) = (verdict(&diff.a), verdict(&diff.b));
        let role = if a == b { Role::Text } else { Role::Warn };
        self.columns(&tr!("outcome"), a, b, role);
        let figure = |of: fn(&crate::event::EpisodeEnded) -> f64| format::apart(diff.a.end.as_ref().map(of), diff.b.end.as_ref().map(of));
        let ([a, b], [in_a, in_b]) = (figure(|e| e.final_reward), figure(|e| e.hybrid));
        self.columns(&tr!("final reward"), a, b, Role::Text);
        self.columns(&tr!("hybrid reward"), in_a, in_b, Role::Text);
    }

    fn columns(&mut self, name: &str, a: String, b: String, role: Role) {
        let (x, y) = if self.width >= 44 { (18, 30) } else { (15, 25) };
        self.lines.push(Line(vec![(0, name.to_owned(), Role::Dim), (x, a, role), (y, b, role)]));
    }

    fn costs(&mut self, a: &Cost, b: &Cost) {
        self.columns(&tr!("cost"), "A".to_owned(), "B".to_owned(), Role::Dim);
        let counts = [
            (tr!("decisions"), a.decisions, b.decisions),
            (tr!("tokens"), a.tokens, b.tokens),
            (tr!("prompt tokens"), a.prompt_tokens, b.prompt_tokens),
            (tr!("tool errors"), a.tool_errors, b.tool_errors),
        ];
        for (what, a, b) in counts {
            self.columns(&what, format::count(a), format!("{} {}", format::count(b), less(a, b)), Role::Text);
        }
        for (what, a, b) in [(tr!("thinking"), a.think_ns, b.think_ns), (tr!("in tools"), a.tool_ns, b.tool_ns)] {
            self.columns(&what, format::duration(a), format::duration(b), Role::Text);
        }
    }

    fn recordings(&mut self, diff: &RecordingDiff, shown: usize, compared: &Compared) {
        if diff.is_same() {
            self.text(&format!("= {}", tr!("nothing differs")), Role::Good);
        }
        for (letter, side) in [("A", 0), ("B", 1)] {
            self.text(&format!("{letter} {}", compared.files[side].path.display()), Role::Text);
        }
        let has_pairs = diff.pairs > 0;
        if has_pairs {
            self.text(&tr!("{n} of {all} pairs of episodes are the same", n = diff.same, all = diff.pairs), Role::Text);
        } else {
            self.text(&tr!("no episode has a partner"), Role::Warn);
        }
        if shown < diff.pairs {
            self.text(&tr!("the first {n} are listed", n = shown), Role::Warn);
        }
        if has_pairs {
            self.text(&tr!("+{n} fixed", n = diff.fixed), Role::Good);
            self.text(&tr!("-{n} broken", n = diff.broken), Role::Bad);
        }
        self.text(&tr!("without a partner: {a} in A, {b} in B", a = diff.only_a.len(), b = diff.only_b.len()), Role::Text);
        self.given(&diff.given);
        if has_pairs {
            self.costs(&diff.costs.0, &diff.costs.1);
        }
        if !diff.told.is_empty() {
            self.text(&tr!("told, and no difference:"), Role::Dim);
            self.given(&diff.told);
        }
    }
}

/// `(+12)`; nothing where they are the same.
fn less(a: u64, b: u64) -> String {
    match i128::from(b) - i128::from(a) {
        0 => String::new(),
        n => format!("({n:+})"),
    }
}

fn about(story: &Story) -> String {
    let seed = format::or_unset(story.seed(), |s| s.to_string());
    let branch = story.branch.as_ref().map_or(String::new(), |b| format!(", {b}"));
    tr!("{episode}, seed {seed}{branch}", episode = story.address, seed = seed, branch = branch)
}

/// An outcome, as the interface calls it.
pub(super) fn verdict(word: &str) -> String {
    match word {
        "success" => tr!("success"),
        "aborted" => tr!("aborted"),
        _ => tr!("failure"),
    }
}

/// What a side was given, as the interface calls it.
fn name(what: &str) -> String {
    match what {
        "seed" => tr!("seed"),
        "level" => tr!("level"),
        "goal" => tr!("goal"),
        "briefing" => tr!("briefing"),
        "observation fields" => tr!("observation fields"),
        "checkpoint" => tr!("checkpoint"),
        "beginning" => tr!("state at the beginning"),
        "environment" => tr!("environment"),
        "environment version" => tr!("environment version"),
        "environment parameters" => tr!("environment parameters"),
        "lanes" => tr!("lanes"),
        "agent" => tr!("agent"),
        "longest episode" => tr!("longest episode"),
        "decoding" => tr!("decoding"),
        "reward" => tr!("reward"),
        "tools" => tr!("tools"),
        "build" => tr!("build"),
        "configuration" => tr!("configuration"),
        "processor" => tr!("processor"),
        other => other.to_owned(),
    }
}
