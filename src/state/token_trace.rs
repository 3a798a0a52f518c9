//! What is known of a message's tokens, one by one: for the overlays of the thought chain.

use crate::event::{MessageCompleted, num};
use serde::{Deserialize, Serialize};

/// A quantity that tokens have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenMeasure {
    /// How unlikely the token was: its negative log-probability, nats.
    Surprise,
    /// Of the distribution that it was sampled from, nats.
    Entropy,
    Advantage,
    /// 1 where the token counts in the loss, 0 where it does not.
    LossMask,
    /// Trainer's log-probability less the sampler's, nats: 0 where training and inference agree.
    Mismatch,
}

impl TokenMeasure {
    pub const ALL: [TokenMeasure; 5] =
        [TokenMeasure::Surprise, TokenMeasure::Entropy, TokenMeasure::Advantage, TokenMeasure::LossMask, TokenMeasure::Mismatch];
}

/// Parallel lists, each empty where it is not known. `ends` are bytes of the thought, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenTrace {
    ends: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    logprobs: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    entropy: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    trainer_logprobs: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "num::floats")]
    advantages: Vec<f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loss_mask: Vec<bool>,
}

impl TokenTrace {
    /// The part of a message's tokens that lies in its thought; `None` where the recording does not say where tokens end.
    pub fn of(message: &MessageCompleted) -> Option<Self> {
        let count = message.token_ends.len();
        let start = message.text.find(message.thought.as_str()).filter(|_| !message.thought.is_empty())?;
        let (start, end) = (u32::try_from(start).ok()?, u32::try_from(start + message.thought.len()).ok()?);
        let first = message.token_ends.partition_point(|e| *e <= start);
        let last = (message.token_ends.partition_point(|e| *e < end) + 1).min(count);
        if first >= last || !message.token_ends.is_sorted() {
            return None;
        }
        Some(Self {
            ends: message.token_ends[first..last].iter().map(|e| e.saturating_sub(start).min(end - start)).collect(),
            logprobs: part(&message.logprobs, count, first, last),
            entropy: part(&message.entropy, count, first, last),
            trainer_logprobs: part(&message.trainer_logprobs, count, first, last),
            advantages: part(&message.advantages, count, first, last),
            loss_mask: part(&message.loss_mask, count, first, last),
        })
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let floats = self.logprobs.len() + self.entropy.len() + self.trainer_logprobs.len() + self.advantages.len();
        4 * (self.ends.len() + floats) + self.loss_mask.len()
    }

    /// Each token's end in the thought, and its value; empty where that is not known.
    pub fn values(&self, measure: TokenMeasure) -> Vec<(usize, f32)> {
        let ends = self.ends.iter().map(|e| *e as usize);
        match measure {
            TokenMeasure::Surprise => ends.zip(self.logprobs.iter().map(|l| -l)).collect(),
            TokenMeasure::Entropy => ends.zip(self.entropy.iter().copied()).collect(),
            TokenMeasure::Advantage => ends.zip(self.advantages.iter().copied()).collect(),
            TokenMeasure::LossMask => ends.zip(self.loss_mask.iter().map(|counts| f32::from(u8::from(*counts)))).collect(),
            TokenMeasure::Mismatch => {
                ends.zip(self.trainer_logprobs.iter().zip(&self.logprobs).map(|(trainer, sampler)| trainer - sampler)).collect()
            }
        }
    }
}

/// A list that is not as long as the tokens are many says nothing of them.
fn part<T: Clone>(list: &[T], count: usize, first: usize, last: usize) -> Vec<T> {
    if list.len() == count { list[first..last].to_vec() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{FinishReason, SafeText, TokenId};

    fn message() -> MessageCompleted {
        MessageCompleted {
            text: SafeText::new("<think>pay is slow<act>{}<end>"),
            thought: SafeText::new("pay is slow"),
            token_ids: vec![TokenId(1); 6],
            logprobs: vec![-0.1, -0.2, -0.3, -0.4, -0.5, -0.6],
            entropy: vec![1.0; 6],
            // <think> | pay | _is | _slow | <act>{} | <end>
            token_ends: vec![7, 10, 13, 18, 25, 30],
            trainer_logprobs: vec![-0.1, -0.2, -0.8, -0.4, -0.5, -0.6],
            advantages: Vec::new(),
            loss_mask: vec![true],
            finish_reason: FinishReason::Stop,
            prompt_tokens: 1,
            cached_tokens: 0,
            checkpoint: None,
            duration_ns: 1,
            prefill_ns: None,
        }
    }

    #[test]
    fn tokens_of_the_thought_have_their_values_and_what_is_not_known_has_none() {
        let trace = TokenTrace::of(&message()).unwrap();
        assert_eq!(trace.values(TokenMeasure::Surprise), [(3, 0.2), (6, 0.3), (11, 0.4)]);
        let mismatch = trace.values(TokenMeasure::Mismatch);
        assert!((mismatch[1].1 + 0.5).abs() < 1e-6 && mismatch[0].1 == 0.0, "{mismatch:?}");
        assert_eq!(trace.values(TokenMeasure::Advantage), []);
        assert_eq!(trace.values(TokenMeasure::LossMask), [], "one value for six tokens is none");
    }

    #[test]
    fn without_ends_or_with_false_ones_there_is_no_trace() {
        assert_eq!(TokenTrace::of(&MessageCompleted { token_ends: Vec::new(), ..message() }), None);
        assert_eq!(TokenTrace::of(&MessageCompleted { token_ends: vec![18, 7, 13, 10, 25, 30], ..message() }), None);
        let far = TokenTrace::of(&MessageCompleted { token_ends: vec![u32::MAX; 6], ..message() }).unwrap();
        assert!(far.values(TokenMeasure::Surprise).iter().all(|(end, _)| *end <= 11));
    }
}
