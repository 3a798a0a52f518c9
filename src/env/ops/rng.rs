//! Counted random streams: one a purpose, so that drawing more for one purpose never moves another.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Topology,
    Fault,
    Arrivals,
    Service,
    Routing,
    Observation,
    Logs,
    Baseline,
}

/// A ChaCha8 stream that knows how many words were drawn from it. At rest it is its key and that number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "StreamState", into = "StreamState")]
pub struct Stream {
    rng: ChaCha8Rng,
}

#[derive(Serialize, Deserialize)]
struct StreamState {
    key: [u8; 32],
    /// 32-bit words drawn so far.
    words: u64,
}

impl From<Stream> for StreamState {
    fn from(stream: Stream) -> Self {
        // 2^64 words are more than any episode draws.
        Self { key: stream.rng.get_seed(), words: stream.rng.get_word_pos() as u64 }
    }
}

impl From<StreamState> for Stream {
    fn from(state: StreamState) -> Self {
        let mut rng = ChaCha8Rng::from_seed(state.key);
        rng.set_word_pos(u128::from(state.words));
        Self { rng }
    }
}

impl Stream {
    /// The stream of an episode for one purpose.
    pub fn new(env: &str, seed: u64, purpose: Purpose) -> Self {
        use sha2::{Digest, Sha256};
        let mut hasher = Sha256::new();
        hasher.update(env.as_bytes());
        hasher.update(seed.to_le_bytes());
        hasher.update([purpose as u8]);
        Self { rng: ChaCha8Rng::from_seed(hasher.finalize().into()) }
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The bias of the multiply is below 2^-50 for the small n used here.
        ((u128::from(self.rng.next_u64()) * n as u128) >> 64) as usize
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Standard normal, by Box and Muller's polar-free form: two uniforms a draw, so that the count stays fixed.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }

    /// Log-normal with the given mean and coefficient of variation.
    pub fn log_normal(&mut self, mean: f64, cv: f64) -> f64 {
        let variance = libm::log(1.0 + cv * cv);
        let z = self.normal();
        mean * libm::exp(libm::sqrt(variance) * z - variance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_where_it_stood() {
        let mut a = Stream::new("x", 7, Purpose::Arrivals);
        for _ in 0..37 {
            a.uniform();
        }
        let at_rest = serde_json::to_string(&a).unwrap();
        let mut b: Stream = serde_json::from_str(&at_rest).unwrap();
        for _ in 0..100 {
            assert_eq!(a.normal().to_bits(), b.normal().to_bits());
        }
        assert_ne!(serde_json::to_string(&a).unwrap(), at_rest);
        assert_eq!(serde_json::to_string(&a).unwrap(), serde_json::to_string(&b).unwrap());
    }

    #[test]
    fn purposes_differ() {
        assert_ne!(Stream::new("x", 7, Purpose::Arrivals).uniform(), Stream::new("x", 7, Purpose::Service).uniform());
        assert_ne!(Stream::new("x", 7, Purpose::Arrivals).uniform(), Stream::new("x", 8, Purpose::Arrivals).uniform());
    }
}
