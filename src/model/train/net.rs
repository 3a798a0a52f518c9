//! Forward and backward of the network on whole sequences. The parameters are one flat slice in the order of `tensor_specs`.

use super::matrix::{Into, Mat, MatMut, mul, mul_ta, mul_tb};
use crate::model::kernels::{rope_tables, sigmoid, softmax};
use crate::model::weights::{TensorKind, TensorSpec, tensor_specs};
use crate::model::{LlamaConfig, ModelError, Weights};

/// Rows of the attention matrix that are computed together; columns past the last row of a block are skipped.
const ATTENTION_BLOCK: usize = 128;

/// A sequence to learn from. `targets[i]` asks for the token after position `i`; `None` asks for nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub tokens: Vec<u32>,
    pub targets: Vec<Option<u32>>,
}

/// Sequences of one update.
pub type Batch<'a> = [&'a Example];

/// Sums over the positions that have a target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSum {
    /// Cross-entropy, nats.
    pub loss: f64,
    /// Positions whose likeliest token was the target.
    pub hits: u64,
    pub positions: u64,
    /// All positions, those without a target too.
    pub tokens: u64,
}

impl LossSum {
    fn add(&mut self, other: LossSum) {
        self.loss += other.loss;
        self.hits += other.hits;
        self.positions += other.positions;
        self.tokens += other.tokens;
    }
}

/// Where a layer's tensors begin in the flat parameters.
#[derive(Clone, Copy)]
struct LayerOffsets {
    norm1: usize,
    q: usize,
    k: usize,
    v: usize,
    o: usize,
    norm2: usize,
    gate: usize,
    up: usize,
    down: usize,
}

/// The shape of a network and where its parameters lie.
pub struct Network {
    config: LlamaConfig,
    specs: Vec<TensorSpec>,
    layers: Vec<LayerOffsets>,
    final_norm: usize,
    parameters: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

/// What the backward pass needs of a layer's forward pass.
#[derive(Default)]
struct LayerTape {
    /// Residual stream before the layer, (T, d).
    x: Vec<f32>,
    inv1: Vec<f32>,
    h1: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    /// Attention weights, (heads, T, T).
    p: Vec<f32>,
    o: Vec<f32>,
    /// Residual stream between attention and feed-forward.
    x2: Vec<f32>,
    inv2: Vec<f32>,
    h2: Vec<f32>,
    gate: Vec<f32>,
    /// Sigmoid of `gate`.
    open: Vec<f32>,
    up: Vec<f32>,
    act: Vec<f32>,
}

/// Buffers of one thread, kept from sequence to sequence.
#[derive(Default)]
pub struct Tape {
    layers: Vec<LayerTape>,
    x: Vec<f32>,
    final_x: Vec<f32>,
    final_inv: Vec<f32>,
    final_h: Vec<f32>,
    logits: Vec<f32>,
    dx: Vec<f32>,
    dx2: Vec<f32>,
    dh: Vec<f32>,
    da: Vec<f32>,
    dgate: Vec<f32>,
    dup: Vec<f32>,
    dq: Vec<f32>,
    dk: Vec<f32>,
    dv: Vec<f32>,
    dp: Vec<f32>,
}

fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    buffer.clear();
    buffer.resize(len, 0.0);
    buffer
}

impl Network {
    pub fn new(config: &LlamaConfig) -> Result<Self, ModelError> {
        config.check()?;
        if !config.tie_word_embeddings {
            return Err(ModelError::Input("training takes networks with tied embeddings".to_owned()));
        }
        let specs = tensor_specs(config);
        let mut offsets = Vec::with_capacity(specs.len() + 1);
        let mut parameters = 0;
        for spec in &specs {
            offsets.push(parameters);
            parameters += spec.elements();
        }
        let layers = (0..config.num_hidden_layers)
            .map(|layer| {
                let o = &offsets[1 + 9 * layer..][..9];
                LayerOffsets { norm1: o[0], q: o[1], k: o[2], v: o[3], o: o[4], norm2: o[5], gate: o[6], up: o[7], down: o[8] }
            })
            .collect();
        let final_norm = offsets[offsets.len() - 1];
        let (cos, sin) = rope_tables(config.max_position_embeddings, config.head_dim(), config.rope_theta);
        Ok(Self { config: config.clone(), specs, layers, final_norm, parameters, cos, sin })
    }

