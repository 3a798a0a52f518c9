//! Against servers that answer byte by byte what a test wants, most of them badly.

use super::*;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;

const SHORT: Duration = Duration::from_millis(300);
/// For answers that are to come: long enough for any machine.
const LONG: Duration = Duration::from_secs(60);

/// A server on loopback that gives each connection to `answer`, behind the request's head.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heads);
        // It ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                kept.lock().unwrap().push(head(&mut stream));
                // The other side may have gone, which is what many tests are about.
                let _ = answer(&mut stream);
            }
        });
        Self { port, heads }
    }

    fn saying(text: &'static str) -> Self {
        Self::start(move |stream| stream.write_all(text.as_bytes()))
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/metrics", self.port)
    }

    fn head(&self) -> String {
        self.heads.lock().unwrap()[0].to_lowercase()
    }
}

fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
        bytes.push(byte[0]);
    }
    String::from_utf8(bytes).unwrap()
}

/// Until the other side has gone.
fn hang(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}

fn ask(server: &Server, timeout: Duration) -> Result<Response, NetError> {
    Client::new().unwrap().send(&Request::get(server.url()).timeout(timeout))
}

#[test]
fn status_headers_and_body_come_back() {
    let server = Server::saying("HTTP/1.1 418 Teapot\r\nX-Name: Value\r\nContent-Length: 5\r\n\r\nhello");
    let answer = ask(&server, LONG).unwrap();
    assert_eq!((answer.status, answer.header("x-name"), answer.body.as_slice()), (418, Some("Value"), &b"hello"[..]));
    assert!(!answer.is_success());
    assert!(server.head().contains("user-agent: pilothouse/") && !server.head().contains("accept-encoding"), "{}", server.head());
}

#[test]
fn methods_and_bodies_are_sent() {
    let body = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&body);
    let server = Server::start(move |stream| {
        let mut bytes = [0; 8];
        stream.read_exact(&mut bytes)?;
        *kept.lock().unwrap() = String::from_utf8_lossy(&bytes).into_owned();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let request = Request::post_json(server.url(), b"{\"a\": 1}".to_vec()).header("X-Own", "1").timeout(LONG);
    assert!(Client::new().unwrap().send(&request).unwrap().is_success());
    let head = server.head();
    assert!(
        head.starts_with("post /metrics http/1.1") && head.contains("content-type: application/json") && head.contains("x-own: 1"),
        "{head}"
    );
    assert_eq!(*body.lock().unwrap(), "{\"a\": 1}");
    for (method, word) in [(Method::Put, "put "), (Method::Delete, "delete ")] {
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        Client::new().unwrap().send(&Request::new(method, server.url()).timeout(LONG)).unwrap();
        assert!(server.head().starts_with(word));
    }
}

#[test]
fn an_endpoint_that_hangs_before_its_answer_is_given_up() {
    let server = Server::start(hang);
    assert_eq!(ask(&server, SHORT), Err(NetError::Timeout(server.url(), SHORT)));
}

#[test]
fn an_endpoint_that_hangs_in_its_answer_is_given_up() {
    let server = Server::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")?;
        hang(stream)
    });
    assert_eq!(ask(&server, SHORT), Err(NetError::Stalled(server.url(), SHORT, 4)));
}

#[test]
fn an_endpoint_that_gives_a_byte_at_a_time_is_given_up_at_the_same_time() {
    let server = Server::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")?;
        loop {
            stream.write_all(b"x")?;
            thread::sleep(Duration::from_millis(5));
        }
    });
    let fault = ask(&server, SHORT).unwrap_err();
    assert!(matches!(&fault, NetError::Stalled(url, SHORT, 1..1000) if *url == server.url()), "{fault}");
    let slow_head = Server::start(|stream| {
        loop {
            stream.write_all(b"H")?;
            thread::sleep(Duration::from_millis(5));
        }
    });
    assert!(ask(&slow_head, SHORT).is_err());
}

