//! Duty: the `Policy` trait, the ReAct state machine (pure: input in, effects out), the prompt and its compression.
//! May import: event.
//! Emits: effects that the engine carries out; it does no IO and keeps no clock, so it can't fail for outside reasons.
//! Accepts: observations, pieces of a message, tool results.
//! Test: `cargo test --lib agent::`.

pub mod format;
pub mod prompt;
pub mod react;

use crate::event::{FinishReason, LaneId, SafeText, TokenId};

/// A part of a prompt. Each is tokenized by itself, so that text can't imitate the mark of another role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    pub role: Role,
    pub text: SafeText,
}

/// Who speaks. The model's tokenizer has one special token a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The briefing: what holds for the whole episode.
    System,
    /// Summary of older steps.
    Memory,
    Observation,
    Thought,
    Action,
}

/// The whole prompt of a decision. The policy keeps the keys and values of the longest common prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub segments: Vec<Segment>,
}

/// How to decode one message.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodeSpec {
    /// Calls are valid by construction: the tools, with this episode's names, that the grammar is made of.
    pub tools: std::sync::Arc<Vec<crate::event::ToolSpec>>,
    /// 0 takes the likeliest token.
    pub temperature: f32,
    pub top_p: f32,
    /// Seed of this message's samples.
    pub seed: u64,
    pub tokens_max: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Prefill went on, or nothing was ready.
    Pending,
    Piece {
        /// Whole characters only; may be empty while one is incomplete.
        text: String,
        token: Option<TokenId>,
        logprob: Option<f32>,
        entropy: Option<f32>,
    },
    Done(FinishReason),
}

/// What a policy can give.
#[derive(Clone, Debug, PartialEq)]
pub struct Caps {
    pub logprobs: bool,
    pub value: bool,
    pub context_tokens_max: u32,
    pub parameters: u64,
    /// The device and why it was chosen.
    pub device: SafeText,
}

/// How a prompt was taken up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub prompt_tokens: u32,
    /// Of these, how many were in the cache.
    pub cached_tokens: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("the prompt has {tokens} tokens, the model takes {limit}: lower agent.window_steps")]
    PromptTooLong { tokens: usize, limit: usize },
    #[error("tool `{tool}` can't be turned into a grammar: {reason}")]
    Grammar { tool: String, reason: String },
    #[error("lane {0} has no message open")]
    NotOpen(LaneId),
    #[error("the model failed: {0}")]
    Backend(String),
}

/// Decides what to say, token by token. Never blocks long: prefill goes in chunks of at most 64 tokens.
pub trait Policy: Send {
    /// Begins a message of `lane`.
    fn open(&mut self, lane: LaneId, prompt: &Prompt, spec: &DecodeSpec) -> Result<Opened, PolicyError>;
    /// One token, or one chunk of prefill, for each of `lanes`, decoded as one batch. A row's result does not depend on the other rows.
    fn advance(&mut self, lanes: &[LaneId], out: &mut Vec<(LaneId, Progress)>) -> Result<(), PolicyError>;
    /// Drops the message and the cache of `lane`.
    fn cancel(&mut self, lane: LaneId);
    /// Keeps only the first `tokens` of the cache of `lane`.
    fn truncate(&mut self, lane: LaneId, tokens: usize);
    /// Makes the cache of `to` equal to that of `from`.
    fn fork(&mut self, from: LaneId, to: LaneId);
    /// Tokens that a segment takes, its mark included.
    fn count_tokens(&self, segment: &Segment) -> u32;
    fn caps(&self) -> Caps;
}