    pub fn config(&self) -> &LlamaConfig {
        &self.config
    }

    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// First values: normal, with `normal` a source of standard normals; projections onto the residual stream scaled by 1/√(2L), norms 1.
    pub fn initial(&self, mut normal: impl FnMut() -> f64) -> Vec<f32> {
        let residual = 1.0 / (2.0 * self.config.num_hidden_layers as f64).sqrt();
        let mut values = Vec::with_capacity(self.parameters);
        for spec in &self.specs {
            let deviation = match spec.kind {
                TensorKind::Embedding => 0.05,
                TensorKind::Linear => 0.8 / (spec.shape[0] as f64).sqrt() * if spec.is_residual_projection() { residual } else { 1.0 },
                TensorKind::Norm => 0.0,
            };
            let mean = if spec.kind == TensorKind::Norm { 1.0 } else { 0.0 };
            values.extend((0..spec.elements()).map(|_| if deviation > 0.0 { (mean + deviation * normal()) as f32 } else { mean as f32 }));
        }
        values
    }

    /// Which parameters are decayed: all but the norms.
    pub fn decays(&self) -> Vec<bool> {
        self.specs.iter().flat_map(|s| std::iter::repeat_n(s.kind != TensorKind::Norm, s.elements())).collect()
    }

    /// The parameters as weights that can be saved and served.
    pub fn to_weights(&self, parameters: &[f32]) -> Result<Weights, ModelError> {
        let mut at = 0;
        Weights::from_memory(&self.config, |spec| {
            let from = at;
            at += spec.elements();
            parameters.get(from..at).map(<[f32]>::to_vec).ok_or_else(|| ModelError::MissingTensor { tensor: spec.name.clone() })
        })
    }

