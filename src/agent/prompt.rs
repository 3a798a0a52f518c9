//! The prompt of a decision: the briefing, a memory of older steps, the last steps verbatim, the current observation.
//!
//! Steps are added until the window is full; then all but the last few are replaced by lines of memory and the prompt starts
//! anew. Between two such restarts the prompt only grows, so keys and values stay in the cache. Training windows are made by the same code.

use super::{Prompt, Role, Segment};
use crate::event::SafeText;

/// How much of an episode stays verbatim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    /// Decisions in the prompt at which it restarts.
    pub window_steps: usize,
    /// Decisions that a restart keeps verbatim.
    pub keep_steps: usize,
    /// Tokens that the prompt may have.
    pub prompt_tokens_max: u32,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self { window_steps: 6, keep_steps: 2, prompt_tokens_max: 928 }
    }
}

/// Lines of memory that are kept; older ones are forgotten.
const MEMORY_LINES_MAX: usize = 8;

/// A decision that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub observation: SafeText,
    pub thought: SafeText,
    /// The call as the model writes it.
    pub action: SafeText,
    /// Whether memory keeps its thought: calls with arguments found something out or changed something.
    pub memorable: bool,
}

/// Older steps gave way to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Tokens of what was replaced, the old memory included.
    pub before: u32,
    /// Tokens of the new memory.
    pub after: u32,
    pub summary: SafeText,
}

/// An episode as its agent remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    settings: WindowSettings,
    briefing: SafeText,
    memory: Vec<String>,
    turns: Vec<Turn>,
    current: Option<SafeText>,
}

impl Conversation {
    pub fn new(briefing: SafeText, settings: WindowSettings) -> Self {
        Self { settings, briefing, memory: Vec::new(), turns: Vec::new(), current: None }
    }

    /// Takes up an observation. When the window is full, or the prompt would be too long by `count`, older steps are compressed.
    pub fn observe(&mut self, compact: SafeText, count: &mut dyn FnMut(&Segment) -> u32) -> Option<Compressed> {
        self.current = Some(compact);
        let full = self.turns.len() >= self.settings.window_steps;
        let mut compressed = full.then(|| self.compress(self.settings.keep_steps, count));
        // Long observations fill the context before the window.
        while !self.turns.is_empty() && self.tokens(count) > self.settings.prompt_tokens_max {
            let keep = self.settings.keep_steps.min(self.turns.len() - 1);
            let next = self.compress(keep, count);
            compressed = Some(match compressed {
                Some(first) => Compressed { before: first.before + next.before - first.after, ..next },
                None => next,
            });
        }
        compressed
    }

    /// Takes up the decision on the current observation. Without one it changes nothing.
    pub fn decide(&mut self, thought: SafeText, action: SafeText, memorable: bool) {
        if let Some(observation) = self.current.take() {
            self.turns.push(Turn { observation, thought, action, memorable });
        }
    }

    /// The prompt of the next decision: all segments, the current observation, and the open mark of a thought.
    pub fn prompt(&self) -> Prompt {
        let mut segments = self.segments();
        if let Some(observation) = &self.current {
            segments.push(Segment { role: Role::Observation, text: observation.clone() });
        }
        segments.push(Segment { role: Role::Thought, text: SafeText::default() });
        Prompt { segments }
    }

