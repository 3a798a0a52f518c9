//! Weights in host memory: names and shapes of the ecosystem on disk, (k, n) contiguous f32 in memory.

use super::{LlamaConfig, ModelError};
use half::{bf16, f16};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::BTreeMap;

/// What a tensor is for, and so how it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// (vocabulary, hidden), the same on disk and in memory.
    Embedding,
    /// On disk (out, in) as in PyTorch; in memory (in, out), so that a product reads rows of outputs.
    Linear,
    /// (hidden).
    Norm,
}

/// Name, kind and in-memory shape of one tensor of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    pub name: String,
    pub kind: TensorKind,
    /// In memory: (in, out) of a linear layer.
    pub shape: Vec<usize>,
}

impl TensorSpec {
    /// Shape in the file.
    pub fn disk_shape(&self) -> Vec<usize> {
        match self.kind {
            TensorKind::Linear => self.shape.iter().rev().copied().collect(),
            TensorKind::Embedding | TensorKind::Norm => self.shape.clone(),
        }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether its output is added to the residual stream: training scales these at the start.
    pub fn is_residual_projection(&self) -> bool {
        self.name.ends_with("o_proj.weight") || self.name.ends_with("down_proj.weight")
    }
}

pub const EMBEDDING: &str = "model.embed_tokens.weight";
pub const FINAL_NORM: &str = "model.norm.weight";
pub const HEAD: &str = "lm_head.weight";

/// `model.layers.LAYER.PART.weight`, PART being one of [`LAYER_PARTS`].
pub fn layer_name(layer: usize, part: &str) -> String {
    format!("model.layers.{layer}.{part}.weight")
}

/// The tensors of a layer in the order of computation.
pub const LAYER_PARTS: [&str; 9] = [
    "input_layernorm",
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "post_attention_layernorm",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
];

/// Every tensor of a network of this shape, in the order of computation. A tied network has no head of its own.
pub fn tensor_specs(config: &LlamaConfig) -> Vec<TensorSpec> {
    let (d, q, kv, ff) = (config.hidden_size, config.q_width(), config.kv_width(), config.intermediate_size);
    let linear = |name: String, k: usize, n: usize| TensorSpec { name, kind: TensorKind::Linear, shape: vec![k, n] };
    let norm = |name: String| TensorSpec { name, kind: TensorKind::Norm, shape: vec![d] };
    let mut specs = vec![TensorSpec { name: EMBEDDING.to_owned(), kind: TensorKind::Embedding, shape: vec![config.vocab_size, d] }];
    for layer in 0..config.num_hidden_layers {
        let [norm1, q_proj, k_proj, v_proj, o_proj, norm2, gate, up, down] = LAYER_PARTS.map(|part| layer_name(layer, part));
        specs.extend([
            norm(norm1),
            linear(q_proj, d, q),
            linear(k_proj, d, kv),
            linear(v_proj, d, kv),
            linear(o_proj, q, d),
            norm(norm2),
            linear(gate, d, ff),
            linear(up, d, ff),
            linear(down, ff, d),
        ]);
    }
    specs.push(norm(FINAL_NORM.to_owned()));
    if !config.tie_word_embeddings {
        specs.push(linear(HEAD.to_owned(), d, config.vocab_size));
    }
    specs
}

/// Number format of a weights file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskType {
    F32,
    F16,
}

/// All tensors of a network, f32, laid out as [`TensorSpec::shape`] says.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    config: LlamaConfig,
    tensors: BTreeMap<String, Vec<f32>>,
}

impl Weights {
    /// Takes tensors in memory layout from `get`, such as a trainer's variables. Checks their sizes and that each number is finite.
    pub fn from_memory(config: &LlamaConfig, mut get: impl FnMut(&TensorSpec) -> Result<Vec<f32>, ModelError>) -> Result<Self, ModelError> {
        config.check()?;
        let mut tensors = BTreeMap::new();
        for spec in tensor_specs(config) {
            let data = get(&spec)?;
            if data.len() != spec.elements() {
                return Err(ModelError::Shape { tensor: spec.name, found: vec![data.len()], expected: spec.shape });
            }
            check_finite(&spec.name, &data)?;
            tensors.insert(spec.name, data);
        }
        Ok(Self { config: config.clone(), tensors })
    }

    /// Reads one or more safetensors files (shards). Tensors that the network does not have are ignored, as in the ecosystem.
    pub fn from_safetensors(config: &LlamaConfig, shards: &[&[u8]]) -> Result<Self, ModelError> {
        let files = shards
            .iter()
            .map(|bytes| SafeTensors::deserialize(bytes).map_err(|e| ModelError::Weights(e.to_string())))
            .collect::<Result<Vec<_>, _>>()?;
        Self::from_memory(config, |spec| {
            let view = files.iter().find_map(|f| f.tensor(&spec.name).ok());
            let view = view.ok_or_else(|| ModelError::MissingTensor { tensor: spec.name.clone() })?;
            let expected = spec.disk_shape();
            if view.shape() != expected {
                return Err(ModelError::Shape { tensor: spec.name.clone(), found: view.shape().to_vec(), expected });
            }
            let data = to_f32(&spec.name, &view)?;
            Ok(match spec.kind {
                TensorKind::Linear => transpose(&data, expected[0], expected[1]),
                TensorKind::Embedding | TensorKind::Norm => data,
            })
        })
    }

