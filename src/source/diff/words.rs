//! What two thoughts have in common, token by token.

use super::align::{self, Pair};
use crate::event::{MessageCompleted, TokenId};

/// A token of a thought; of an agent that is no model, a word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Token {
    pub text: String,
    /// Unset, like the figures, where the recording does not say it.
    pub id: Option<TokenId>,
    /// Natural logarithm.
    pub logprob: Option<f32>,
    /// Nats.
    pub entropy: Option<f32>,
}

/// The tokens of a message's thought: as they were decoded where the recording says where they end, else its words.
pub fn tokens(message: &MessageCompleted) -> Vec<Token> {
    decoded(message).unwrap_or_else(|| words(&message.thought))
}

fn decoded(message: &MessageCompleted) -> Option<Vec<Token>> {
    let ends = &message.token_ends;
    let start = message.text.find(message.thought.as_str()).filter(|_| !message.thought.is_empty())?;
    let end = start + message.thought.len();
    if ends.is_empty() || ends.len() != message.token_ids.len() || !ends.is_sorted() {
        return None;
    }
    let of = |list: &[f32], at: usize| if list.len() == ends.len() { Some(list[at]) } else { None };
    let mut found = Vec::new();
    let mut from = 0;
    for (at, upto) in ends.iter().enumerate() {
        let upto = *upto as usize;
        let (left, right) = (from.max(start), upto.min(end));
        from = upto;
        if left < right {
            let text = message.text.get(left..right)?.to_owned();
            let (logprob, entropy) = (of(&message.logprobs, at), of(&message.entropy, at));
            found.push(Token { text, id: message.token_ids.get(at).copied(), logprob, entropy });
        }
    }
    // Ends that leave out a part of the thought say nothing of it.
    (found.iter().map(|t| t.text.len()).sum::<usize>() == message.thought.len()).then_some(found)
}

fn words(text: &str) -> Vec<Token> {
    text.split_inclusive(char::is_whitespace).map(|word| Token { text: word.to_owned(), ..Token::default() }).collect()
}

/// Places of a token in both; one is unset where only the other has it.
pub type TokenPair = (Option<usize>, Option<usize>);

/// The tokens of both, and how they belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordDiff {
    pub a: Vec<Token>,
    pub b: Vec<Token>,
    /// Places in `a` and `b`; both are set where the text is the same.
    pub pairs: Vec<TokenPair>,
}

impl WordDiff {
    /// The first token that is not in both at the same place, counted from 0.
    pub fn first(&self) -> Option<usize> {
        let same = self.a.iter().zip(&self.b).take_while(|(a, b)| a.text == b.text).count();
        (same < self.a.len() || same < self.b.len()).then_some(same)
    }
}

/// A token of the whole message.
pub(super) fn said_token(message: &MessageCompleted, at: usize) -> Option<Token> {
    let end = |at: usize| message.token_ends.get(at).map(|e| *e as usize);
    let from = at.checked_sub(1).map_or(Some(0), end);
    let text = from.zip(end(at)).and_then(|(from, upto)| message.text.get(from..upto)).unwrap_or_default().to_owned();
    let figure = |list: &[f32]| list.get(at).copied();
    Some(Token {
        text,
        id: message.token_ids.get(at).copied(),
        logprob: Some(figure(&message.logprobs)?),
        entropy: figure(&message.entropy),
    })
}

/// Lays two thoughts side by side. Where one has tokens and the other has words, both are taken by words.
pub fn token_diff(a: Option<&MessageCompleted>, b: Option<&MessageCompleted>) -> WordDiff {
    let (mut of_a, mut of_b) = (a.map(tokens).unwrap_or_default(), b.map(tokens).unwrap_or_default());
    if let (Some(a), Some(b)) = (a, b)
        && is_decoded(&of_a) != is_decoded(&of_b)
    {
        (of_a, of_b) = (words(&a.thought), words(&b.thought));
    }
    let texts = |tokens: &[Token]| tokens.iter().map(|t| t.text.clone()).collect::<Vec<_>>();
    let pairs = align::by_keys(&texts(&of_a), &texts(&of_b)).into_iter().map(|Pair { a, b }| (a, b)).collect();
    WordDiff { a: of_a, b: of_b, pairs }
}

fn is_decoded(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| t.id.is_some())
}
