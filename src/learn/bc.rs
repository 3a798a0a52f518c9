//! Behaviour cloning of the runbook, thoughts included, then DAgger.

use super::dagger::corrections;
use super::rollout::{EpisodeTrace, PolicySettings, play_baseline, play_policy};
use super::windows::{SegmentEncoder, windows};
use super::{LearnError, TRAINING_SEEDS_FROM};
use crate::agent::Policy;
use crate::agent::format::render_message;
use crate::env::{BaselineKind, Environment};
use crate::event::{Level, Seed, UpdateCompleted};
use crate::model::tokenizer::train_bpe;
use crate::model::train::{Adam, AdamSettings, Example, LossSum, Network, Tape, clip_norm};
use crate::model::{LlamaConfig, Tokenizer, Weights};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Everything that a training run hangs on.
#[derive(Clone, Debug, PartialEq)]
pub struct BcSettings {
    pub seed: u64,
    /// Runbook episodes that are played; those that fail are left out.
    pub episodes: u32,
    pub vocab_size: usize,
    /// Windows of one update.
    pub batch: usize,
    /// Updates on the runbook's own episodes.
    pub steps: u32,
    /// Update after which the early checkpoint is taken.
    pub early_step: u32,
    pub learning_rate: f32,
    /// Rounds of DAgger, each with its own student episodes.
    pub dagger_rounds: u32,
    pub dagger_episodes: u32,
    pub dagger_steps: u32,
    pub dagger_learning_rate: f32,
    pub play: PolicySettings,
}

impl Default for BcSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            episodes: 6_000,
            vocab_size: 560,
            batch: 8,
            steps: 2_400,
            early_step: 300,
            learning_rate: 1.5e-3,
            dagger_rounds: 2,
            dagger_episodes: 1_000,
            dagger_steps: 300,
            dagger_learning_rate: 3e-4,
            play: PolicySettings { lanes: 32, steps_max: 40, ..PolicySettings::default() },
        }
    }
}

/// Tokens of context of the built-in agent.
const CONTEXT_TOKENS: usize = 1_024;
/// Updates in which the learning rate rises.
const WARM_UP_STEPS: u32 = 50;
/// Longest gradient.
const GRADIENT_NORM_MAX: f64 = 1.0;
/// Student episodes begin this far into the training seeds, so that they are new to the student.
const DAGGER_SEEDS_OFFSET: u64 = 1 << 24;

/// What a training is busy with.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    Collecting {
        done: u32,
        total: u32,
    },
    Cloning,
    /// The student plays; `success_ratio` is of its training episodes.
    Playing {
        round: u32,
    },
    Correcting {
        round: u32,
        success_ratio: f64,
        thought_fidelity: f64,
        corrections: usize,
    },
}

/// News of a training.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    Phase(Phase),
    Update { update: UpdateCompleted, updates_total: u32, token_accuracy: f64 },
}

/// A checkpoint that is to be kept.
pub struct Stage<'a> {
    /// `early`, `middle` or `final`.
    pub name: &'static str,
    pub update: u32,
    pub weights: &'a Weights,
    pub tokenizer_json: &'a [u8],
}

/// What a training reports to and is served by.
pub trait BcHost {
    /// False ends the training.
    fn progress(&mut self, progress: Progress) -> bool;
    fn stage(&mut self, stage: Stage<'_>) -> Result<(), LearnError>;
    /// A policy that serves these weights.
    fn policy(&mut self, weights: &Weights, tokenizer_json: &[u8]) -> Result<Box<dyn Policy>, LearnError>;
    /// Nanoseconds on any monotonic clock.
    fn now_ns(&mut self) -> u64;
}

/// The state of the optimisation.
struct Trainer<'a> {
    network: Network,
    parameters: Vec<f32>,
    decays: Vec<bool>,
    gradient: Vec<f32>,
    tapes: [Tape; 2],
    rng: ChaCha8Rng,
    update: u32,
    updates_total: u32,
    host: &'a mut dyn BcHost,
}

impl Trainer<'_> {
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * n as u128) >> 64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    fn step(&mut self, batch: &[&Example], adam: &mut Adam) -> Result<(), LearnError> {
        let begin_ns = self.host.now_ns();
        self.gradient.fill(0.0);
        let sum: LossSum = self.network.loss_and_gradient(&self.parameters, batch, &mut self.gradient, &mut self.tapes);
        let positions = sum.positions.max(1) as f64;
        self.gradient.iter_mut().for_each(|g| *g /= positions as f32);
        let grad_norm = clip_norm(&mut self.gradient, GRADIENT_NORM_MAX);
        let rate = adam.update(&mut self.parameters, &self.gradient, &self.decays);
        self.update += 1;
        let loss = sum.loss / positions;
        let update = u64::from(self.update);
        if !loss.is_finite() || !grad_norm.is_finite() {
            return Err(LearnError::Diverged { update });
        }
        let news = UpdateCompleted {
            update,
            policy_loss: Some(loss),
            grad_norm: Some(grad_norm),
            learning_rate: Some(f64::from(rate)),
            tokens: sum.tokens,
            duration_ns: self.host.now_ns() - begin_ns,
            ..UpdateCompleted::default()
        };
        let token_accuracy = sum.hits as f64 / positions;
        self.tell(Progress::Update { update: news, updates_total: self.updates_total, token_accuracy })
    }

    fn tell(&mut self, progress: Progress) -> Result<(), LearnError> {
        if self.host.progress(progress) { Ok(()) } else { Err(LearnError::Cancelled { update: u64::from(self.update) }) }
    }

    fn stage(&mut self, name: &'static str, tokenizer_json: &[u8]) -> Result<Weights, LearnError> {
        let weights = self.network.to_weights(&self.parameters)?;
        self.host.stage(Stage { name, update: self.update, weights: &weights, tokenizer_json })?;
        Ok(weights)
    }
}

