//! DAgger (Ross, Gordon & Bagnell 2011): the student plays, the teacher says what it would have done in the states that the student's
//! calls led to, and the student learns the decisions in which they differ.

use super::LearnError;
use super::rollout::EpisodeTrace;
use super::windows::SegmentEncoder;
use crate::agent::format::render_call;
use crate::agent::prompt::{Conversation, WindowSettings};
use crate::env::{BaselineKind, Environment};
use crate::event::SafeText;
use crate::model::train::Example;

/// Corrections taken from one episode; a student that is lost would fill the batch with one situation.
const CORRECTIONS_MAX: usize = 6;

/// The windows of a student's episode that end in a decision the teacher made differently, with the teacher's decision in its place.
/// `env` is any environment of the kind; it is reset to the trace's seed.
pub fn corrections(
    trace: &EpisodeTrace,
    env: &mut dyn Environment,
    settings: WindowSettings,
    encoder: &mut SegmentEncoder<'_>,
) -> Result<Vec<Example>, LearnError> {
    let mut teacher = env.baseline(BaselineKind::Heuristic);
    let start = env.reset(trace.seed, trace.level);
    teacher.begin(&start, trace.seed);
    let mut conversation = Conversation::new(trace.briefing.clone(), settings);
    let mut examples = Vec::new();
    for step in &trace.steps {
        conversation.observe(step.observation.clone(), &mut |s| encoder.count(s));
        let seen = crate::event::Observation { values: Vec::new(), text: SafeText::default(), compact: step.observation.clone() };
        let wanted = teacher.decide(&seen);
        if (Some(&wanted.call), &wanted.thought) != (step.call.as_ref(), &step.thought) && examples.len() < CORRECTIONS_MAX {
            let mut corrected = conversation.clone();
            corrected.decide(wanted.thought, SafeText::from(render_call(&wanted.call)), false);
            let mut learns = vec![false; corrected.turns().len()];
            if let Some(last) = learns.last_mut() {
                *last = true;
            }
            examples.push(encoder.example(&corrected.segments(), &learns)?);
        }
        let action = SafeText::from(step.call.as_ref().map(render_call).unwrap_or_default());
        conversation.decide(step.thought.clone(), action, step.call.as_ref().is_some_and(|c| !c.arguments.is_empty()));
        if let Some(call) = &step.call {
            teacher.took(call);
        }
    }
    Ok(examples)
}