    /// Adds the gradient of the summed loss of `batch` to `gradient`, split over two threads and summed in a fixed order, so that the same
    /// batch gives the same bits.
    pub fn loss_and_gradient(&self, parameters: &[f32], batch: &Batch<'_>, gradient: &mut [f32], tapes: &mut [Tape; 2]) -> LossSum {
        let (left, right) = batch.split_at(balanced_split(batch));
        let [tape_a, tape_b] = tapes;
        let mut other = vec![0.0; self.parameters];
        let sums = std::thread::scope(|scope| {
            let half = scope.spawn(|| self.run(parameters, right, &mut other, tape_b));
            let mut sum = self.run(parameters, left, gradient, tape_a);
            // A panic of the other half goes on here.
            sum.add(half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            sum
        });
        gradient.iter_mut().zip(&other).for_each(|(g, o)| *g += o);
        sums
    }

    fn run(&self, parameters: &[f32], batch: &Batch<'_>, gradient: &mut [f32], tape: &mut Tape) -> LossSum {
        let mut sum = LossSum::default();
        for example in batch {
            sum.add(self.forward(parameters, example, tape));
            self.backward(parameters, example, gradient, tape);
        }
        sum
    }

    /// Summed loss alone.
    pub fn loss(&self, parameters: &[f32], example: &Example, tape: &mut Tape) -> LossSum {
        self.forward(parameters, example, tape)
    }

    /// Runs the sequence and leaves in `tape.logits` the gradient of the loss by the logits.
    fn forward(&self, w: &[f32], example: &Example, tape: &mut Tape) -> LossSum {
        let c = &self.config;
        let (t, d, v) = (example.tokens.len(), c.hidden_size, c.vocab_size);
        let embedding = &w[..v * d];
        sized(&mut tape.x, t * d);
        for (row, token) in tape.x.chunks_exact_mut(d).zip(&example.tokens) {
            row.copy_from_slice(&embedding[*token as usize * d..][..d]);
        }
        tape.layers.resize_with(c.num_hidden_layers, LayerTape::default);
        for (layer, offsets) in tape.layers.iter_mut().zip(&self.layers) {
            self.layer_forward(w, *offsets, layer, &mut tape.x, t);
        }
        let wanted: Vec<usize> = (0..t).filter(|i| example.targets[*i].is_some()).collect();
        let n = wanted.len();
        sized(&mut tape.final_x, n * d);
        for (row, i) in tape.final_x.chunks_exact_mut(d).zip(&wanted) {
            row.copy_from_slice(&tape.x[i * d..][..d]);
        }
        let gain = &w[self.final_norm..][..d];
        rms_forward(&tape.final_x, gain, c.rms_norm_eps, sized(&mut tape.final_h, n * d), &mut tape.final_inv);
        let logits = sized(&mut tape.logits, n * v);
        mul_tb(MatMut::dense(logits, n, v), Mat::dense(&tape.final_h, n, d), Mat::dense(embedding, v, d), Into::Replace);
        let mut sum = LossSum { tokens: t as u64, positions: n as u64, ..LossSum::default() };
        for (row, i) in logits.chunks_exact_mut(v).zip(&wanted) {
            let Some(target) = example.targets[*i] else { continue };
            let (loss, hit) = cross_entropy(row, target as usize);
            sum.loss += loss;
            sum.hits += u64::from(hit);
        }
        sum
    }

    fn layer_forward(&self, w: &[f32], at: LayerOffsets, tape: &mut LayerTape, x: &mut [f32], t: usize) {
        let c = &self.config;
        let (d, qw, kw, ff) = (c.hidden_size, c.q_width(), c.kv_width(), c.intermediate_size);
        tape.x.clear();
        tape.x.extend_from_slice(x);
        rms_forward(&tape.x, &w[at.norm1..][..d], c.rms_norm_eps, sized(&mut tape.h1, t * d), &mut tape.inv1);
        let h1 = Mat::dense(&tape.h1, t, d);
        mul(MatMut::dense(sized(&mut tape.q, t * qw), t, qw), h1, Mat::dense(&w[at.q..][..d * qw], d, qw), Into::Replace);
        mul(MatMut::dense(sized(&mut tape.k, t * kw), t, kw), h1, Mat::dense(&w[at.k..][..d * kw], d, kw), Into::Replace);
        mul(MatMut::dense(sized(&mut tape.v, t * kw), t, kw), h1, Mat::dense(&w[at.v..][..d * kw], d, kw), Into::Replace);
        self.rotate(&mut tape.q, qw, 1.0);
        self.rotate(&mut tape.k, kw, 1.0);
        self.attend(tape, t);
        mul(MatMut::dense(x, t, d), Mat::dense(&tape.o, t, qw), Mat::dense(&w[at.o..][..qw * d], qw, d), Into::Add);
        tape.x2.clear();
        tape.x2.extend_from_slice(x);
        rms_forward(&tape.x2, &w[at.norm2..][..d], c.rms_norm_eps, sized(&mut tape.h2, t * d), &mut tape.inv2);
        let h2 = Mat::dense(&tape.h2, t, d);
        mul(MatMut::dense(sized(&mut tape.gate, t * ff), t, ff), h2, Mat::dense(&w[at.gate..][..d * ff], d, ff), Into::Replace);
        mul(MatMut::dense(sized(&mut tape.up, t * ff), t, ff), h2, Mat::dense(&w[at.up..][..d * ff], d, ff), Into::Replace);
        sigmoid(&tape.gate, sized(&mut tape.open, t * ff));
        sized(&mut tape.act, t * ff);
        for (((a, g), s), u) in tape.act.iter_mut().zip(&tape.gate).zip(&tape.open).zip(&tape.up) {
            *a = g * s * u;
        }
        mul(MatMut::dense(x, t, d), Mat::dense(&tape.act, t, ff), Mat::dense(&w[at.down..][..ff * d], ff, d), Into::Add);
    }

    /// Rotary embedding of every head of every row; `sign` -1 rotates back, which is the gradient.
    fn rotate(&self, rows: &mut [f32], width: usize, sign: f32) {
        let (hd, half) = (self.config.head_dim(), self.config.head_dim() / 2);
        for (position, row) in rows.chunks_exact_mut(width).enumerate() {
            let (cos, sin) = (&self.cos[position * half..][..half], &self.sin[position * half..][..half]);
            for head in row.chunks_exact_mut(hd) {
                let (low, high) = head.split_at_mut(half);
                for i in 0..half {
                    let (a, b, s) = (low[i], high[i], sign * sin[i]);
                    low[i] = a * cos[i] - b * s;
                    high[i] = b * cos[i] + a * s;
                }
            }
        }
    }

    /// Causal attention, block of rows by block of rows.
    fn attend(&self, tape: &mut LayerTape, t: usize) {
        let c = &self.config;
        let (hd, qw, kw) = (c.head_dim(), c.q_width(), c.kv_width());
        let group = c.num_attention_heads / c.kv_heads();
        let scale = 1.0 / (hd as f32).sqrt();
        sized(&mut tape.p, c.num_attention_heads * t * t);
        sized(&mut tape.o, t * qw);
        for head in 0..c.num_attention_heads {
            let (qs, ks) = (head * hd, head / group * hd);
            for start in (0..t).step_by(ATTENTION_BLOCK) {
                let (end, rows) = ((start + ATTENTION_BLOCK).min(t), ATTENTION_BLOCK.min(t - start));
                let p = &mut tape.p[head * t * t + start * t..][..rows * t];
                let q = Mat { data: &tape.q[start * qw + qs..], rows, cols: hd, stride: qw };
                let k = Mat { data: &tape.k[ks..], rows: end, cols: hd, stride: kw };
                mul_tb(MatMut { data: p, rows, cols: end, stride: t }, q, k, Into::Replace);
                for (i, row) in p.chunks_exact_mut(t).enumerate() {
                    let (seen, unseen) = row.split_at_mut(start + i + 1);
                    softmax(seen, scale);
                    unseen[..end - start - i - 1].fill(0.0);
                }
                let v = Mat { data: &tape.v[ks..], rows: end, cols: hd, stride: kw };
                let out = MatMut { data: &mut tape.o[start * qw + qs..], rows, cols: hd, stride: qw };
                mul(out, Mat { data: p, rows, cols: end, stride: t }, v, Into::Replace);
            }
        }
    }

    fn backward(&self, w: &[f32], example: &Example, grad: &mut [f32], tape: &mut Tape) {
        let c = &self.config;
        let (t, d, v) = (example.tokens.len(), c.hidden_size, c.vocab_size);
        let n = tape.logits.len() / v;
        let (embedding_grad, _) = grad.split_at_mut(v * d);
        mul_ta(MatMut::dense(embedding_grad, v, d), Mat::dense(&tape.logits, n, v), Mat::dense(&tape.final_h, n, d), Into::Add);
        let dh = sized(&mut tape.dh, n * d);
        mul(MatMut::dense(dh, n, d), Mat::dense(&tape.logits, n, v), Mat::dense(&w[..v * d], v, d), Into::Replace);
        let dfinal = sized(&mut tape.da, n * d);
        rms_backward(&tape.final_x, &tape.final_inv, &w[self.final_norm..][..d], dh, dfinal, &mut grad[self.final_norm..][..d]);
        sized(&mut tape.dx, t * d);
        let wanted = (0..t).filter(|i| example.targets[*i].is_some());
        for (row, i) in dfinal.chunks_exact(d).zip(wanted) {
            tape.dx[i * d..][..d].copy_from_slice(row);
        }
        for layer in (0..c.num_hidden_layers).rev() {
            self.layer_backward(w, grad, layer, tape, t);
        }
        for (row, token) in tape.dx.chunks_exact(d).zip(&example.tokens) {
            grad[*token as usize * d..][..d].iter_mut().zip(row).for_each(|(g, x)| *g += x);
        }
    }

    fn layer_backward(&self, w: &[f32], grad: &mut [f32], layer: usize, tape: &mut Tape, t: usize) {
        let c = &self.config;
        let (d, qw, kw, ff) = (c.hidden_size, c.q_width(), c.kv_width(), c.intermediate_size);
        let (at, saved) = (self.layers[layer], &mut tape.layers[layer]);
        // Feed-forward.
        let dx = Mat::dense(&tape.dx, t, d);
        mul_ta(MatMut::dense(&mut grad[at.down..][..ff * d], ff, d), Mat::dense(&saved.act, t, ff), dx, Into::Add);
        let da = sized(&mut tape.da, t * ff);
        mul_tb(MatMut::dense(da, t, ff), dx, Mat::dense(&w[at.down..][..ff * d], ff, d), Into::Replace);
        let (dgate, dup) = (sized(&mut tape.dgate, t * ff), sized(&mut tape.dup, t * ff));
        for i in 0..t * ff {
            let (g, s) = (saved.gate[i], saved.open[i]);
            dup[i] = da[i] * g * s;
            dgate[i] = da[i] * saved.up[i] * s * (1.0 + g * (1.0 - s));
        }
        let h2 = Mat::dense(&saved.h2, t, d);
        mul_ta(MatMut::dense(&mut grad[at.gate..][..d * ff], d, ff), h2, Mat::dense(dgate, t, ff), Into::Add);
        mul_ta(MatMut::dense(&mut grad[at.up..][..d * ff], d, ff), h2, Mat::dense(dup, t, ff), Into::Add);
        let dh = sized(&mut tape.dh, t * d);
        mul_tb(MatMut::dense(dh, t, d), Mat::dense(dgate, t, ff), Mat::dense(&w[at.gate..][..d * ff], d, ff), Into::Replace);
        mul_tb(MatMut::dense(dh, t, d), Mat::dense(dup, t, ff), Mat::dense(&w[at.up..][..d * ff], d, ff), Into::Add);
        let dx2 = sized(&mut tape.dx2, t * d);
        rms_backward(&saved.x2, &saved.inv2, &w[at.norm2..][..d], dh, dx2, &mut grad[at.norm2..][..d]);
        dx2.iter_mut().zip(&tape.dx).for_each(|(a, b)| *a += b);
        // Attention.
        let dx2 = Mat::dense(&tape.dx2, t, d);
        mul_ta(MatMut::dense(&mut grad[at.o..][..qw * d], qw, d), Mat::dense(&saved.o, t, qw), dx2, Into::Add);
        let d_o = sized(&mut tape.da, t * qw);
        mul_tb(MatMut::dense(d_o, t, qw), dx2, Mat::dense(&w[at.o..][..qw * d], qw, d), Into::Replace);
        sized(&mut tape.dq, t * qw);
        sized(&mut tape.dk, t * kw);
        sized(&mut tape.dv, t * kw);
        attend_backward(c, saved, &tape.da, (&mut tape.dq, &mut tape.dk, &mut tape.dv), &mut tape.dp, t);
        self.rotate(&mut tape.dq, qw, -1.0);
        self.rotate(&mut tape.dk, kw, -1.0);
        let h1 = Mat::dense(&saved.h1, t, d);
        let dh = sized(&mut tape.dh, t * d);
        for (delta, width, offset) in [(&tape.dq, qw, at.q), (&tape.dk, kw, at.k), (&tape.dv, kw, at.v)] {
            let delta = Mat::dense(delta, t, width);
            mul_ta(MatMut::dense(&mut grad[offset..][..d * width], d, width), h1, delta, Into::Add);
            mul_tb(MatMut::dense(dh, t, d), delta, Mat::dense(&w[offset..][..d * width], d, width), Into::Add);
        }
        rms_backward(&saved.x, &saved.inv1, &w[at.norm1..][..d], dh, &mut tape.dx, &mut grad[at.norm1..][..d]);
        tape.dx.iter_mut().zip(&tape.dx2).for_each(|(a, b)| *a += b);
    }
}

fn attend_backward(
    c: &LlamaConfig,
    saved: &LayerTape,
    d_o: &[f32],
    (dq, dk, dv): (&mut [f32], &mut [f32], &mut [f32]),
    dp: &mut Vec<f32>,
    t: usize,
) {
    let (hd, qw, kw) = (c.head_dim(), c.q_width(), c.kv_width());
    let group = c.num_attention_heads / c.kv_heads();
    let scale = 1.0 / (hd as f32).sqrt();
    for head in 0..c.num_attention_heads {
        let (qs, ks) = (head * hd, head / group * hd);
        for start in (0..t).step_by(ATTENTION_BLOCK) {
            let (end, rows) = ((start + ATTENTION_BLOCK).min(t), ATTENTION_BLOCK.min(t - start));
            let p = Mat { data: &saved.p[head * t * t + start * t..], rows, cols: end, stride: t };
            let d_o = Mat { data: &d_o[start * qw + qs..], rows, cols: hd, stride: qw };
            mul_ta(MatMut { data: &mut dv[ks..], rows: end, cols: hd, stride: kw }, p, d_o, Into::Add);
            let ds = sized(dp, rows * end);
            let v = Mat { data: &saved.v[ks..], rows: end, cols: hd, stride: kw };
            mul_tb(MatMut::dense(ds, rows, end), d_o, v, Into::Replace);
            for (i, row) in ds.chunks_exact_mut(end).enumerate() {
                let p = &p.data[i * t..][..end];
                let inner: f32 = row.iter().zip(p).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(p).for_each(|(s, p)| *s = p * (*s - inner) * scale);
            }
            let ds = Mat::dense(ds, rows, end);
            let k = Mat { data: &saved.k[ks..], rows: end, cols: hd, stride: kw };
            mul(MatMut { data: &mut dq[start * qw + qs..], rows, cols: hd, stride: qw }, ds, k, Into::Replace);
            let q = Mat { data: &saved.q[start * qw + qs..], rows, cols: hd, stride: qw };
            mul_ta(MatMut { data: &mut dk[ks..], rows: end, cols: hd, stride: kw }, ds, q, Into::Add);
        }
    }
}

/// Where to cut a batch so that both halves have about the same number of tokens.
fn balanced_split(batch: &Batch<'_>) -> usize {
    let total: usize = batch.iter().map(|e| e.tokens.len()).sum();
    let mut before = 0;
    batch
        .iter()
        .position(|e| {
            before += e.tokens.len();
            2 * before >= total
        })
        .map_or(batch.len(), |i| i + 1)
}

/// Loss of one row of logits, and whether the target was the likeliest. The row becomes its gradient: softmax less one at the target.
fn cross_entropy(row: &mut [f32], target: usize) -> (f64, bool) {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let hit = row[target] >= max;
    softmax(row, 1.0);
    let loss = -f64::from(row[target].max(f32::MIN_POSITIVE)).ln();
    row[target] -= 1.0;
    (loss, hit)
}

/// Rows of `x · inv · gain` with `inv = 1 / sqrt(mean(x²) + eps)`, kept for the backward pass.
fn rms_forward(x: &[f32], gain: &[f32], eps: f64, out: &mut [f32], inv: &mut Vec<f32>) {
    inv.clear();
    for (row, out) in x.chunks_exact(gain.len()).zip(out.chunks_exact_mut(gain.len())) {
        let mean = row.iter().map(|v| v * v).sum::<f32>() / gain.len() as f32;
        let scale = 1.0 / (mean + eps as f32).sqrt();
        inv.push(scale);
        out.iter_mut().zip(row).zip(gain).for_each(|((o, x), g)| *o = x * scale * g);
    }
}

/// Writes the gradient by `x` and adds the gradient by `gain`.
fn rms_backward(x: &[f32], inv: &[f32], gain: &[f32], dy: &[f32], dx: &mut [f32], dgain: &mut [f32]) {
    let d = gain.len();
    for (((row, dy), dx), inv) in x.chunks_exact(d).zip(dy.chunks_exact(d)).zip(dx.chunks_exact_mut(d)).zip(inv) {
        let mut inner = 0.0;
        for i in 0..d {
            let hat = row[i] * inv;
            dgain[i] += dy[i] * hat;
            inner += dy[i] * gain[i] * hat;
        }
        inner /= d as f32;
        for i in 0..d {
            dx[i] = inv * (dy[i] * gain[i] - row[i] * inv * inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::{naive_logits, random_weights, tiny_config};

    fn flat(network: &Network, weights: &Weights) -> Vec<f32> {
        network.specs.iter().flat_map(|s| weights.get(&s.name).unwrap().to_vec()).collect()
    }

    fn example(seed: u32, len: u32) -> Example {
        let tokens: Vec<u32> = (0..len).map(|i| (i * i * 7 + i * 3 + seed) % 43).collect();
        let targets = (0..len).map(|i| (i % 3 != 1).then_some((i * 5 + seed) % 43)).collect();
        Example { tokens, targets }
    }

    fn naive_loss(weights: &Weights, example: &Example) -> f64 {
        let logits = naive_logits(weights, &example.tokens);
        let rows = logits.chunks_exact(43).zip(&example.targets);
        rows.filter_map(|(row, target)| target.map(|t| row.iter().map(|l| l.exp()).sum::<f64>().ln() - row[t as usize])).sum()
    }

    #[test]
    fn the_loss_is_that_of_the_naive_network() {
        let network = Network::new(&tiny_config()).unwrap();
        let weights = random_weights(&tiny_config(), 3);
        let mut tape = Tape::default();
        for (seed, len) in [(1, 5), (2, 37)] {
            let example = example(seed, len);
            let sum = network.loss(&flat(&network, &weights), &example, &mut tape);
            assert!((sum.loss - naive_loss(&weights, &example)).abs() < 1e-3 * sum.loss, "{sum:?}");
        }
    }

    /// Central differences of the naive f64 network, a sample of every tensor.
    #[test]
    fn gradients_are_those_of_the_naive_network() {
        let network = Network::new(&tiny_config()).unwrap();
        let parameters = flat(&network, &random_weights(&tiny_config(), 5));
        let examples = [example(1, 9), example(2, 14), example(3, 4)];
        let batch: Vec<&Example> = examples.iter().collect();
        let mut gradient = vec![0.0; network.parameters()];
        network.loss_and_gradient(&parameters, &batch, &mut gradient, &mut Default::default());
        let scale = gradient.iter().fold(0.0f32, |m, g| m.max(g.abs()));
        let mut offset = 0;
        for spec in &network.specs {
            let stride = (spec.elements() / 7).max(1);
            let sample = &gradient[offset..][..spec.elements()];
            assert!(sample.iter().any(|g| *g != 0.0), "{} has no gradient", spec.name);
            for i in (0..spec.elements()).step_by(stride) {
                let at = |delta: f32| {
                    let mut moved = parameters.clone();
                    moved[offset + i] += delta;
                    let step = f64::from(moved[offset + i]) - f64::from(parameters[offset + i]);
                    let weights = network.to_weights(&moved).unwrap();
                    (step, examples.iter().map(|e| naive_loss(&weights, e)).sum::<f64>())
                };
                let ((up, high), (down, low)) = (at(1e-3), at(-1e-3));
                let expected = (high - low) / (up - down);
                let found = f64::from(sample[i]);
                assert!((found - expected).abs() < 1e-3 * f64::from(scale), "{}[{i}]: {found} for {expected}", spec.name);
            }
            offset += spec.elements();
        }
    }

    #[test]
    fn blocks_of_attention_meet_without_a_seam() {
        let config = LlamaConfig { max_position_embeddings: 400, ..tiny_config() };
        let network = Network::new(&config).unwrap();
        let weights = random_weights(&config, 9);
        let example = example(4, 2 * ATTENTION_BLOCK as u32 + 17);
        let sum = network.loss(&flat(&network, &weights), &example, &mut Tape::default());
        assert!((sum.loss - naive_loss(&weights, &example)).abs() < 1e-3 * sum.loss);
    }

    #[test]
    fn one_batch_can_be_learnt_by_heart_and_the_same_bits_come_again() {
        let learn = || {
            let network = Network::new(&tiny_config()).unwrap();
            let mut parameters = flat(&network, &random_weights(&tiny_config(), 7));
            let examples = [example(1, 12), example(2, 12)];
            let batch: Vec<&Example> = examples.iter().collect();
            let settings = super::super::AdamSettings {
                learning_rate: 1e-2,
                beta1: 0.9,
                beta2: 0.98,
                epsilon: 1e-8,
                weight_decay: 0.0,
                warm_up_steps: 5,
                total_steps: 200,
                floor: 0.1,
            };
            let mut adam = super::super::Adam::new(network.parameters(), settings);
            let (decays, mut tapes) = (network.decays(), Default::default());
            let mut last = LossSum::default();
            for _ in 0..120 {
                let mut gradient = vec![0.0; network.parameters()];
                last = network.loss_and_gradient(&parameters, &batch, &mut gradient, &mut tapes);
                super::super::clip_norm(&mut gradient, 1.0);
                adam.update(&mut parameters, &gradient, &decays);
            }
            (last, parameters)
        };
        let (sum, first) = learn();
        assert!(sum.loss / (sum.positions as f64) < 0.05, "{sum:?}");
        let (_, second) = learn();
        assert!(first.iter().zip(&second).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
