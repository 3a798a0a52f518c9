use super::*;
use crate::event::Observation;

/// Plays one episode with a closure and returns (success, return, length).
fn play(seed: u64, level: Level, mut decide: impl FnMut(&Ops, &Observation) -> ToolCall) -> (bool, f64, u32) {
    let mut env = Ops::new();
    let mut observation = env.reset(Seed(seed), level).observation;
    let (mut total, mut steps) = (0.0, 0);
    loop {
        let call = decide(&env, &observation);
        let result = env.step(&Action::Tool(call));
        assert!((0.0..=1.0).contains(&result.reward));
        total += result.reward;
        steps += 1;
        observation = result.observation;
        if result.terminated || result.truncated {
            return (result.info.success.unwrap(), total, steps);
        }
    }
}

fn baseline_success(kind: BaselineKind, level: Level, episodes: u64) -> (f64, f64) {
    let mut wins = 0;
    let mut lengths = 0;
    for seed in 0..episodes {
        let mut agent = Ops::new().baseline(kind);
        agent.begin(&Ops::new().reset(Seed(seed), level), Seed(seed));
        let (success, _, steps) = play(seed, level, |_, observation| {
            let call = agent.decide(observation).call;
            agent.took(&call);
            call
        });
        wins += u32::from(success);
        lengths += steps;
    }
    (f64::from(wins) / episodes as f64, f64::from(lengths) / episodes as f64)
}

#[test]
#[ignore = "prints a table; run with --nocapture"]
fn print_baselines() {
    for level in Level::ALL {
        let oracle = (0..200).filter(|&s| play(s, level, |env, _| env.oracle().call).0).count();
        let (heuristic, length) = baseline_success(BaselineKind::Heuristic, level, 200);
        let (random, _) = baseline_success(BaselineKind::Random, level, 200);
        println!("{level} oracle {} heuristic {heuristic} (length {length:.1}) random {random}", oracle as f64 / 200.0);
    }
    for level in [Level::L0, Level::L1] {
        for seed in 0..200 {
            let mut agent = Ops::new().baseline(BaselineKind::Heuristic);
            agent.begin(&Ops::new().reset(Seed(seed), level), Seed(seed));
            let mut lines = Vec::new();
            let (success, _, _) = play(seed, level, |_, observation| {
                let decision = agent.decide(observation);
                agent.took(&decision.call);
                lines.push(format!("{}\n   {} -> {}", observation.compact, decision.thought, decision.call.display()));
                decision.call
            });
            if !success || seed < 3 {
                let mut env = Ops::new();
                env.reset(Seed(seed), level);
                println!("--- {level} seed {seed} success {success}: {}", env.episode.as_ref().unwrap().truth());
                println!("{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn the_runbook_succeeds_and_chance_does_not() {
    for (level, least) in [(Level::L0, 0.9), (Level::L1, 0.85)] {
        let (heuristic, _) = baseline_success(BaselineKind::Heuristic, level, 40);
        let (random, _) = baseline_success(BaselineKind::Random, level, 40);
        assert!(heuristic >= least, "{level}: {heuristic}");
        assert!(random <= 0.15, "{level}: {random}");
        let oracle = (0..40).filter(|&s| play(s, level, |env, _| env.oracle().call).0).count();
        assert!(oracle >= 39, "{level}: {oracle}");
    }
}

#[test]
fn a_restored_snapshot_has_the_same_future() {
    for seed in 0..12 {
        let level = Level::ALL[seed as usize % 4];
        let mut a = Ops::new();
        let start = a.reset(Seed(seed), level);
        let mut agent = a.baseline(BaselineKind::Random);
        agent.begin(&start, Seed(seed));
        let mut observation = start.observation;
        for _ in 0..seed % 5 {
            observation = a.step(&Action::Tool(agent.decide(&observation).call)).observation;
        }
        let mut b = Ops::new();
        b.restore(&a.snapshot()).unwrap();
        assert_eq!(a.state_hash(), b.state_hash());
        for _ in 0..6 {
            let action = Action::Tool(agent.decide(&observation).call);
            let (ra, rb) = (a.step(&action), b.step(&action));
            assert_eq!(ra, rb);
            assert_eq!(a.state_hash(), b.state_hash());
            observation = ra.observation;
        }
    }
}
