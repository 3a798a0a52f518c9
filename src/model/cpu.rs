//! The network on the CPU: f32, one thread, bit-exact whatever is computed together (see [`super::kernels`]).

use super::kernels::{self, Columns, Rows};
use super::network::Span;
use super::weights::{EMBEDDING, FINAL_NORM, HEAD, LAYER_PARTS, Weights, layer_name, transpose};
use super::{LlamaConfig, ModelError};

/// Weights of a layer, (k, n) contiguous. What reads the same input lies side by side.
struct Layer {
    input_norm: Vec<f32>,
    /// (hidden, query + key + value).
    qkv: Vec<f32>,
    /// (query, hidden).
    output: Vec<f32>,
    post_norm: Vec<f32>,
    /// (hidden, 2 · intermediate).
    gate_up: Vec<f32>,
    /// (intermediate, hidden).
    down: Vec<f32>,
}

/// A network of the Llama family.
pub struct CpuNetwork {
    config: LlamaConfig,
    /// (vocabulary, hidden).
    embedding: Vec<f32>,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    /// (hidden, vocabulary).
    head: Vec<f32>,
    /// (positions, head_dim / 2).
    cos: Vec<f32>,
    sin: Vec<f32>,
}

/// Positions whose keys lie together. A multiple of every block's width in the kernels.
const TILE: usize = 96;

/// Keys and values of one lane, allocated once for the whole context.
#[derive(Clone)]
pub struct CpuCache {
    /// A layer: (kv heads, tiles, head_dim, [`TILE`]): a tile's scores come from one product, and tiles follow each other in memory.
    keys: Vec<Vec<f32>>,
    /// A layer: (kv heads, capacity, head_dim).
    values: Vec<Vec<f32>>,
    length: usize,
    capacity: usize,
}

impl CpuCache {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Tokens that fit.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Forgets all but the first `tokens`.
    pub fn truncate(&mut self, tokens: usize) {
        self.length = self.length.min(tokens);
    }
}

/// Buffers that are kept from call to call.
#[derive(Default)]
pub struct Scratch {
    stream: Vec<f32>,
    normed: Vec<f32>,
    qkv: Vec<f32>,
    attended: Vec<f32>,
    scores: Vec<f32>,
    wide: Vec<f32>,
    gated: Vec<f32>,
    delta: Vec<f32>,
    logits: Vec<f32>,
}

impl CpuNetwork {
    pub fn new(weights: &Weights) -> Result<Self, ModelError> {
        let config = weights.config().clone();
        let (d, q, kv, ff) = (config.hidden_size, config.q_width(), config.kv_width(), config.intermediate_size);
        let mut layers = Vec::with_capacity(config.num_hidden_layers);
        for layer in 0..config.num_hidden_layers {
            let get = |part: usize| weights.get(&layer_name(layer, LAYER_PARTS[part]));
            layers.push(Layer {
                input_norm: get(0)?.to_vec(),
                qkv: side_by_side(d, &[(get(1)?, q), (get(2)?, kv), (get(3)?, kv)]),
                output: get(4)?.to_vec(),
                post_norm: get(5)?.to_vec(),
                gate_up: side_by_side(d, &[(get(6)?, ff), (get(7)?, ff)]),
                down: get(8)?.to_vec(),
            });
        }
        let embedding = weights.get(EMBEDDING)?.to_vec();
        let head = if config.tie_word_embeddings { transpose(&embedding, config.vocab_size, d) } else { weights.get(HEAD)?.to_vec() };
        let (cos, sin) = kernels::rope_tables(config.max_position_embeddings, config.head_dim(), config.rope_theta);
        Ok(Self { norm: weights.get(FINAL_NORM)?.to_vec(), config, embedding, layers, head, cos, sin })
    }

    pub fn config(&self) -> &LlamaConfig {
        &self.config
    }

    /// An empty cache for the whole context.
    pub fn new_cache(&self) -> CpuCache {
        let (layers, capacity) = (self.config.num_hidden_layers, self.config.max_position_embeddings);
        let zeros = |positions: usize| vec![vec![0.0; self.config.kv_width() * positions]; layers];
        CpuCache { keys: zeros(capacity.next_multiple_of(TILE)), values: zeros(capacity), length: 0, capacity }
    }

