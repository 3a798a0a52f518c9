//! A network and its tokenizer: what a checkpoint becomes in memory. Shared by policies; never changes.

use super::network::{Network, NetworkScratch, Span, Wanted};
use super::{ChosenDevice, ModelError, Tokenizer, Weights, sampling};

/// Tokens that are computed in one go.
pub const CHUNK_TOKENS_MAX: usize = 64;

pub struct LanguageModel {
    network: Network,
    tokenizer: Tokenizer,
    device_reason: String,
    parameters: u64,
}

impl LanguageModel {
    /// Joins weights and tokenizer; refuses a pair with different vocabularies.
    pub fn new(weights: &Weights, tokenizer: Tokenizer, device: &ChosenDevice) -> Result<Self, ModelError> {
        // A network may have rows of padding behind the vocabulary, as in the ecosystem, never fewer.
        if tokenizer.vocab_size() > weights.config().vocab_size {
            return Err(ModelError::Vocabulary { tokenizer: tokenizer.vocab_size(), config: weights.config().vocab_size });
        }
        let network = Network::new(weights, device)?;
        Ok(Self { network, tokenizer, device_reason: device.reason.clone(), parameters: weights.parameters() })
    }

    pub fn network(&self) -> &Network {
        &self.network
    }

    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    pub fn device_reason(&self) -> &str {
        &self.device_reason
    }

    pub fn parameters(&self) -> u64 {
        self.parameters
    }

    /// Tokens of prompt and message together.
    pub fn context_tokens_max(&self) -> usize {
        self.network.config().max_position_embeddings
    }

    /// Log-probability of each token but the first, given those before it.
    pub fn score(&self, ids: &[u32]) -> Result<Vec<f32>, ModelError> {
        let (mut cache, mut scratch) = (self.network.new_cache()?, NetworkScratch::default());
        let vocab = self.network.config().vocab_size;
        let mut out = Vec::with_capacity(ids.len().saturating_sub(1));
        for chunk in ids[..ids.len().saturating_sub(1)].chunks(CHUNK_TOKENS_MAX) {
            let span = Span { cache: &mut cache, tokens: chunk, logits: Wanted::All };
            for row in self.network.forward(&mut [span], &mut scratch)?.chunks_exact(vocab) {
                let scored = sampling::logprob(row, ids[out.len() + 1]);
                out.push(scored.ok_or_else(|| ModelError::Input("the logits are not finite: the weights are damaged".to_owned()))?);
            }
        }
        Ok(out)
    }

    /// The mean log-probability of each probe text, read as an observation. Two checkpoints that compute the same have the same fingerprint; a NaN in the
    /// weights shows here.
    pub fn fingerprint(&self, probes: &[&str]) -> Result<Vec<f32>, ModelError> {
        let of_probe = |probe: &&str| {
            let mut ids = vec![self.tokenizer.mark(crate::agent::Role::Observation).0];
            ids.extend(self.tokenizer.encode_text(probe)?);
            ids.truncate(self.context_tokens_max());
            let scores = self.score(&ids)?;
            Ok(scores.iter().map(|s| f64::from(*s)).sum::<f64>() as f32 / scores.len().max(1) as f32)
        };
        probes.iter().map(of_probe).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{cpu, random_weights, tiny_config, tiny_model, tiny_tokenizer};
    use super::*;

    #[test]
    fn scores_are_the_same_however_long_the_chunks() {
        let model = tiny_model(1);
        let ids: Vec<u32> = (0..150).map(|i| i * 7 % 290).collect();
        let scores = model.score(&ids).unwrap();
        assert_eq!(scores.len(), 149);
        assert_eq!(model.score(&ids[..40]).unwrap(), scores[..39]);
        assert!(scores.iter().all(|s| *s < 0.0));
        assert!(model.score(&[]).unwrap().is_empty());
    }

    #[test]
    fn fingerprints_tell_weights_apart() {
        let probes = ["gw p5 e5;pay p6", "", "crash"];
        let first = tiny_model(1).fingerprint(&probes).unwrap();
        assert_eq!(first, tiny_model(1).fingerprint(&probes).unwrap());
        assert_ne!(first, tiny_model(2).fingerprint(&probes).unwrap());
        assert_eq!(first[1], 0.0);
    }

    #[test]
    fn a_tokenizer_of_another_model_is_refused() {
        let error = LanguageModel::new(&random_weights(&tiny_config(), 1), tiny_tokenizer(), &cpu()).err().unwrap().to_string();
        assert!(error.contains("43") && error.contains("different models"), "{error}");
    }
}
