//! The network on candle, for devices other than the CPU. Ragged batches: every product is made for all rows at once, attention lane by lane.

use super::network::{Span, check_spans};
use super::weights::{EMBEDDING, FINAL_NORM, HEAD, LAYER_PARTS, Weights, layer_name, tensor_specs};
use super::{LlamaConfig, ModelError, kernels};
use candle_core::{D, DType, Device, IndexOp, Tensor};
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::rope;
use std::collections::BTreeMap;

struct Layer {
    input_norm: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    output: Tensor,
    post_norm: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
}

/// A network of the Llama family on a candle device; linear weights (k, n) contiguous.
pub struct CandleNetwork {
    config: LlamaConfig,
    device: Device,
    dtype: DType,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    head: Tensor,
    /// (positions, head_dim / 2).
    cos: Tensor,
    sin: Tensor,
}

/// Keys and values of one lane: a layer (kv heads, context, head_dim), allocated once.
pub struct CandleCache {
    keys: Vec<Tensor>,
    values: Vec<Tensor>,
    length: usize,
}

impl CandleCache {
    pub fn truncate(&mut self, tokens: usize) {
        self.length = self.length.min(tokens);
    }

    pub fn duplicate(&self) -> Result<Self, ModelError> {
        let copy = |tensors: &[Tensor]| tensors.iter().map(Tensor::copy).collect::<candle_core::Result<Vec<_>>>();
        Ok(Self { keys: copy(&self.keys)?, values: copy(&self.values)?, length: self.length })
    }
}

impl CandleNetwork {
    pub fn new(weights: &Weights, device: &Device) -> Result<Self, ModelError> {
        let config = weights.config().clone();
        let dtype = best_dtype(device);
        let mut tensors = BTreeMap::new();
        for spec in tensor_specs(&config) {
            let tensor = Tensor::from_slice(weights.get(&spec.name)?, spec.shape, device)?.to_dtype(dtype)?;
            tensors.insert(spec.name, tensor);
        }
        let mut take = |name: &str| tensors.remove(name).ok_or_else(|| ModelError::MissingTensor { tensor: name.to_owned() });
        let mut layers = Vec::new();
        for layer in 0..config.num_hidden_layers {
            let mut part = |i: usize| take(&layer_name(layer, LAYER_PARTS[i]));
            layers.push(Layer {
                input_norm: part(0)?,
                q: part(1)?,
                k: part(2)?,
                v: part(3)?,
                output: part(4)?,
                post_norm: part(5)?,
                gate: part(6)?,
                up: part(7)?,
                down: part(8)?,
            });
        }
        let embedding = take(EMBEDDING)?;
        let head = if config.tie_word_embeddings { embedding.t()?.contiguous()? } else { take(HEAD)? };
        let (positions, half) = (config.max_position_embeddings, config.head_dim() / 2);
        let (cos, sin) = kernels::rope_tables(positions, config.head_dim(), config.rope_theta);
        let table = |t: Vec<f32>| Tensor::from_vec(t, (positions, half), device)?.to_dtype(dtype);
        Ok(Self {
            norm: take(FINAL_NORM)?,
            cos: table(cos)?,
            sin: table(sin)?,
            device: device.clone(),
            config,
            dtype,
            embedding,
            layers,
            head,
        })
    }

    pub fn config(&self) -> &LlamaConfig {
        &self.config
    }

    pub fn new_cache(&self) -> Result<CandleCache, ModelError> {
        let shape = (self.config.kv_heads(), self.config.max_position_embeddings, self.config.head_dim());
        let zeros = || {
            (0..self.config.num_hidden_layers)
                .map(|_| Tensor::zeros(shape, self.dtype, &self.device))
                .collect::<candle_core::Result<Vec<_>>>()
        };
        Ok(CandleCache { keys: zeros()?, values: zeros()?, length: 0 })
    }

