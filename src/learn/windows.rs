//! Training windows: the prompts that a policy would see, with targets on the agent's own tokens.

use super::LearnError;
use super::rollout::EpisodeTrace;
use crate::agent::format::render_call;
use crate::agent::prompt::{Conversation, WindowSettings};
use crate::agent::{Role, Segment};
use crate::event::SafeText;
use crate::model::Tokenizer;
use crate::model::train::Example;
use std::collections::HashMap;

/// Tokenizes segments and remembers them: observations aside, an episode's texts repeat.
pub struct SegmentEncoder<'a> {
    tokenizer: &'a Tokenizer,
    known: HashMap<Segment, Vec<u32>>,
}

/// Segments that are remembered before the memory starts anew.
const KNOWN_MAX: usize = 20_000;

impl<'a> SegmentEncoder<'a> {
    pub fn new(tokenizer: &'a Tokenizer) -> Self {
        Self { tokenizer, known: HashMap::new() }
    }

    pub fn encode(&mut self, segment: &Segment) -> Result<&[u32], LearnError> {
        if !self.known.contains_key(segment) {
            if self.known.len() >= KNOWN_MAX {
                self.known.clear();
            }
            let ids = self.tokenizer.encode_segment(segment)?;
            self.known.insert(segment.clone(), ids);
        }
        Ok(&self.known[segment])
    }

    pub fn count(&mut self, segment: &Segment) -> u32 {
        // What can't be tokenized is reported when it is encoded.
        self.encode(segment).map_or(0, |ids| ids.len() as u32)
    }

    /// Tokens of the segments; targets where `learns` says so of the n-th decision in them.
    pub fn example(&mut self, segments: &[Segment], learns: &[bool]) -> Result<Example, LearnError> {
        let (mut tokens, mut wanted) = (Vec::new(), Vec::new());
        let mut decision = 0;
        for segment in segments {
            let ids = self.encode(segment)?;
            tokens.extend_from_slice(ids);
            let learn = learns.get(decision).copied().unwrap_or(false);
            match segment.role {
                // The mark of a thought is given; what follows it is the model's.
                Role::Thought => {
                    wanted.push(false);
                    wanted.extend(std::iter::repeat_n(learn, ids.len() - 1));
                }
                Role::Action => {
                    wanted.extend(std::iter::repeat_n(learn, ids.len()));
                    decision += 1;
                }
                Role::System | Role::Memory | Role::Observation => wanted.extend(std::iter::repeat_n(false, ids.len())),
            }
        }
        let next = tokens.iter().zip(&wanted).skip(1).map(|(t, w)| w.then_some(*t));
        let targets = next.chain(std::iter::once(None)).collect();
        Ok(Example { tokens, targets })
    }
}

/// All windows of a trace whose every decision is to be learnt, each decision once.
pub fn windows(trace: &EpisodeTrace, settings: WindowSettings, encoder: &mut SegmentEncoder<'_>) -> Result<Vec<Example>, LearnError> {
    let mut examples = Vec::new();
    let mut conversation = Conversation::new(trace.briefing.clone(), settings);
    let mut learns: Vec<bool> = Vec::new();
    for step in &trace.steps {
        let before = conversation.segments();
        let compressed = conversation.observe(step.observation.clone(), &mut |s| encoder.count(s));
        if compressed.is_some() {
            examples.push(encoder.example(&before, &learns)?);
            learns = vec![false; conversation.turns().len()];
        }
        let call = step.call.as_ref();
        let action = SafeText::from(call.map(render_call).unwrap_or_default());
        conversation.decide(step.thought.clone(), action, call.is_some_and(|c| !c.arguments.is_empty()));
        learns.push(true);
    }
    examples.push(encoder.example(&conversation.segments(), &learns)?);
    Ok(examples)
}
