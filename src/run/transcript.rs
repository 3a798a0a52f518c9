//! A recording as text for people.

use crate::event::{Envelope, Event, SafeText};
use std::io::Write;

/// Writes what a reader of the transcript wants of this event; most events are nothing to read. Names in it are what a recording says, and
/// are made safe with the rest.
pub fn write(out: &mut impl Write, envelope: &Envelope) -> std::io::Result<()> {
    let mut text = Vec::new();
    compose(&mut text, envelope)?;
    out.write_all(SafeText::new(&String::from_utf8_lossy(&text)).as_bytes())
}

fn compose(out: &mut Vec<u8>, envelope: &Envelope) -> std::io::Result<()> {
    let step = envelope.step.unwrap_or_default();
    match &envelope.event {
        Event::RunStarted(e) => {
            writeln!(out, "run {} of {} in {} {} at {}, seed {}", e.run, e.agent, e.env, e.env_version, e.level, e.seed)
        }
        Event::EpisodeStarted(e) => writeln!(
            out,
            "\nlane {} episode {}  seed {}  {}\n  {}",
            envelope.lane,
            envelope.episode.unwrap_or_default(),
            e.seed,
            e.level,
            e.goal
        ),
        Event::BranchStarted(e) => writeln!(out, "     {e}"),
        Event::ObservationReceived(e) => writeln!(out, "{step:>4} O  {}", e.observation.text.replace('\n', "\n        ")),
        Event::MessageCompleted(e) => writeln!(out, "{step:>4} T  {}", e.thought),
        Event::ToolCallStarted(e) => writeln!(out, "{step:>4} A  {}", e.call.display()),
        Event::ToolCallFinished(e) => match e.error_type {
            Some(error) => writeln!(out, "{step:>4} E  {error:?}: {}", e.result),
            None => writeln!(out, "{step:>4} R  {}", e.result),
        },
        Event::TransitionRecorded(e) => writeln!(out, "        reward {:+.3}  sum {:.3}", e.reward, e.reward_sum),
        Event::MemoryCompressed(e) if e.after == 0 => writeln!(out, "{step:>4} M  {} tokens became none", e.before),
        Event::MemoryCompressed(e) => writeln!(out, "{step:>4} M  {} tokens became {} ({:.1}:1)", e.before, e.after, e.ratio),
        Event::CheckpointSwapped(e) => writeln!(out, "checkpoint {} serves", e.to),
        Event::EpisodeEnded(e) => writeln!(
            out,
            "     {}  return {:.3}  hybrid {:.3}  final {:.2}  length {}  tool errors {}\n     truth: {}",
            e.verdict().word().to_uppercase(),
            e.episode_return,
            e.hybrid,
            e.final_reward,
            e.length,
            e.tool_errors,
            e.truth
        ),
        Event::LogLine(e) => writeln!(out, "     {:?} {}: {}", e.level, e.target, e.text),
        Event::BreakpointHit(e) => writeln!(out, "     {e}"),
        Event::RunStateChanged(e) => writeln!(out, "     run {:?}: {}", e.state, e.reason),
        Event::ThoughtDelta(_)
        | Event::PhaseEntered(_)
        | Event::DecisionSettled(_)
        | Event::BreakpointSet(_)
        | Event::BreakpointCleared(_)
        | Event::PaceChanged(_)
        | Event::PolicyStateChanged(_)
        | Event::CheckpointListed(_)
        | Event::CheckpointSaved(_)
        | Event::CheckpointVerified(_)
        | Event::UpdateCompleted(_)
        | Event::EvaluationCompleted(_)
        | Event::TelemetrySampled(_)
        | Event::TargetScraped(_)
        | Event::RulesLoaded(_)
        | Event::RuleEvaluated(_)
        | Event::AlertNotified(_)
        | Event::SilenceSet(_)
        | Event::SilenceEnded(_)
        | Event::AlertStateChanged(_)
        | Event::CommandAccepted(_)
        | Event::CommandRejected(_)
        | Event::SinkFailed(_)
        | Event::SamplesDropped(_)
        | Event::Elided(_)
        | Event::Unknown { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CheckpointId, CheckpointSwapped, LaneId, Seq};

    #[test]
    fn a_name_of_a_recording_does_nothing_to_a_terminal() {
        let to = CheckpointId::from("a\u{1b}]0;x\u{7}\u{9b}\u{202e}");
        let event = CheckpointSwapped { from: None, to, sha256: String::new() }.into();
        let mut out = Vec::new();
        write(&mut out, &Envelope { seq: Seq(1), t_ns: 0, lane: LaneId(0), episode: None, step: None, event }).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "checkpoint a␛]0;x␇⟨U+009B⟩⟨U+202E⟩ serves\n");
    }
}
