//! The client: a reqwest client with its own runtime of one worker.

use super::address::AddressRules;
use super::error::{broken_words, cause, connect_words, innermost, shown, shown_text};
use super::request::{Auth, Method, Request, Response, Wanted};
use super::{NetError, Secret};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep, timeout_at};

/// An attempt to connect ends after this, whatever the request allows.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Redirects within one host that are followed.
const REDIRECTS_MAX: u32 = 5;
/// Names that are resolved at one time; each holds a thread for as long as the system's resolver waits.
const RESOLVERS_MAX: usize = 16;
const USER_AGENT: &str = concat!("pilothouse/", env!("CARGO_PKG_VERSION"));

/// Clients of one process share it; cheap to clone. The last clone that goes breaks off what is still asked.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("rules", &self.inner.rules).finish_non_exhaustive()
    }
}

impl Client {
    /// May connect to every address: for what the operator configured.
    pub fn new() -> Result<Self, NetError> {
        Self::with_rules(AddressRules::Any)
    }

    pub fn with_rules(rules: AddressRules) -> Result<Self, NetError> {
        let fault = |error: String| NetError::Connect("other machines".into(), error);
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).max_blocking_threads(RESOLVERS_MAX).thread_name("net").enable_all().build();
        let runtime = runtime.map_err(|error| fault(format!("no thread for the network: {error}")))?;
        let (http, has_roots) = http_client(&rules).map_err(|error| fault(innermost(&error)))?;
        Ok(Self { inner: Arc::new(Inner { http, has_roots, rules, runtime: Some(runtime) }) })
    }

    /// Asks and waits. Not to be called from an async task.
    pub fn send(&self, request: &Request) -> Result<Response, NetError> {
        let (done, answer) = sync_channel(1);
        self.begin(request.clone(), move |outcome| {
            // The one who waits is below; nobody else can have gone.
            let _ = done.send(outcome);
        });
        let gone = || NetError::Broken(shown_text(&request.url), "the client was closed".into());
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }

    /// Asks and does not wait: `done` is called on the client's own thread, which it must not hold up.
    pub fn begin(&self, request: Request, done: impl FnOnce(Result<Response, NetError>) + Send + 'static) {
        let asker = self.inner.asker();
        if let Some(runtime) = &self.inner.runtime {
            runtime.spawn(async move { done(asker.ask(&request).await) });
        }
    }
}

struct Inner {
    http: reqwest::Client,
    /// Whether this machine has certificates of authorities, without which no https is trusted.
    has_roots: bool,
    rules: AddressRules,
    /// Unset only while it is dropped.
    runtime: Option<Runtime>,
}

impl Inner {
    fn asker(&self) -> Asker {
        Asker { http: self.http.clone(), has_roots: self.has_roots, rules: self.rules.clone() }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The last clone may go on the runtime's own thread, which can't wait for itself; and a resolver that hangs is waited for by nobody.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The client, and whether there are certificates of authorities: without them plain http still works.
fn http_client(rules: &AddressRules) -> Result<(reqwest::Client, bool), reqwest::Error> {
    // The first provider of a process stays; that it is there already is no fault.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .connect_timeout(CONNECT_WITHIN)
            // A kept connection that the other side closes just then fails a request that nothing is wrong with: servers close idle ones
            // after seconds, and here there is rarely a second request so soon.
            .pool_max_idle_per_host(0)
            .dns_resolver(Guard { rules: rules.clone() })
    };
    match builder().build() {
        Ok(client) => Ok((client, true)),
        // With the system's roots it fails for want of any; without roots every certificate is refused.
        Err(_) => builder().tls_certs_only([]).build().map(|client| (client, false)),
    }
}

/// The system's resolver, whose answers the address rules are asked about.
struct Guard {
    rules: AddressRules,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = self.rules.clone();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // One address that is refused refuses the name: else a second try would show which of them answers.
            match found.iter().find_map(|address| rules.refusal(address.ip())) {
                Some(refusal) => Err(Refused(refusal).into()),
                None => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// What one request needs; owned, so that a request outlives the call that began it.
struct Asker {
    http: reqwest::Client,
    has_roots: bool,
    rules: AddressRules,
}

impl Asker {
    async fn ask(&self, request: &Request) -> Result<Response, NetError> {
        let deadline = sleep(request.timeout).deadline();
        let (mut url, headers) = prepared(request)?;
        for _ in 0..=REDIRECTS_MAX {
            let (status, answer) = self.answer(request, &url, &headers, deadline).await?;
            if !is_redirect(status) || request.method != Method::Get {
                return self.response(request, &url, answer, deadline).await;
            }
            url = redirected(&url, answer.headers())?;
        }
        Err(NetError::Redirect(shown(&url), format!("it goes on after {REDIRECTS_MAX} of them")))
    }

    /// Status and headers; the body has not been read.
    async fn answer(
        &self,
        request: &Request,
        url: &Url,
        headers: &HeaderMap,
        deadline: Instant,
    ) -> Result<(StatusCode, reqwest::Response), NetError> {
        self.literal_allowed(url)?;
        let sent = self.http.request(method(request.method), url.clone()).headers(headers.clone()).body(request.body.clone()).send();
        match timeout_at(deadline, sent).await {
            Err(_) => Err(NetError::Timeout(shown(url), request.timeout)),
            Ok(Ok(answer)) => Ok((answer.status(), answer)),
            Ok(Err(error)) => Err(self.unanswered(request, url, &error)),
        }
    }

    /// Addresses in the URL itself pass no resolver.
    fn literal_allowed(&self, url: &Url) -> Result<(), NetError> {
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let refusal = host.parse::<IpAddr>().ok().and_then(|address| self.rules.refusal(address));
        refusal.map_or(Ok(()), |refusal| Err(NetError::Forbidden(shown(url), refusal)))
    }

    fn unanswered(&self, request: &Request, url: &Url, error: &reqwest::Error) -> NetError {
        let shown = shown(url);
        if let Some(Refused(refusal)) = cause::<Refused>(error) {
            return NetError::Forbidden(shown, refusal.clone());
        }
        if error.is_timeout() {
            return NetError::Timeout(shown, request.timeout.min(CONNECT_WITHIN));
        }
        if error.is_dns() {
            return NetError::Connect(shown, format!("its name is not known here: {}", innermost(error)));
        }
        if error.is_connect() {
            return NetError::Connect(shown, connect_words(error, self.has_roots));
        }
        NetError::Broken(shown, broken_words(error))
    }

    async fn response(&self, request: &Request, url: &Url, mut answer: reqwest::Response, deadline: Instant) -> Result<Response, NetError> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = answer.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        let status = answer.status().as_u16();
        if request.wanted == Wanted::Complaint {
            let body = if answer.status().is_success() { Vec::new() } else { beginning(answer, request.bytes_max, deadline).await };
            return Ok(Response { status, headers, body });
        }
        let mut body = Vec::new();
        loop {
            let chunk = match timeout_at(deadline, answer.chunk()).await {
                Err(_) => return Err(NetError::Stalled(shown(url), request.timeout, body.len())),
                Ok(Err(error)) => return Err(NetError::Broken(shown(url), broken_words(&error))),
                Ok(Ok(None)) => return Ok(Response { status, headers, body }),
                Ok(Ok(Some(chunk))) => chunk,
            };
            if body.len() + chunk.len() > request.bytes_max {
                return Err(NetError::TooLarge(shown(url), request.bytes_max));
            }
            body.extend_from_slice(&chunk);
        }
    }
}

/// Of a body as much as comes, up to this many bytes.
async fn beginning(mut answer: reqwest::Response, bytes_max: usize, deadline: Instant) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeout_at(deadline, answer.chunk()).await {
        body.extend_from_slice(&chunk[..chunk.len().min(bytes_max - body.len())]);
        if body.len() == bytes_max {
            break;
        }
    }
    body
}

fn method(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Delete => reqwest::Method::DELETE,
    }
}

