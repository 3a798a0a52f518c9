//! Two episodes, step by step.

use super::align::{self, Pair};
use super::compare::{Difference, Part, differences, is_same};
use super::story::{Decision, Story};
use crate::event::{EpisodeEnding, ObservationField, StepIndex, Verdict};
use serde::Serialize;

/// How a row stands. The letter is what tells, never the colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    Same,
    Differs,
    OnlyA,
    OnlyB,
}

impl Mark {
    pub fn sign(self) -> char {
        match self {
            Mark::Same => '=',
            Mark::Differs => '~',
            Mark::OnlyA => '-',
            Mark::OnlyB => '+',
        }
    }
}

/// Two decisions side by side, by their places in the stories.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub a: Option<usize>,
    pub b: Option<usize>,
    /// What differs, in the order in which it came about; empty where one side has no decision.
    pub parts: Vec<Part>,
}

impl Row {
    pub fn mark(&self) -> Mark {
        match (self.a, self.b) {
            (Some(_), None) => Mark::OnlyA,
            (None, _) => Mark::OnlyB,
            (Some(_), Some(_)) if self.parts.is_empty() => Mark::Same,
            (Some(_), Some(_)) => Mark::Differs,
        }
    }

    /// Whether the agents did something else there, or one of them nothing: not only what they found differs.
    pub fn is_turn(&self) -> bool {
        let does = |part: &Part| match part {
            Part::Thought | Part::Action | Part::Result => true,
            Part::Observation | Part::Reward | Part::State | Part::Confidence => false,
        };
        self.a.is_none() || self.b.is_none() || self.parts.iter().any(does)
    }
}

/// Something that an episode or a run was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Given {
    pub what: &'static str,
    pub a: Option<String>,
    pub b: Option<String>,
}

impl Given {
    pub(super) fn of<T: ToString>(what: &'static str, a: Option<T>, b: Option<T>) -> Self {
        Self { what, a: a.map(|v| v.to_string()), b: b.map(|v| v.to_string()) }
    }

    pub(super) fn differs(&self) -> bool {
        self.a != self.b
    }
}

/// What an episode took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    pub decisions: u64,
    /// Tokens that were decoded, and those of all prompts.
    pub tokens: u64,
    pub prompt_tokens: u64,
    /// Prefill and decode together.
    pub think_ns: u64,
    pub tool_ns: u64,
    pub tool_errors: u64,
}

impl Cost {
    pub fn of(story: &Story) -> Self {
        let mut cost = Self::default();
        for decision in &story.decisions {
            cost.decisions += 1;
            cost.tokens += decision.tokens();
            cost.tool_ns = cost.tool_ns.saturating_add(decision.tool_ns);
            cost.tool_errors += u64::from(decision.error_type.is_some());
            if let Some(message) = &decision.message {
                cost.prompt_tokens += u64::from(message.prompt_tokens);
                cost.think_ns = cost.think_ns.saturating_add(message.duration_ns);
            }
        }
        cost
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            tokens: self.tokens + other.tokens,
            prompt_tokens: self.prompt_tokens + other.prompt_tokens,
            think_ns: self.think_ns.saturating_add(other.think_ns),
            tool_ns: self.tool_ns.saturating_add(other.tool_ns),
            tool_errors: self.tool_errors + other.tool_errors,
        }
    }
}

/// Where two episodes part, and in what first.
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    /// The row.
    pub row: usize,
    pub step: StepIndex,
    /// Unset where one of them has no such step.
    pub difference: Option<Difference>,
}

/// Two episodes side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeDiff {
    pub a: Story,
    pub b: Story,
    /// Where they were given other things to begin with.
    pub given: Vec<Given>,
    pub rows: Vec<Row>,
    /// Where they part in more than confidence.
    pub first: Option<First>,
    /// Where log-probabilities or the critic's estimate first differ, though the same was said and done.
    pub drift: Option<First>,
    /// How they came out, where that differs.
    pub outcome: Vec<Given>,
}

const NO_FIELDS: &[ObservationField] = &[];

impl EpisodeDiff {
    pub fn new(a: Story, b: Story) -> Self {
        let mut diff = Self { given: given(&a, &b), outcome: outcome(&a, &b), rows: Vec::new(), first: None, drift: None, a, b };
        diff.rows = diff.aligned();
        diff.first = diff.find(|row| row.mark() != Mark::Same && row.parts != [Part::Confidence]);
        diff.drift = diff.find(|row| row.parts == [Part::Confidence]);
        diff
    }

    /// Nothing differs but what hangs on the clock.
    pub fn is_same(&self) -> bool {
        self.given.is_empty() && self.outcome.is_empty() && self.first.is_none() && self.drift.is_none()
    }

    pub fn decisions(&self, row: usize) -> (Option<&Decision>, Option<&Decision>) {
        let Some(row) = self.rows.get(row) else { return (None, None) };
        (row.a.and_then(|n| self.a.decisions.get(n)), row.b.and_then(|n| self.b.decisions.get(n)))
    }

    /// All in which the decisions of a row differ.
    pub fn differences(&self, row: usize) -> Vec<Difference> {
        let (a, b) = self.decisions(row);
        differences(a, b, self.fields())
    }

