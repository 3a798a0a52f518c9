//! A Prometheus of its own: started on loopback, filled by remote write, asked over HTTP.

use crate::grammar::Series;
use crate::{Answer, Outcome, When};
use pilothouse::metrics::Labels;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that it may take to come up: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends with the test.
pub struct Prometheus {
    child: Child,
    address: String,
    _home: tempfile::TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    pub fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        std::fs::write(home.path().join("prometheus.yml"), "global: {evaluation_interval: 1m}\n").unwrap();
        let mut command = Command::new("prometheus");
        command
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--log.level=error", "--web.enable-remote-write-receiver"])
            .args(["--enable-feature=promql-negative-offset,promql-at-modifier", &format!("--web.listen-address={address}")])
            .current_dir(home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|e| panic!("prometheus: {e}; .ci/run installs it"));
        let peer = Self { child, address, _home: home };
        let begin = Instant::now();
        while !peer.request("GET", "/-/ready", "", &[]).starts_with("HTTP/1.0 200") {
            assert!(begin.elapsed() < PATIENCE, "prometheus does not come up");
            std::thread::sleep(Duration::from_millis(100));
        }
        peer
    }

    /// The whole answer, with its head; empty where nothing answers.
    fn request(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> String {
        let Ok(mut stream) = TcpStream::connect(&self.address) else { return String::new() };
        let (address, length) = (&self.address, body.len());
        let head = format!("{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: {length}\r\n{headers}\r\n");
        let mut answer = String::new();
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).is_ok() {
            let _ = stream.read_to_string(&mut answer);
        }
        answer
    }

    /// Stale markers and all: remote write passes the bits of a value on.
    pub fn write(&self, series: &[Series]) {
        let headers = "Content-Encoding: snappy\r\nContent-Type: application/x-protobuf\r\nX-Prometheus-Remote-Write-Version: 0.1.0\r\n";
        let answer = self.request("POST", "/api/v1/write", headers, &snappy(&write_request(series)));
        assert!(answer.starts_with("HTTP/1.0 204"), "{answer}");
    }

    pub fn ask(&self, text: &str, when: When) -> Outcome {
        let seconds = |ms: i64| format!("{}.{:03}", ms / 1000, ms % 1000);
        let query: String = text.bytes().map(|b| format!("%{b:02X}")).collect();
        let path = match when {
            When::At(at_ms) => format!("/api/v1/query?query={query}&time={}", seconds(at_ms)),
            When::Range(start_ms, end_ms, step_ms) => {
                let (start, end, step) = (seconds(start_ms), seconds(end_ms), seconds(step_ms));
                format!("/api/v1/query_range?query={query}&start={start}&end={end}&step={step}")
            }
        };
        let answer = self.request("GET", &path, "", &[]);
        let body = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}: {answer}")).1;
        let json: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|e| panic!("{text}: {e}: {body}"));
        let said = || json["error"].as_str().unwrap().to_owned();
        match (json["status"].as_str(), json["errorType"].as_str()) {
            (Some("success"), _) => Outcome::Answer(answer_of(&json["data"])),
            (_, Some("bad_data")) => Outcome::Unread(said()),
            _ => Outcome::Failed(said()),
        }
    }
}

fn answer_of(data: &serde_json::Value) -> Answer {
    let result = &data["result"];
    if data["resultType"] == "scalar" {
        return [(Labels::default(), vec![point(result)])].into();
    }
    let rows = result.as_array().unwrap().iter().map(|row| {
        let pairs = row["metric"].as_object().unwrap();
        let labels = Labels::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())));
        let points = match row["values"].as_array() {
            Some(values) => values.iter().map(point).collect(),
            None => vec![point(&row["value"])],
        };
        (labels, points)
    });
    rows.collect()
}

/// `[seconds, "value"]`
fn point(pair: &serde_json::Value) -> (i64, f64) {
    let value = match pair[1].as_str().unwrap() {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        text => text.parse().unwrap(),
    };
    ((pair[0].as_f64().unwrap() * 1000.0).round() as i64, value)
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A field of bytes, in protobuf's encoding.
fn field(number: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(number << 3 | 2);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// `WriteRequest { timeseries: [{ labels: [{ name, value }], samples: [{ value, timestamp }] }] }`
fn write_request(series: &[Series]) -> Vec<u8> {
    let mut request = Vec::new();
    for one in series {
        let mut body = Vec::new();
        for (name, value) in one.labels.iter() {
            let mut label = Vec::new();
            field(1, name.as_bytes(), &mut label);
            field(2, value.as_bytes(), &mut label);
            field(1, &label, &mut body);
        }
        for (t_ms, value) in &one.points {
            let mut sample = vec![1 << 3 | 1];
            sample.extend_from_slice(&value.to_le_bytes());
            sample.push(2 << 3);
            varint(*t_ms as u64, &mut sample);
            field(2, &sample, &mut body);
        }
        field(1, &body, &mut request);
    }
    request
}

/// Snappy's block format with literals alone, which any reader takes.
fn snappy(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(bytes.len() as u64, &mut out);
    for piece in bytes.chunks(1 << 16) {
        out.push(61 << 2);
        out.extend_from_slice(&((piece.len() - 1) as u16).to_le_bytes());
        out.extend_from_slice(piece);
    }
    out
}