    /// Briefing, memory and the decisions that stand verbatim; what a training window is made of.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments = vec![Segment { role: Role::System, text: self.briefing.clone() }];
        segments.extend(self.memory_segment());
        for turn in &self.turns {
            segments.push(Segment { role: Role::Observation, text: turn.observation.clone() });
            segments.push(Segment { role: Role::Thought, text: turn.thought.clone() });
            segments.push(Segment { role: Role::Action, text: turn.action.clone() });
        }
        segments
    }

    /// Decisions that stand verbatim.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Bytes of all texts that it holds.
    pub fn bytes(&self) -> u64 {
        let turn = |t: &Turn| t.observation.len() + t.thought.len() + t.action.len();
        let memory: usize = self.memory.iter().map(String::len).sum();
        let turns: usize = self.turns.iter().map(turn).sum();
        (self.briefing.len() + memory + turns + self.current.as_ref().map_or(0, |current| current.len())) as u64
    }

    fn memory_segment(&self) -> Option<Segment> {
        (!self.memory.is_empty()).then(|| Segment { role: Role::Memory, text: SafeText::from(self.memory.join(";")) })
    }

    fn tokens(&self, count: &mut dyn FnMut(&Segment) -> u32) -> u32 {
        self.prompt().segments.iter().map(count).sum()
    }

    fn compress(&mut self, keep: usize, count: &mut dyn FnMut(&Segment) -> u32) -> Compressed {
        let all: u32 = self.segments().iter().map(&mut *count).sum();
        let kept_from = self.turns.len().saturating_sub(keep);
        for turn in self.turns.drain(..kept_from).filter(|t| t.memorable) {
            // An observation begins with its time.
            let when = turn.observation.split(';').next().unwrap_or_default();
            self.memory.push(format!("{when} {}", turn.thought));
        }
        let forgotten = self.memory.len().saturating_sub(MEMORY_LINES_MAX);
        self.memory.drain(..forgotten);
        let left: u32 = self.segments().iter().map(&mut *count).sum();
        let memory = self.memory_segment();
        let after = memory.as_ref().map_or(0, &mut *count);
        Compressed { before: all - left + after, after, summary: memory.map(|m| m.text).unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(segment: &Segment) -> u32 {
        1 + segment.text.split([' ', ';']).count() as u32
    }

    fn turn(conversation: &mut Conversation, n: usize) -> Option<Compressed> {
        let compressed = conversation.observe(SafeText::from(format!("t{n:02};gw p5;alert()")), &mut words);
        conversation.decide(SafeText::from(format!("alert(), seen {n}")), SafeText::new("{}"), n.is_multiple_of(2));
        compressed
    }

    #[test]
    fn a_full_window_restarts_from_memory_and_the_last_steps() {
        let mut conversation = Conversation::new(SafeText::new("map"), WindowSettings::default());
        for n in 0..6 {
            assert_eq!(turn(&mut conversation, n), None);
        }
        let before: u32 = conversation.segments().iter().map(words).sum();
        let compressed = conversation.observe(SafeText::new("t06;gw p5;alert()"), &mut words).unwrap();
        assert_eq!(compressed.summary.as_str(), "t00 alert(), seen 0;t02 alert(), seen 2");
        assert_eq!(conversation.turns().len(), 2);
        let after: u32 = conversation.segments().iter().map(words).sum();
        assert_eq!(before - after, compressed.before - compressed.after);
        assert_eq!(conversation.prompt().segments.last().unwrap().role, Role::Thought);
    }

    #[test]
    fn a_prompt_only_grows_between_restarts() {
        let mut conversation = Conversation::new(SafeText::new("map"), WindowSettings::default());
        let mut last: Vec<Segment> = Vec::new();
        for n in 0..40 {
            let restarted = turn(&mut conversation, n).is_some();
            let segments = conversation.segments();
            assert_eq!(segments.starts_with(&last), !restarted || last.is_empty());
            last = segments;
        }
    }

    #[test]
    fn a_prompt_stays_within_its_tokens() {
        let settings = WindowSettings { prompt_tokens_max: 40, ..WindowSettings::default() };
        let mut conversation = Conversation::new(SafeText::new("map"), settings);
        for n in 0..40 {
            conversation.observe(SafeText::from(format!("t{n:02};a b c d e f g h")), &mut words);
            let tokens: u32 = conversation.prompt().segments.iter().map(words).sum();
            assert!(tokens <= 40 || conversation.turns().is_empty(), "{tokens}");
            conversation.decide(SafeText::new("x"), SafeText::new("{}"), true);
        }
    }
}