    /// Computes the tokens of all spans and appends them to their caches. Returns the wanted logits, rows of `vocab_size` in the order of the spans.
    /// Each row is the same, bit for bit, whatever else is in the call and however its lane's tokens were cut into calls.
    pub fn forward<'s>(&self, spans: &mut [Span<'_, CpuCache>], scratch: &'s mut Scratch) -> Result<&'s [f32], ModelError> {
        super::network::check_spans(&self.config, spans.iter().map(|s| (s.cache.length, s.tokens)))?;
        let (d, ff) = (self.config.hidden_size, self.config.intermediate_size);
        let rows = spans.iter().map(|s| s.tokens.len()).sum::<usize>();
        self.embed(spans, &mut scratch.stream);
        for (index, layer) in self.layers.iter().enumerate() {
            self.norm_rows(&scratch.stream, &layer.input_norm, &mut scratch.normed);
            product(&scratch.normed, rows, d, &layer.qkv, &mut scratch.qkv);
            self.attend(index, spans, scratch);
            product(&scratch.attended, rows, self.config.q_width(), &layer.output, &mut scratch.delta);
            kernels::add(&mut scratch.stream, &scratch.delta);
            self.norm_rows(&scratch.stream, &layer.post_norm, &mut scratch.normed);
            product(&scratch.normed, rows, d, &layer.gate_up, &mut scratch.wide);
            resize(&mut scratch.gated, rows * ff);
            for (wide, gated) in scratch.wide.chunks_exact(2 * ff).zip(scratch.gated.chunks_exact_mut(ff)) {
                kernels::swiglu(wide, gated);
            }
            product(&scratch.gated, rows, ff, &layer.down, &mut scratch.delta);
            kernels::add(&mut scratch.stream, &scratch.delta);
        }
        keep_wanted(spans, d, &mut scratch.stream);
        for span in spans.iter_mut() {
            span.cache.length += span.tokens.len();
        }
        self.norm_rows(&scratch.stream, &self.norm, &mut scratch.normed);
        product(&scratch.normed, scratch.stream.len() / d, d, &self.head, &mut scratch.logits);
        Ok(&scratch.logits)
    }

    fn embed(&self, spans: &[Span<'_, CpuCache>], stream: &mut Vec<f32>) {
        let d = self.config.hidden_size;
        stream.clear();
        for token in spans.iter().flat_map(|s| s.tokens) {
            stream.extend_from_slice(&self.embedding[*token as usize * d..][..d]);
        }
    }

    fn norm_rows(&self, stream: &[f32], gain: &[f32], normed: &mut Vec<f32>) {
        resize(normed, stream.len());
        for (x, out) in stream.chunks_exact(gain.len()).zip(normed.chunks_exact_mut(gain.len())) {
            kernels::rms_norm(x, gain, self.config.rms_norm_eps as f32, out);
        }
    }

    /// Rotates queries and keys, stores keys and values, attends. Reads `scratch.qkv`, writes `scratch.attended`.
    fn attend(&self, layer: usize, spans: &mut [Span<'_, CpuCache>], scratch: &mut Scratch) {
        let (q_width, kv_width) = (self.config.q_width(), self.config.kv_width());
        let row_width = q_width + 2 * kv_width;
        resize(&mut scratch.attended, scratch.qkv.len() / row_width * q_width);
        let mut rows = scratch.qkv.chunks_exact_mut(row_width).zip(scratch.attended.chunks_exact_mut(q_width));
        for span in spans {
            for (offset, (row, out)) in (0..span.tokens.len()).zip(&mut rows) {
                let position = span.cache.length + offset;
                self.rotate(position, &mut row[..q_width + kv_width]);
                self.store(layer, position, &row[q_width..], span.cache);
                self.attend_row(layer, position, &row[..q_width], span.cache, &mut scratch.scores, out);
            }
        }
    }

    fn rotate(&self, position: usize, queries_and_keys: &mut [f32]) {
        let (head_dim, half) = (self.config.head_dim(), self.config.head_dim() / 2);
        let (cos, sin) = (&self.cos[position * half..][..half], &self.sin[position * half..][..half]);
        for head in queries_and_keys.chunks_exact_mut(head_dim) {
            kernels::rope(head, cos, sin);
        }
    }

    /// `key_value` is a row of keys, then values.
    fn store(&self, layer: usize, position: usize, key_value: &[f32], cache: &mut CpuCache) {
        let head_dim = self.config.head_dim();
        let (keys, values) = key_value.split_at(self.config.kv_width());
        let tiles = cache.capacity.div_ceil(TILE);
        for (head, key) in keys.chunks_exact(head_dim).enumerate() {
            let tile = &mut cache.keys[layer][(head * tiles + position / TILE) * head_dim * TILE..][..head_dim * TILE];
            for (row, key) in tile.chunks_exact_mut(TILE).zip(key) {
                row[position % TILE] = *key;
            }
        }
        for (head, value) in values.chunks_exact(head_dim).enumerate() {
            cache.values[layer][(head * cache.capacity + position) * head_dim..][..head_dim].copy_from_slice(value);
        }
    }

    /// Causal attention of one token over its own lane. Query heads that share a key-value head go together.
    fn attend_row(&self, layer: usize, position: usize, queries: &[f32], cache: &CpuCache, scores: &mut Vec<f32>, out: &mut [f32]) {
        let (head_dim, capacity, length) = (self.config.head_dim(), cache.capacity, position + 1);
        let (group, tiles) = (self.config.num_attention_heads / self.config.kv_heads(), capacity.div_ceil(TILE));
        let scale = 1.0 / (head_dim as f32).sqrt();
        resize(scores, group * length);
        let heads = queries.chunks_exact(group * head_dim).zip(out.chunks_exact_mut(group * head_dim));
        for (kv_head, (queries, out)) in heads.enumerate() {
            let keys = &cache.keys[layer][kv_head * tiles * head_dim * TILE..][..tiles * head_dim * TILE];
            let values = &cache.values[layer][kv_head * head_dim * capacity..][..head_dim * capacity];
            let queries = Rows { data: queries, rows: group, k: head_dim, stride: head_dim };
            for (data, start) in keys.chunks_exact(head_dim * TILE).zip((0..length).step_by(TILE)) {
                let tile = Columns { data, n: TILE.min(length - start), stride: TILE };
                kernels::matmul(queries, tile, &mut scores[start..], length);
            }
            for row in scores.chunks_exact_mut(length) {
                kernels::softmax(row, scale);
            }
            let weights = Rows { data: scores, rows: group, k: length, stride: length };
            kernels::matmul(weights, Columns { data: values, n: head_dim, stride: head_dim }, out, head_dim);
        }
    }
}

/// Keeps of the stream only the rows whose logits are wanted.
fn keep_wanted(spans: &[Span<'_, CpuCache>], width: usize, stream: &mut Vec<f32>) {
    let (mut read, mut write) = (0, 0);
    for span in spans {
        let rows = span.tokens.len();
        let kept = span.logits.rows_of(rows);
        stream.copy_within((read + rows - kept) * width..(read + rows) * width, write * width);
        read += rows;
        write += kept;
    }
    stream.truncate(write * width);
}

/// (rows, k) x (k, n), all contiguous; n follows from the weights' size.
fn product(x: &[f32], rows: usize, k: usize, weights: &[f32], out: &mut Vec<f32>) {
    let n = weights.len() / k;
    resize(out, rows * n);
    kernels::matmul(Rows { data: x, rows, k, stride: k }, Columns { data: weights, n, stride: n }, out, n);
}

/// Sets the length without caring for the content: it is written before it is read.
fn resize(buffer: &mut Vec<f32>, length: usize) {
    buffer.resize(length, 0.0);
}

/// Joins matrices of the same k along n.
fn side_by_side(k: usize, parts: &[(&[f32], usize)]) -> Vec<f32> {
    (0..k).flat_map(|row| parts.iter().flat_map(move |(data, n)| data[row * n..][..*n].iter().copied())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::network::Wanted;
    use super::super::testing::{naive_logits, random_weights, tiny_config};
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn bits(logits: &[f32]) -> Vec<u32> {
        logits.iter().map(|v| v.to_bits()).collect()
    }

    fn random_tokens(rng: &mut ChaCha8Rng, count: usize, vocab: usize) -> Vec<u32> {
        (0..count).map(|_| rng.next_u32() % vocab as u32).collect()
    }

    /// Logits of every token, one token a call, nothing else in the call.
    fn alone(network: &CpuNetwork, tokens: &[u32]) -> Vec<Vec<u32>> {
        let (mut cache, mut scratch) = (network.new_cache(), Scratch::default());
        let mut step = |t: &u32| {
            let span = Span { cache: &mut cache, tokens: std::slice::from_ref(t), logits: Wanted::Last };
            bits(network.forward(&mut [span], &mut scratch).unwrap())
        };
        tokens.iter().map(&mut step).collect()
    }

    #[test]
    fn logits_equal_a_naive_network_in_double_precision() {
        for (tied, seed) in [(true, 1), (false, 2)] {
            let weights = random_weights(&LlamaConfig { tie_word_embeddings: tied, ..tiny_config() }, seed);
            let network = CpuNetwork::new(&weights).unwrap();
            let tokens = random_tokens(&mut ChaCha8Rng::seed_from_u64(seed), 110, network.config.vocab_size);
            let mut cache = network.new_cache();
            let mut scratch = Scratch::default();
            let ours = network.forward(&mut [Span { cache: &mut cache, tokens: &tokens, logits: Wanted::All }], &mut scratch).unwrap();
            let naive = naive_logits(&weights, &tokens);
            assert_eq!(ours.len(), naive.len());
            let spread = naive.iter().fold(0.0f64, |a, v| a.max(v.abs()));
            for (a, b) in ours.iter().zip(&naive) {
                assert!((f64::from(*a) - b).abs() < 2e-5 * spread, "{a} {b}");
            }
        }
    }

    /// Lanes of unequal length, joining and leaving, prefill chunks beside single tokens.
    #[test]
    fn a_row_in_a_ragged_batch_equals_the_row_alone_bit_for_bit() {
        for (config, rounds) in [(tiny_config(), 60), (LlamaConfig { max_position_embeddings: 130, ..LlamaConfig::deckhand(77) }, 3)] {
            let network = CpuNetwork::new(&random_weights(&config, 5)).unwrap();
            for round in 0..rounds {
                let mut rng = ChaCha8Rng::seed_from_u64(round);
                let lanes = 1 + rng.next_u32() as usize % 9;
                let mut script = |_| {
                    let count = 1 + rng.next_u32() as usize % 120;
                    random_tokens(&mut rng, count, config.vocab_size)
                };
                let scripts: Vec<Vec<u32>> = (0..lanes).map(&mut script).collect();
                let expected: Vec<Vec<Vec<u32>>> = scripts.iter().map(|s| alone(&network, s)).collect();
                assert_eq!(ragged(&network, &scripts, &mut rng), expected, "round {round}");
            }
        }
    }

    /// Feeds all scripts in random chunks of random subsets of lanes.
    fn ragged(network: &CpuNetwork, scripts: &[Vec<u32>], rng: &mut ChaCha8Rng) -> Vec<Vec<Vec<u32>>> {
        let mut caches: Vec<CpuCache> = scripts.iter().map(|_| network.new_cache()).collect();
        let mut out = vec![Vec::new(); scripts.len()];
        let mut scratch = Scratch::default();
        while (0..scripts.len()).any(|i| caches[i].len() < scripts[i].len()) {
            let mut spans = Vec::new();
            let mut who = Vec::new();
            for (i, cache) in caches.iter_mut().enumerate() {
                let left = &scripts[i][cache.len()..];
                if left.is_empty() || rng.next_u32().is_multiple_of(3) {
                    continue;
                }
                let chunk = &left[..1 + rng.next_u32() as usize % left.len()];
                who.extend(std::iter::repeat_n(i, chunk.len()));
                spans.push(Span { cache, tokens: chunk, logits: Wanted::All });
            }
            let logits = network.forward(&mut spans, &mut scratch).unwrap();
            for (lane, row) in who.iter().zip(logits.chunks_exact(network.config.vocab_size)) {
                out[*lane].push(bits(row));
            }
        }
        out
    }

    #[test]
    fn a_truncated_and_copied_cache_equals_a_fresh_one() {
        let network = CpuNetwork::new(&random_weights(&tiny_config(), 6)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (first, second) = (random_tokens(&mut rng, 50, 43), random_tokens(&mut rng, 20, 43));
        let (mut cache, mut scratch) = (network.new_cache(), Scratch::default());
        network.forward(&mut [Span { cache: &mut cache, tokens: &first, logits: Wanted::Nothing }], &mut scratch).unwrap();
        cache.truncate(30);
        let mut copy = cache.clone();
        let reused = bits(network.forward(&mut [Span { cache: &mut copy, tokens: &second, logits: Wanted::All }], &mut scratch).unwrap());
        let whole = [&first[..30], &second[..]].concat();
        assert_eq!(reused, alone(&network, &whole)[30..].concat());
    }

    #[test]
    fn too_many_tokens_and_unknown_tokens_are_errors() {
        let network = CpuNetwork::new(&random_weights(&tiny_config(), 6)).unwrap();
        let (mut cache, mut scratch) = (network.new_cache(), Scratch::default());
        for tokens in [vec![0; 131], vec![43]] {
            assert!(network.forward(&mut [Span { cache: &mut cache, tokens: &tokens, logits: Wanted::Last }], &mut scratch).is_err());
        }
        assert!(cache.is_empty());
    }
}
