//! Why nothing came back, in people's words.

use reqwest::Url;
use std::error::Error;
use std::io;
use std::time::Duration;

/// Why nothing came back, for the operator; holds no header and no part of a URL's user, password or query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    #[error("{0} is no URL that can be asked: {1}")]
    Url(String, String),
    #[error("{0} can't be connected to: {1}")]
    Connect(String, String),
    #[error("{0} did not answer within {1:?}")]
    Timeout(String, Duration),
    /// The answer began; the number is of the bytes of its body that came.
    #[error("{0} began to answer and had not ended after {1:?} and {2} bytes")]
    Stalled(String, Duration, usize),
    #[error("{0} sends more than {1} bytes")]
    TooLarge(String, usize),
    #[error("{0}: the answer broke off: {1}")]
    Broken(String, String),
    #[error("{0} answers with a redirect that is not followed: {1}")]
    Redirect(String, String),
    /// The address rules of the client say no.
    #[error("{0} may not be asked: {1}")]
    Forbidden(String, String),
    /// A header or the authorization can't stand in a request; the text names the header, never its value.
    #[error("the request to {0} can't be made: {1}")]
    Request(String, String),
}

impl NetError {
    /// Whether it may pass by itself, so that the same request is worth another attempt.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Connect(..) | Self::Timeout(..) | Self::Stalled(..) | Self::Broken(..) => true,
            Self::Url(..) | Self::TooLarge(..) | Self::Redirect(..) | Self::Forbidden(..) | Self::Request(..) => false,
        }
    }
}

/// Scheme, host, port and path of a URL: what may be shown.
pub fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// The same of a text that is no URL: what may be a password or a query is left out.
pub fn shown_text(text: &str) -> String {
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = before_query.split_once("://").map_or(("", before_query), |(scheme, rest)| (scheme, rest));
    let host_on = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if scheme.is_empty() { host_on.to_owned() } else { format!("{scheme}://{host_on}") }
}

/// Host and port, as Prometheus' label `instance` has them; of a text that is no URL what may be shown.
pub fn host_and_port(text: &str) -> String {
    let parsed = Url::parse(text).ok();
    let found = parsed.as_ref().and_then(|url| Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?)));
    found.unwrap_or_else(|| shown_text(text))
}

/// With this path where the URL names none.
pub fn with_path(text: &str, path: &str) -> String {
    match Url::parse(text) {
        Ok(mut url) if url.path() == "/" => {
            url.set_path(path);
            url.into()
        }
        Ok(_) | Err(_) => text.to_owned(),
    }
}

/// The first error of this type in the chain of causes.
pub fn cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        // What an IO error wraps is not among its sources.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = wrapped.and_then(|inner| cause_of_inner::<T>(inner)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn cause_of_inner<'e, T: Error + 'static>(inner: &'e (dyn Error + Send + Sync + 'static)) -> Option<&'e T> {
    let inner: &'e (dyn Error + 'static) = inner;
    cause::<T>(inner)
}

/// What the innermost cause says.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// Why there is no connection.
pub fn connect_words(error: &(dyn Error + 'static), has_roots: bool) -> String {
    if let Some(tls) = cause::<rustls::Error>(error) {
        return tls_words(tls, has_roots);
    }
    match cause::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => "nothing listens there (connection refused)".into(),
        Some(io::ErrorKind::ConnectionReset) => "it closed the connection at once".into(),
        Some(io::ErrorKind::HostUnreachable) => "no route to the host".into(),
        Some(io::ErrorKind::NetworkUnreachable) => "the network is unreachable".into(),
        Some(io::ErrorKind::TimedOut) => "no answer to the attempt to connect".into(),
        Some(_) | None => innermost(error),
    }
}

fn tls_words(error: &rustls::Error, has_roots: bool) -> String {
    if !has_roots {
        return "no certificates of authorities are installed here (Debian: ca-certificates), so no https can be trusted".into();
    }
    match error {
        rustls::Error::InvalidCertificate(why) => format!("its certificate is not trusted: {why}"),
        rustls::Error::InvalidMessage(_) => "it does not speak TLS there; is it http://?".into(),
        // A foreign enum; its own words do for the rest.
        other => format!("TLS: {other}"),
    }
}

/// Why an answer broke off.
pub fn broken_words(error: &(dyn Error + 'static)) -> String {
    match cause::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => "the connection was reset".into(),
        Some(io::ErrorKind::UnexpectedEof) => "the connection was closed before the end".into(),
        Some(_) | None => innermost(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_an_instance_and_a_path() {
        assert_eq!(host_and_port("http://u:canary@h:8000/x"), "h:8000");
        assert_eq!((host_and_port("http://h").as_str(), host_and_port("https://[::1]/").as_str()), ("h:80", "[::1]:443"));
        assert_eq!(host_and_port("u:canary@h"), "h");
        assert_eq!(with_path("http://h:1", "/metrics"), "http://h:1/metrics");
        assert_eq!((with_path("http://h/own?a=b", "/m").as_str(), with_path("no url", "/m").as_str()), ("http://h/own?a=b", "no url"));
    }

    #[test]
    fn what_is_shown_of_a_url_has_no_secrets() {
        let url = Url::parse("https://user:canary@host.example:8443/path?token=canary#canary").unwrap();
        assert_eq!(shown(&url), "https://host.example:8443/path");
        assert_eq!(shown(&Url::parse("http://[::1]/").unwrap()), "http://[::1]/");
        for text in ["http://user:canary@ho st/?canary", "user:canary@host", "http://user:canary@x@host:99999/path?canary"] {
            assert!(!shown_text(text).contains("canary"), "{text}");
        }
        assert_eq!(shown_text("http://user:canary@ho st/a?b"), "http://ho st/a");
    }
}
