//! Requests of receivers, and what answers mean.

use super::Undelivered;
use crate::net::{Auth, Client, Method, NetError, Request, Response, Secret, Wanted};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// Of what a receiver complains of, this much is read.
const COMPLAINT_BYTES_MAX: usize = 16 << 10;
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

/// By what a receiver knows who asks.
#[derive(Clone, Debug)]
pub struct Credential {
    /// With it the token is a password: basic authorization. Without it, a bearer token.
    pub user: Option<String>,
    pub token: Token,
}

/// Who asks, and how long that may take.
#[derive(Clone, Debug)]
pub struct Caller {
    pub client: Client,
    /// Unset takes what the URL holds, if it holds something.
    pub credential: Option<Credential>,
    pub timeout: Duration,
}

impl Caller {
    /// Hands something over. Whoever takes it has it, whatever else comes of the answer.
    pub fn hand(&self, url: &str, body: Vec<u8>) -> Result<u16, Undelivered> {
        let request = Request::post_json(url, body).bytes_max(COMPLAINT_BYTES_MAX).wanted(Wanted::Complaint);
        self.send(request).map(|response| response.status)
    }

    /// The answer, where it is a good one.
    pub fn ask(&self, method: Method, url: &str, body: Option<Vec<u8>>) -> Result<Response, Undelivered> {
        let request = Request::new(method, url);
        let request = match body {
            Some(body) => Request { body, ..request.header("content-type", "application/json") },
            None => request,
        };
        self.send(request.bytes_max(ANSWER_BYTES_MAX))
    }

    fn send(&self, request: Request) -> Result<Response, Undelivered> {
        let request = request.timeout(self.timeout);
        let Some(credential) = &self.credential else { return self.answer(&request) };
        let token = credential.token.read()?;
        let secret = Secret::new(token.clone());
        let auth = match &credential.user {
            Some(user) => Auth::Basic { user: user.clone(), password: secret },
            None => Auth::Bearer(secret),
        };
        // A receiver may repeat what it was sent.
        self.answer(&request.auth(auth)).map_err(|error| error.without(&token))
    }

    fn answer(&self, request: &Request) -> Result<Response, Undelivered> {
        // Errors of the client hold no secrets.
        let failed = |error: NetError| Undelivered { reason: error.to_string(), again: error.may_pass() };
        let response = self.client.send(request).map_err(failed)?;
        if response.is_success() { Ok(response) } else { Err(refused(&response)) }
    }
}

/// What a bad answer says, in one line. As Alertmanager does, only what may pass is tried again.
fn refused(response: &Response) -> Undelivered {
    let said = String::from_utf8_lossy(&response.body);
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID_CHARS_MAX).collect();
    let said = if (300..400).contains(&response.status) { "a redirect, which is not followed".into() } else { said };
    let reason = if said.is_empty() { response.status.to_string() } else { format!("{}: {said}", response.status) };
    Undelivered { reason, again: response.status >= 500 || response.status == 429 || response.status == 408 }
}
