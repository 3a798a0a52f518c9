//! Duty: HTTP to other machines, for all rooms: limits on time and size, address rules, no secrets in errors. The only user of reqwest.
//! May import: event.
//! Emits: nothing.
//! Accepts: requests.
//! Test: `cargo test --lib net::`.

mod address;
mod client;
mod error;
mod request;
mod secret;

pub use address::{AddressRules, Network};
pub use client::Client;
pub use error::{NetError, host_and_port, shown_text, with_path};
pub use request::{Auth, Method, Request, Response, Wanted};
pub use secret::Secret;
