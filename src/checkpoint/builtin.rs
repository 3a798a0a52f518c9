//! Checkpoints that are compiled into the binary, so that it runs from any directory.

use super::CheckpointError;
use super::store::{Checkpoint, from_bytes};

/// The files of one, as they are in the repository.
pub struct Builtin {
    pub name: &'static str,
    pub manifest_json: &'static [u8],
    pub config_json: &'static [u8],
    pub tokenizer_json: &'static [u8],
    pub model_safetensors: &'static [u8],
}

/// Embeds `checkpoints/NAME/` for each name.
macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            manifest_json: include_bytes!(concat!("../../checkpoints/", $name, "/manifest.json")),
            config_json: include_bytes!(concat!("../../checkpoints/", $name, "/config.json")),
            tokenizer_json: include_bytes!(concat!("../../checkpoints/", $name, "/tokenizer.json")),
            model_safetensors: include_bytes!(concat!("../../checkpoints/", $name, "/model.safetensors")),
        }),*]
    };
}

/// In the order of training; the last one is the default.
const BUILTIN: &[Builtin] = embed!["deckhand-early", "deckhand-middle", "deckhand-final"];

/// All of them, in the order of training.
pub fn builtin() -> &'static [Builtin] {
    BUILTIN
}

impl Builtin {
    /// Verifies it as a directory would be.
    pub fn open(&self) -> Result<Checkpoint, CheckpointError> {
        let files = [
            ("manifest.json", self.manifest_json),
            ("config.json", self.config_json),
            ("tokenizer.json", self.tokenizer_json),
            ("model.safetensors", self.model_safetensors),
        ];
        from_bytes(self.name, &files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_sound_and_called_what_its_manifest_says() {
        for one in builtin() {
            let checkpoint = one.open().unwrap();
            assert_eq!(checkpoint.manifest.id.0, one.name);
            assert!(checkpoint.manifest.training.is_some() && checkpoint.manifest.fingerprint.is_some(), "{}", one.name);
        }
    }
}
