//! f32 kernels in plain Rust whose every output is one fixed sequence of additions and multiplications.
//!
//! An output never depends on how many rows are computed with it, nor on the width of the machine's vectors: each product is summed over k
//! ascending, vectors run over outputs only, nothing is fused (`mul_add`), and the exponential is made of exact operations. So a row in a batch equals
//! the row alone, a prefill in chunks equals one in a single piece, and one machine equals another, bit for bit.

/// Floats that are computed side by side.
const LANES: usize = 8;

type Lanes = [f32; LANES];

/// Compiles a body twice on x86-64, for AVX2 and for the baseline, and picks one at run time. The results are the same bits.
macro_rules! widest {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        pub fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn body($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) {
                    body($($arg),*);
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor was just asked whether it has AVX2, which is all that the function needs.
                    #[allow(unsafe_code)]
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*);
        }
    };
}

/// A matrix of inputs: `rows` rows of `k` numbers, `stride` apart.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub k: usize,
    pub stride: usize,
}

/// A matrix (k, n) of weights, its rows `stride` apart.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    pub data: &'a [f32],
    pub n: usize,
    pub stride: usize,
}

widest! {
    /// `out[r, j] = Σ_k x[r, k] · w[k, j]`, k ascending. `out` has rows of `out_stride`, of which the first n are written.
    pub fn matmul(x: Rows<'_>, w: Columns<'_>, out: &mut [f32], out_stride: usize) {
        let mut r = 0;
        while r + 4 <= x.rows {
            all_columns::<4, 2>(x, r, w, out, out_stride);
            r += 4;
        }
        while r + 2 <= x.rows {
            all_columns::<2, 3>(x, r, w, out, out_stride);
            r += 2;
        }
        if r < x.rows {
            all_columns::<1, 8>(x, r, w, out, out_stride);
        }
    }
}

/// `M` rows from `r`, all columns: blocks of `V` vectors, then single vectors, then single columns.
#[inline(always)]
fn all_columns<const M: usize, const V: usize>(x: Rows<'_>, r: usize, w: Columns<'_>, out: &mut [f32], out_stride: usize) {
    let mut j = 0;
    while j + V * LANES <= w.n {
        block::<M, V>(x, r, w, j, out, out_stride);
        j += V * LANES;
    }
    while j + LANES <= w.n {
        block::<M, 1>(x, r, w, j, out, out_stride);
        j += LANES;
    }
    for j in j..w.n {
        for row in r..r + M {
            let inputs = &x.data[row * x.stride..][..x.k];
            let mut sum = 0.0;
            for (k, input) in inputs.iter().enumerate() {
                sum += input * w.data[k * w.stride + j];
            }
            out[row * out_stride + j] = sum;
        }
    }
}

/// `M` rows by `V` vectors of columns, all sums in registers.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "k walks several slices at once")]
fn block<const M: usize, const V: usize>(x: Rows<'_>, r: usize, w: Columns<'_>, j: usize, out: &mut [f32], out_stride: usize) {
    let inputs: [&[f32]; M] = std::array::from_fn(|m| &x.data[(r + m) * x.stride..][..x.k]);
    let mut sums = [[[0.0; LANES]; V]; M];
    for k in 0..x.k {
        let weights = &w.data[k * w.stride + j..][..V * LANES];
        for m in 0..M {
            let input = inputs[m][k];
            for v in 0..V {
                for lane in 0..LANES {
                    sums[m][v][lane] += input * weights[v * LANES + lane];
                }
            }
        }
    }
    for m in 0..M {
        for v in 0..V {
            out[(r + m) * out_stride + j + v * LANES..][..LANES].copy_from_slice(&sums[m][v]);
        }
    }
}

widest! {
    /// Root-mean-square norm (Zhang & Sennrich 2019): `out = x / sqrt(mean(x²) + eps) · gain`, one row.
    pub fn rms_norm(x: &[f32], gain: &[f32], eps: f32, out: &mut [f32]) {
        let mut squares: Lanes = [0.0; LANES];
        for (i, v) in x.iter().enumerate() {
            squares[i % LANES] += v * v;
        }
        let scale = 1.0 / (add_up(squares) / x.len() as f32 + eps).sqrt();
        for ((o, v), g) in out.iter_mut().zip(x).zip(gain) {
            *o = v * scale * g;
        }
    }
}

widest! {
    /// `x = softmax(x · scale)` of one row.
    pub fn softmax(x: &mut [f32], scale: f32) {
        let mut max = f32::NEG_INFINITY;
        for v in x.iter_mut() {
            *v *= scale;
            max = if *v > max { *v } else { max };
        }
        let mut sums: Lanes = [0.0; LANES];
        let mut chunks = x.chunks_exact_mut(LANES);
        for chunk in &mut chunks {
            for (v, sum) in chunk.iter_mut().zip(&mut sums) {
                *v = exp(*v - max);
                *sum += *v;
            }
        }
        for (v, sum) in chunks.into_remainder().iter_mut().zip(&mut sums) {
            *v = exp(*v - max);
            *sum += *v;
        }
        let norm = 1.0 / add_up(sums);
        for v in x.iter_mut() {
            *v *= norm;
        }
    }
}