    /// As [`super::network::Network::forward`].
    pub fn forward(&self, spans: &mut [Span<'_, CandleCache>]) -> Result<Vec<f32>, ModelError> {
        check_spans(&self.config, spans.iter().map(|s| (s.cache.length, s.tokens)))?;
        let ids: Vec<u32> = spans.iter().flat_map(|s| s.tokens).copied().collect();
        let positions: Vec<u32> = spans.iter().flat_map(|s| (0..s.tokens.len()).map(|i| (s.cache.length + i) as u32)).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let positions = Tensor::new(positions, &self.device)?;
        let (cos, sin) = (self.cos.index_select(&positions, 0)?, self.sin.index_select(&positions, 0)?);
        let mut x = self.embedding.index_select(&Tensor::new(ids, &self.device)?, 0)?;
        let eps = self.config.rms_norm_eps as f32;
        for (index, layer) in self.layers.iter().enumerate() {
            let normed = rms_norm(&x, &layer.input_norm, eps)?;
            let attended = self.attend(index, layer, &normed, (&cos, &sin), spans)?;
            x = (x + attended.matmul(&layer.output)?)?;
            let normed = rms_norm(&x, &layer.post_norm, eps)?;
            let gated = (silu(&normed.matmul(&layer.gate)?)? * normed.matmul(&layer.up)?)?;
            x = (x + gated.matmul(&layer.down)?)?;
        }
        let kept = wanted_rows(spans);
        for span in spans.iter_mut() {
            span.cache.length += span.tokens.len();
        }
        if kept.is_empty() {
            return Ok(Vec::new());
        }
        let x = rms_norm(&x.index_select(&Tensor::new(kept, &self.device)?, 0)?, &self.norm, eps)?;
        Ok(x.matmul(&self.head)?.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
    }

    /// (rows, hidden) to (rows, query width).
    fn attend(
        &self,
        index: usize,
        layer: &Layer,
        x: &Tensor,
        tables: (&Tensor, &Tensor),
        spans: &mut [Span<'_, CandleCache>],
    ) -> Result<Tensor, ModelError> {
        let (head_dim, rows) = (self.config.head_dim(), x.dim(0)?);
        // (1, heads, rows, head_dim): rope takes the rows as one sequence, each with its own angles.
        let heads = |w: &Tensor, n: usize| x.matmul(w)?.reshape((1, rows, n, head_dim))?.transpose(1, 2)?.contiguous();
        let q = rope(&heads(&layer.q, self.config.num_attention_heads)?, tables.0, tables.1)?.i(0)?;
        let k = rope(&heads(&layer.k, self.config.kv_heads())?, tables.0, tables.1)?.i(0)?;
        let v = heads(&layer.v, self.config.kv_heads())?.i(0)?;
        let (mut start, mut outs) = (0, Vec::with_capacity(spans.len()));
        for span in spans.iter_mut() {
            let n = span.tokens.len();
            if n == 0 {
                continue;
            }
            let cut = |t: &Tensor| t.narrow(1, start, n)?.contiguous();
            span.cache.keys[index].slice_set(&cut(&k)?, 1, span.cache.length)?;
            span.cache.values[index].slice_set(&cut(&v)?, 1, span.cache.length)?;
            outs.push(self.attend_lane(index, &cut(&q)?, span.cache)?);
            start += n;
        }
        Ok(Tensor::cat(&outs, 0)?)
    }

    /// Causal attention of the last n tokens of a lane: (heads, n, head_dim) to (n, query width).
    fn attend_lane(&self, index: usize, q: &Tensor, cache: &CandleCache) -> Result<Tensor, ModelError> {
        let (heads, n, head_dim) = q.dims3()?;
        let (kv_heads, length) = (self.config.kv_heads(), cache.length + n);
        let group = heads / kv_heads;
        let keys = cache.keys[index].narrow(1, 0, length)?.contiguous()?;
        let values = cache.values[index].narrow(1, 0, length)?.contiguous()?;
        let scores = (q.reshape((kv_heads, group * n, head_dim))?.matmul(&keys.t()?.contiguous()?)? * (1.0 / (head_dim as f64).sqrt()))?;
        let mut scores = scores.to_dtype(DType::F32)?.reshape((heads, n, length))?;
        if n > 1 {
            scores = scores.broadcast_add(&self.mask(n, length)?)?;
        }
        let weights = softmax_last_dim(&scores)?.to_dtype(self.dtype)?.reshape((kv_heads, group * n, length))?;
        let out = weights.matmul(&values)?.reshape((heads, n, head_dim))?;
        Ok(out.transpose(0, 1)?.reshape((n, heads * head_dim))?)
    }

    /// (n, length) of 0 and −∞: the i-th of the last n tokens sees all but those behind it.
    fn mask(&self, n: usize, length: usize) -> Result<Tensor, ModelError> {
        let mask: Vec<f32> =
            (0..n).flat_map(|i| (0..length).map(move |j| if j > length - n + i { f32::NEG_INFINITY } else { 0.0 })).collect();
        Ok(Tensor::from_vec(mask, (n, length), &self.device)?)
    }
}

/// Indices of the rows whose logits are wanted.
fn wanted_rows(spans: &[Span<'_, CandleCache>]) -> Vec<u32> {
    let (mut rows, mut kept) = (0, Vec::new());
    for span in spans {
        rows += span.tokens.len() as u32;
        let wanted = span.logits.rows_of(span.tokens.len()) as u32;
        kept.extend(rows - wanted..rows);
    }
    kept
}

/// f32 on the CPU; on a GPU bf16 where a product in it works (compute capability 8.0 and later), else f16.
fn best_dtype(device: &Device) -> DType {
    let multiplies = |dtype| -> candle_core::Result<f32> {
        let x = Tensor::ones((16, 16), dtype, device)?;
        x.matmul(&x)?.to_dtype(DType::F32)?.sum(D::Minus1)?.sum(0)?.to_scalar()
    };
    match device {
        Device::Cpu => DType::F32,
        Device::Cuda(_) | Device::Metal(_) => match multiplies(DType::BF16) {
            Ok(_) => DType::BF16,
            Err(_) => DType::F16,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu::{CpuNetwork, Scratch};
    use super::super::network::Wanted;
    use super::super::testing::{random_weights, tiny_config};
    use super::*;

    #[test]
    fn logits_equal_those_of_our_own_kernels_in_ragged_batches() {
        for tied in [true, false] {
            let weights = random_weights(&LlamaConfig { tie_word_embeddings: tied, ..tiny_config() }, 8);
            let (ours, candle) = (CpuNetwork::new(&weights).unwrap(), CandleNetwork::new(&weights, &Device::Cpu).unwrap());
            let lanes: [Vec<u32>; 3] = [(0..30).collect(), (5..12).rev().collect(), vec![40, 2, 40]];
            let mut scratch = Scratch::default();
            let mut caches_a: Vec<_> = lanes.iter().map(|_| ours.new_cache()).collect();
            let mut caches_b: Vec<_> = lanes.iter().map(|_| candle.new_cache().unwrap()).collect();
            for (cut, wanted) in [(0..2, Wanted::All), (2..3, Wanted::Last), (3..99, Wanted::All)] {
                let part = |l: usize| &lanes[l][cut.start.min(lanes[l].len())..cut.end.min(lanes[l].len())];
                let mut a: Vec<_> =
                    caches_a.iter_mut().enumerate().map(|(l, cache)| Span { cache, tokens: part(l), logits: wanted }).collect();
                let mut b: Vec<_> =
                    caches_b.iter_mut().enumerate().map(|(l, cache)| Span { cache, tokens: part(l), logits: wanted }).collect();
                let (a, b) = (ours.forward(&mut a, &mut scratch).unwrap(), candle.forward(&mut b).unwrap());
                assert_eq!(a.len(), b.len());
                assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-4), "{cut:?}");
                caches_b[0] = caches_b[0].duplicate().unwrap();
            }
        }
    }
}
