//! The shape of a network of the Llama family, as `config.json` of the ecosystem gives it.

use super::ModelError;
use serde::{Deserialize, Serialize};

/// Fields of a Llama `config.json`. Unknown fields are ignored; those that would change the arithmetic are refused by [`LlamaConfig::from_json`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlamaConfig {
    #[serde(default = "default_architectures")]
    pub architectures: Vec<String>,
    pub model_type: String,
    pub vocab_size: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the feed-forward layer.
    pub intermediate_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    /// Fewer than the heads in grouped-query attention. Unset: as many as heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_key_value_heads: Option<usize>,
    /// Unset: `hidden_size / num_attention_heads`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_dim: Option<usize>,
    /// Tokens of context, prompt and message together.
    pub max_position_embeddings: usize,
    pub rms_norm_eps: f64,
    #[serde(default = "default_rope_theta")]
    pub rope_theta: f64,
    /// Whether the output layer is the embedding, transposed.
    #[serde(default)]
    pub tie_word_embeddings: bool,
    #[serde(default = "default_hidden_act")]
    pub hidden_act: String,
    #[serde(default)]
    pub attention_bias: bool,
    #[serde(default)]
    pub mlp_bias: bool,
}

fn default_architectures() -> Vec<String> {
    vec!["LlamaForCausalLM".to_owned()]
}

fn default_rope_theta() -> f64 {
    10_000.0
}

fn default_hidden_act() -> String {
    "silu".to_owned()
}

/// Newer files keep the rotary settings here.
#[derive(Deserialize)]
struct RopeParameters {
    #[serde(default)]
    rope_theta: Option<f64>,
    #[serde(default)]
    rope_type: Option<String>,
}

#[derive(Deserialize)]
struct Rope {
    #[serde(default)]
    rope_scaling: Option<serde_json::Value>,
    #[serde(default)]
    rope_parameters: Option<RopeParameters>,
}

impl LlamaConfig {
    /// The built-in agent's shape: 0.36 M parameters with a vocabulary of about 560.
    pub fn deckhand(vocab_size: usize) -> Self {
        Self {
            architectures: default_architectures(),
            model_type: "llama".to_owned(),
            vocab_size,
            hidden_size: 96,
            intermediate_size: 256,
            num_hidden_layers: 3,
            num_attention_heads: 4,
            num_key_value_heads: Some(2),
            head_dim: None,
            max_position_embeddings: 768,
            rms_norm_eps: 1e-5,
            rope_theta: default_rope_theta(),
            tie_word_embeddings: true,
            hidden_act: default_hidden_act(),
            attention_bias: false,
            mlp_bias: false,
        }
    }

