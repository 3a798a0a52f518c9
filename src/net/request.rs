//! What is asked and what came.

use super::Secret;
use super::error::shown_text;
use std::fmt;
use std::time::Duration;

/// Between the call and the last byte, unless the caller says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest body of an answer, unless the caller says otherwise.
const BYTES_MAX: usize = 1 << 20;

/// Blocks the thread that calls; each has its limits.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    /// May hold `user:password@`, which is sent as basic authorization and shown nowhere.
    pub url: String,
    /// None that is secret: those are in `auth`.
    pub headers: Vec<(String, String)>,
    /// Sent to no other host.
    pub auth: Auth,
    pub body: Vec<u8>,
    /// From the call to the last byte, redirects included.
    pub timeout: Duration,
    /// Longest body of an answer. It is compared with what comes, not with what the answer says of its length; nothing is decompressed.
    pub bytes_max: usize,
    pub wanted: Wanted,
}

/// How much of an answer's body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// All of it. One that is longer than the limit, or ends too early, is an error.
    #[default]
    Whole,
    /// Of a success nothing: its status says all. Of anything else what comes, up to the limit.
    Complaint,
}

/// By what the other side knows who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// What the URL holds, if it holds something.
    #[default]
    Url,
    Basic {
        user: String,
        password: Secret,
    },
    Bearer(Secret),
    /// A header of any name, such as `X-Api-Key`.
    Header {
        name: String,
        value: Secret,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Request {
    /// With ten seconds and a mebibyte.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            auth: Auth::Url,
            body: Vec::new(),
            timeout: TIMEOUT,
            bytes_max: BYTES_MAX,
            wanted: Wanted::Whole,
        }
    }

    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    /// With a JSON body.
    pub fn post_json(url: impl Into<String>, body: Vec<u8>) -> Self {
        Self { body, ..Self::new(Method::Post, url).header("content-type", "application/json") }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn auth(self, auth: Auth) -> Self {
        Self { auth, ..self }
    }

    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub fn bytes_max(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }

    pub fn wanted(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }
}

impl fmt::Debug for Request {
    /// Names of headers without their values, the URL without what may be secret in it, and no body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &shown_text(&self.url))
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body_bytes", &self.body.len())
            .field("timeout", &self.timeout)
            .field("bytes_max", &self.bytes_max)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case. A value that is no UTF-8 has replacement characters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_printed_tells_no_secret() {
        let request = Request::post_json("http://user:canary@host/?key=canary", b"canary".to_vec())
            .header("x-key", "canary")
            .auth(Auth::Bearer(Secret::new("canary")));
        let text = format!("{request:?} {:?}", request.auth);
        assert!(!text.contains("canary"), "{text}");
        assert!(text.contains("http://host/") && text.contains("x-key"), "{text}");
    }
}
