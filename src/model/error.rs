//! What can go wrong between a checkpoint's bytes and a token.

use crate::checkpoint::CheckpointError;

/// Says what, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("config.json: {reason}")]
    Config { reason: String },
    #[error("tokenizer.json: {reason}")]
    Tokenizer { reason: String },
    #[error("weights: tensor `{tensor}` is missing: the file belongs to another architecture than its config.json")]
    MissingTensor { tensor: String },
    #[error("weights: tensor `{tensor}` has shape {found:?}, config.json asks for {expected:?}: the two files belong to different models")]
    Shape { tensor: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("weights: tensor `{tensor}` is {found}; f32, f16 and bf16 can be read")]
    Dtype { tensor: String, found: String },
    #[error(
        "weights: tensor `{tensor}` is not finite at element {index} ({value}): the checkpoint is damaged or its training diverged; take an earlier one"
    )]
    NonFinite { tensor: String, index: usize, value: f32 },
    #[error("weights: {0}")]
    Weights(String),
    #[error("the tokenizer has {tokenizer} tokens, config.json says {config}: the two files belong to different models")]
    Vocabulary { tokenizer: usize, config: usize },
    #[error("the network was asked for the impossible: {0}")]
    Input(String),
    #[error("device `{wanted}`: {reason}")]
    Device { wanted: String, reason: String },
    #[error(
        "{place}: the model computes {found:?} for its probes, its manifest says {expected:?}: weights, tokenizer and config.json do not belong together"
    )]
    Fingerprint { place: String, expected: Vec<f32>, found: Vec<f32> },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("candle: {0}")]
    Candle(#[from] candle_core::Error),
}
