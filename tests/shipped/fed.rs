//! Troubles that no simulator makes: the events that a trainer, a driver or a checkpoint's owner would send, at their times.

use super::tale::Tale;
use pilothouse::event::*;

const MINUTE_S: u64 = 60;

/// Updates of a training, one a minute.
pub fn updates(minutes: u64, mut figures: impl FnMut(u64, &mut UpdateCompleted)) -> Tale {
    Tale::begin().each_s(MINUTE_S, minutes, |minute| {
        let mut update = UpdateCompleted { update: minute + 1, tokens: 4096, duration_ns: 50_000_000_000, ..UpdateCompleted::default() };
        figures(minute, &mut update);
        update
    })
}

/// Messages whose tokens were also scored by a trainer, one each ten seconds: probabilities of the rollout and of the trainer.
pub fn scored(minutes: u64, tokens: impl Fn(u64) -> Vec<(f64, f64)>) -> Tale {
    Tale::begin().each_s(10, minutes * 6, |number| {
        let tokens = tokens(number);
        let ln = |p: f64| p.ln() as f32;
        let mut message = message();
        message.logprobs = tokens.iter().map(|(rollout, _)| ln(*rollout)).collect();
        message.trainer_logprobs = tokens.iter().map(|(_, trainer)| ln(*trainer)).collect();
        message.token_ids = vec![TokenId(1); tokens.len()];
        message
    })
}

fn message() -> MessageCompleted {
    let text = r#"{"text":"t","thought":"","finish_reason":"stop","prompt_tokens":100,"cached_tokens":60,"duration_ns":500000000}"#;
    serde_json::from_str(text).unwrap()
}

/// Episodes, one each ten seconds; `ends` says of each whether it succeeded and how it ended.
pub fn episodes(count: u64, ends: impl Fn(u64) -> (bool, EpisodeEnding)) -> Tale {
    Tale::begin().each_s(10, count, |number| {
        let (success, ending) = ends(number);
        EpisodeEnded {
            ending,
            episode_return: 5.0,
            final_reward: 0.9,
            hybrid: 4.0,
            success,
            length: 7,
            tool_errors: 0,
            thought_fidelity: None,
            truth: "".into(),
        }
    })
}

/// Steps, one each five seconds, of that reward.
pub fn rewards(minutes: u64, reward: f64) -> Tale {
    Tale::begin().each_s(5, minutes * 12, |_| TransitionRecorded {
        action: RecordedAction::Text("".into()),
        reward,
        terminated: false,
        truncated: false,
        value: None,
        state_hash: 0,
        reward_sum: 0.0,
        discounted_sum: 0.0,
    })
}

/// Compressions, one a minute, of ten thousandths of that ratio to one.
pub fn compressions(minutes: u64, before: u32, after: u32) -> Tale {
    Tale::begin().each_s(MINUTE_S, minutes, |_| MemoryCompressed {
        before,
        after,
        ratio: f64::from(before) / f64::from(after),
        prompt_tokens: 300,
        summary: "".into(),
    })
}

/// What agents remember, in bytes, told each ten seconds.
pub fn memory(minutes: u64, bytes: impl Fn(u64) -> u64) -> Tale {
    Tale::begin().each_s(10, minutes * 6, |number| DecisionSettled { duration_ns: 1, memory_bytes: Some(bytes(number * 10)) })
}

/// Evaluations, one each ten minutes, with these shares of successes.
pub fn evaluations(shares: &[f64]) -> Tale {
    let tale = Tale::begin().each_s(600, shares.len() as u64, |number| EvaluationCompleted {
        agent: "deckhand".into(),
        level: Level::L1,
        episodes: 200,
        success_ratio: shares[number as usize],
        success_low: 0.0,
        success_high: 1.0,
        return_mean: 5.0,
    });
    tale.quiet_s(MINUTE_S)
}

/// Samples of a GPU that is well, each five seconds; `is` makes of it what it is after so many seconds.
pub fn gpu(minutes: u64, is: impl Fn(u64, &mut GpuSample)) -> Tale {
    Tale::begin().each_s(5, minutes * 12, |number| {
        let mut gpu = GpuSample {
            index: 0,
            name: Some("GPU".into()),
            utilization_ratio: Some(0.9),
            memory_used_bytes: Some(40_000),
            memory_total_bytes: Some(100_000),
            power_watts: Some(500.0),
            power_limit_watts: Some(700.0),
            temperature_celsius: Some(60.0),
            ecc_uncorrected_total: Some(3),
            xid_total: Some(0),
            ..GpuSample::default()
        };
        is(number * 5, &mut gpu);
        TelemetrySampled { host: HostSample::default(), gpu: GpuStatus::Devices(vec![gpu]) }
    })
}

/// A GPU that tells at which temperature it slows down.
pub fn slows_at(celsius: f64) -> Option<Box<GpuHealth>> {
    Some(Box::new(GpuHealth { temperature_slowdown_celsius: Some(celsius), ..GpuHealth::default() }))
}

/// A GPU of whose memory a row waits to be replaced, or none does.
pub fn remap_pending(is_so: bool) -> Option<Box<GpuHealth>> {
    Some(Box::new(GpuHealth { rows_remap_pending: Some(is_so), rows_remap_failed: Some(false), ..GpuHealth::default() }))
}

/// What came from outside, again and again, each five seconds.
pub fn again(minutes: u64, event: &Event) -> Tale {
    Tale::begin().each_s(5, minutes * 12, |_| event.clone())
}
