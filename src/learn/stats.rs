//! Intervals.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

/// 97.5 % quantile of the normal distribution.
const Z95: f64 = 1.959_963_984_540_054;
/// Resamples of a bootstrap.
const RESAMPLES: usize = 2_000;

/// Wilson score interval of a share (Wilson 1927). With no trial: 0 within [0, 1].
pub fn wilson(successes: u64, trials: u64) -> Interval {
    if trials == 0 {
        return Interval { estimate: 0.0, low: 0.0, high: 1.0 };
    }
    let (n, p) = (trials as f64, successes as f64 / trials as f64);
    let centre = p + Z95 * Z95 / (2.0 * n);
    let spread = Z95 * (p * (1.0 - p) / n + Z95 * Z95 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z95 * Z95 / n;
    Interval { estimate: p, low: ((centre - spread) / scale).max(0.0), high: ((centre + spread) / scale).min(1.0) }
}

/// Percentile bootstrap of a mean (Efron 1979), with a fixed stream so that the same numbers give the same interval. Empty input gives NaN;
/// of one value nothing is known but itself, and its interval's ends are NaN.
pub fn bootstrap_mean(values: &[f64]) -> Interval {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    if n < 2 {
        return Interval { estimate: mean, low: f64::NAN, high: f64::NAN };
    }
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let mut draw = || ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| (0..n).map(|_| values[draw()]).sum::<f64>() / n as f64).collect();
    means.sort_by(f64::total_cmp);
    Interval { estimate: mean, low: means[RESAMPLES * 25 / 1000], high: means[RESAMPLES * 975 / 1000] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_has_the_known_values() {
        let i = wilson(187, 200);
        assert!((i.low - 0.8921).abs() < 1e-3 && (i.high - 0.9617).abs() < 1e-3, "{i:?}");
        assert_eq!(wilson(0, 0), Interval { estimate: 0.0, low: 0.0, high: 1.0 });
        assert!(wilson(0, 50).low < 1e-9 && wilson(50, 50).high > 1.0 - 1e-9);
    }

    #[test]
    fn the_bootstrap_agrees_with_the_normal_interval() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 20)).collect();
        let i = bootstrap_mean(&values);
        let half = Z95 * (399.0_f64 / 12.0).sqrt() / 20.0;
        assert!((i.high - i.low - 2.0 * half).abs() < 0.15 * half, "{i:?} {half}");
        assert_eq!(bootstrap_mean(&values), i);
        let one = bootstrap_mean(&[0.5]);
        assert!(one.estimate == 0.5 && one.low.is_nan() && one.high.is_nan(), "{one:?}");
    }
}
