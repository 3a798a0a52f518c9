//! Duty: the language model on candle: network, tokenizer, sampling, constrained decoding, devices, KV cache, batching. The only importer of candle.
//! May import: event, agent, checkpoint.
//! Emits: tokens with log-probabilities, as a `Policy`; gradients for `learn`.
//! Accepts: prompts; verified checkpoint bytes.
//! Test: `cargo test --lib model::`.

pub mod candle;
mod config;
pub mod cpu;
pub mod device;
mod error;
mod grammar;
mod kernels;
mod language_model;
pub mod network;
mod policy;
pub mod sampling;
pub mod testing;
pub mod tokenizer;
pub mod train;
pub mod weights;

pub use config::LlamaConfig;
pub use device::{ChosenDevice, DeviceChoice, choose_device};
pub use error::ModelError;
pub use language_model::{LanguageModel, PROBES};
pub use policy::LocalPolicy;
pub use tokenizer::{Detokenizer, Tokenizer};
pub use weights::{DiskType, Weights};
