//! One network behind two backends: own kernels on the CPU (bit-exact), candle on a GPU (within a tolerance).

use super::candle::{CandleCache, CandleNetwork};
use super::cpu::{CpuCache, CpuNetwork, Scratch};
use super::{ChosenDevice, LlamaConfig, ModelError, Weights};

/// Which logits of a span are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Nothing,
    Last,
    All,
}

impl Wanted {
    /// How many rows of logits a span of `tokens` gives; they are its last ones.
    pub fn rows_of(self, tokens: usize) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Last => tokens.min(1),
            Self::All => tokens,
        }
    }
}

/// Tokens that go to the end of one lane's cache.
pub struct Span<'a, C> {
    pub cache: &'a mut C,
    pub tokens: &'a [u32],
    pub logits: Wanted,
}

/// A network of the Llama family on some device.
pub enum Network {
    Cpu(CpuNetwork),
    Candle(CandleNetwork),
}

/// Keys and values of one lane, where its network is.
pub enum Cache {
    Cpu(CpuCache),
    Candle(CandleCache),
}

impl Network {
    pub fn new(weights: &Weights, device: &ChosenDevice) -> Result<Self, ModelError> {
        Ok(if device.device.is_cpu() {
            Self::Cpu(CpuNetwork::new(weights)?)
        } else {
            Self::Candle(CandleNetwork::new(weights, &device.device)?)
        })
    }

    pub fn config(&self) -> &LlamaConfig {
        match self {
            Self::Cpu(network) => network.config(),
            Self::Candle(network) => network.config(),
        }
    }

    /// An empty cache for the whole context.
    pub fn new_cache(&self) -> Result<Cache, ModelError> {
        Ok(match self {
            Self::Cpu(network) => Cache::Cpu(network.new_cache()),
            Self::Candle(network) => Cache::Candle(network.new_cache()?),
        })
    }

    /// Computes the tokens of all spans and appends them to their caches. Returns the wanted logits, rows of `vocab_size` in the order of the spans.
    pub fn forward<'s>(&self, spans: &mut [Span<'_, Cache>], scratch: &'s mut NetworkScratch) -> Result<&'s [f32], ModelError> {
        let foreign = || ModelError::Input("a cache belongs to another network".to_owned());
        match self {
            Self::Cpu(network) => {
                let own = |s| as_own(s, |c| if let Cache::Cpu(c) = c { Some(c) } else { None });
                let mut spans: Vec<Span<'_, CpuCache>> = spans.iter_mut().map(own).collect::<Option<_>>().ok_or_else(foreign)?;
                network.forward(&mut spans, &mut scratch.cpu)
            }
            Self::Candle(network) => {
                let own = |s| as_own(s, |c| if let Cache::Candle(c) = c { Some(c) } else { None });
                let mut spans: Vec<Span<'_, CandleCache>> = spans.iter_mut().map(own).collect::<Option<_>>().ok_or_else(foreign)?;
                scratch.candle = network.forward(&mut spans)?;
                Ok(&scratch.candle)
            }
        }
    }
}

impl Cache {
    pub fn truncate(&mut self, tokens: usize) {
        match self {
            Self::Cpu(cache) => cache.truncate(tokens),
            Self::Candle(cache) => cache.truncate(tokens),
        }
    }

    /// An independent copy.
    pub fn duplicate(&self) -> Result<Self, ModelError> {
        Ok(match self {
            Self::Cpu(cache) => Self::Cpu(cache.clone()),
            Self::Candle(cache) => Self::Candle(cache.duplicate()?),
        })
    }
}

/// Buffers that are kept from call to call.
#[derive(Default)]
pub struct NetworkScratch {
    cpu: Scratch,
    candle: Vec<f32>,
}

fn as_own<'a, C>(span: &'a mut Span<'_, Cache>, pick: fn(&'a mut Cache) -> Option<&'a mut C>) -> Option<Span<'a, C>> {
    Some(Span { cache: pick(span.cache)?, tokens: span.tokens, logits: span.logits })
}

/// Refuses tokens outside the vocabulary and more tokens than a cache holds. Takes each span's cache length and tokens.
pub fn check_spans<'a>(config: &LlamaConfig, spans: impl Iterator<Item = (usize, &'a [u32])>) -> Result<(), ModelError> {
    for (have, tokens) in spans {
        if let Some(token) = tokens.iter().find(|t| **t as usize >= config.vocab_size) {
            return Err(ModelError::Input(format!("token {token} is outside the vocabulary of {}", config.vocab_size)));
        }
        if have + tokens.len() > config.max_position_embeddings {
            let (more, limit) = (tokens.len(), config.max_position_embeddings);
            return Err(ModelError::Input(format!("{have} + {more} tokens do not fit into a context of {limit}")));
        }
    }
    Ok(())
}
