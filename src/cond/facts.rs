//! What an event says that a condition can ask about, whatever its kind.

use crate::event::{
    AlertStateChanged, CheckpointId, EpisodeEnded, ErrorType, Event, MessageCompleted, Phase, RecordedAction, ToolCall, TransitionRecorded,
    UpdateCompleted,
};

/// Unset where the event has no such thing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    pub text: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub call: Option<&'a ToolCall>,
    pub error_type: Option<ErrorType>,
    pub phase: Option<Phase>,
    pub message: Option<&'a MessageCompleted>,
    pub transition: Option<&'a TransitionRecorded>,
    pub episode_end: Option<&'a EpisodeEnded>,
    pub alert: Option<&'a AlertStateChanged>,
    pub checkpoint: Option<&'a CheckpointId>,
    pub update: Option<&'a UpdateCompleted>,
    /// A call that begins.
    pub is_call: bool,
}

impl<'a> Facts<'a> {
    pub fn of(event: &'a Event) -> Self {
        let none = Self::default();
        let text = |text: &'a str| Self { text: Some(text), ..none };
        let call = |call: &'a ToolCall| Self { tool: Some(&call.name), call: Some(call), ..none };
        match event {
            Event::EpisodeStarted(e) => Self { checkpoint: e.checkpoint.as_ref(), ..text(&e.goal) },
            Event::PhaseEntered(e) => Self { phase: Some(e.phase), ..none },
            Event::ObservationReceived(e) => text(&e.observation.text),
            Event::ThoughtDelta(e) => text(&e.text),
            Event::MessageCompleted(e) => Self { message: Some(e), checkpoint: e.checkpoint.as_ref(), ..text(&e.text) },
            Event::ToolCallStarted(e) => Self { is_call: true, ..call(&e.call) },
            Event::ToolCallFinished(e) => Self { tool: Some(&e.tool), error_type: e.error_type, ..text(&e.result) },
            Event::TransitionRecorded(e) => {
                let action = match &e.action {
                    RecordedAction::Text(said) => text(said),
                    RecordedAction::Tool(made) => call(made),
                    RecordedAction::Outside { call: made, result } => Self { error_type: result.error_type, ..call(made) },
                };
                Self { transition: Some(e), ..action }
            }
            Event::MemoryCompressed(e) => text(&e.summary),
            Event::EpisodeEnded(e) => Self { episode_end: Some(e), ..text(&e.truth) },
            Event::RunStateChanged(e) => text(&e.reason),
            Event::PolicyStateChanged(e) => Self { checkpoint: e.checkpoint.as_ref(), ..text(&e.detail) },
            Event::CheckpointListed(e) => Self { checkpoint: Some(&e.checkpoint), ..text(&e.note) },
            Event::CheckpointSaved(e) => Self { checkpoint: Some(&e.checkpoint), ..none },
            Event::CheckpointVerified(e) => Self { checkpoint: Some(&e.checkpoint), ..text(&e.detail) },
            Event::CheckpointSwapped(e) => Self { checkpoint: Some(&e.to), ..none },
            Event::AlertStateChanged(e) => Self { alert: Some(e), ..text(&e.summary) },
            Event::CommandRejected(e) => text(&e.reason),
            Event::SinkFailed(e) => text(&e.reason),
            Event::LogLine(e) => text(&e.text),
            Event::BreakpointHit(e) => text(&e.when),
            Event::UpdateCompleted(e) => Self { update: Some(e), ..none },
            Event::RunStarted(_)
            | Event::BranchStarted(_)
            | Event::DecisionSettled(_)
            | Event::PaceChanged(_)
            | Event::BreakpointSet(_)
            | Event::BreakpointCleared(_)
            | Event::EvaluationCompleted(_)
            | Event::TelemetrySampled(_)
            | Event::TargetScraped(_)
            | Event::RulesLoaded(_)
            | Event::RuleEvaluated(_)
            | Event::AlertNotified(_)
            | Event::SilenceSet(_)
            | Event::SilenceEnded(_)
            | Event::CommandAccepted(_)
            | Event::SamplesDropped(_)
            | Event::Elided(_)
            | Event::Unknown { .. } => none,
        }
    }
}
