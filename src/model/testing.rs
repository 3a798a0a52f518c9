//! Small networks with random weights, for tests of this room and its neighbours.

use super::weights::{TensorKind, Weights};
use super::{LlamaConfig, ModelError};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Two layers, grouped-query attention, odd sizes, so that every edge of a kernel is met.
#[cfg(test)]
pub fn tiny_config() -> LlamaConfig {
    LlamaConfig {
        hidden_size: 20,
        intermediate_size: 36,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: Some(2),
        head_dim: Some(6),
        max_position_embeddings: 96,
        ..LlamaConfig::deckhand(43)
    }
}

/// Uniform weights of about unit gain; norms near 1.
pub fn try_random_weights(config: &LlamaConfig, seed: u64) -> Result<Weights, ModelError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Weights::from_memory(config, |spec| {
        let (scale, offset) = match spec.kind {
            TensorKind::Linear => ((3.0 / spec.shape[0] as f32).sqrt(), 0.0),
            TensorKind::Embedding => (1.0, 0.0),
            TensorKind::Norm => (0.2, 1.0),
        };
        Ok((0..spec.elements()).map(|_| (unit(&mut rng) * 2.0 - 1.0) * scale + offset).collect())
    })
}

/// [`try_random_weights`] of a shape that is known to be good.
#[cfg(test)]
pub fn random_weights(config: &LlamaConfig, seed: u64) -> Weights {
    try_random_weights(config, seed).unwrap()
}

fn unit(rng: &mut ChaCha8Rng) -> f32 {
    (rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32
}

/// The whole byte alphabet, the marks, and merges of some words of the built-in agent.
#[cfg(test)]
pub fn tiny_tokenizer() -> super::Tokenizer {
    let words = ["gw>mail,pay;", "mail p5 e5;pay p6", "{\"tool\":\"restart\",\"svc\":\"pay\"}", "crash, restart"].repeat(8);
    super::Tokenizer::from_json(&super::tokenizer::train_bpe(words.into_iter(), 320).unwrap()).unwrap()
}
