//! Duty: HTTP to other machines, for all rooms: limits on time and size, address rules, no secrets in errors.
//! May import: event.
//! Emits: nothing.
//! Accepts: requests.
//! Test: `cargo test --lib net::`.

use std::time::Duration;

/// Blocks the thread that calls; each has its limits.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// From the call to the last byte.
    pub timeout: Duration,
    /// Longest body of an answer, after any decompression.
    pub bytes_max: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Why nothing came back, for the operator; holds no header and no part of a URL's user, password or query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("{0} is no URL that can be asked: {1}")]
    Url(String, String),
    #[error("{0} can't be connected to: {1}")]
    Connect(String, String),
    #[error("{0} did not answer within {1:?}")]
    Timeout(String, Duration),
    #[error("{0} sends more than {1} bytes")]
    TooLarge(String, usize),
    #[error("{0}: the answer broke off: {1}")]
    Broken(String, String),
}

/// Clients of one process share it; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Client {}

impl Client {
    pub fn new() -> Result<Self, NetError> {
        Ok(Self {})
    }

    /// Asks and waits. Not to be called from an async task.
    pub fn send(&self, request: &Request) -> Result<Response, NetError> {
        Err(NetError::Connect(request.url.clone(), "not built yet".into()))
    }
}
