//! Two recordings as wholes: what they were given, their episodes in pairs, what has no partner.

use super::Address;
use super::episodes::{Cost, EpisodeDiff, Given};
use super::story::Survey;
use super::{Cancel, DiffError};
use crate::event::Seed;
use crate::journal::{Header, Recording};
use crate::source::Episode;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A recording that was opened, and what is in it.
pub struct Side<'a> {
    pub recording: &'a mut Recording,
    pub survey: Survey,
}

impl<'a> Side<'a> {
    /// Reads the recording once.
    pub fn read(recording: &'a mut Recording, is_cancelled: Cancel<'_>) -> Result<Self, DiffError> {
        let survey = Survey::of(recording, is_cancelled)?;
        Ok(Self { recording, survey })
    }
}

/// An episode that the other recording has none for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unpaired {
    pub address: Address,
    pub seed: Option<Seed>,
}

/// How a pair came out, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct PairDiff {
    pub a: Address,
    pub b: Address,
    pub seed: Option<Seed>,
    pub is_same: bool,
    pub first: Option<super::First>,
    pub drift: Option<super::First>,
    pub returns: (Option<f64>, Option<f64>),
    pub verdicts: (Option<&'static str>, Option<&'static str>),
    pub costs: (Cost, Cost),
}

impl PairDiff {
    fn of(diff: &EpisodeDiff) -> Self {
        Self {
            a: diff.a.address,
            b: diff.b.address,
            seed: diff.a.seed(),
            is_same: diff.is_same(),
            first: diff.first.clone(),
            drift: diff.drift.clone(),
            returns: (diff.a.episode_return(), diff.b.episode_return()),
            verdicts: (super::episodes::verdict(&diff.a), super::episodes::verdict(&diff.b)),
            costs: diff.costs(),
        }
    }

    /// The one failed and the other did not.
    pub fn is_flip(&self) -> bool {
        self.verdicts.0.is_some() && self.verdicts.1.is_some() && self.verdicts.0 != self.verdicts.1
    }
}

/// What came of comparing two recordings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingDiff {
    /// What counts as a difference.
    pub given: Vec<Given>,
    /// What does not: builds, configuration files, processors.
    pub told: Vec<Given>,
    pub pairs: usize,
    pub same: usize,
    pub only_a: Vec<Unpaired>,
    pub only_b: Vec<Unpaired>,
    /// Of all pairs.
    pub costs: (Cost, Cost),
    /// Successes in B that were none in A, and the other way round.
    pub fixed: usize,
    pub broken: usize,
}

impl RecordingDiff {
    pub fn is_same(&self) -> bool {
        self.given.is_empty() && self.only_a.is_empty() && self.only_b.is_empty() && self.same == self.pairs
    }
}

/// In what two runs were given differs: what counts, and what is only told.
pub fn given_of((a, of_a): (&Header, &Survey), (b, of_b): (&Header, &Survey)) -> (Vec<Given>, Vec<Given>) {
    let json = |value: serde_json::Result<String>| value.ok();
    let run = |survey: &Survey| survey.run.clone();
    let (run_a, run_b) = (run(of_a), run(of_b));
    let (run_a, run_b) = (run_a.as_ref(), run_b.as_ref());
    let decoding = |r: Option<&crate::event::RunStarted>| r.and_then(|r| r.decoding).and_then(|d| json(serde_json::to_string(&d)));
    let reward = |r: Option<&crate::event::RunStarted>| r.and_then(|r| json(serde_json::to_string(&r.reward)));
    let tools = |r: Option<&crate::event::RunStarted>| r.and_then(|r| json(serde_json::to_string(&r.tools)));
    let checkpoint = |h: &Header| h.checkpoint.as_ref().map(|c| format!("{} {}", c.id, c.sha256));
    let given = [
        Given::of("environment", Some(&a.env.name), Some(&b.env.name)),
        Given::of("environment version", Some(&a.env.version), Some(&b.env.version)),
        Given::of("environment parameters", Some(&a.env.params_sha256), Some(&b.env.params_sha256)),
        Given::of("level", Some(a.level), Some(b.level)),
        Given::of("seed", Some(a.seed), Some(b.seed)),
        Given::of("checkpoint", checkpoint(a), checkpoint(b)),
        Given::of("agent", run_a.map(|r| &r.agent), run_b.map(|r| &r.agent)),
        Given::of("longest episode", run_a.map(|r| r.max_steps), run_b.map(|r| r.max_steps)),
        Given::of("decoding", decoding(run_a), decoding(run_b)),
        Given::of("reward", reward(run_a), reward(run_b)),
        Given::of("tools", tools(run_a), tools(run_b)),
    ];
    let told = [
        // Who plays where changes nothing of what an episode is.
        Given::of("lanes", Some(a.lanes), Some(b.lanes)),
        Given::of("build", Some(&a.build), Some(&b.build)),
        Given::of("configuration", Some(&a.config_sha256), Some(&b.config_sha256)),
        Given::of("processor", Some(a.cpu.join(" ")), Some(b.cpu.join(" "))),
    ];
    let differ = |all: Vec<Given>| all.into_iter().filter(Given::differs).collect();
    (differ(given.to_vec()), differ(told.to_vec()))
}

