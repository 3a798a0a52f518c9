//! The embedded model as a [`Policy`]: a cache a lane, kept from decision to decision, and one batch for all lanes.

use super::grammar::{Constraint, Grammars};
use super::language_model::CHUNK_TOKENS_MAX;
use super::network::{Cache, NetworkScratch, Span, Wanted};
use super::sampling::{Sampling, choose};
use super::{Detokenizer, LanguageModel, ModelError, Tokenizer};
use crate::agent::{Caps, DecodeSpec, Opened, Policy, PolicyError, Progress, Prompt, Segment};
use crate::event::{FinishReason, LaneId, SafeText, TokenId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A thought's share of a message's tokens: the call needs the rest.
const THOUGHT_SHARE: u32 = 2;

pub struct LocalPolicy {
    model: Arc<LanguageModel>,
    grammars: Grammars,
    lanes: BTreeMap<LaneId, Lane>,
    scratch: NetworkScratch,
}

struct Lane {
    cache: Cache,
    /// What the cache holds.
    tokens: Vec<u32>,
    message: Option<Message>,
}

/// A message that is being decoded.
struct Message {
    /// Tokens that the network has not seen: the rest of the prompt, or the token chosen last.
    pending: Vec<u32>,
    constraint: Constraint,
    sampling: Sampling,
    tokens_max: u32,
    chosen: u32,
    text: Detokenizer,
}

impl LocalPolicy {
    pub fn new(model: Arc<LanguageModel>) -> Result<Self, PolicyError> {
        let grammars = Grammars::new(model.tokenizer())?;
        Ok(Self { model, grammars, lanes: BTreeMap::new(), scratch: NetworkScratch::default() })
    }

    pub fn model(&self) -> &Arc<LanguageModel> {
        &self.model
    }

    /// Computes the next chunk of each lane of `ids`. Returns the logits of the lanes whose chunk was their last, in the order of `self.lanes`.
    fn compute(&mut self, ids: &[LaneId]) -> Result<Vec<f32>, ModelError> {
        let mut chunks: Vec<Vec<u32>> = Vec::with_capacity(ids.len());
        let mut spans = Vec::with_capacity(ids.len());
        let mut targets = Vec::with_capacity(ids.len());
        for lane in self.lanes.iter_mut().filter(|(id, _)| ids.contains(id)).map(|(_, lane)| lane) {
            let Some(message) = &mut lane.message else { continue };
            let chunk: Vec<u32> = message.pending.drain(..message.pending.len().min(CHUNK_TOKENS_MAX)).collect();
            chunks.push(chunk);
            targets.push((&mut lane.cache, &mut lane.tokens, message.pending.is_empty()));
        }
        for ((cache, tokens, is_last), chunk) in targets.into_iter().zip(&chunks) {
            tokens.extend_from_slice(chunk);
            spans.push(Span { cache, tokens: chunk, logits: if is_last { Wanted::Last } else { Wanted::Nothing } });
        }
        self.model.network().forward(&mut spans, &mut self.scratch).map(<[f32]>::to_vec)
    }

    /// Chooses a token for each lane of `ids` whose prompt is complete; `logits` are what [`Self::compute`] gave.
    fn speak(&mut self, ids: &[LaneId], logits: &[f32], out: &mut Vec<(LaneId, Progress)>) -> Result<(), PolicyError> {
        let context = self.model.context_tokens_max();
        let mut rows = logits.chunks_exact(self.model.network().config().vocab_size);
        for (id, lane) in self.lanes.iter_mut().filter(|(id, _)| ids.contains(id)) {
            let Some(message) = &mut lane.message else { continue };
            let Some(row) = (if message.pending.is_empty() { rows.next() } else { None }) else {
                out.push((*id, Progress::Pending));
                continue;
            };
            let room = context - lane.tokens.len();
            let finished = message.say(row, room, self.model.tokenizer(), |progress| out.push((*id, progress)))?;
            if let Some(reason) = finished {
                lane.message = None;
                out.push((*id, Progress::Done(reason)));
            }
        }
        Ok(())
    }
}

impl Policy for LocalPolicy {
    fn open(&mut self, lane: LaneId, prompt: &Prompt, spec: &DecodeSpec) -> Result<Opened, PolicyError> {
        let ids = self.model.tokenizer().encode_prompt(prompt).map_err(backend)?;
        // The message needs at least one place.
        let limit = self.model.context_tokens_max() - 1;
        if ids.is_empty() {
            return Err(PolicyError::Backend("the prompt is empty".to_owned()));
        }
        if ids.len() > limit {
            return Err(PolicyError::PromptTooLong { tokens: ids.len(), limit });
        }
        let constraint = self.grammars.constraint(&spec.tools, spec.tokens_max / THOUGHT_SHARE)?;
        let new_lane = || Ok::<_, ModelError>(Lane { cache: self.model.network().new_cache()?, tokens: Vec::new(), message: None });
        let mut state = self.lanes.remove(&lane).map_or_else(new_lane, Ok).map_err(backend)?;
        // The last token is always computed: its logits begin the message.
        let common = state.tokens.iter().zip(&ids[..ids.len() - 1]).take_while(|(a, b)| a == b).count();
        state.keep(common);
        state.message = Some(Message {
            pending: ids[common..].to_vec(),
            constraint,
            sampling: Sampling { temperature: spec.temperature, top_p: spec.top_p, seed: spec.seed },
            tokens_max: spec.tokens_max,
            chosen: 0,
            text: Detokenizer::default(),
        });
        self.lanes.insert(lane, state);
        Ok(Opened { prompt_tokens: ids.len() as u32, cached_tokens: common as u32 })
    }

    fn advance(&mut self, lanes: &[LaneId], out: &mut Vec<(LaneId, Progress)>) -> Result<(), PolicyError> {
        let is_open = |id: &&LaneId| self.lanes.get(id).is_some_and(|l| l.message.is_some());
        if let Some(closed) = lanes.iter().find(|id| !is_open(id)) {
            return Err(PolicyError::NotOpen(*closed));
        }
        let advanced = self.compute(lanes).map_err(backend).and_then(|logits| self.speak(lanes, &logits, out));
        if advanced.is_err() {
            // A part of the batch has been computed, but not said: what caches and messages hold no longer fits together.
            lanes.iter().for_each(|id| self.cancel(*id));
        }
        advanced
    }

    fn cancel(&mut self, lane: LaneId) {
        self.lanes.remove(&lane);
    }

    /// An open message is dropped with the tokens that it stood on.
    fn truncate(&mut self, lane: LaneId, tokens: usize) {
        if let Some(state) = self.lanes.get_mut(&lane) {
            state.keep(tokens);
            state.message = None;
        }
    }

    /// The message of `from`, if one is open, stays with `from`. Where the copy fails for want of memory `to` starts empty.
    fn fork(&mut self, from: LaneId, to: LaneId) {
        let copy =
            self.lanes.get(&from).and_then(|l| Some(Lane { cache: l.cache.duplicate().ok()?, tokens: l.tokens.clone(), message: None }));
        match copy {
            Some(copy) => self.lanes.insert(to, copy),
            None => self.lanes.remove(&to),
        };
    }

    fn count_tokens(&self, segment: &Segment) -> u32 {
        // Where a text can't be tokenized, opening the prompt says why; until then each byte counts.
        self.model.tokenizer().encode_segment(segment).map_or(segment.text.len() + 1, |ids| ids.len()) as u32
    }

    fn caps(&self) -> Caps {
        Caps {
            logprobs: true,
            value: false,
            context_tokens_max: self.model.context_tokens_max() as u32,
            parameters: self.model.parameters(),
            device: SafeText::from(self.model.device_reason().to_owned()),
        }
    }
}

impl Lane {
    fn keep(&mut self, tokens: usize) {
        self.cache.truncate(tokens);
        self.tokens.truncate(tokens);
    }
}

impl Message {
    /// Chooses the next token from its logits and gives its piece. Returns why the message has ended, if it has. `room` is how many tokens the context
    /// still takes.
    fn say(
        &mut self,
        logits: &[f32],
        room: usize,
        tokenizer: &Tokenizer,
        mut give: impl FnMut(Progress),
    ) -> Result<Option<FinishReason>, PolicyError> {
        if self.chosen >= self.tokens_max {
            return Ok(Some(FinishReason::Length));
        }
        let mask = self.constraint.allowed()?;
        let allowed = |id: u32| (id as usize) < mask.len() && mask.is_allowed(id);
        let choice = choose(logits, allowed, self.sampling, u64::from(self.chosen));
        let choice = choice.ok_or_else(|| PolicyError::Backend("no token can be chosen: the logits are not finite".to_owned()))?;
        let token = TokenId(choice.token);
        self.constraint.take(token)?;
        self.chosen += 1;
        let finished = if token == tokenizer.end() {
            Some(FinishReason::Stop)
        } else if self.chosen >= self.tokens_max || room <= 1 {
            Some(FinishReason::Length)
        } else {
            self.pending.push(choice.token);
            None
        };
        let mut text = self.text.push(tokenizer.token_bytes(token));
        if finished.is_some() {
            text += &self.text.finish();
        }
        give(Progress::Piece { text, token: Some(token), logprob: Some(choice.logprob), entropy: Some(choice.entropy) });
        Ok(finished)
    }
}

fn backend(error: ModelError) -> PolicyError {
    PolicyError::Backend(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{tiny_model, tool};
    use super::*;
    use crate::agent::Role;
    use serde_json::json;

    fn segment(role: Role, text: &str) -> Segment {
        Segment { role, text: SafeText::from(text) }
    }

    fn prompt(texts: &[&str]) -> Prompt {
        let mut segments: Vec<Segment> = texts.iter().map(|t| segment(Role::Observation, t)).collect();
        segments.push(segment(Role::Thought, ""));
        Prompt { segments }
    }

    fn spec(seed: u64) -> DecodeSpec {
        let svc = json!({"type": "object", "properties": {"svc": {"enum": ["pay", "mail"]}}, "required": ["svc"]});
        DecodeSpec {
            tools: Arc::new(vec![tool("restart", svc), tool("wait", json!({}))]),
            temperature: 1.0,
            top_p: 0.95,
            seed,
            tokens_max: 60,
        }
    }

    fn policy() -> LocalPolicy {
        LocalPolicy::new(Arc::new(tiny_model(3))).unwrap()
    }

    /// Runs lanes together until all are done.
    fn finish(policy: &mut LocalPolicy, mut lanes: Vec<LaneId>) -> BTreeMap<LaneId, Vec<Progress>> {
        let mut all: BTreeMap<LaneId, Vec<Progress>> = BTreeMap::new();
        while !lanes.is_empty() {
            let mut out = Vec::new();
            policy.advance(&lanes, &mut out).unwrap();
            for (id, progress) in out {
                lanes.retain(|l| !(*l == id && matches!(progress, Progress::Done(_))));
                if progress != Progress::Pending {
                    all.entry(id).or_default().push(progress);
                }
            }
        }
        all
    }

    fn decide(policy: &mut LocalPolicy, lane: u32, prompt: &Prompt, spec: &DecodeSpec) -> Vec<Progress> {
        policy.open(LaneId(lane), prompt, spec).unwrap();
        finish(policy, vec![LaneId(lane)]).remove(&LaneId(lane)).unwrap()
    }

    fn text(pieces: &[Progress]) -> String {
        let of = |p: &Progress| if let Progress::Piece { text, .. } = p { text.clone() } else { String::new() };
        pieces.iter().map(of).collect()
    }

    const LONG: &str =
        "gw>mail,pay;mail p5 e5;pay p6;gw>mail,pay;mail p5 e5;pay p6 gw>mail,pay;mail p5 e5;pay p6 gw>mail,pay;mail p5 e5;pay p6 and on";

    #[test]
    fn a_message_is_a_thought_and_a_valid_call() {
        let mut policy = policy();
        for seed in 0..20 {
            let pieces = decide(&mut policy, 0, &prompt(&["mail p5 e5"]), &spec(seed));
            let text = text(&pieces);
            assert_eq!(pieces.last(), Some(&Progress::Done(FinishReason::Stop)), "{text}");
            let call = text.split_once("<act>").unwrap().1.strip_suffix("<end>").unwrap();
            assert!(
                [r#"{"tool":"restart","svc":"pay"}"#, r#"{"tool":"restart","svc":"mail"}"#, r#"{"tool":"wait"}"#].contains(&call),
                "{text}"
            );
            for piece in &pieces[..pieces.len() - 1] {
                assert!(
                    matches!(piece, Progress::Piece { token: Some(_), logprob: Some(l), entropy: Some(e), .. } if *l < 0.0 && *e > 0.0)
                );
            }
        }
    }

    #[test]
    fn lanes_together_say_what_each_says_alone_bit_for_bit() {
        let prompts = [prompt(&["mail p5"]), prompt(&[LONG]), prompt(&["", "pay p6 e5", "crash"]), prompt(&["gw"])];
        let alone: Vec<Vec<Progress>> = (0..4).map(|i| decide(&mut policy(), 0, &prompts[i], &spec(i as u64))).collect();
        let mut together = policy();
        let mut out = Vec::new();
        together.open(LaneId(0), &prompts[0], &spec(0)).unwrap();
        together.advance(&[LaneId(0)], &mut out).unwrap();
        for (i, prompt) in prompts.iter().enumerate().skip(1) {
            together.open(LaneId(i as u32), prompt, &spec(i as u64)).unwrap();
        }
        let mut rest = finish(&mut together, (0..4).map(LaneId).collect());
        rest.get_mut(&LaneId(0)).unwrap().splice(0..0, out.into_iter().map(|(_, p)| p));
        for (i, expected) in alone.iter().enumerate() {
            assert_eq!(&rest[&LaneId(i as u32)], expected, "lane {i}");
        }
    }

    #[test]
    fn a_common_prefix_is_reused_and_changes_nothing() {
        let mut warm = policy();
        decide(&mut warm, 7, &prompt(&[LONG, "mail p5 e5"]), &spec(1));
        let next = prompt(&[LONG, "pay p6", "mail p5"]);
        let opened = warm.open(LaneId(7), &next, &spec(2)).unwrap();
        assert!(opened.cached_tokens > 40 && opened.cached_tokens < opened.prompt_tokens, "{opened:?}");
        let warm_pieces = finish(&mut warm, vec![LaneId(7)]).remove(&LaneId(7)).unwrap();
        assert_eq!(warm_pieces, decide(&mut policy(), 0, &next, &spec(2)));
        // The same prompt again: all but the last token are there.
        let again = warm.open(LaneId(7), &next, &spec(2)).unwrap();
        assert_eq!(again.cached_tokens + 1, again.prompt_tokens);
        assert_eq!(finish(&mut warm, vec![LaneId(7)]).remove(&LaneId(7)).unwrap(), warm_pieces);
    }

    #[test]
    fn a_fork_and_a_truncated_lane_go_on_as_fresh_ones_would() {
        let (fresh, next) = (policy, prompt(&[LONG, "crash"]));
        let mut policy = fresh();
        decide(&mut policy, 0, &prompt(&[LONG]), &spec(1));
        policy.fork(LaneId(0), LaneId(1));
        policy.truncate(LaneId(0), 10);
        let expected = decide(&mut fresh(), 0, &next, &spec(5));
        assert_eq!(policy.open(LaneId(0), &next, &spec(5)).unwrap().cached_tokens, 10);
        assert!(policy.open(LaneId(1), &next, &spec(5)).unwrap().cached_tokens > 40);
        let both = finish(&mut policy, vec![LaneId(0), LaneId(1)]);
        assert_eq!((&both[&LaneId(0)], &both[&LaneId(1)]), (&expected, &expected));
        policy.fork(LaneId(9), LaneId(1));
        assert_eq!(policy.open(LaneId(1), &next, &spec(5)).unwrap().cached_tokens, 0);
    }

    #[test]
    fn limits_are_errors_or_ends_never_panics() {
        let mut policy = policy();
        let mut out = Vec::new();
        assert!(matches!(policy.advance(&[LaneId(1)], &mut out), Err(PolicyError::NotOpen(LaneId(1)))));
        let long = prompt(&[&LONG.repeat(9)]);
        assert!(matches!(policy.open(LaneId(1), &long, &spec(0)), Err(PolicyError::PromptTooLong { limit: 191, .. })));
        assert!(policy.open(LaneId(1), &Prompt::default(), &spec(0)).is_err());
        for tokens_max in [0, 1, 5] {
            let pieces = decide(&mut policy, 1, &prompt(&["gw"]), &DecodeSpec { tokens_max, ..spec(0) });
            assert_eq!((pieces.len(), pieces.last()), (tokens_max as usize + 1, Some(&Progress::Done(FinishReason::Length))));
        }
        policy.open(LaneId(1), &prompt(&["gw"]), &spec(0)).unwrap();
        policy.cancel(LaneId(1));
        assert!(policy.advance(&[LaneId(1)], &mut out).is_err());
        // The context ends before the message does.
        let mut full = prompt(&[LONG]);
        while policy.open(LaneId(2), &full, &spec(0)).is_ok() {
            full.segments[0].text = SafeText::from(format!("{}x", full.segments[0].text.as_str()));
        }
        full.segments[0].text = SafeText::from(full.segments[0].text.as_str().strip_suffix('x').unwrap());
        let pieces = decide(&mut policy, 2, &full, &DecodeSpec { tokens_max: 400, ..spec(0) });
        assert_eq!((pieces.len(), pieces.last()), (2, Some(&Progress::Done(FinishReason::Length))));
    }

    #[test]
    fn tokens_are_counted_with_their_marks() {
        let policy = policy();
        assert_eq!(policy.count_tokens(&segment(Role::Thought, "")), 1);
        assert_eq!(policy.count_tokens(&segment(Role::Action, "")), 2);
        assert_eq!(policy.count_tokens(&segment(Role::Observation, "pay")), 2);
        assert_eq!(policy.caps().device.as_str(), "cpu: asked for");
    }
}
