//! The thread that asks other endpoints for their metrics.
//!
//! One thread keeps the times and reads the answers; the client's own thread waits for the network, so that an endpoint that hangs costs
//! nobody but itself.

use super::exposition::{Caps, Dialect, Sample, parse};
use super::outlet::{Closed, Outlet};
use super::presets::Preset;
use crate::event::{CommandSender, LabelSet, SafeText, ScrapedSample, TargetScraped};
use crate::net::{Auth, Client, NetError, Request, Response, Secret, host_and_port, with_path};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest answer.
const BYTES_MAX: usize = 16 << 20;
/// Samples of one scrape that are kept; they are all in the recording.
pub const KEPT_MAX: usize = 5_000;
/// First scrapes come so far apart, or nearer where there are many targets.
const STAGGER: Duration = Duration::from_millis(200);
/// What an endpoint is asked for, the richer format first.
const ACCEPT: &str = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

/// One endpoint, as it is asked.
#[derive(Clone, Debug)]
pub struct ScrapeTarget {
    pub job: String,
    /// Where it names no path, the preset's.
    pub url: String,
    pub preset: Preset,
    pub interval: Duration,
    /// At most the interval.
    pub timeout: Duration,
    pub bearer: Option<Secret>,
    /// Labels that each sample has besides its own; they win over one of the same name, which becomes `exported_…`.
    pub labels: Vec<(String, String)>,
}

/// The running thread. Dropping it stops it too.
pub struct Scraper {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Answered { target: usize, outcome: Result<Response, NetError>, took: Duration },
    Stop,
}

