use super::*;

const KINDS: [BaselineKind; 2] = [BaselineKind::Random, BaselineKind::Heuristic];

fn success_ratio(episodes: u64, play: impl Fn(u64) -> Played) -> f64 {
    (0..episodes).filter(|&seed| play(seed).success).count() as f64 / episodes as f64
}

fn oracle(seed: u64, level: Level) -> Played {
    play(seed, level, |env, _| env.oracle().call)
}

#[test]
#[ignore = "prints the success rates of 200 seeds a level; run with --nocapture"]
fn print_success_rates() {
    const EPISODES: u64 = 200;
    for level in Level::ALL {
        let [random, heuristic] = KINDS.map(|kind| success_ratio(EPISODES, |seed| play_baseline(kind, seed, level)));
        let steps: u32 = (0..EPISODES).map(|seed| play_baseline(BaselineKind::Heuristic, seed, level).steps).sum();
        let best = success_ratio(EPISODES, |seed| oracle(seed, level));
        println!(
            "{level}: random {random:.3}, runbook {heuristic:.3} in {:.1} steps, oracle {best:.3}",
            f64::from(steps) / EPISODES as f64
        );
    }
}

#[test]
#[ignore = "prints the runbook's failures of 100 seeds a level; run with --nocapture"]
fn print_failures_of_the_runbook() {
    for level in Level::ALL {
        for seed in 0..100 {
            let mut agent = begun(BaselineKind::Heuristic, seed, level);
            let mut lines = Vec::new();
            let played = play(seed, level, |env, observation| {
                let decision = agent.decide(observation);
                agent.took(&decision.call);
                let truth = env.episode.as_ref().unwrap().truth();
                lines.push(format!("{}\n   {} -> {}   [{truth}]", observation.compact, decision.thought, decision.call.display()));
                decision.call
            });
            if !played.success {
                println!("--- {level} seed {seed}\n{}", lines.join("\n"));
            }
        }
    }
}

#[test]
fn the_baselines_bound_the_scores() {
    for (level, least) in [(Level::L0, 0.97), (Level::L1, 0.95)] {
        let [random, heuristic] = KINDS.map(|kind| success_ratio(60, |seed| play_baseline(kind, seed, level)));
        assert!(heuristic >= least, "{level}: runbook {heuristic}");
        assert!(random <= 0.1, "{level}: random {random}");
        let best = success_ratio(60, |seed| oracle(seed, level));
        assert!(best >= heuristic.max(0.98), "{level}: oracle {best}, runbook {heuristic}");
    }
    // Learning must have room above the runbook on the hard levels.
    for level in [Level::L2, Level::L3] {
        let heuristic = success_ratio(40, |seed| play_baseline(BaselineKind::Heuristic, seed, level));
        let best = success_ratio(40, |seed| oracle(seed, level));
        assert!(heuristic < 0.9 && best >= 0.95, "{level}: runbook {heuristic}, oracle {best}");
    }
}

#[test]
fn a_good_episode_is_short() {
    for level in [Level::L0, Level::L1] {
        let steps: u32 = (0..40).map(|seed| play_baseline(BaselineKind::Heuristic, seed, level).steps).sum();
        let mean = f64::from(steps) / 40.0;
        assert!((5.0..=20.0).contains(&mean), "{level}: {mean} steps");
    }
}

/// The runbook relabels other agents' states, so it must depend on nothing but what was seen and done.
#[test]
fn the_runbook_is_a_function_of_observations_and_calls() {
    for seed in 0..30 {
        let level = Level::ALL[seed as usize % 4];
        let mut history: Vec<(Observation, ToolCall)> = Vec::new();
        let mut student = begun(BaselineKind::Random, seed, level);
        let mut teacher = begun(BaselineKind::Heuristic, seed, level);
        let mut said = Vec::new();
        play(seed, level, |_, observation| {
            said.push(teacher.decide(observation));
            let call = student.decide(observation).call;
            teacher.took(&call);
            history.push((observation.clone(), call.clone()));
            call
        });
        let mut again = Ops::new().baseline(BaselineKind::Heuristic);
        // Another seed: the runbook has no dice.
        again.begin(&Ops::new().reset(Seed(seed), level), Seed(seed + 99));
        for ((observation, call), said) in history.iter().zip(said) {
            assert_eq!(again.decide(observation), said);
            again.took(call);
        }
    }
}

/// Whatever a student did before, the runbook finds back to the end from there.
#[test]
fn the_runbook_recovers_from_a_clumsy_start() {
    let mut wins = 0;
    for seed in 0..40 {
        let mut student = begun(BaselineKind::Random, seed, Level::L0);
        let mut teacher = begun(BaselineKind::Heuristic, seed, Level::L0);
        let mut step = 0;
        let played = play(seed, Level::L0, |_, observation| {
            step += 1;
            let taught = teacher.decide(observation).call;
            let wild = student.decide(observation).call;
            let harmless = matches!(wild.name.as_str(), "wait" | "query");
            let call = if step <= 5 && harmless { wild } else { taught };
            teacher.took(&call);
            call
        });
        assert!(played.steps < 40, "seed {seed} took {} steps", played.steps);
        wins += u32::from(played.success);
    }
    assert!(wins >= 37, "{wins} of 40");
}
