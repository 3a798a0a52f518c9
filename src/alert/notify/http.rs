//! Requests of receivers, and what answers mean.

use super::Undelivered;
use crate::net::{Auth, Client, Method, Request, Response, Secret};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Of what an answer says, this much is told.
const SAID_CHARS_MAX: usize = 200;
/// A secret in a file is no longer than this.
const SECRET_BYTES_MAX: u64 = 64 << 10;

/// A text that nobody may see. A file is read anew each time, so that it can be changed while the run goes on.
#[derive(Clone)]
pub enum Token {
    Text(String),
    File(PathBuf),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Text(_) => f.write_str("Token(…)"),
            Token::File(path) => write!(f, "Token({})", path.display()),
        }
    }
}

impl Token {
    pub fn read(&self) -> Result<String, Undelivered> {
        use std::io::Read as _;
        match self {
            Token::Text(text) => Ok(text.clone()),
            Token::File(path) => {
                let mut text = String::new();
                let file = std::fs::File::open(path).and_then(|file| file.take(SECRET_BYTES_MAX).read_to_string(&mut text));
                file.map_err(|error| Undelivered { reason: format!("{}: {error}", path.display()), again: true })?;
                Ok(text.trim().to_owned())
            }
        }
    }
}

/// Who asks, and how long that may take.
#[derive(Clone, Debug)]
pub struct Caller {
    pub client: Client,
    pub token: Option<Token>,
    pub timeout: Duration,
}

impl Caller {
    /// The answer, where it is a good one.
    pub fn ask(&self, method: Method, url: &str, body: Option<Vec<u8>>) -> Result<Response, Undelivered> {
        let mut request = Request::new(method, url);
        (request.timeout, request.bytes_max) = (self.timeout, ANSWER_BYTES_MAX);
        if let Some(body) = body {
            request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
            request.body = body;
        }
        if let Some(token) = &self.token {
            request.auth = Auth::Bearer(Secret::new(token.read()?));
        }
        // Errors of the client hold no secrets.
        let response = self.client.send(&request).map_err(|error| Undelivered { reason: error.to_string(), again: true })?;
        if (200..300).contains(&response.status) { Ok(response) } else { Err(refused(&response)) }
    }
}

/// What a bad answer says, in one line. As Alertmanager does, only what may pass is tried again.
fn refused(response: &Response) -> Undelivered {
    let said = String::from_utf8_lossy(&response.body);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID_CHARS_MAX).collect();
    let reason = if said.is_empty() { response.status.to_string() } else { format!("{}: {said}", response.status) };
    Undelivered { reason, again: response.status >= 500 || response.status == 429 || response.status == 408 }
}
