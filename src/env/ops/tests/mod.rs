//! Tests of the ops simulator as a whole, by what they hold it to.

mod baselines;
mod contract;
mod faults;
mod format;

use super::*;
use crate::event::Observation;

fn wait() -> Action {
    Action::Tool(ToolCall::new("wait"))
}

/// How an episode went.
struct Played {
    success: bool,
    steps: u32,
}

/// Plays one episode to its end.
fn play(seed: u64, level: Level, mut decide: impl FnMut(&Ops, &Observation) -> ToolCall) -> Played {
    let mut env = Ops::new();
    let mut observation = env.reset(Seed(seed), level).observation;
    for steps in 1..=MAX_STEPS {
        let call = decide(&env, &observation);
        let result = env.step(&Action::Tool(call));
        assert!((0.0..=1.0).contains(&result.reward), "{level} seed {seed}: reward {}", result.reward);
        observation = result.observation;
        if result.terminated || result.truncated {
            assert!((0.0..=1.0).contains(&result.info.final_reward.unwrap()));
            return Played { success: result.info.success.unwrap(), steps };
        }
    }
    panic!("{level} seed {seed} did not end");
}

/// A baseline that has seen the beginning of an episode.
fn begun(kind: BaselineKind, seed: u64, level: Level) -> Box<dyn Baseline> {
    let mut agent = Ops::new().baseline(kind);
    agent.begin(&Ops::new().reset(Seed(seed), level), Seed(seed));
    agent
}

fn play_baseline(kind: BaselineKind, seed: u64, level: Level) -> Played {
    let mut agent = begun(kind, seed, level);
    play(seed, level, |_, observation| {
        let call = agent.decide(observation).call;
        agent.took(&call);
        call
    })
}
