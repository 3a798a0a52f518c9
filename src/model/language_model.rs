//! A network and its tokenizer: what a checkpoint becomes in memory. Shared by policies; never changes.

use super::network::{Network, NetworkScratch, Span, Wanted};
use super::{ChosenDevice, LlamaConfig, ModelError, Tokenizer, Weights, sampling};
use crate::checkpoint::{Checkpoint, Fingerprint, check_architecture};

/// Tokens that are computed in one go.
pub const CHUNK_TOKENS_MAX: usize = 64;

/// Texts whose log-probabilities tell models apart, in the form that the built-in agent reads.
pub const PROBES: [&str; 3] = [
    "t03;gw p5 e5 c7 r5;mail p? e5 c4 r3;pay p6 e6 c9 r5;alert(gw,mail,pay)",
    "gw>mail,pay;mail>pay;pay>stock,search,cache",
    "logs(pay): exit 137, crash, restart",
];

/// How far a fingerprint may be from the manifest's: f32 differs only by the manifest's five digits, half precision on a GPU by more.
const FINGERPRINT_TOLERANCE_F32: f32 = 1e-4;
const FINGERPRINT_TOLERANCE_HALF: f32 = 0.1;

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

    /// Builds the model of a verified checkpoint and checks that it computes what its manifest says. Takes half-precision weights to f32 on the CPU.
    pub fn from_checkpoint(checkpoint: &Checkpoint, device: &ChosenDevice) -> Result<Self, ModelError> {
        let config = LlamaConfig::from_json(&checkpoint.config_json)?;
        check_architecture(&checkpoint.place, &checkpoint.manifest.architecture, &config.architecture())?;
        let tokenizer = Tokenizer::from_json(&checkpoint.tokenizer_json)?;
        let shards: Vec<&[u8]> = checkpoint.weights.iter().map(AsRef::as_ref).collect();
        let model = Self::new(&Weights::from_safetensors(&config, &shards)?, tokenizer, device)?;
        if let Some(expected) = &checkpoint.manifest.fingerprint {
            model.check_fingerprint(&checkpoint.place, expected)?;
        }
        Ok(model)
    }

    fn check_fingerprint(&self, place: &str, expected: &Fingerprint) -> Result<(), ModelError> {
        let found = self.fingerprint(&expected.probes)?.logprobs;
        let tolerance = match &self.network {
            Network::Cpu(_) => FINGERPRINT_TOLERANCE_F32,
            Network::Candle(_) => FINGERPRINT_TOLERANCE_HALF,
        };
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= tolerance;
        if found.len() == expected.logprobs.len() && found.iter().zip(&expected.logprobs).all(is_close) {
            return Ok(());
        }
        Err(ModelError::Fingerprint { place: place.to_owned(), expected: expected.logprobs.clone(), found })
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
    pub fn fingerprint<S: AsRef<str>>(&self, probes: &[S]) -> Result<Fingerprint, ModelError> {
        let of_probe = |probe: &S| {
            let mut ids = vec![self.tokenizer.mark(crate::agent::Role::Observation).0];
            ids.extend(self.tokenizer.encode_text(probe.as_ref())?);
            ids.truncate(self.context_tokens_max());
            let scores = self.score(&ids)?;
            Ok(scores.iter().map(|s| f64::from(*s)).sum::<f64>() as f32 / scores.len().max(1) as f32)
        };
        let logprobs = probes.iter().map(of_probe).collect::<Result<_, ModelError>>()?;
        Ok(Fingerprint { probes: probes.iter().map(|p| p.as_ref().to_owned()).collect(), logprobs })
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiskType;
    use super::super::testing::{cpu, random_weights, tiny_config, tiny_model, tiny_tokenizer, tiny_tokenizer_json};
    use super::*;
    use crate::checkpoint::{self, Contents, Manifest};

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
        assert_eq!(first.logprobs[1], 0.0);
    }

    #[test]
    fn a_tokenizer_of_another_model_is_refused() {
        let error = LanguageModel::new(&random_weights(&tiny_config(), 1), tiny_tokenizer(), &cpu()).err().unwrap().to_string();
        assert!(error.contains("43") && error.contains("different models"), "{error}");
    }

    fn checkpoint(root: &std::path::Path, change: impl FnOnce(&mut Manifest)) -> Checkpoint {
        let tokenizer_json = tiny_tokenizer_json();
        let config = LlamaConfig { vocab_size: 292, ..tiny_config() };
        let weights = random_weights(&config, 4);
        let model = LanguageModel::new(&weights.rounded_to_half(), Tokenizer::from_json(&tokenizer_json).unwrap(), &cpu()).unwrap();
        let mut manifest = Manifest::new("tiny".into(), 1);
        manifest.architecture = config.architecture();
        manifest.fingerprint = Some(model.fingerprint(&PROBES).unwrap());
        change(&mut manifest);
        let model_safetensors = weights.to_safetensors(DiskType::F16).unwrap();
        let contents = Contents { config_json: &config.to_json(), tokenizer_json: &tokenizer_json, model_safetensors: &model_safetensors };
        checkpoint::save(&root.join("tiny"), manifest, &contents).unwrap();
        checkpoint::load(&root.join("tiny")).unwrap()
    }

    #[test]
    fn a_checkpoint_becomes_the_model_that_was_saved() {
        let root = tempfile::tempdir().unwrap();
        let model = LanguageModel::from_checkpoint(&checkpoint(root.path(), |_| {}), &cpu()).unwrap();
        assert_eq!(model.parameters(), random_weights(&LlamaConfig { vocab_size: 292, ..tiny_config() }, 4).parameters());
    }

    #[test]
    fn a_checkpoint_that_computes_something_else_or_describes_something_else_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let refused =
            |change: fn(&mut Manifest)| LanguageModel::from_checkpoint(&checkpoint(root.path(), change), &cpu()).err().unwrap().to_string();
        assert!(refused(|m| m.fingerprint.as_mut().unwrap().logprobs[1] += 0.01).contains("do not belong together"));
        let error = refused(|m| *m.architecture.get_mut("head_dim").unwrap() = 8.into());
        assert!(error.contains("head_dim is 8 in the manifest, 6 in config.json"), "{error}");
    }
}
