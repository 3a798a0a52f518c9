use super::*;
use crate::event::{Event, Inbox, Input, inbox};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const WAIT: Duration = Duration::from_secs(60);

/// A server that answers each connection by itself; the head of the first request comes back.
fn server(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (heads, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
                head.push(byte[0]);
            }
            // Whoever asked may have gone.
            let _ = heads.send(String::from_utf8_lossy(&head).to_lowercase());
            let _ = answer(&mut stream);
        }
    });
    (address, received)
}

fn saying(body: &'static str) -> (String, Receiver<String>) {
    server(move |stream| write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

fn target(address: &str) -> ScrapeTarget {
    ScrapeTarget {
        job: "job".into(),
        url: format!("http://{address}"),
        preset: Preset::everything(),
        interval: Duration::from_millis(500),
        timeout: Duration::from_millis(500),
        bearer: None,
        labels: Vec::new(),
    }
}

fn next(inbox: &Inbox) -> TargetScraped {
    match inbox.wait(WAIT) {
        Some(Input::Fact(event)) => match *event {
            Event::TargetScraped(scraped) => scraped,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The first scrape of a target.
fn scrape(target: ScrapeTarget) -> TargetScraped {
    let (commands, inbox) = inbox(16);
    let _scraper = Scraper::start(vec![target], commands).unwrap();
    next(&inbox)
}

fn names(scraped: &TargetScraped) -> Vec<&str> {
    scraped.samples.iter().map(|sample| sample.name.as_str()).collect()
}

#[test]
fn samples_come_with_their_target() {
    let (address, heads) = saying("# TYPE a gauge\na{b=\"c\",job=\"own\"} 1.5 77\nb 2");
    let labels = vec![("job".to_owned(), "mine".to_owned())];
    let scraped = scrape(ScrapeTarget { bearer: Some(Secret::new("token")), labels, ..target(&address) });
    assert_eq!((scraped.job.as_str(), scraped.instance.as_str()), ("job", address.as_str()));
    assert_eq!(scraped.url.as_str(), format!("http://{address}/metrics"));
    assert!(scraped.up && scraped.error.is_none() && scraped.duration_ns > 0);
    assert_eq!(scraped.samples_total, 2);
    let first = &scraped.samples[0];
    assert_eq!((first.name.as_str(), first.value, first.at_ms), ("a", 1.5, Some(77)));
    assert_eq!(first.labels.to_string(), "b=c exported_job=own job=mine");
    let head = heads.recv().unwrap();
    for part in [
        "get /metrics http",
        "accept: application/openmetrics-text;version=1.0.0",
        "x-prometheus-scrape-timeout-seconds: 0.5",
        "authorization: bearer token",
    ] {
        assert!(head.contains(part), "{part} in {head}");
    }
}

#[test]
fn a_preset_keeps_what_matters_by_one_name() {
    let (address, _heads) = saying("python_info 1\nray_vllm_num_requests_running{model_name=\"m\"} 3\nvllm:gpu_cache_usage_perc 0.5\n");
    let scraped = scrape(ScrapeTarget { preset: Preset::named("vllm").unwrap(), ..target(&address) });
    assert_eq!(
        names(&scraped),
        ["inference_requests_running", "vllm:num_requests_running", "inference_cache_usage_ratio", "vllm:kv_cache_usage_perc"]
    );
    assert_eq!(scraped.samples_total, 3);
}

#[test]
fn what_goes_wrong_is_said_in_its_place() {
    for (answer, words) in [
        ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "status 503"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na 1\nb{c 2", "line 2: "),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", "packed (gzip)"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\na 1", "broke off"),
        ("nonsense", "broke off"),
        ("HTTP/1.1 302 Found\r\nLocation: http://other.invalid/\r\nContent-Length: 0\r\n\r\n", "other.invalid"),
    ] {
        let (address, _heads) = server(move |stream| stream.write_all(answer.as_bytes()));
        let scraped = scrape(target(&address));
        let error = scraped.error.unwrap();
        assert!(!scraped.up && error.contains(words) && scraped.samples.is_empty(), "{error}");
    }
}

#[test]
fn one_that_hangs_costs_only_itself() {
    let (hanging, _heads) = server(|stream| stream.read(&mut [0]).map(drop));
    let (good, _good_heads) = saying("a 1\n");
    let (commands, inbox) = inbox(64);
    let slow = ScrapeTarget { job: "slow".into(), interval: WAIT, timeout: WAIT, ..target(&hanging) };
    let quick = ScrapeTarget { interval: Duration::from_millis(20), timeout: Duration::from_millis(20_000), ..target(&good) };
    let scraper = Scraper::start(vec![slow, quick], commands).unwrap();
    for _ in 0..5 {
        let scraped = next(&inbox);
        assert_eq!((scraped.job.as_str(), scraped.up), ("job", true));
    }
    // What still hangs is broken off.
    drop(scraper);
}

#[test]
fn more_than_can_be_kept_fails_as_a_whole() {
    let body: String = (0..KEPT_MAX + 10).map(|i| format!("a{{i=\"{i}\"}} 1\n")).collect();
    let (address, _heads) =
        server(move |stream| write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    let scraped = scrape(ScrapeTarget { interval: WAIT, timeout: WAIT, ..target(&address) });
    assert_eq!((scraped.up, scraped.samples.len()), (false, 0));
    assert!(scraped.error.is_some_and(|error| error.contains("more than 5000 samples")));
}

#[test]
fn an_engine_that_has_ended_ends_the_thread() {
    let (address, _heads) = saying("a 1\n");
    let (commands, inbox) = inbox(1);
    drop(inbox);
    let mut scraper = Scraper::start(vec![target(&address)], commands).unwrap();
    scraper.thread.take().unwrap().join().unwrap();
}