    /// Reads `config.json` and refuses what this implementation would compute wrongly.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ModelError> {
        let fail = |e: serde_json::Error| ModelError::Config { reason: e.to_string() };
        let mut config: Self = serde_json::from_slice(bytes).map_err(fail)?;
        let rope: Rope = serde_json::from_slice(bytes).map_err(fail)?;
        if let Some(scaling) = rope.rope_scaling {
            return Err(ModelError::Config { reason: format!("`rope_scaling` {scaling} is not supported") });
        }
        if let Some(p) = rope.rope_parameters {
            if let Some(kind) = p.rope_type.filter(|k| k != "default") {
                return Err(ModelError::Config { reason: format!("`rope_parameters.rope_type` {kind:?} is not supported") });
            }
            config.rope_theta = p.rope_theta.unwrap_or(config.rope_theta);
        }
        config.check()?;
        Ok(config)
    }

    pub fn to_json(&self) -> Vec<u8> {
        // A struct of numbers and strings always serialises.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// Refuses shapes that can't be computed, before anything is allocated from them.
    pub fn check(&self) -> Result<(), ModelError> {
        let fail = |reason: String| Err(ModelError::Config { reason });
        if self.model_type != "llama" {
            return fail(format!("`model_type` {:?} is not supported; \"llama\" is", self.model_type));
        }
        if self.hidden_act != "silu" {
            return fail(format!("`hidden_act` {:?} is not supported; \"silu\" is", self.hidden_act));
        }
        if self.attention_bias || self.mlp_bias {
            return fail("`attention_bias` and `mlp_bias` are not supported".to_owned());
        }
        for (name, value, limit) in [
            ("vocab_size", self.vocab_size, 1 << 20),
            ("hidden_size", self.hidden_size, 1 << 16),
            ("intermediate_size", self.intermediate_size, 1 << 18),
            ("num_hidden_layers", self.num_hidden_layers, 1 << 10),
            ("num_attention_heads", self.num_attention_heads, 1 << 10),
            ("num_key_value_heads", self.kv_heads(), 1 << 10),
            ("head_dim", self.head_dim(), 1 << 12),
            ("max_position_embeddings", self.max_position_embeddings, 1 << 22),
        ] {
            if value == 0 || value > limit {
                return fail(format!("`{name}` is {value}; 1 to {limit} can be read"));
            }
        }
        if !self.num_attention_heads.is_multiple_of(self.kv_heads()) {
            return fail(format!("{} attention heads can't share {} key-value heads evenly", self.num_attention_heads, self.kv_heads()));
        }
        if !self.head_dim().is_multiple_of(2) {
            return fail(format!("`head_dim` is {}; rotary embedding needs an even one", self.head_dim()));
        }
        if !(self.rms_norm_eps > 0.0 && self.rms_norm_eps < 1.0 && self.rope_theta >= 1.0 && self.rope_theta.is_finite()) {
            return fail(format!("`rms_norm_eps` {} or `rope_theta` {} is out of range", self.rms_norm_eps, self.rope_theta));
        }
        Ok(())
    }

    pub fn head_dim(&self) -> usize {
        self.head_dim.unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    pub fn kv_heads(&self) -> usize {
        self.num_key_value_heads.unwrap_or(self.num_attention_heads)
    }

    /// Width of all query heads together.
    pub fn q_width(&self) -> usize {
        self.num_attention_heads * self.head_dim()
    }

    /// Width of all key heads (or value heads) together.
    pub fn kv_width(&self) -> usize {
        self.kv_heads() * self.head_dim()
    }

    /// What a manifest keeps to tell architectures apart: every field that changes the arithmetic or the shapes.
    pub fn architecture(&self) -> serde_json::Map<String, serde_json::Value> {
        let number = |v: usize| serde_json::Value::from(v);
        [
            ("model_type", self.model_type.clone().into()),
            ("vocab_size", number(self.vocab_size)),
            ("hidden_size", number(self.hidden_size)),
            ("intermediate_size", number(self.intermediate_size)),
            ("num_hidden_layers", number(self.num_hidden_layers)),
            ("num_attention_heads", number(self.num_attention_heads)),
            ("num_key_value_heads", number(self.kv_heads())),
            ("head_dim", number(self.head_dim())),
            ("max_position_embeddings", number(self.max_position_embeddings)),
            ("rms_norm_eps", self.rms_norm_eps.into()),
            ("rope_theta", self.rope_theta.into()),
            ("tie_word_embeddings", self.tie_word_embeddings.into()),
        ]
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_fills_what_a_file_leaves_out() {
        let config = LlamaConfig::deckhand(560);
        assert_eq!(LlamaConfig::from_json(&config.to_json()).unwrap(), config);
        let old = br#"{"model_type":"llama","vocab_size":10,"hidden_size":8,"intermediate_size":8,"num_hidden_layers":1,
            "num_attention_heads":2,"max_position_embeddings":16,"rms_norm_eps":1e-5,"rope_scaling":null,"bos_token_id":1}"#;
        let config = LlamaConfig::from_json(old).unwrap();
        assert_eq!((config.kv_heads(), config.head_dim(), config.rope_theta, config.tie_word_embeddings), (2, 4, 10_000.0, false));
    }

    #[test]
    fn refuses_what_it_would_compute_wrongly() {
        let with = |key: &str, value: serde_json::Value| {
            let mut json: serde_json::Value = serde_json::from_slice(&LlamaConfig::deckhand(560).to_json()).unwrap();
            json[key] = value;
            LlamaConfig::from_json(json.to_string().as_bytes()).unwrap_err().to_string()
        };
        assert!(with("model_type", "mamba".into()).contains("mamba"));
        assert!(with("hidden_act", "gelu".into()).contains("gelu"));
        assert!(with("attention_bias", true.into()).contains("attention_bias"));
        assert!(with("num_key_value_heads", 3.into()).contains("evenly"));
        assert!(with("num_attention_heads", 0.into()).contains("num_attention_heads"));
        assert!(with("hidden_size", (1u64 << 40).into()).contains("hidden_size"));
        assert!(with("rope_scaling", serde_json::json!({"type": "linear"})).contains("rope_scaling"));
        assert!(with("rope_parameters", serde_json::json!({"rope_type": "yarn"})).contains("yarn"));
    }
}