    /// Writes one safetensors file with the ecosystem's names and shapes. The same weights give the same bytes.
    pub fn to_safetensors(&self, dtype: DiskType) -> Result<Vec<u8>, ModelError> {
        let mut blobs = Vec::new();
        for spec in tensor_specs(&self.config) {
            let data = &self.tensors[&spec.name];
            let data = match spec.kind {
                TensorKind::Linear => transpose(data, spec.shape[0], spec.shape[1]),
                TensorKind::Embedding | TensorKind::Norm => data.clone(),
            };
            blobs.push((spec.disk_shape(), spec.name, to_bytes(&data, dtype)));
        }
        let kind = match dtype {
            DiskType::F32 => Dtype::F32,
            DiskType::F16 => Dtype::F16,
        };
        let views = blobs
            .iter()
            .map(|(shape, name, bytes)| Ok((name.as_str(), TensorView::new(kind, shape.clone(), bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>();
        let written = views.and_then(|views| safetensors::serialize(views, None));
        written.map_err(|e| ModelError::Weights(e.to_string()))
    }

    pub fn config(&self) -> &LlamaConfig {
        &self.config
    }

    /// A tensor in memory layout. Names come from [`tensor_specs`].
    pub fn get(&self, name: &str) -> Result<&[f32], ModelError> {
        self.tensors.get(name).map(Vec::as_slice).ok_or_else(|| ModelError::MissingTensor { tensor: name.to_owned() })
    }

    pub fn parameters(&self) -> u64 {
        self.tensors.values().map(|t| t.len() as u64).sum()
    }

    /// Rounds every weight as writing it with half precision and reading it back would.
    pub fn rounded_to_half(&self) -> Self {
        let mut out = self.clone();
        out.tensors.values_mut().flatten().for_each(|v| *v = f16::from_f32(*v).to_f32());
        out
    }
}

/// Refuses the first number that is NaN or infinite.
fn check_finite(name: &str, data: &[f32]) -> Result<(), ModelError> {
    match data.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(ModelError::NonFinite { tensor: name.to_owned(), index, value: data[index] }),
        None => Ok(()),
    }
}

/// (rows, columns) to (columns, rows).
pub fn transpose(data: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut out = vec![0.0; data.len()];
    for r in 0..rows {
        for c in 0..columns {
            out[c * rows + r] = data[r * columns + c];
        }
    }
    out
}

fn to_f32(name: &str, view: &TensorView<'_>) -> Result<Vec<f32>, ModelError> {
    let data = view.data();
    let wide = |half: fn([u8; 2]) -> f32| data.chunks_exact(2).map(|b| half([b[0], b[1]])).collect();
    match view.dtype() {
        Dtype::F32 => Ok(data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()),
        Dtype::F16 => Ok(wide(|b| f16::from_le_bytes(b).to_f32())),
        Dtype::BF16 => Ok(wide(|b| bf16::from_le_bytes(b).to_f32())),
        other => Err(ModelError::Dtype { tensor: name.to_owned(), found: format!("{other:?}") }),
    }
}

fn to_bytes(data: &[f32], dtype: DiskType) -> Vec<u8> {
    match dtype {
        DiskType::F32 => data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DiskType::F16 => data.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_weights, tiny_config};
    use super::*;

    #[test]
    fn names_and_shapes_are_those_of_the_ecosystem() {
        let specs = tensor_specs(&LlamaConfig::deckhand(560));
        let find = |name: &str| specs.iter().find(|s| s.name == name).unwrap();
        assert_eq!(find("model.layers.2.self_attn.k_proj.weight").disk_shape(), [48, 96]);
        assert_eq!(find("model.layers.0.mlp.down_proj.weight").disk_shape(), [96, 256]);
        assert_eq!(find("model.embed_tokens.weight").disk_shape(), [560, 96]);
        assert!(find("model.layers.1.self_attn.o_proj.weight").is_residual_projection());
        assert_eq!(specs.len(), 2 + 3 * 9);
        assert_eq!(specs.iter().map(TensorSpec::elements).sum::<usize>(), 358_560);
    }

    #[test]
    fn survive_a_file_exactly_in_f32_and_to_half_in_f16() {
        for tied in [true, false] {
            let weights = random_weights(&LlamaConfig { tie_word_embeddings: tied, ..tiny_config() }, 3);
            let bytes = weights.to_safetensors(DiskType::F32).unwrap();
            assert_eq!(Weights::from_safetensors(weights.config(), &[&bytes]).unwrap(), weights);
            let bytes = weights.to_safetensors(DiskType::F16).unwrap();
            assert_eq!(Weights::from_safetensors(weights.config(), &[&bytes]).unwrap(), weights.rounded_to_half());
        }
    }

    #[test]
    fn a_number_that_is_not_finite_is_named() {
        let config = tiny_config();
        let weights = random_weights(&config, 3);
        for bad in [f32::NAN, f32::INFINITY] {
            let mut broken = weights.clone();
            broken.tensors.get_mut("model.layers.1.mlp.up_proj.weight").unwrap()[0] = bad;
            let bytes = broken.to_safetensors(DiskType::F16).unwrap();
            let error = Weights::from_safetensors(&config, &[&bytes]).unwrap_err().to_string();
            assert!(error.contains("model.layers.1.mlp.up_proj.weight") && error.contains("element 0"), "{error}");
        }
    }

    #[test]
    fn another_architecture_is_named() {
        let weights = random_weights(&tiny_config(), 3);
        let bytes = weights.to_safetensors(DiskType::F32).unwrap();
        let wider = LlamaConfig { intermediate_size: 40, ..tiny_config() };
        let error = Weights::from_safetensors(&wider, &[&bytes]).unwrap_err().to_string();
        assert!(error.contains("mlp.gate_proj") && error.contains("40"), "{error}");
        let deeper = LlamaConfig { num_hidden_layers: 3, ..tiny_config() };
        assert!(matches!(Weights::from_safetensors(&deeper, &[&bytes]), Err(ModelError::MissingTensor { .. })));
    }
}
