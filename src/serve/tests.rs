//! Requests over sockets.

use super::accept::negotiate;
use super::*;
use crate::event::*;
use crate::journal::{Journal, Place};
use crate::metrics::Format;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // An answer to a request that was not read to its end may end in a reset.
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(address: SocketAddr, path: &str, accept: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"))
}

/// A journal with one line of the log, and its server.
fn served() -> (Journal, Server) {
    let mut journal = Journal::new(Arc::new(ManualClock::default()), None);
    let about = About { build: "pilothouse 9".into(), config_sha256: "ab".into() };
    let server = Server::start("127.0.0.1:0".parse().unwrap(), &journal.hub(), about).unwrap();
    journal.append(Place::default(), LogLine { level: LogLevel::Warn, target: "a".into(), text: "b".into() });
    (journal, server)
}

/// Asks until the answer has it: the fold follows on a thread of its own.
fn until(address: SocketAddr, path: &str, accept: &str, has: &str) -> String {
    for _ in 0..600 {
        let answer = get(address, path, accept);
        if answer.contains(has) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{path} never had {has}")
}

#[test]
fn metrics_come_in_the_format_that_is_asked_for() {
    let (_journal, server) = served();
    let plain = until(server.address(), "/metrics", "*/*", "pilothouse_log_lines_total{level=\"warn\"} 1\n");
    assert!(plain.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n") && !plain.contains("# EOF"), "{plain}");
    let open =
        until(server.address(), "/metrics", "application/openmetrics-text;version=1.0.0", "pilothouse_log_lines_total{level=\"warn\"} 1\n");
    assert!(open.contains("# TYPE pilothouse_log_lines counter\n") && open.ends_with("# EOF\n"), "{open}");
}

#[test]
fn health_is_that_of_the_run() {
    let (journal, server) = served();
    let alive = until(server.address(), "/healthz", "*/*", "\"events\":1");
    assert!(
        alive.starts_with("HTTP/1.1 200") && alive.contains("\"alive\":true") && alive.contains("\"build\":\"pilothouse 9\""),
        "{alive}"
    );
    drop(journal);
    let over = until(server.address(), "/healthz", "*/*", "\"alive\":false");
    assert!(over.starts_with("HTTP/1.1 503"), "{over}");
}

#[test]
fn what_is_not_there_is_said_plainly() {
    let (_journal, server) = served();
    assert!(get(server.address(), "/else", "*/*").starts_with("HTTP/1.1 404"));
    let post = ask(server.address(), "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405") && post.to_lowercase().contains("allow: get, head"), "{post}");
    assert!(ask(server.address(), "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    let long = format!("GET /metrics HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    assert!(!ask(server.address(), &long).starts_with("HTTP/1.1 200"));
}

#[test]
fn an_address_that_is_taken_is_told() {
    let (journal, server) = served();
    let error = Server::start(server.address(), &journal.hub(), About::default()).err().map(|e| e.to_string());
    assert!(error.as_ref().is_some_and(|e| e.contains(&server.address().to_string())), "{error:?}");
}

#[test]
fn the_format_is_the_one_of_the_highest_quality() {
    let prometheus = "application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let cases = [
        ("", Format::Text004),
        ("*/*", Format::Text004),
        (prometheus, Format::OpenMetrics),
        ("text/plain;version=0.0.4;q=0.9, application/openmetrics-text; version=\"1.0.0\"; q=0.2", Format::Text004),
        ("application/openmetrics-text", Format::OpenMetrics),
        ("application/openmetrics-text;q=0", Format::Text004),
        ("application/openmetrics-text;version=2.0.0", Format::Text004),
        ("application/openmetrics-text;q=nan,;;,/", Format::Text004),
        ("text/html", Format::Text004),
    ];
    for (accept, format) in cases {
        assert_eq!(negotiate(accept), format, "{accept}");
    }
}
