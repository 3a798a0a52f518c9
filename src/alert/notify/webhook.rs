//! A webhook that reads Alertmanager's messages.

use super::http::{Caller, Credential, Token};
use super::message::{Facts, message};
use super::{Deliver, Undelivered};
use crate::alert::pager::Page;

/// Where it is. What holds a key is a secret as a whole.
#[derive(Clone, Debug)]
pub enum Address {
    Plain(String),
    Secret(Token),
}

#[derive(Clone, Debug)]
pub struct WebhookPlan {
    pub address: Address,
    pub credential: Option<Credential>,
}

pub struct Webhook {
    pub name: String,
    pub address: Address,
    pub caller: Caller,
    pub facts: Facts,
}

impl Deliver for Webhook {
    fn deliver(&mut self, pages: &[Page], _at_ms: i64) -> Result<String, Undelivered> {
        let body = message(pages, &self.name, &self.facts).to_string().into_bytes();
        let (url, is_secret) = match &self.address {
            Address::Plain(url) => (url.clone(), false),
            Address::Secret(token) => (token.read()?, true),
        };
        let outcome = self.caller.hand(&url, body);
        // A path can hold a key, too.
        outcome.map(|status| status.to_string()).map_err(|error| if is_secret { hidden(error, &url) } else { error })
    }
}

/// The error without anything of the address.
fn hidden(error: Undelivered, url: &str) -> Undelivered {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let without_query = url.split(['?', '#']).next().unwrap_or_default();
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let path_alone = path.split(['?', '#']).next().unwrap_or_default();
    let mut reason = error.reason;
    for part in [url, without_query, path, path_alone] {
        if part.len() > 1 {
            reason = reason.replace(part, "…");
        }
    }
    Undelivered { reason, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_a_path_is_not_told() {
        let url = "https://hooks.example/services/T00/canary?key=canary2";
        for text in [format!("{url} can't be connected to"), "https://hooks.example/services/T00/canary did not answer".to_owned()] {
            let error = hidden(Undelivered { reason: text, again: true }, url);
            assert!(!error.reason.contains("canary"), "{}", error.reason);
        }
    }
}
