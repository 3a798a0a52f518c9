//! The one table: how the trouble of each rule is provoked, what is still no trouble, and what the alert says.

use super::lab::{Agent, Lab, Said, Twist};
use super::tale::Tale;
use super::{fed, outside};
use pilothouse::agent::prompt::WindowSettings;
use pilothouse::event::*;

#[derive(Clone, Copy)]
pub struct Row {
    pub rule: &'static str,
    /// The trouble.
    pub fires: fn() -> Tale,
    /// The nearest to it that is none; unset where there is no such thing.
    pub holds: Option<fn() -> Tale>,
    /// A part of what the alert says.
    pub says: &'static str,
    /// Rules that this trouble makes fire as well.
    pub also: &'static [&'static str],
}

/// Troubles of a real run: engine and simulator in simulated time, or recordings of such.
pub const RUNS: &[Row] = &[
    Row { rule: "Watchdog", fires: || Lab { run_s: 60, ..Lab::default() }.play(), holds: None, says: "instance pilot", also: &[] },
    Row {
        rule: "ActionFailures",
        fires: || failing_each(1, 8, 360),
        holds: Some(|| failing_each(1, 12, 900)),
        says: "action failures a second over five minutes",
        also: &["ActionFailureRatio", "WrongToolCall"],
    },
    Row {
        rule: "ActionFailureRatio",
        fires: || failing_each(16, 1, 600),
        holds: Some(|| failing_each(25, 1, 900)),
        says: "6.",
        also: &["WrongToolCall"],
    },
    Row {
        rule: "SuccessLow",
        fires: || Lab { agent: Agent::Random, level: Level::L1, run_s: 1500, ..Lab::default() }.play(),
        holds: Some(|| Lab { run_s: 2400, ..Lab::default() }.play()),
        says: "of the episodes",
        also: &["ActionFailureRatio"],
    },
    Row {
        rule: "SuccessLow",
        fires: || Tale::repeated(&["failure"], 100, 1800),
        holds: Some(|| Tale::repeated(&["success"], 100, 1800)),
        says: "0% of the episodes",
        // Its one compression is one of 9.8:1.
        also: &["CompressionLow"],
    },
    // One wrong call, and that the first of all.
    Row {
        rule: "WrongToolCall",
        fires: || puppet(|message| if message == 0 { WRONG } else { Said::Look }, 4, 120),
        holds: Some(|| puppet(|_| Said::Look, 4, 900)),
        says: "pilot 1 calls",
        also: &[],
    },
    Row {
        rule: "WrongToolCall",
        fires: || puppet(|message| if message == 30 { Said::Call(r#"{"tool":"scale","n":"many"}"#) } else { Said::Look }, 4, 300),
        holds: Some(|| puppet(|_| Said::Call(WAIT), 4, 300)),
        says: "pilot 1 calls",
        also: &[],
    },
    Row {
        rule: "CompressionLow",
        fires: || {
            let window = WindowSettings { window_steps: 2, keep_steps: 1, prompt_tokens_max: 928 };
            Lab { agent: Agent::Puppet(|_| Said::Look), window, run_s: 900, ..Lab::default() }.play()
        },
        holds: Some(|| Lab { agent: Agent::Puppet(|_| Said::Call(WAIT)), run_s: 900, ..Lab::default() }.play()),
        says: ":1 over half an hour",
        also: &[],
    },
    Row {
        rule: "RewardGone",
        fires: || rewarded(|result| result.reward = 0.0),
        holds: Some(|| rewarded(|result| result.reward = 0.02)),
        says: "of a step is 0.",
        also: &[],
    },
    Row {
        rule: "TruncationHigh",
        fires: || Lab { steps_max: Some(2), run_s: 720, ..Lab::default() }.play(),
        holds: Some(|| Lab { run_s: 1800, ..Lab::default() }.play()),
        says: "100% of the episodes",
        also: &["SuccessLow"],
    },
    Row {
        rule: "PolicyStale",
        fires: || on_shelf(&[1, 10]),
        holds: Some(|| on_shelf(&[1, 9])),
        says: "is 9 training steps behind",
        also: &[],
    },
    // The model stops in the middle of a message.
    Row {
        rule: "StuckRun",
        fires: || puppet(|message| if message == 20 { Said::Nothing } else { Said::Look }, 4, 480),
        holds: Some(|| puppet(|message| if message == 20 { Said::Nothing } else { Said::Look }, 4, 420)),
        says: "Lanes wait for: policy (1).",
        also: &[],
    },
    // A tool does not come back.
    Row { rule: "StuckRun", fires: || hanging_tool(420), holds: Some(|| hanging_tool(340)), says: "Lanes wait for: tool (1).", also: &[] },
    Row {
        rule: "BacklogOld",
        fires: || backlog(|observation| observation.values.push(Some(610.0))),
        holds: Some(|| backlog(|observation| observation.values.push(Some(590.0)))),
        says: "has waited 10m 10s",
        also: &[],
    },
    Row {
        rule: "RecorderFailing",
        fires: outside::full_disk,
        holds: Some(|| Lab { run_s: 60, ..Lab::default() }.play()),
        says: "is not recorded any more",
        also: &[],
    },
    Row {
        rule: "SamplesDropped",
        fires: || outside::busy_engine(20),
        holds: Some(|| fed::again(1, &SamplesDropped { sampler: "scrape".into(), count: 0 }.into())),
        says: "samples of telemetry",
        also: &[],
    },
    Row {
        rule: "EndpointDown",
        fires: || outside::closed_port(2),
        holds: Some(|| outside::closed_port(1)),
        says: "vllm at 127.0.0.1:",
        also: &[],
    },
];

/// Troubles of a training.
pub const TRAINING: &[Row] = &[
    Row {
        rule: "PolicyLossNotFalling",
        fires: || fed::updates(100, |_, e| e.policy_loss = Some(0.8)),
        holds: Some(|| fed::updates(150, |minute, e| e.policy_loss = Some(0.8 - 1e-4 * minute as f64))),
        says: "slope 0 a second",
        also: &[],
    },
    // With fewer than twenty updates an hour it learns too seldom to say anything.
    Row {
        rule: "PolicyLossNotFalling",
        fires: || fed::updates(100, |minute, e| (e.update, e.policy_loss) = (minute * 21 / 60, Some(0.8))),
        holds: Some(|| fed::updates(150, |minute, e| (e.update, e.policy_loss) = (minute * 19 / 60, Some(0.8)))),
        says: "has not fallen for an hour",
        also: &[],
    },
    Row {
        rule: "ValueLossNotFalling",
        fires: || fed::updates(100, |minute, e| e.value_loss = Some(0.8 + 1e-4 * minute as f64)),
        holds: Some(|| fed::updates(150, |minute, e| e.value_loss = Some(0.8 - 1e-4 * minute as f64))),
        says: "loss of the critic",
        also: &[],
    },
    Row {
        rule: "ValueLossNotFalling",
        fires: || fed::updates(100, |minute, e| (e.update, e.value_loss) = (minute * 21 / 60, Some(0.8))),
        holds: Some(|| fed::updates(150, |minute, e| (e.update, e.value_loss) = (minute * 19 / 60, Some(0.8)))),
        says: "loss of the critic",
        also: &[],
    },
    Row {
        rule: "RolloutTrainerMismatch",
        fires: || fed::scored(10, |_| vec![(0.9, 0.9105)]),
        holds: Some(|| fed::scored(20, |_| vec![(0.9, 0.9095)])),
        says: "the mean difference is 0.0105",
        also: &[],
    },
    Row {
        rule: "ImportanceRatioOff",
        fires: || fed::scored(10, |_| vec![(0.001, 0.002_05)]),
        holds: Some(|| fed::scored(20, |_| vec![(0.001, 0.001_95)])),
        says: "ratio is 2.050",
        also: &[],
    },
    Row {
        rule: "ImportanceRatioOff",
        fires: || fed::scored(10, |_| vec![(0.001, 0.000_49)]),
        holds: Some(|| fed::scored(20, |_| vec![(0.001, 0.000_51)])),
        says: "ratio is 0.490",
        also: &[],
    },
    Row {
        rule: "EffectiveSampleSizeLow",
        fires: || fed::scored(10, |_| one_of_ten(5.8)),
        holds: Some(|| fed::scored(20, |_| one_of_ten(5.4))),
        says: "of the samples count",
        also: &[],
    },
    Row {
        rule: "KlHigh",
        fires: || fed::updates(10, |minute, e| e.approx_kl = Some(if minute == 5 { -0.11 } else { 0.02 })),
        holds: Some(|| fed::updates(20, |_, e| e.approx_kl = Some(0.095))),
        says: "KL is 0.110",
        also: &[],
    },
    Row {
        rule: "MismatchKlGrowing",
        fires: || fed::scored(60, |number| vec![(0.001, 0.001 * (-0.001 * number as f64).exp())]),
        // It grows as fast, and is small.
        holds: Some(|| fed::scored(60, |number| vec![(0.001, 0.001 * (-0.000_1 * number as f64).exp())])),
        says: "nats a second",
        also: &[],
    },
    Row {
        rule: "MismatchKlGrowing",
        fires: || fed::scored(60, |number| vec![(0.001, 0.001 * (-0.05 - 0.000_1 * number as f64).exp())]),
        // It is as large, and shrinks.
        holds: Some(|| fed::scored(60, |number| vec![(0.001, 0.001 * (-0.1 + 0.000_1 * number as f64).exp())])),
        says: "nats a second",
        also: &[],
    },
    Row {
        rule: "MismatchKlGrowing",
        fires: || fed::scored(60, |number| vec![(0.001, 0.001 * (-0.050_5 - 0.000_01 * number as f64).exp())]),
        holds: Some(|| fed::scored(60, |number| vec![(0.001, 0.001 * (-0.046_1 - 0.000_01 * number as f64).exp())])),
        says: "nats a second",
        also: &[],
    },
    Row {
        rule: "EntropyCollapse",
        fires: || fed::updates(10, |_, e| e.entropy = Some(0.049)),
        holds: Some(|| fed::updates(20, |_, e| e.entropy = Some(0.051))),
        says: "entropy is 0.049 nats",
        also: &[],
    },
    Row {
        rule: "GradientSpike",
        fires: || fed::updates(30, |minute, e| e.grad_norm = Some(if minute == 20 { 5.2 } else { 1.0 })),
        holds: Some(|| fed::updates(30, |minute, e| e.grad_norm = Some(if minute == 20 { 4.8 } else { 1.0 }))),
        says: "it is 5.2",
        also: &[],
    },
    Row {
        rule: "EvaluationFalling",
        fires: || fed::evaluations(&[0.9, 0.95, 0.84]),
        holds: Some(|| fed::evaluations(&[0.9, 0.95, 0.86])),
        says: "success is 11% below its best",
        also: &[],
    },
];

/// Limits of what runs are measured by, a hair above and below.
pub const LIMITS: &[Row] = &[
    Row {
        rule: "SuccessLow",
        fires: || fed::episodes(200, |number| (number % 25 % 6 != 0, EpisodeEnding::Terminated)),
        holds: Some(|| fed::episodes(200, |number| (number % 7 != 0, EpisodeEnding::Terminated))),
        says: "of the episodes",
        also: &[],
    },
    // Of a few episodes nothing can be said.
    Row {
        rule: "SuccessLow",
        fires: || fed::episodes(21, |_| (false, EpisodeEnding::Terminated)).quiet_s(90),
        holds: Some(|| fed::episodes(19, |_| (false, EpisodeEnding::Terminated)).quiet_s(300)),
        says: "0% of the episodes",
        also: &[],
    },
    Row {
        rule: "CompressionLow",
        fires: || fed::compressions(20, 980, 100),
        holds: Some(|| fed::compressions(40, 1020, 100)),
        says: "9.8:1",
        also: &[],
    },
    Row {
        rule: "RewardGone",
        fires: || fed::rewards(25, 0.0095),
        holds: Some(|| fed::rewards(40, 0.0105)),
        says: "of a step is 0.00",
        also: &[],
    },
    Row {
        rule: "TruncationHigh",
        fires: || fed::episodes(200, |number| (true, cut(number % 19 < 6))),
        holds: Some(|| fed::episodes(200, |number| (true, cut(number % 7 % 4 == 1)))),
        says: "of the episodes",
        also: &[],
    },
    Row {
        rule: "MemoryOfAgentGrows",
        fires: || fed::memory(50, |second| 100_000_000 + 1_050 * second),
        holds: Some(|| fed::memory(50, |second| 100_000_000 + 950 * second)),
        says: "a second",
        also: &[],
    },
    // It grows as fast, and is small.
    Row {
        rule: "MemoryOfAgentGrows",
        fires: || fed::memory(60, |second| 99_000_000 + 2_000 * second),
        holds: Some(|| fed::memory(60, |second| 90_000_000 + 2_000 * second)),
        says: "a second",
        also: &[],
    },
    Row {
        rule: "SamplesDropped",
        fires: || fed::again(1, &SamplesDropped { sampler: "scrape".into(), count: 1 }.into()),
        holds: Some(|| Tale::begin().each_s(40, 30, |_| SamplesDropped { sampler: "scrape".into(), count: 1 })),
        says: "samples of scrape",
        also: &[],
    },
];

/// Troubles of a GPU.
pub const GPU: &[Row] = &[
    Row {
        rule: "GpuHot",
        fires: || fed::gpu(4, |_, gpu| gpu.temperature_celsius = Some(86.0)),
        holds: Some(|| fed::gpu(10, |_, gpu| gpu.temperature_celsius = Some(85.0))),
        says: "is at 86 C",
        also: &[],
    },
    // By its own threshold.
    Row {
        rule: "GpuHot",
        fires: || fed::gpu(4, |_, gpu| (gpu.temperature_celsius, gpu.health) = (Some(89.0), fed::slows_at(93.0))),
        holds: Some(|| fed::gpu(10, |_, gpu| (gpu.temperature_celsius, gpu.health) = (Some(87.0), fed::slows_at(93.0)))),
        says: "is at 89 C",
        also: &[],
    },
    Row {
        rule: "GpuThrottled",
        fires: || fed::gpu(4, |_, gpu| gpu.throttle_reasons = Some(vec![ThrottleReason::SwPowerCap, ThrottleReason::SwThermal])),
        holds: Some(|| fed::gpu(10, |_, gpu| gpu.throttle_reasons = Some(vec![ThrottleReason::Idle, ThrottleReason::SwPowerCap]))),
        says: "is slowed down (1) for: sw_power_cap sw_thermal.",
        also: &[],
    },
    // It was told once, and holds until it is told again.
    Row {
        rule: "GpuMemoryFailing",
        fires: || fed::gpu(4, |second, gpu| gpu.health = if second == 60 { fed::remap_pending(true) } else { None }),
        holds: Some(|| fed::gpu(4, |_, gpu| gpu.health = fed::remap_pending(false))),
        says: "wants a reset",
        also: &[],
    },
    Row {
        rule: "GpuPowerThrottle",
        fires: || fed::gpu(12, |_, gpu| gpu.power_watts = Some(690.0)),
        holds: Some(|| fed::gpu(20, |_, gpu| gpu.power_watts = Some(684.0))),
        says: "takes 98.57% of its limit",
        also: &[],
    },
    Row {
        rule: "GpuEccErrors",
        fires: || fed::gpu(4, |second, gpu| gpu.ecc_uncorrected_total = Some(3 + u64::from(second > 60))),
        holds: Some(|| fed::gpu(4, |_, _| {})),
        says: "in an hour",
        also: &[],
    },
    // The first that this GPU ever had.
    Row {
        rule: "GpuXid",
        fires: || {
            fed::gpu(4, |second, gpu| (gpu.xid_last, gpu.xid_total) = if second > 60 { (Some(79), Some(1)) } else { (None, Some(0)) })
        },
        holds: Some(|| fed::gpu(4, |_, _| {})),
        says: "GPU 0 of pilot: 1 in 15 minutes, the newest is XID 79.",
        also: &[],
    },
    // The same one again.
    Row {
        rule: "GpuXid",
        fires: || fed::gpu(30, |second, gpu| (gpu.xid_last, gpu.xid_total) = (Some(31), Some(1 + u64::from(second > 1200)))),
        holds: Some(|| fed::gpu(30, |_, gpu| (gpu.xid_last, gpu.xid_total) = (Some(31), Some(1)))),
        says: "the newest is XID 31",
        also: &[],
    },
    Row {
        rule: "GpuLost",
        fires: || fed::gpu(4, lost),
        holds: Some(|| fed::gpu(1, lost)),
        says: "GPU 0 of pilot can't be read any more",
        also: &[],
    },
    Row {
        rule: "GpuMemoryFull",
        fires: || fed::gpu(10, |_, gpu| gpu.memory_used_bytes = Some(95_500)),
        holds: Some(|| fed::gpu(20, |_, gpu| gpu.memory_used_bytes = Some(94_500))),
        says: "uses 95.5% of its memory",
        also: &[],
    },
];

const WAIT: &str = r#"{"tool":"wait"}"#;
/// A tool that there is not.
const WRONG: Said = Said::Call(r#"{"tool":"teleport"}"#);

fn puppet(says: fn(u64) -> Said, step_s: u64, run_s: u64) -> Tale {
    Lab { agent: Agent::Puppet(says), step_s, run_s, ..Lab::default() }.play()
}

/// One of so many calls names a tool that there is not; a step takes so long.
fn failing_each(calls: u64, step_s: u64, run_s: u64) -> Tale {
    let says: fn(u64) -> Said = match calls {
        1 => |_| WRONG,
        16 => |message| if message % 16 == 5 { WRONG } else { Said::Look },
        25 => |message| if message % 25 == 5 { WRONG } else { Said::Look },
        other => panic!("no puppet fails one of {other}"),
    };
    puppet(says, step_s, run_s)
}

fn rewarded(step: fn(&mut pilothouse::env::StepResult)) -> Tale {
    Lab { twist: Twist { step, ..Twist::default() }, run_s: 1500, ..Lab::default() }.play()
}

fn on_shelf(shelf: &'static [u64]) -> Tale {
    Lab { agent: Agent::Puppet(|_| Said::Call(WAIT)), shelf, run_s: 700, ..Lab::default() }.play()
}

/// The tenth step takes so long.
fn hanging_tool(seconds: u64) -> Tale {
    let hangs_s: fn(u64) -> u64 = match seconds {
        420 => |step| if step == 10 { 420 } else { 0 },
        340 => |step| if step == 10 { 340 } else { 0 },
        other => panic!("no tool hangs for {other} s"),
    };
    Lab { twist: Twist { hangs_s, ..Twist::default() }, run_s: 500, ..Lab::default() }.play()
}

/// The simulator tells of a queue, too, whose oldest entry is as old as `age` says.
fn backlog(age: fn(&mut Observation)) -> Tale {
    let twist = Twist { fields: &[("jobs.queue_oldest_age", Unit::Seconds)], observe: age, ..Twist::default() };
    Lab { twist, run_s: 900, ..Lab::default() }.play()
}

/// Ten rare tokens, whose ratios have a mean of 1 and of which one has the most.
fn one_of_ten(ratio: f64) -> Vec<(f64, f64)> {
    let other = (10.0 - ratio) / 9.0;
    (0..10).map(|token| (1e-4, 1e-4 * if token == 0 { ratio } else { other })).collect()
}

fn cut(is_cut: bool) -> EpisodeEnding {
    if is_cut { EpisodeEnding::Truncated } else { EpisodeEnding::Terminated }
}

/// After two minutes the device is off the bus.
fn lost(second: u64, gpu: &mut GpuSample) {
    if second > 120 {
        *gpu = GpuSample { index: 0, lost: Some("GPU is lost".into()), ..GpuSample::default() };
    }
}
