//! Troubles with what is outside the run: a disk that is full, an endpoint that is not there, an engine that takes no samples.

use super::tale::Tale;
use pilothouse::event::{Envelope, Event, Inbox, Input, MonotonicClock, inbox};
use pilothouse::telemetry::{Preset, Sampler, SamplerSettings, ScrapeTarget, Scraper};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program on a full disk, for which the limit on a file's size stands.
pub fn full_disk() -> Tale {
    let home = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 800; exec \"$0\" run --headless --json --agent heuristic --level L0 --episodes 100000 --seed 3 --record full.jsonl";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_pilothouse")]).env("HOME", home.path()).current_dir(home.path());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Envelope> = said.lines().map(|line| Envelope::from_json(line).unwrap()).collect();
    let end_s = events.last().unwrap().t_ns / 1_000_000_000 + 60;
    Tale::of(events, end_s)
}

/// A real scrape of a port at which nobody listens, each five seconds.
pub fn closed_port(minutes: u64) -> Tale {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    scraped_at(&format!("http://{address}/metrics"), minutes)
}

fn scraped_at(url: &str, minutes: u64) -> Tale {
    let target = ScrapeTarget {
        job: "vllm".into(),
        url: url.into(),
        preset: Preset::everything(),
        interval: Duration::from_secs(3600),
        timeout: Duration::from_secs(30),
        bearer: None,
        labels: Vec::new(),
    };
    let (commands, inbox) = inbox(16);
    let _scraper = Scraper::start(vec![target], commands).unwrap();
    super::fed::again(minutes, &next(&inbox))
}

fn next(inbox: &Inbox) -> Event {
    match inbox.wait(PATIENCE) {
        Some(Input::Fact(event)) => *event,
        other => panic!("{other:?}"),
    }
}

/// The real sampler before an engine that is too busy to take what it sends, until it has told of at least so many that were dropped.
pub fn busy_engine(dropped_min: u64) -> Tale {
    let settings = SamplerSettings {
        interval: Duration::from_millis(1),
        nvml_library: Some("/nowhere/libnvidia-ml.so.1".into()),
        disk_of: None,
        targets: Vec::new(),
    };
    let (commands, inbox) = inbox(2);
    let sampler = Sampler::start(settings, MonotonicClock::start(), commands).unwrap();
    let (mut facts, mut dropped) = (Vec::new(), 0);
    while dropped < dropped_min {
        std::thread::sleep(Duration::from_millis(50));
        for _ in 0..4 {
            facts.push(next(&inbox));
            if let Some(Event::SamplesDropped(e)) = facts.last() {
                dropped += e.count;
            }
        }
    }
    sampler.stop();
    let mut facts = facts.into_iter();
    let count = facts.len() as u64;
    Tale::begin().each_s(1, count, |_| facts.next().unwrap()).quiet_s(60)
}