#[test]
fn a_length_that_is_too_long_is_a_broken_answer() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    let fault = ask(&server, LONG).unwrap_err().to_string();
    assert!(fault.contains("the answer broke off"), "{fault}");
}

#[test]
fn a_length_that_is_too_short_cuts_the_answer_and_spoils_no_other() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf and more\r\nHTTP/1.1 200 OK\r\n\r\n");
    let client = Client::new().unwrap();
    for _ in 0..3 {
        let answer = client.send(&Request::get(server.url()).timeout(LONG)).unwrap();
        assert_eq!(answer.body, b"half");
    }
}

#[test]
fn lengths_that_are_no_numbers_or_contradict_each_other_are_refused() {
    for lengths in
        ["Content-Length: -1", "Content-Length: 99999999999999999999999", "Content-Length: 4\r\nContent-Length: 5", "Content-Length: x"]
    {
        let server = Server::start(move |stream| stream.write_all(format!("HTTP/1.1 200 OK\r\n{lengths}\r\n\r\nbody").as_bytes()));
        let fault = ask(&server, LONG).unwrap_err();
        assert!(matches!(fault, NetError::Broken(..)), "{lengths}: {fault}");
    }
}

/// Memory of this process in bytes.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn an_endless_answer_ends_at_the_limit_and_takes_no_memory() {
    for head in ["Content-Length: 10000000000", "Connection: close", "Content-Length: 10"] {
        let endless = head != "Content-Length: 10";
        let server = Server::start(move |stream| {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes())?;
            let block = [b'x'; 65536];
            for _ in 0..160_000 {
                stream.write_all(&block)?;
            }
            Ok(())
        });
        let before = resident_bytes();
        let request = Request::get(server.url()).timeout(LONG).bytes_max(1 << 20);
        let outcome = Client::new().unwrap().send(&request);
        if endless {
            assert_eq!(outcome, Err(NetError::TooLarge(server.url(), 1 << 20)));
        } else {
            assert_eq!(outcome.unwrap().body.len(), 10);
        }
        assert!(resident_bytes().saturating_sub(before) < 64 << 20);
    }
}

#[test]
fn an_answer_of_exactly_the_limit_is_taken() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    let client = Client::new().unwrap();
    assert_eq!(client.send(&Request::get(server.url()).timeout(LONG).bytes_max(5)).unwrap().body, b"abcde");
    assert_eq!(client.send(&Request::get(server.url()).timeout(LONG).bytes_max(4)), Err(NetError::TooLarge(server.url(), 4)));
}

#[test]
fn broken_chunks_and_what_is_no_http_are_told() {
    for text in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "",
        "HTTP/1.1 2000 Much\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
    ] {
        let fault = ask(&Server::saying(text), LONG).unwrap_err();
        assert!(matches!(fault, NetError::Broken(..)), "{text:?}: {fault:?}");
    }
}

#[test]
fn a_connection_that_is_reset_is_told() {
    let server = Server::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")?;
        // What lingers for no time is reset when it is closed.
        rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO)).map_err(Into::into)
    });
    let fault = ask(&server, LONG).unwrap_err();
    assert!(matches!(&fault, NetError::Broken(_, why) if why.contains("reset")), "{fault:?}");
}

#[test]
fn headers_without_end_are_refused() {
    let server = Server::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(format!("X-Long: {}\r\n", "x".repeat(60_000)).as_bytes())?;
        }
    });
    let fault = ask(&server, LONG).unwrap_err();
    assert!(matches!(fault, NetError::Broken(..)), "{fault:?}");
}

#[test]
fn a_compressed_answer_is_not_unpacked() {
    let server = Server::start(|stream| {
        let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\n")?;
        stream.write_all(&packed)
    });
    let answer = ask(&server, LONG).unwrap();
    assert_eq!((answer.header("content-encoding"), &answer.body[..2]), (Some("gzip"), &[0x1f, 0x8b][..]));
}