impl Scraper {
    /// Starts to ask. Facts go to the engine's inbox; what it has no room for is counted in `SamplesDropped`.
    pub fn start(targets: Vec<ScrapeTarget>, commands: CommandSender) -> std::io::Result<Self> {
        let client = Client::new().map_err(std::io::Error::other)?;
        let (messages, received) = channel();
        let answers = messages.clone();
        let thread = std::thread::Builder::new().name("scraper".into()).spawn(move || {
            let rounds = targets.into_iter().map(Round::new).collect();
            Rounds { rounds, client, answers }.go_on(&received, &mut Outlet::new(&commands, "scrape"));
        })?;
        Ok(Self { messages, thread: Some(thread) })
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        // It is refused only where the thread has ended by itself.
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}

/// A target with its times.
struct Round {
    target: ScrapeTarget,
    url: String,
    instance: String,
    due: Instant,
    /// Nothing is asked a second time while the first is under way.
    is_asked: bool,
}

impl Round {
    fn new(target: ScrapeTarget) -> Self {
        let url = with_path(&target.url, &target.preset.path);
        Self { instance: host_and_port(&url), url, due: Instant::now(), is_asked: false, target }
    }
}

struct Rounds {
    rounds: Vec<Round>,
    client: Client,
    answers: Sender<Message>,
}

impl Rounds {
    fn go_on(mut self, received: &Receiver<Message>, outlet: &mut Outlet<'_>) {
        let count = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX).max(1);
        for (i, round) in (0_u32..).zip(&mut self.rounds) {
            round.due += STAGGER.min(round.target.interval / count) * i;
        }
        loop {
            self.ask_due();
            let Some(next) = self.rounds.iter().map(|round| round.due).min() else { return };
            match received.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Message::Answered { target, outcome, took }) => {
                    if self.answered(target, outcome, took, outlet).is_err() {
                        return;
                    }
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Asks what is due. A time that was missed, as by a machine that slept, is not made up for.
    fn ask_due(&mut self) {
        let now = Instant::now();
        for (i, round) in self.rounds.iter_mut().enumerate().filter(|(_, round)| round.due <= now) {
            round.due += round.target.interval;
            if round.due <= now {
                round.due = now + round.target.interval;
            }
            if round.is_asked {
                continue;
            }
            round.is_asked = true;
            let answers = self.answers.clone();
            self.client.begin(request(&round.url, &round.target), move |outcome| {
                // It is refused only when the thread has ended.
                let _ = answers.send(Message::Answered { target: i, outcome, took: now.elapsed() });
            });
        }
    }

    fn answered(&mut self, at: usize, outcome: Result<Response, NetError>, took: Duration, outlet: &mut Outlet<'_>) -> Result<(), Closed> {
        let Some(round) = self.rounds.get_mut(at) else { return Ok(()) };
        round.is_asked = false;
        outlet.send(scraped(round, outcome, took))
    }
}

fn request(url: &str, target: &ScrapeTarget) -> Request {
    let seconds = target.timeout.as_secs_f64().to_string();
    let request = Request::get(url).timeout(target.timeout).bytes_max(BYTES_MAX).header("accept", ACCEPT);
    let request = request.header("x-prometheus-scrape-timeout-seconds", &seconds);
    match &target.bearer {
        Some(token) => request.auth(Auth::Bearer(token.clone())),
        None => request,
    }
}

fn scraped(round: &Round, outcome: Result<Response, NetError>, took: Duration) -> TargetScraped {
    let read = outcome.map_err(|error| Unscraped::No(error.to_string())).and_then(|response| read(&response, &round.target));
    let is_unreadable = matches!(read, Err(Unscraped::Unreadable(_)));
    let (error, (samples_total, samples)) = match read {
        Ok(found) => (None, found),
        Err(Unscraped::No(error) | Unscraped::Unreadable(error)) => (Some(SafeText::from(error)), (0, Vec::new())),
    };
    TargetScraped {
        job: SafeText::new(&round.target.job),
        instance: SafeText::new(&round.instance),
        url: SafeText::from(crate::net::shown_text(&round.url)),
        up: error.is_none(),
        error,
        is_unreadable,
        duration_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
        samples_total,
        samples,
    }
}

/// Why there are no samples, for the operator.
enum Unscraped {
    /// It gave no metrics.
    No(String),
    /// What it gave are none that can be read.
    Unreadable(String),
}

/// How many samples an answer has, and those that are kept, in the order in which they came.
fn read(response: &Response, target: &ScrapeTarget) -> Result<(u32, Vec<ScrapedSample>), Unscraped> {
    if response.status != 200 {
        return Err(Unscraped::No(format!("it answers with status {}", response.status)));
    }
    // It was asked for none; what is unpacked has no bound.
    if let Some(coding) = response.header("content-encoding").filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(Unscraped::Unreadable(format!("its answer is packed ({coding}), which it was not asked for")));
    }
    let dialect = Dialect::of_content_type(response.header("content-type"));
    let (mut total, mut kept) = (0, Vec::new());
    parse(&response.body, dialect, &Caps::default(), |sample| {
        total += 1;
        // One more than are kept, so that too many are noticed.
        if kept.len() <= KEPT_MAX {
            keep(sample, target, &mut kept);
        }
    })
    .map_err(|error| Unscraped::Unreadable(error.to_string()))?;
    if kept.len() > KEPT_MAX {
        // As Prometheus does: a part of them would hang on their order, and what is not there looks like trouble.
        return Err(Unscraped::No(format!("it gives more than {KEPT_MAX} samples to keep; a preset says which are wanted")));
    }
    Ok((total, kept))
}

fn keep(sample: Sample, target: &ScrapeTarget, kept: &mut Vec<ScrapedSample>) {
    let Some(name) = target.preset.name_of(&sample.name) else { return };
    let labels = labels(sample.labels, &target.labels);
    if let Some(also) = target.preset.also(&name) {
        kept.push(ScrapedSample { name: also.into(), labels: labels.clone(), value: sample.value, at_ms: sample.at_ms });
    }
    kept.push(ScrapedSample { name: name.into(), labels, value: sample.value, at_ms: sample.at_ms });
}

fn labels(own: Vec<(String, String)>, of_target: &[(String, String)]) -> LabelSet {
    let is_taken = |name: &str| of_target.iter().any(|(taken, _)| taken == name);
    let names: Vec<String> = own.iter().map(|(name, _)| name.clone()).collect();
    let own = own.into_iter().map(|(mut name, value)| {
        if is_taken(&name) {
            name.insert_str(0, "exported_");
            while is_taken(&name) || names.contains(&name) {
                name.insert_str(0, "exported_");
            }
        }
        (SafeText::from(name), SafeText::from(value))
    });
    own.chain(of_target.iter().map(|(name, value)| (SafeText::new(name), SafeText::new(value)))).collect()
}

#[cfg(test)]
#[path = "scrape_tests.rs"]
mod tests;
