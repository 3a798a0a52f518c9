//! Tokens per second of the embedded model, one thread, a random network of the built-in agent's shape: `cargo bench --bench decode`.

use divan::Bencher;
use divan::counter::ItemsCount;
use pilothouse::agent::{DecodeSpec, Policy, Progress, Prompt, Role, Segment};
use pilothouse::event::{LaneId, SafeText, ToolSpec};
use pilothouse::model::cpu::{CpuCache, CpuNetwork, Scratch};
use pilothouse::model::network::{Span, Wanted};
use pilothouse::model::testing::try_random_weights;
use pilothouse::model::tokenizer::{Tokenizer, train_bpe};
use pilothouse::model::{DeviceChoice, LanguageModel, LlamaConfig, LocalPolicy, choose_device};
use serde_json::json;
use std::sync::Arc;

const VOCABULARY: usize = 560;
/// Half of what a prompt has in the middle of an episode.
const PROMPT_TOKENS: usize = 300;
const DECODED_TOKENS: usize = 32;

fn main() {
    divan::main();
}

fn network() -> CpuNetwork {
    CpuNetwork::new(&try_random_weights(&LlamaConfig::deckhand(VOCABULARY), 1).expect("a known shape")).expect("whole weights")
}

fn prompt_tokens() -> Vec<u32> {
    (0..PROMPT_TOKENS as u32).map(|i| i * 37 % VOCABULARY as u32).collect()
}

/// Decoding alone: no sampling, no grammar.
#[divan::bench(args = [1, 4, 16])]
fn network_decode(bencher: Bencher, lanes: usize) {
    let (network, prompt) = (network(), prompt_tokens());
    let mut scratch = Scratch::default();
    let mut caches: Vec<CpuCache> = (0..lanes).map(|_| network.new_cache()).collect();
    for cache in &mut caches {
        network.forward(&mut [Span { cache, tokens: &prompt, logits: Wanted::Nothing }], &mut scratch).expect("it fits");
    }
    bencher.counter(ItemsCount::new(lanes * DECODED_TOKENS)).bench_local(|| {
        caches.iter_mut().for_each(|c| c.truncate(PROMPT_TOKENS));
        for token in 0..DECODED_TOKENS as u32 {
            let mut spans: Vec<_> = caches
                .iter_mut()
                .map(|cache| Span { cache, tokens: std::slice::from_ref(&prompt[token as usize]), logits: Wanted::Last })
                .collect();
            divan::black_box(network.forward(&mut spans, &mut scratch).expect("it fits"));
        }
    });
}

#[divan::bench]
fn network_prefill(bencher: Bencher) {
    let (network, prompt) = (network(), prompt_tokens());
    let (mut cache, mut scratch) = (network.new_cache(), Scratch::default());
    bencher.counter(ItemsCount::new(PROMPT_TOKENS)).bench_local(|| {
        cache.truncate(0);
        for chunk in prompt.chunks(64) {
            divan::black_box(
                network.forward(&mut [Span { cache: &mut cache, tokens: chunk, logits: Wanted::Last }], &mut scratch).expect("it fits"),
            );
        }
    });
}

fn policy() -> LocalPolicy {
    let names = ["pay", "mail", "stock", "search", "cache", "gateway", "restart", "scale", "logs", "rollback", "alert", "observe", "crash"];
    let texts = (0..600).map(|i| format!("{};{}({}):{}", names[i % 13], names[i * 7 % 13], names[i * 5 % 11], names[i * 3 % 12]));
    let tokenizer = Tokenizer::from_json(&train_bpe(texts, VOCABULARY).expect("it trains")).expect("it has the marks");
    let weights = try_random_weights(&LlamaConfig::deckhand(VOCABULARY), 1).expect("a known shape");
    let device = choose_device(DeviceChoice::Cpu, &[]).expect("a CPU");
    LocalPolicy::new(Arc::new(LanguageModel::new(&weights, tokenizer, &device).expect("they fit"))).expect("a grammar")
}

fn spec() -> DecodeSpec {
    let svc = json!({"enum": ["pay", "mail", "stock", "search", "cache"]});
    let one = json!({"type": "object", "properties": {"svc": svc}, "required": ["svc"]});
    let tool = |name: &str, parameters| ToolSpec { name: name.to_owned(), description: String::new(), parameters, mutates: false };
    let tools =
        ["restart", "rollback", "logs", "scale"].map(|name| tool(name, one.clone())).into_iter().chain([tool("wait", json!({}))]).collect();
    DecodeSpec { tools: Arc::new(tools), temperature: 1.0, top_p: 1.0, seed: 3, tokens_max: 64 }
}

/// Whole messages, thought and call, with sampling and grammar; the prompt is in the cache but for its last token.
#[divan::bench(args = [1, 16])]
fn policy_message(bencher: Bencher, lanes: u32) {
    let (mut policy, spec) = (policy(), spec());
    let segments = [(Role::Observation, "mail;pay(stock):crash;".repeat(12)), (Role::Thought, String::new())];
    let prompt = Prompt { segments: segments.map(|(role, text)| Segment { role, text: SafeText::from(text) }).into() };
    let mut say = move || {
        let mut open: Vec<LaneId> = (0..lanes).map(LaneId).collect();
        for (lane, seed) in open.iter().zip(0..) {
            policy.open(*lane, &prompt, &DecodeSpec { seed, ..spec.clone() }).expect("it fits");
        }
        let (mut out, mut tokens) = (Vec::new(), 0usize);
        while !open.is_empty() {
            policy.advance(&open, &mut out).expect("it goes on");
            for (lane, progress) in out.drain(..) {
                match progress {
                    Progress::Piece { .. } => tokens += 1,
                    Progress::Done(_) => open.retain(|l| *l != lane),
                    Progress::Pending => {}
                }
            }
        }
        tokens
    };
    say();
    bencher.counter(ItemsCount::new(say())).bench_local(say);
}
