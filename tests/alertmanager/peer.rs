//! A real Alertmanager, and amtool to ask it.

use serde_json::Value;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that anything may take to arrive: a wait, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// An Alertmanager of its own on loopback.
pub struct Peer {
    pub folder: tempfile::TempDir,
    pub port: u16,
    process: Option<Child>,
    /// Who may ask it, as its `--web.config.file` says.
    web_config: Option<&'static str>,
}

impl Peer {
    pub fn start() -> Self {
        Self::guarded(None)
    }

    pub fn guarded(web_config: Option<&'static str>) -> Self {
        // Free a moment ago, which is all that can be had.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut peer = Self { folder: tempfile::tempdir().unwrap(), port, process: None, web_config };
        let config = "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n";
        std::fs::write(peer.folder.path().join("config.yml"), config).unwrap();
        peer.up();
        peer
    }

    pub fn up(&mut self) {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let log = std::fs::File::create(path("log")).unwrap();
        let guard = self.web_config.map(|config| {
            std::fs::write(path("web.yml"), config).unwrap();
            format!("--web.config.file={}", path("web.yml"))
        });
        let process = Command::new("prometheus-alertmanager")
            .args(guard)
            .args([format!("--config.file={}", path("config.yml")), format!("--storage.path={}", path("data"))])
            .args([format!("--web.listen-address=127.0.0.1:{}", self.port), "--cluster.listen-address=".into()])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("prometheus-alertmanager: {e}; .ci/run installs it"));
        self.process = Some(process);
        until("the Alertmanager is up", || std::net::TcpStream::connect(("127.0.0.1", self.port)).ok());
    }

    pub fn down(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn amtool(&self, args: &[&str]) -> Value {
        let output = Command::new("amtool")
            .arg(format!("--alertmanager.url={}", self.url()))
            .args(args)
            .args(["-o", "json"])
            .env("HOME", self.folder.path())
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// Alerts by name, those too that are silenced there.
    pub fn alerts(&self) -> Vec<Value> {
        self.amtool(&["alert", "query", "--active", "--silenced", "--inhibited"]).as_array().cloned().unwrap_or_default()
    }

    pub fn alert(&self, name: &str) -> Option<Value> {
        self.alerts().into_iter().find(|alert| alert["labels"]["alertname"] == name)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// What is found, once it is.
pub fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