/// The URL without user and password, and all headers.
fn prepared(request: &Request) -> Result<(Url, HeaderMap), NetError> {
    let fault = |why: String| NetError::Url(shown_text(&request.url), why);
    let mut url = Url::parse(&request.url).map_err(|error| fault(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault(format!("`{}` is not asked; write http:// or https://", url.scheme())));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        insert(&mut headers, &url, name, value, false)?;
    }
    match &request.auth {
        Auth::Url => {
            if !url.username().is_empty() || url.password().is_some() {
                let (user, password) = (percent_decoded(url.username()), percent_decoded(url.password().unwrap_or_default()));
                insert(&mut headers, &url, AUTHORIZATION.as_str(), &basic(&user, &Secret::new(password)), true)?;
            }
        }
        Auth::Basic { user, password } => insert(&mut headers, &url, AUTHORIZATION.as_str(), &basic(user, password), true)?,
        Auth::Bearer(token) => insert(&mut headers, &url, AUTHORIZATION.as_str(), &format!("Bearer {}", token.reveal()), true)?,
        Auth::Header { name, value } => insert(&mut headers, &url, name, value.reveal(), true)?,
    }
    // Both fail only for URLs that have no host, which http always has.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Ok((url, headers))
}

fn insert(headers: &mut HeaderMap, url: &Url, name: &str, value: &str, is_secret: bool) -> Result<(), NetError> {
    let fault = |why: String| NetError::Request(shown(url), why);
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault(format!("`{name}` is no name of a header")))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| fault(format!("the value of header `{name}` holds a line feed or another character that may not stand there")))?;
    value.set_sensitive(is_secret);
    headers.append(header, value);
    Ok(())
}

/// RFC 7617.
fn basic(user: &str, password: &Secret) -> String {
    use base64::Engine as _;
    let pair = format!("{user}:{}", password.reveal());
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

/// `%40` is `@`; what is no escape stays.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where a redirect leads to, if it stays with the host: headers may hold what another host must not see.
fn redirected(from: &Url, headers: &HeaderMap) -> Result<Url, NetError> {
    let fault = |why: String| NetError::Redirect(shown(from), why);
    let location = headers.get(LOCATION).ok_or_else(|| fault("it does not say where to".into()))?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut to = from.join(&location).map_err(|_| fault(format!("`{}` is no URL", shown_text(&location))))?;
    let _ = to.set_username("");
    let _ = to.set_password(None);
    let is_same = to.scheme() == from.scheme() && to.port_or_known_default() == from.port_or_known_default();
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
    if to.host_str() == from.host_str() && (is_same || is_upgrade) {
        return Ok(to);
    }
    Err(fault(format!("it leads to {}, another host, port or scheme", shown(&to))))
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
