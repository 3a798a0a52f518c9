//! Formats that are refused by their content, whatever a file is called.

const CONVERT: &str = "a pickle can run code while it is read. Convert it where you trust it: torch.load(file, weights_only=True), then \
                       safetensors.torch.save_file";
const GGUF: &str = "this version reads safetensors only; take the model's safetensors files";
const GGML: &str = "this format was given up by its authors and its readers are not safe; take the model's safetensors files";

/// What a file is, and what to do, if it begins like a format that is refused.
pub fn recognise(start: &[u8]) -> Option<(&'static str, &'static str)> {
    match start {
        [b'P', b'K', 3, 4, ..] => Some(("a zip archive, as PyTorch writes .pt and .bin files", CONVERT)),
        [0x80, 2..=5, ..] => Some(("a Python pickle", CONVERT)),
        [b'G', b'G', b'U', b'F', ..] => Some(("a GGUF file", GGUF)),
        // Little-endian numbers that spell ggml, ggmf, ggjt and ggla.
        [b'l', b'm', b'g', b'g', ..] | [b'f', b'm', b'g', b'g', ..] | [b't', b'j', b'g', b'g', ..] | [b'a', b'l', b'g', b'g', ..] => {
            Some(("a GGML file", GGML))
        }
        _ => None,
    }
}
