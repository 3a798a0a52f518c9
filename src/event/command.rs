//! What an operator may ask of the engine. Commands are imperative; the answer is an event.

use super::{Breakpoint, CheckpointId, EpisodeId, LaneId, SafeText, Seed, Silence, SilenceKind, StepIndex, ToolCall};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub u64);

/// Who asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The console of this process.
    Console,
    /// The program itself: an episode limit, a signal.
    Internal,
    /// A remote client, by name.
    Remote(SafeText),
}

/// How far one step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepUnit {
    Token,
    Phase,
    Decision,
    Episode,
}

/// How fast a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// A multiple of the readable pace: at 1.0 about one decision a second, its tokens streaming.
    Times(#[serde(with = "super::num::float")] f64),
    Max,
}

impl Pace {
    /// The rungs of `(` and `)`.
    pub const LADDER: [Pace; 10] = [
        Pace::Times(0.1),
        Pace::Times(0.25),
        Pace::Times(0.5),
        Pace::Times(1.0),
        Pace::Times(2.0),
        Pace::Times(4.0),
        Pace::Times(8.0),
        Pace::Times(16.0),
        Pace::Times(32.0),
        Pace::Max,
    ];

    fn rung(self) -> usize {
        match self {
            Pace::Max => Self::LADDER.len() - 1,
            Pace::Times(times) => {
                Self::LADDER.iter().position(|p| matches!(p, Pace::Times(t) if *t >= times)).unwrap_or(Self::LADDER.len() - 2)
            }
        }
    }

    pub fn faster(self) -> Pace {
        Self::LADDER[(self.rung() + 1).min(Self::LADDER.len() - 1)]
    }

    pub fn slower(self) -> Pace {
        Self::LADDER[self.rung().saturating_sub(1)]
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pace::Times(times) => write!(f, "x{times}"),
            Pace::Max => f.write_str("max"),
        }
    }
}

impl std::str::FromStr for Pace {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("max") {
            return Ok(Pace::Max);
        }
        match text.trim_start_matches('x').parse::<f64>() {
            Ok(times) if times.is_finite() && (0.1..=1000.0).contains(&times) => Ok(Pace::Times(times)),
            Ok(_) | Err(_) => Err(format!("`{text}` is not a pace; use `max` or a factor from 0.1 to 1000, such as `2` or `x2`")),
        }
    }
}

/// An action in place of the agent's, a result in place of the tool's, or both. A call whose result is given is not made: it counts as
/// answered outside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overriding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<SafeText>,
}

impl Overriding {
    pub fn is_none(&self) -> bool {
        self.action.is_none() && self.result.is_none()
    }
}

impl std::fmt::Display for Overriding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(action) = &self.action {
            write!(f, " action={}", action.display())?;
        }
        self.result.as_ref().map_or(Ok(()), |result| write!(f, " result={:?}", result.as_str()))
    }
}

/// What a branch does otherwise than its parent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variation {
    /// Whose weights decide in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// What its messages are sampled by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
    /// Of its first decision.
    #[serde(flatten)]
    pub first: Overriding,
}

impl Variation {
    pub fn is_none(&self) -> bool {
        self.checkpoint.is_none() && self.seed.is_none() && self.first.is_none()
    }
}

impl std::fmt::Display for Variation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(checkpoint) = &self.checkpoint {
            write!(f, " checkpoint={checkpoint}")?;
        }
        if let Some(seed) = &self.seed {
            write!(f, " seed={seed}")?;
        }
        self.first.fmt(f)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    Pause,
    Resume,
    /// Moves `lane` by `count` units; the others hold.
    Step {
        lane: LaneId,
        unit: StepUnit,
        count: u32,
    },
    SetPace(Pace),
    /// Serve another checkpoint from the next decision on.
    Swap {
        checkpoint: CheckpointId,
    },
    /// Decide this step of the lane's episode anew: the lane goes back to where it was before it.
    Rewind {
        lane: LaneId,
        at: StepIndex,
    },
    /// A new lane that goes on from before this step of an episode, beside it.
    Fork {
        lane: LaneId,
        /// Unset is the one that runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        episode: Option<EpisodeId>,
        at: StepIndex,
        #[serde(default, skip_serializing_if = "Variation::is_none")]
        with: Variation,
    },
    /// What the lane's pending decision does, in place of what the agent said.
    Override {
        lane: LaneId,
        #[serde(flatten)]
        with: Overriding,
    },
    /// Stop where this holds; `number` changes the breakpoint that has it.
    Break {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        #[serde(flatten)]
        breakpoint: Breakpoint,
    },
    /// Take a breakpoint away; all of them without a number.
    Unbreak {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
    },
    /// Alerts that meet the matchers tell nobody for a while.
    Silence(Silence),
    /// End a silence.
    Unsilence {
        id: SafeText,
    },
    /// End the episodes that run and begin anew from this seed.
    Reseed {
        seed: Seed,
    },
    Shutdown,
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Command::Pause => f.write_str("pause"),
            Command::Resume => f.write_str("resume"),
            Command::Step { lane, unit, count } => {
                let (unit, plural) = (format!("{unit:?}").to_lowercase(), if *count == 1 { "" } else { "s" });
                write!(f, "step {count} {unit}{plural} of lane {lane}")
            }
            Command::SetPace(pace) => write!(f, "pace {pace}"),
            Command::Swap { checkpoint } => write!(f, "swap {checkpoint}"),
            Command::Rewind { lane, at } => write!(f, "rewind lane {lane} to step {at}"),
            Command::Fork { lane, episode: None, at, with } => write!(f, "fork lane {lane} at step {at}{with}"),
            Command::Fork { lane, episode: Some(episode), at, with } => write!(f, "fork {lane}:{episode} at step {at}{with}"),
            Command::Override { lane, with } => write!(f, "override lane {lane}:{with}"),
            Command::Break { number: None, breakpoint } => write!(f, "break at {breakpoint}"),
            Command::Break { number: Some(number), breakpoint } => write!(f, "bp{number} breaks at {breakpoint}"),
            Command::Unbreak { number: None } => f.write_str("take all breakpoints away"),
            Command::Unbreak { number: Some(number) } => write!(f, "take bp{number} away"),
            Command::Silence(silence) => {
                let matchers: Vec<String> = silence.matchers.iter().map(ToString::to_string).collect();
                let verb = match silence.kind {
                    SilenceKind::Silence => "silence",
                    SilenceKind::Acknowledgement => "acknowledge",
                };
                write!(f, "{verb} {}", matchers.join(","))
            }
            Command::Unsilence { id } => write!(f, "end silence {id}"),
            Command::Reseed { seed } => write!(f, "seed {seed}"),
            Command::Shutdown => f.write_str("shut down"),
        }
    }
}

/// A command on its way to the engine. The same `id` twice does nothing twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub id: CommandId,
    pub origin: Origin,
    pub command: Command,
}
