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
        max_position_embeddings: 130,
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
pub fn tiny_tokenizer_json() -> Vec<u8> {
    let words = ["gw>mail,pay;", "mail p5 e5;pay p6", "{\"tool\":\"restart\",\"svc\":\"pay\"}", "crash, restart"].repeat(8);
    super::tokenizer::train_bpe(words.into_iter(), 320).unwrap()
}

#[cfg(test)]
pub fn tiny_tokenizer() -> super::Tokenizer {
    super::Tokenizer::from_json(&tiny_tokenizer_json()).unwrap()
}

/// Logits of every token by plain loops in f64, with its own reading of the tensors: (tokens, vocabulary).
#[cfg(test)]
pub fn naive_logits(weights: &Weights, tokens: &[u32]) -> Vec<f64> {
    let c = weights.config();
    let (d, hd, group) = (c.hidden_size, c.head_dim(), c.num_attention_heads / c.kv_heads());
    let get = |name: &str| -> Vec<f64> { weights.get(name).unwrap().iter().map(|v| f64::from(*v)).collect() };
    let embedding = get("model.embed_tokens.weight");
    let times = |x: &[f64], w: &[f64]| -> Vec<f64> {
        let n = w.len() / x.len();
        (0..n).map(|j| (0..x.len()).map(|k| x[k] * w[k * n + j]).sum()).collect()
    };
    let norm = |x: &[f64], gain: &[f64]| -> Vec<f64> {
        let mean = x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64;
        x.iter().zip(gain).map(|(v, g)| v / (mean + c.rms_norm_eps).sqrt() * g).collect()
    };
    let rotated = |x: &[f64], position: usize| -> Vec<f64> {
        let mut out = x.to_vec();
        for start in (0..x.len()).step_by(hd) {
            for i in 0..hd / 2 {
                let angle = position as f64 / c.rope_theta.powf(2.0 * i as f64 / hd as f64);
                let (a, b) = (x[start + i], x[start + i + hd / 2]);
                out[start + i] = a * angle.cos() - b * angle.sin();
                out[start + i + hd / 2] = b * angle.cos() + a * angle.sin();
            }
        }
        out
    };
    let mut stream: Vec<Vec<f64>> = tokens.iter().map(|t| embedding[*t as usize * d..][..d].to_vec()).collect();
    for layer in 0..c.num_hidden_layers {
        let part = |name: &str| get(&format!("model.layers.{layer}.{name}.weight"));
        let normed: Vec<Vec<f64>> = stream.iter().map(|x| norm(x, &part("input_layernorm"))).collect();
        let q: Vec<_> = normed.iter().enumerate().map(|(p, x)| rotated(&times(x, &part("self_attn.q_proj")), p)).collect();
        let k: Vec<_> = normed.iter().enumerate().map(|(p, x)| rotated(&times(x, &part("self_attn.k_proj")), p)).collect();
        let v: Vec<_> = normed.iter().map(|x| times(x, &part("self_attn.v_proj"))).collect();
        for p in 0..tokens.len() {
            let mut attended = Vec::new();
            for head in 0..c.num_attention_heads {
                let (qs, ks) = (head * hd, head / group * hd);
                let score = |i: usize| ((0..hd).map(|e| q[p][qs + e] * k[i][ks + e]).sum::<f64>() / (hd as f64).sqrt()).exp();
                let scores: Vec<f64> = (0..=p).map(score).collect();
                let sum: f64 = scores.iter().sum();
                attended.extend((0..hd).map(|e| (0..=p).map(|i| scores[i] / sum * v[i][ks + e]).sum::<f64>()));
            }
            let delta = times(&attended, &part("self_attn.o_proj"));
            stream[p].iter_mut().zip(delta).for_each(|(x, y)| *x += y);
            let normed = norm(&stream[p], &part("post_attention_layernorm"));
            let (gate, up) = (times(&normed, &part("mlp.gate_proj")), times(&normed, &part("mlp.up_proj")));
            let gated: Vec<f64> = gate.iter().zip(up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
            let delta = times(&gated, &part("mlp.down_proj"));
            stream[p].iter_mut().zip(delta).for_each(|(x, y)| *x += y);
        }
    }
    let head = |x: &[f64]| -> Vec<f64> {
        if c.tie_word_embeddings {
            (0..c.vocab_size).map(|t| (0..d).map(|i| x[i] * embedding[t * d + i]).sum()).collect()
        } else {
            times(x, &get("lm_head.weight"))
        }
    };
    stream.iter().flat_map(|x| head(&norm(x, &get("model.norm.weight")))).collect()
}

#[cfg(test)]
pub fn tool(name: &str, parameters: serde_json::Value) -> crate::event::ToolSpec {
    crate::event::ToolSpec { name: name.to_owned(), description: String::new(), parameters, mutates: false }
}

#[cfg(test)]
pub fn cpu() -> super::ChosenDevice {
    super::choose_device(super::DeviceChoice::Cpu, &[]).unwrap()
}

/// A random network over [`tiny_tokenizer`], context 192.
#[cfg(test)]
pub fn tiny_model(seed: u64) -> super::LanguageModel {
    let tokenizer = tiny_tokenizer();
    let config = LlamaConfig { vocab_size: tokenizer.vocab_size(), max_position_embeddings: 192, ..tiny_config() };
    super::LanguageModel::new(&random_weights(&config, seed), tokenizer, &cpu()).unwrap()
}