    fn fields(&self) -> (&[ObservationField], &[ObservationField]) {
        (self.a.started.as_ref().map_or(NO_FIELDS, |s| &s.fields), self.b.started.as_ref().map_or(NO_FIELDS, |s| &s.fields))
    }

    /// Rows of a kind.
    pub fn count(&self, mark: Mark) -> usize {
        self.rows.iter().filter(|row| row.mark() == mark).count()
    }

    pub fn costs(&self) -> (Cost, Cost) {
        (Cost::of(&self.a), Cost::of(&self.b))
    }

    fn find(&self, is_it: impl Fn(&Row) -> bool) -> Option<First> {
        let row = self.rows.iter().position(is_it)?;
        let (a, b) = self.decisions(row);
        let both = a.is_some() && b.is_some();
        let step = a.or(b)?.step;
        let difference = both.then(|| self.differences(row).into_iter().next()).flatten();
        Some(First { row, step, difference })
    }

    fn row(&self, Pair { a, b }: Pair) -> Row {
        let of = |story: &'_ Story, n: Option<usize>| n.and_then(|n| story.decisions.get(n).cloned());
        let mut row = Row { a, b, parts: Vec::new() };
        if let (Some(in_a), Some(in_b)) = (of(&self.a, a), of(&self.b, b)) {
            row.parts = differences(Some(&in_a), Some(&in_b), self.fields()).iter().map(Difference::part).collect();
            row.parts.dedup();
        }
        row
    }

    /// By the numbers of the steps up to the first row that differs, with it; by what was done from there on.
    fn aligned(&self) -> Vec<Row> {
        let (a, b) = (&self.a.decisions, &self.b.decisions);
        let mut rows = Vec::with_capacity(a.len().max(b.len()));
        let mut behind = 0;
        while let (Some(in_a), Some(in_b)) = (a.get(behind), b.get(behind)) {
            if in_a.step != in_b.step {
                break;
            }
            let row = self.row(Pair { a: Some(behind), b: Some(behind) });
            let parts = row.mark() == Mark::Differs && row.parts != [Part::Confidence];
            rows.push(row);
            behind += 1;
            if parts {
                break;
            }
        }
        let keys = |decisions: &[Decision]| decisions[behind..].iter().map(Decision::action_key).collect::<Vec<_>>();
        let pairs = align::side_by_side(align::by_keys(&keys(a), &keys(b)));
        rows.extend(pairs.into_iter().map(|p| self.row(Pair { a: p.a.map(|n| n + behind), b: p.b.map(|n| n + behind) })));
        rows
    }
}

fn given(a: &Story, b: &Story) -> Vec<Given> {
    let started = |story: &Story| story.started.clone();
    let (of_a, of_b) = (started(a), started(b));
    let fields =
        |s: &crate::event::EpisodeStarted| s.fields.iter().map(|f| format!("{} {:?}", f.name, f.unit)).collect::<Vec<_>>().join(", ");
    let (of_a, of_b) = (of_a.as_ref(), of_b.as_ref());
    let all = [
        Given::of("seed", a.seed(), b.seed()),
        Given::of("level", a.level(), b.level()),
        Given::of("goal", of_a.map(|s| &s.goal), of_b.map(|s| &s.goal)),
        Given::of("briefing", of_a.map(|s| &s.briefing), of_b.map(|s| &s.briefing)),
        Given::of("observation fields", of_a.map(fields), of_b.map(fields)),
        Given::of("checkpoint", a.checkpoint(), b.checkpoint()),
        Given::of("beginning", of_a.map(|s| format!("{:016x}", s.state_hash)), of_b.map(|s| format!("{:016x}", s.state_hash))),
    ];
    all.into_iter().filter(Given::differs).collect()
}

fn outcome(a: &Story, b: &Story) -> Vec<Given> {
    let (of_a, of_b) = (a.end.as_ref(), b.end.as_ref());
    let ending = |e: EpisodeEnding| match e {
        EpisodeEnding::Terminated => "terminated",
        EpisodeEnding::Truncated => "truncated",
        EpisodeEnding::Aborted => "aborted",
    };
    let number = |what, figure: fn(&crate::event::EpisodeEnded) -> f64| {
        let (in_a, in_b) = (of_a.map(figure), of_b.map(figure));
        (what, in_a, in_b)
    };
    let figures =
        [number("return", |e| e.episode_return), number("final reward", |e| e.final_reward), number("hybrid reward", |e| e.hybrid)];
    let words = [
        Given::of("ending", of_a.map(|e| ending(e.ending)), of_b.map(|e| ending(e.ending))),
        Given::of("success", verdict(a), verdict(b)),
        Given::of("truth", of_a.map(|e| &e.truth), of_b.map(|e| &e.truth)),
    ];
    let differ = figures.into_iter().filter(|(_, a, b)| !is_same(*a, *b)).map(|(what, a, b)| Given::of(what, a, b));
    differ.chain(words.into_iter().filter(Given::differs)).collect()
}

/// Success, failure or aborted; unset while it goes on.
pub fn verdict(story: &Story) -> Option<&'static str> {
    story.end.as_ref().map(|e| Verdict::word(e.verdict()))
}