/// Decisions of each side that are held at a time, unless one episode alone has more.
const DECISIONS_MAX: u64 = 20_000;

/// Compares two recordings, a few episodes at a time. `on_pair` is handed each pair as soon as it is known.
pub fn compare_all(
    a: &mut Side<'_>,
    b: &mut Side<'_>,
    is_cancelled: Cancel<'_>,
    on_pair: &mut dyn FnMut(PairDiff) -> Result<(), DiffError>,
) -> Result<RecordingDiff, DiffError> {
    let (given, told) = given_of((a.recording.header(), &a.survey), (b.recording.header(), &b.survey));
    let (pairs, only_a, only_b) = paired(&a.survey.book.episodes, &b.survey.book.episodes);
    let mut diff = RecordingDiff { given, told, pairs: pairs.len(), only_a, only_b, ..RecordingDiff::default() };
    let mut rest = pairs.as_slice();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(fitting(rest, &a.survey, &b.survey));
        rest = later;
        let of = |side: &mut Side<'_>, wanted: Vec<Address>| side.survey.stories(side.recording, &wanted, is_cancelled);
        let mut in_a = of(a, now.iter().map(|(a, _)| *a).collect())?;
        let mut in_b = of(b, now.iter().map(|(_, b)| *b).collect())?;
        for (at_a, at_b) in now {
            let (Some(story_a), Some(story_b)) = (in_a.remove(at_a), in_b.remove(at_b)) else { continue };
            let pair = PairDiff::of(&EpisodeDiff::new(story_a, story_b));
            diff.same += usize::from(pair.is_same);
            diff.costs = (diff.costs.0.and(pair.costs.0), diff.costs.1.and(pair.costs.1));
            diff.fixed += usize::from(pair.is_flip() && pair.verdicts.1 == Some("success"));
            diff.broken += usize::from(pair.is_flip() && pair.verdicts.0 == Some("success"));
            on_pair(pair)?;
        }
    }
    Ok(diff)
}

/// How many pairs are read in one go.
fn fitting(pairs: &[(Address, Address)], a: &Survey, b: &Survey) -> usize {
    let decisions = |survey: &Survey, at| survey.episode(at).map_or(0, |e| u64::from(e.decisions) + 1);
    let mut held = 0;
    let fits = |(at_a, at_b): &&(Address, Address)| {
        held += decisions(a, *at_a).max(decisions(b, *at_b));
        held <= DECISIONS_MAX
    };
    pairs.iter().take_while(fits).count().max(1)
}

type Pairs = (Vec<(Address, Address)>, Vec<Unpaired>, Vec<Unpaired>);

/// By lane and number where the seeds are the same, else by seed, in the order in which they began.
pub(super) fn paired(a: &[Episode], b: &[Episode]) -> Pairs {
    let at = |e: &Episode| Address::from((e.lane, e.episode));
    let mut partners: BTreeMap<Address, Address> = BTreeMap::new();
    let in_b: BTreeMap<Address, Option<Seed>> = b.iter().map(|e| (at(e), e.seed)).collect();
    for e in a.iter().filter(|e| in_b.get(&at(e)) == Some(&e.seed)) {
        partners.insert(at(e), at(e));
    }
    let mut taken: BTreeSet<Address> = partners.values().copied().collect();
    let mut by_seed: BTreeMap<Seed, VecDeque<Address>> = BTreeMap::new();
    for (e, seed) in b.iter().filter(|e| !taken.contains(&at(e))).filter_map(|e| Some((e, e.seed?))) {
        by_seed.entry(seed).or_default().push_back(at(e));
    }
    for (e, seed) in a.iter().filter_map(|e| Some((e, e.seed?))) {
        if partners.contains_key(&at(e)) {
            continue;
        }
        if let Some(partner) = by_seed.get_mut(&seed).and_then(VecDeque::pop_front) {
            partners.insert(at(e), partner);
            taken.insert(partner);
        }
    }
    let alone = |e: &Episode| Unpaired { address: at(e), seed: e.seed };
    let pairs = a.iter().filter_map(|e| Some((at(e), *partners.get(&at(e))?))).collect();
    let only_a = a.iter().filter(|e| !partners.contains_key(&at(e))).map(alone).collect();
    let only_b = b.iter().filter(|e| !taken.contains(&at(e))).map(alone).collect();
    (pairs, only_a, only_b)
}