fn adam(parameters: usize, learning_rate: f32, total_steps: u32) -> Adam {
    let settings = AdamSettings {
        learning_rate,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-8,
        weight_decay: 0.05,
        warm_up_steps: WARM_UP_STEPS,
        total_steps,
        floor: 0.05,
    };
    Adam::new(parameters, settings)
}

/// Level of the n-th training episode: 40 % L0, 50 % L1, 10 % L2.
fn level_of(n: u64) -> Level {
    match n % 10 {
        0..=3 => Level::L0,
        4..=8 => Level::L1,
        _ => Level::L2,
    }
}

/// The runbook's successful episodes, played on two threads, in the order of their seeds.
fn teach(env: &dyn Environment, settings: &BcSettings) -> Vec<EpisodeTrace> {
    let play = |mut env: Box<dyn Environment>, part: u64| {
        let mut teacher = env.baseline(BaselineKind::Heuristic);
        let numbers = (0..u64::from(settings.episodes)).filter(|n| n % 2 == part);
        let traces = numbers.map(|n| play_baseline(env.as_mut(), teacher.as_mut(), training_seed(settings.seed, n), level_of(n)));
        traces.collect::<Vec<_>>()
    };
    let (even, odd) = std::thread::scope(|scope| {
        let (env_a, env_b) = (env.fresh(), env.fresh());
        let other = scope.spawn(move || play(env_b, 1));
        let even = play(env_a, 0);
        (even, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut odd = odd.into_iter();
    even.into_iter().flat_map(|e| [Some(e), odd.next()]).flatten().filter(|t| t.success).collect()
}

/// Seeds of a training run lie in a block of their own within the training seeds.
fn training_seed(run: u64, n: u64) -> Seed {
    Seed(TRAINING_SEEDS_FROM + ((run % 64) << 26) + n)
}

/// Episodes from which the tokenizer is made.
const TOKENIZER_EPISODES: usize = 1_500;

fn tokenizer_texts(traces: &[EpisodeTrace]) -> Vec<String> {
    let mut texts = Vec::new();
    for trace in traces.iter().take(TOKENIZER_EPISODES) {
        texts.push(trace.briefing.to_string());
        for step in &trace.steps {
            texts.push(step.observation.to_string());
            if let Some(call) = &step.call {
                // The marks are tokens of their own, so the tokenizer sees the text between them.
                texts.extend(render_message(&step.thought, call).split(['<', '>']).map(str::to_owned));
            }
        }
    }
    texts
}

/// Trains the built-in agent and hands its early, middle and final checkpoints to `host`. The same settings give the same bits on the same
/// processor features.
pub fn train_bc(settings: &BcSettings, env: &dyn Environment, host: &mut dyn BcHost) -> Result<(), LearnError> {
    host.progress(Progress::Phase(Phase::Collecting { done: 0, total: settings.episodes }));
    let traces = teach(env, settings);
    if traces.is_empty() {
        return Err(LearnError::NoTeacher { episodes: settings.episodes as usize });
    }
    let tokenizer_json = train_bpe(tokenizer_texts(&traces).into_iter(), settings.vocab_size)?;
    let tokenizer = Tokenizer::from_json(&tokenizer_json)?;
    let mut encoder = SegmentEncoder::new(&tokenizer);
    let mut examples = Vec::new();
    for trace in &traces {
        let of_trace = windows(trace, settings.play.window, &mut encoder)?;
        for _ in 1..if copies_a_number(trace) { NUMBER_COPIES } else { 1 } {
            examples.extend(of_trace.iter().cloned());
        }
        examples.extend(of_trace);
    }
    drop(traces);
    let config = LlamaConfig { max_position_embeddings: CONTEXT_TOKENS, ..LlamaConfig::deckhand(tokenizer.vocab_size()) };
    let network = Network::new(&config)?;
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    let parameters = network.initial(|| standard_normal(&mut rng));
    let mut trainer = Trainer {
        decays: network.decays(),
        gradient: vec![0.0; network.parameters()],
        network,
        parameters,
        tapes: Default::default(),
        rng,
        update: 0,
        updates_total: settings.steps + settings.dagger_rounds * settings.dagger_steps,
        host,
    };
    clone_teacher(settings, &mut trainer, &mut examples, &tokenizer_json)?;
    let mut weights = trainer.stage("middle", &tokenizer_json)?;
    let mut corrected: Vec<Example> = Vec::new();
    for round in 0..settings.dagger_rounds {
        correct(settings, env, &mut trainer, round, &weights, (&tokenizer_json, &mut encoder), &mut corrected)?;
        learn_corrections(settings, &mut trainer, &examples, &corrected)?;
        weights = trainer.network.to_weights(&trainer.parameters)?;
    }
    trainer.stage("final", &tokenizer_json)?;
    Ok(())
}

/// How often an episode in which a number is copied is among the examples. One episode in six has such a decision, and one token of it is
/// the number, so that copying it was learnt last.
const NUMBER_COPIES: usize = 3;

fn copies_a_number(trace: &EpisodeTrace) -> bool {
    trace.steps.iter().filter_map(|s| s.call.as_ref()).any(|call| call.arguments.values().any(serde_json::Value::is_number))
}

fn clone_teacher(
    settings: &BcSettings,
    trainer: &mut Trainer<'_>,
    examples: &mut [Example],
    tokenizer_json: &[u8],
) -> Result<(), LearnError> {
    trainer.tell(Progress::Phase(Phase::Cloning))?;
    let mut optimizer = adam(trainer.network.parameters(), settings.learning_rate, settings.steps);
    let mut next = examples.len();
    for _ in 0..settings.steps {
        if next + settings.batch > examples.len() {
            trainer.shuffle(examples);
            next = 0;
        }
        let batch: Vec<&Example> = examples[next..].iter().take(settings.batch).collect();
        next += settings.batch;
        trainer.step(&batch, &mut optimizer)?;
        if trainer.update == settings.early_step {
            trainer.stage("early", tokenizer_json)?;
        }
    }
    Ok(())
}

/// Lets the student play and adds the teacher's corrections.
fn correct(
    settings: &BcSettings,
    env: &dyn Environment,
    trainer: &mut Trainer<'_>,
    round: u32,
    weights: &Weights,
    (tokenizer_json, encoder): (&[u8], &mut SegmentEncoder<'_>),
    corrected: &mut Vec<Example>,
) -> Result<(), LearnError> {
    trainer.tell(Progress::Phase(Phase::Playing { round }))?;
    let from = DAGGER_SEEDS_OFFSET + u64::from(round) * u64::from(settings.dagger_episodes);
    let seeds: Vec<(Seed, Level)> =
        (0..u64::from(settings.dagger_episodes)).map(|n| (training_seed(settings.seed, from + n), level_of(n))).collect();
    let (front, back) = seeds.split_at(seeds.len() / 2);
    let mut policies = [trainer.host.policy(weights, tokenizer_json)?, trainer.host.policy(weights, tokenizer_json)?];
    let [policy_a, policy_b] = &mut policies;
    let other_env = env.fresh();
    let (head, tail) = std::thread::scope(|scope| {
        let other = scope.spawn(move || play_policy(policy_b.as_mut(), other_env.as_ref(), back, &settings.play));
        let head = play_policy(policy_a.as_mut(), env, front, &settings.play);
        (head, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (mut traces, tail) = (head?, tail?);
    traces.extend(tail);
    let before = corrected.len();
    let mut reset = env.fresh();
    for trace in &traces {
        corrected.extend(corrections(trace, reset.as_mut(), settings.play.window, encoder)?);
    }
    let mean = |of: &dyn Fn(&EpisodeTrace) -> f64| traces.iter().map(of).sum::<f64>() / traces.len().max(1) as f64;
    trainer.tell(Progress::Phase(Phase::Correcting {
        round,
        success_ratio: mean(&|t| f64::from(t.success)),
        thought_fidelity: mean(&EpisodeTrace::thought_fidelity),
        corrections: corrected.len() - before,
    }))
}

/// Half corrections, half the teacher's own windows, so that what was learnt stays.
fn learn_corrections(
    settings: &BcSettings,
    trainer: &mut Trainer<'_>,
    examples: &[Example],
    corrected: &[Example],
) -> Result<(), LearnError> {
    let mut optimizer = adam(trainer.network.parameters(), settings.dagger_learning_rate, settings.dagger_steps);
    for _ in 0..settings.dagger_steps {
        let batch: Vec<&Example> = (0..settings.batch)
            .map(|i| if i % 2 == 0 && !corrected.is_empty() { corrected } else { examples })
            .map(|from| &from[trainer.below(from.len())])
            .collect();
        trainer.step(&batch, &mut optimizer)?;
    }
    Ok(())
}

fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - uniform()));
    radius * libm::cos(2.0 * std::f64::consts::PI * uniform())
}