widest! {
    /// SwiGLU (Shazeer 2020): `out[i] = silu(gate_up[i]) · gate_up[n + i]` for a row of n outputs.
    pub fn swiglu(gate_up: &[f32], out: &mut [f32]) {
        let (gate, up) = gate_up.split_at(out.len());
        for ((o, g), u) in out.iter_mut().zip(gate).zip(up) {
            *o = g / (1.0 + exp(-*g)) * u;
        }
    }
}

widest! {
    /// `out[i] = 1 / (1 + e^-x[i])`.
    pub fn sigmoid(x: &[f32], out: &mut [f32]) {
        for (o, x) in out.iter_mut().zip(x) {
            *o = 1.0 / (1.0 + exp(-*x));
        }
    }
}

widest! {
    /// `x += y`.
    pub fn add(x: &mut [f32], y: &[f32]) {
        for (a, b) in x.iter_mut().zip(y) {
            *a += b;
        }
    }
}

/// Rotary position embedding (Su et al. 2021) on one head, halves rotated against each other as the ecosystem's files expect.
pub fn rope(head: &mut [f32], cos: &[f32], sin: &[f32]) {
    let (low, high) = head.split_at_mut(cos.len());
    for (((a, b), c), s) in low.iter_mut().zip(high).zip(cos).zip(sin) {
        (*a, *b) = (*a * c - *b * s, *b * c + *a * s);
    }
}

/// Cosines and sines of every position: two tables (positions, head_dim / 2).
pub fn rope_tables(positions: usize, head_dim: usize, theta: f64) -> (Vec<f32>, Vec<f32>) {
    let half = head_dim / 2;
    let frequency = |i: usize| 1.0 / libm::pow(theta, 2.0 * i as f64 / head_dim as f64);
    let angles: Vec<f64> = (0..positions).flat_map(|p| (0..half).map(move |i| p as f64 * frequency(i))).collect();
    (angles.iter().map(|a| libm::cos(*a) as f32).collect(), angles.iter().map(|a| libm::sin(*a) as f32).collect())
}

/// Sum in a fixed tree.
#[inline(always)]
fn add_up(v: Lanes) -> f32 {
    ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}

/// e^x within 2 units in the last place, of exact operations only, so that a compiler can do eight at a time and every machine gets the same.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; ln 2 is split in two so that n·(first part) is exact (Cody & Waite 1980); e^r is its Taylor
/// polynomial of degree 7; n goes into the exponent. Clamped to ±87: no subnormals, no infinity.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it rounds to an integer, which the low bits then hold
    const LN2_HIGH: f32 = 0.693_359_4; // 355 / 512
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let mut poly = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        poly = poly * r + c;
    }
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    poly * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_close_to_the_exact_one() {
        let mut worst = 0.0f64;
        for i in -870_000..=870_000 {
            let x = i as f32 * 1e-4;
            let exact = libm::exp(f64::from(x));
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(worst < 2.5e-7, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e30) > 0.0 && exp(f32::INFINITY).is_finite());
    }

    #[test]
    fn a_product_equals_its_plain_sum_whatever_the_blocks() {
        let value = |i: usize| ((i * 2_654_435_761) % 2001) as f32 / 1000.0 - 1.0;
        for (rows, k, n) in [(1, 1, 1), (1, 24, 769), (2, 5, 7), (3, 96, 65), (7, 300, 24), (16, 33, 64), (5, 600, 17)] {
            let x: Vec<f32> = (0..rows * k).map(value).collect();
            let w: Vec<f32> = (0..k * n).map(|i| value(i + 77)).collect();
            let mut out = vec![f32::NAN; rows * n];
            matmul(Rows { data: &x, rows, k, stride: k }, Columns { data: &w, n, stride: n }, &mut out, n);
            for r in 0..rows {
                for j in 0..n {
                    let plain = (0..k).fold(0.0f32, |sum, i| sum + x[r * k + i] * w[i * n + j]);
                    assert_eq!(out[r * n + j].to_bits(), plain.to_bits(), "{rows} x {k} x {n} at {r}, {j}");
                }
            }
        }
    }

    #[test]
    fn softmax_sums_to_one_and_keeps_ratios() {
        for n in [1, 7, 8, 9, 100] {
            let mut x: Vec<f32> = (0..n).map(|i| i as f32 * 0.3 - 80.0).collect();
            softmax(&mut x, 0.5);
            assert!((x.iter().sum::<f32>() - 1.0).abs() < 1e-6);
            if n > 1 {
                assert!((x[1] / x[0] - 0.15f32.exp()).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn rotation_keeps_lengths_and_turns_by_the_angle() {
        let (cos, sin) = rope_tables(3, 4, 100.0);
        assert_eq!((cos[0], sin[0], cos.len()), (1.0, 0.0, 6));
        let mut head = [1.0, 0.0, 0.0, 0.0];
        rope(&mut head, &cos[4..6], &sin[4..6]);
        assert!((head[0] - 2f32.cos()).abs() < 1e-7 && (head[2] - 2f32.sin()).abs() < 1e-7 && head[1] == 0.0);
        let mut head = [0.0, 1.0, 0.0, 0.0];
        rope(&mut head, &cos[2..4], &sin[2..4]);
        assert!((head[1] - 0.1f32.cos()).abs() < 1e-7);
    }
}
