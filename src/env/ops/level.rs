//! What each level means, in one table.

use crate::event::Level;

/// Parameters of a level. Ranges are inclusive.
#[derive(Clone, Copy, Debug)]
pub struct LevelParams {
    pub services: (usize, usize),
    /// Ticks between a window's end and its being seen.
    pub delay_ticks: (u32, u32),
    /// Standard deviation of the logarithm of a reading's noise.
    pub noise_sigma: f64,
    /// Probability that a reading is missing.
    pub missing_ratio: f64,
    /// Probability that a log query shows nothing useful.
    pub log_silence_ratio: f64,
    /// Probability that a faulty cluster has a second fault.
    pub second_fault_ratio: f64,
    /// Probability that the cluster is healthy.
    pub healthy_ratio: f64,
    /// Tick at which a fault begins.
    pub onset_tick: (u32, u32),
    /// Share of calls, above the tree, to a second parent's child.
    pub extra_edge_ratio: f64,
}

/// The table of levels.
pub fn params(level: Level) -> LevelParams {
    match level {
        Level::L0 => LevelParams {
            services: (3, 4),
            delay_ticks: (1, 1),
            noise_sigma: 0.03,
            missing_ratio: 0.05,
            log_silence_ratio: 0.0,
            second_fault_ratio: 0.0,
            healthy_ratio: 0.17,
            onset_tick: (1, 3),
            extra_edge_ratio: 0.0,
        },
        Level::L1 => LevelParams {
            services: (4, 6),
            delay_ticks: (1, 2),
            noise_sigma: 0.06,
            missing_ratio: 0.10,
            log_silence_ratio: 0.05,
            second_fault_ratio: 0.0,
            healthy_ratio: 0.17,
            onset_tick: (1, 4),
            extra_edge_ratio: 0.2,
        },
        Level::L2 => LevelParams {
            services: (6, 9),
            delay_ticks: (1, 3),
            noise_sigma: 0.15,
            missing_ratio: 0.10,
            log_silence_ratio: 0.25,
            second_fault_ratio: 0.25,
            healthy_ratio: 0.17,
            onset_tick: (1, 6),
            extra_edge_ratio: 0.3,
        },
        Level::L3 => LevelParams {
            services: (8, 12),
            delay_ticks: (1, 3),
            noise_sigma: 0.20,
            missing_ratio: 0.15,
            log_silence_ratio: 0.30,
            second_fault_ratio: 0.6,
            healthy_ratio: 0.12,
            onset_tick: (1, 6),
            extra_edge_ratio: 0.3,
        },
    }
}