#[test]
fn redirects_stay_with_the_host_and_have_an_end() {
    let other = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    let to = other.url();
    let server =
        Server::start(move |stream| write!(stream, "HTTP/1.1 302 Found\r\nLocation: {to}?token=canary\r\nContent-Length: 0\r\n\r\n"));
    let fault = ask(&server, LONG).unwrap_err();
    let NetError::Redirect(from, why) = &fault else { panic!("{fault:?}") };
    assert!(*from == server.url() && why.contains(&other.url()) && !why.contains("canary"), "{fault}");
    assert!(other.heads.lock().unwrap().is_empty());

    let looping = Server::saying("HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    let fault = ask(&looping, LONG).unwrap_err();
    assert!(matches!(&fault, NetError::Redirect(_, why) if why.contains("goes on")), "{fault}");
    assert_eq!(looping.heads.lock().unwrap().len(), 6);

    let nowhere = Server::saying("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(ask(&nowhere, LONG), Err(NetError::Redirect(..))));
}

#[test]
fn a_redirect_within_the_host_is_followed_with_what_the_host_may_know() {
    let count = Arc::new(Mutex::new(0));
    let server = Server::start(move |stream| {
        *count.lock().unwrap() += 1;
        if *count.lock().unwrap() == 1 {
            return stream.write_all(b"HTTP/1.1 308 There\r\nLocation: /there\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    });
    let request = Request::get(server.url()).auth(Auth::Bearer(Secret::new("token"))).timeout(LONG);
    assert_eq!(Client::new().unwrap().send(&request).unwrap().body, b"ok");
    let heads = server.heads.lock().unwrap().clone();
    assert!(heads[1].starts_with("GET /there ") && heads[1].to_lowercase().contains("authorization: bearer token"), "{heads:?}");
}

#[test]
fn what_is_posted_is_not_sent_elsewhere() {
    let server = Server::saying("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
    let answer = Client::new().unwrap().send(&Request::post_json(server.url(), Vec::new()).timeout(LONG)).unwrap();
    assert_eq!((answer.status, server.heads.lock().unwrap().len()), (302, 1));
}

#[test]
fn user_and_password_of_a_url_are_sent_and_shown_nowhere() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    let url = format!("http://us%40er:can%61ry@127.0.0.1:{}/metrics?key=canary", server.port);
    let fault = Client::new().unwrap().send(&Request::get(url).timeout(LONG)).unwrap_err();
    assert!(!format!("{fault} {fault:?}").contains("canary") && fault.to_string().starts_with(&server.url()), "{fault}");
    // us@er:canary
    assert!(server.heads.lock().unwrap()[0].contains("authorization: Basic dXNAZXI6Y2FuYXJ5\r\n"));
}

#[test]
fn authorization_comes_as_it_was_given() {
    for (auth, line) in [
        (Auth::Basic { user: "a".into(), password: Secret::new("b") }, "authorization: basic yto6"),
        (Auth::Bearer(Secret::new("t")), "authorization: bearer t\r\n"),
        (Auth::Header { name: "X-Api-Key".into(), value: Secret::new("k") }, "x-api-key: k\r\n"),
    ] {
        let line = line.replace("yto6", "ytpi");
        let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        Client::new().unwrap().send(&Request::get(server.url()).auth(auth).timeout(LONG)).unwrap();
        assert!(server.head().contains(&line), "{line} in {}", server.head());
    }
    let fault =
        Client::new().unwrap().send(&Request::get("http://127.0.0.1:1/").auth(Auth::Bearer(Secret::new("can\r\nary")))).unwrap_err();
    assert!(matches!(&fault, NetError::Request(_, why) if why.contains("authorization") && !why.contains("ary")), "{fault}");
}

#[test]
fn urls_that_can_t_be_asked_are_told_without_their_secrets() {
    let client = Client::new().unwrap();
    for url in [
        "",
        "host:9090",
        "ftp://u:canary@host/",
        "file:///etc/passwd",
        "http://",
        "http://u:canary@:80/",
        "http://ho st/?canary",
        "http://h:99999/",
    ] {
        let fault = client.send(&Request::get(url)).unwrap_err();
        assert!(matches!(fault, NetError::Url(..)) && !fault.to_string().contains("canary"), "{fault:?}");
    }
}

#[test]
fn nobody_who_listens_is_told_as_such() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fault = Client::new().unwrap().send(&Request::get(format!("http://127.0.0.1:{port}/"))).unwrap_err();
    assert_eq!(fault.to_string(), format!("http://127.0.0.1:{port}/ can't be connected to: nothing listens there (connection refused)"));
    let fault = Client::new().unwrap().send(&Request::get("http://no-such-host.invalid/")).unwrap_err();
    assert!(matches!(&fault, NetError::Connect(_, why) if why.contains("name")), "{fault:?}");
}

#[test]
fn an_endpoint_without_tls_is_told_as_such() {
    let server = Server::start(|stream| stream.write_all(b"HTTP/1.1 400 Bad\r\n\r\n"));
    // It reads until two line feeds, which a handshake need not hold.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().for_each(|stream| drop(stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"))));
    let fault = Client::new().unwrap().send(&Request::get(format!("https://127.0.0.1:{port}/")).timeout(LONG)).unwrap_err();
    assert!(
        matches!(&fault, NetError::Connect(_, why) if why.contains("does not speak TLS") || why.contains("certificates of authorities")),
        "{fault:?}"
    );
    drop(server);
}

#[test]
fn address_rules_hold_for_addresses_and_for_names() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let public = Client::with_rules(AddressRules::PublicOnly { allow: Vec::new() }).unwrap();
    let listed = AddressRules::PublicOnly { allow: vec!["127.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()] };
    let listed = Client::with_rules(listed).unwrap();
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"] {
        let request = Request::get(format!("http://{host}:{}/", server.port)).timeout(LONG);
        let fault = public.send(&request).unwrap_err();
        assert!(matches!(&fault, NetError::Forbidden(_, why) if why.contains("loopback")), "{fault:?}");
        assert!(listed.send(&request).is_ok(), "{host}");
    }
}

#[test]
fn many_are_asked_at_one_time_and_none_waits_for_one_that_hangs() {
    let hanging = Server::start(hang);
    let good = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let client = Client::new().unwrap();
    let (done, outcomes) = std::sync::mpsc::channel();
    for url in [hanging.url(), good.url()] {
        let done = done.clone();
        client.begin(Request::get(url).timeout(LONG), move |outcome| done.send(outcome).unwrap());
    }
    assert_eq!(outcomes.recv().unwrap().unwrap().status, 200);
    // What still hangs goes with the client.
    drop((client, done));
    assert!(outcomes.recv_timeout(LONG).is_err());
}

#[test]
fn a_client_may_go_on_its_own_thread() {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let client = Client::new().unwrap();
    let (done, gone) = std::sync::mpsc::channel();
    let own = client.clone();
    client.begin(Request::get(server.url()).timeout(LONG), move |_| {
        drop(own);
        done.send(()).unwrap();
    });
    drop(client);
    // Either it was broken off or it came; nothing hangs and nothing panics.
    let _ = gone.recv_timeout(LONG);
}

#[test]
fn proxies_of_the_environment_are_not_asked() {
    // Set for the whole process, it would show in every other test of this file as well.
    let dead = "http://127.0.0.1:1";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "net::client::tests::status_headers_and_body_come_back"])
        .envs([("http_proxy", dead), ("HTTP_PROXY", dead), ("ALL_PROXY", dead)])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn the_kind_of_a_wrapped_error_is_found() {
    let inner = std::io::Error::from(ErrorKind::ConnectionReset);
    let outer = std::io::Error::other(inner);
    assert!(broken_words(&outer).contains("reset") || cause::<std::io::Error>(&outer).is_some());
}
