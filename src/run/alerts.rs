//! The alert rules of a run: a thread that follows the run, evaluates the rules, tells the engine what they came to, and has receivers told.

use super::exit::Failure;
use super::rule_files::{Rules, RulesWatch};
use crate::alert::monitor::{Monitor, MonitorSettings};
use crate::alert::notify::{Address, AlertmanagerPlan, CommandPlan, Credential, Facts, Notifiers, Order, Plan, To, Token, WebhookPlan};
use crate::config::{Config, Receiver, Severity, Target};
use crate::event::{Clock, CommandSender, Event, LastWords, LogLevel, LogLine, SafeText, SendError, Speaker, last_words};
use crate::journal::{Delivery, Hub, Subscription};
use crate::metrics::Labels;
use crate::net::Client;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the run is looked at. Events come by the thousand; a wake-up for each would cost more than the rules.
const TURN: Duration = Duration::from_millis(100);
/// Files of rules are looked at this often, and read once they stood still that long.
const LOOK_AT_RULES_NS: u64 = 500_000_000;
/// Events of one look.
const BUDGET: usize = 64 * 1024;
/// What waits for the engine; readings give way beyond it, changes of alerts never do.
const OUTBOX_MAX: usize = 1_000;
/// How long receivers may take at the end of a run.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);
/// And what is left of it: a program that is killed, events that the engine has not taken yet.
const REST_WITHIN: Duration = Duration::from_millis(200);
/// The engine has waited for the last words already.
const END_WITHIN: Duration = Duration::from_millis(500);
const FLUSH_TURN: Duration = Duration::from_millis(10);
const REFRESH_MS: i64 = 60_000;

/// What the thread needs of the run.
pub struct Wiring {
    pub hub: Hub,
    pub commands: CommandSender,
    pub clock: Arc<dyn Clock>,
    pub run: String,
    /// RFC 3339.
    pub started: String,
    pub recording: Option<std::path::PathBuf>,
}

/// The running thread. It ends when the engine asks for its last words, or is gone.
pub struct AlertThread(JoinHandle<Vec<String>>);

impl AlertThread {
    /// Waits for its end, though not for an evaluation that takes long. What was left behind, in words.
    pub fn end(self) -> Vec<String> {
        let until = std::time::Instant::now() + END_WITHIN;
        while !self.0.is_finished() {
            if std::time::Instant::now() >= until {
                return vec!["alert rules were still being evaluated when the run had ended: what they came to is not told".to_owned()];
            }
            std::thread::sleep(FLUSH_TURN);
        }
        // A panic of the thread was reported where it happened; the recording is whole all the same.
        self.0.join().unwrap_or_default().iter().map(|name| left_behind_words(name)).collect()
    }
}

/// Whether rules are evaluated in this run.
pub fn is_wanted(config: &Config, has_screen: bool) -> bool {
    config.alerts.enabled.unwrap_or(has_screen || !config.alerts.rules.is_empty() || !config.alerts.receivers.is_empty())
}

/// Reads the rules and starts the thread, which the engine is to ask for its last words. Rules that are wrong at the start are an error of the
/// configuration.
pub fn start(config: &Config, wiring: Wiring) -> Result<(AlertThread, LastWords), Failure> {
    let watch = RulesWatch::new(&config.alerts.rules);
    let rules = watch.read().map_err(Failure::usage)?;
    let plans: Vec<Plan> = config.alerts.receivers.iter().map(plan).collect::<Result<_, _>>().map_err(Failure::usage)?;
    let epoch_ms = wiring.started.parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond());
    let refresh_ms = refresh_ms(config);
    let facts = Facts {
        run: wiring.run.clone(),
        host: host(config),
        recording: wiring.recording.as_deref().map(absolute),
        external_labels: Labels::from_pairs(&config.alerts.external_labels),
        epoch_ms,
        refresh_ms,
    };
    let notifiers = if plans.is_empty() {
        None
    } else {
        let client = Client::new().map_err(Failure::failed)?;
        Some(Notifiers::start(plans, facts, &client, &wiring.clock).map_err(Failure::failed)?)
    };
    let monitor = Monitor::new(MonitorSettings { refresh_ms, clock: Some(wiring.clock.clone()), ..settings(config) });
    let (last_words, speaker) = last_words();
    let subscription = wiring.hub.subscribe();
    let mut turns = Turns {
        monitor,
        subscription,
        outbox: VecDeque::new(),
        commands: wiring.commands,
        clock: wiring.clock,
        epoch_ms,
        watch,
        looked_ns: 0,
        notifiers,
        told_of: BTreeSet::new(),
    };
    // Before the run has begun: from here on no event is missed.
    turns.follow();
    turns.load(rules);
    let thread = std::thread::Builder::new().name("alerts".into()).spawn(move || turns.go(&speaker)).map_err(Failure::failed)?;
    Ok((AlertThread(thread), last_words))
}

/// What a monitor is told by the configuration, live and over a recording.
pub fn settings(config: &Config) -> MonitorSettings {
    let host = host(config);
    MonitorSettings {
        interval_ms: i64::from(config.alerts.interval_ms),
        external_labels: Labels::from_pairs(&config.alerts.external_labels),
        external_url: format!("pilothouse://{host}"),
        instance: config.alerts.instance.clone().unwrap_or_else(host_name),
        job: config.alerts.job.clone(),
        repeat_ms: i64::from(config.alerts.repeat_minutes) * 60_000,
        ..MonitorSettings::default()
    }
}

/// As often as the quickest Alertmanager wants to hear.
fn refresh_ms(config: &Config) -> i64 {
    let of = |receiver: &Receiver| match &receiver.to {
        Target::Alertmanager { resend_seconds, .. } => Some(i64::from(*resend_seconds) * 1_000),
        Target::Webhook { .. } | Target::Command { .. } => None,
    };
    config.alerts.receivers.iter().filter_map(of).min().unwrap_or(REFRESH_MS)
}

/// What the commands of pages go to.
pub fn host(config: &Config) -> String {
    config.alerts.host.clone().unwrap_or_else(host_name)
}

pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "localhost".into() } else { name }
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// A receiver of the configuration, with what is secret taken from the environment.
fn plan(receiver: &Receiver) -> Result<Plan, String> {
    let named = |what: String| format!("alerts.receivers: `{}` {what}", receiver.name);
    let variable = |name: &str| std::env::var(name).map_err(|_| named(format!("needs {name}, which is not set in the environment")));
    let credential =
        |user: &Option<String>, env: &Option<String>, file: &Option<std::path::PathBuf>| -> Result<Option<Credential>, String> {
            let token = match (env, file) {
                (Some(name), _) => Token::Text(variable(name)?),
                (None, Some(path)) => Token::File(path.clone()),
                (None, None) => return Ok(None),
            };
            Ok(Some(Credential { user: user.clone(), token }))
        };
    let to = match &receiver.to {
        Target::Webhook { url, url_env, url_file, user, token_env, token_file } => {
            let address = match (url, url_env, url_file) {
                (Some(url), ..) => Address::Plain(url.clone()),
                (None, Some(name), _) => Address::Secret(Token::Text(variable(name)?)),
                (None, None, Some(path)) => Address::Secret(Token::File(path.clone())),
                (None, None, None) => return Err(named("has no address".into())),
            };
            To::Webhook(WebhookPlan { address, credential: credential(user, token_env, token_file)? })
        }
        Target::Alertmanager { urls, user, token_env, token_file, silences, resend_seconds: _ } => {
            let credential = credential(user, token_env, token_file)?;
            To::Alertmanager(AlertmanagerPlan { urls: urls.clone(), credential, silences: *silences })
        }
        Target::Command { argv, env } => {
            let own = ["PATH"].into_iter().chain(env.iter().map(String::as_str));
            let env = own.filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?))).collect();
            To::Command(CommandPlan { argv: argv.clone(), env })
        }
    };
    Ok(Plan {
        name: receiver.name.clone(),
        to,
        severity_min: match receiver.severity {
            Severity::Info => 0,
            Severity::Warning => 1,
            Severity::Critical => 2,
        },
        matching: receiver.matching().map_err(named)?,
        send_resolved: receiver.send_resolved,
        timeout: Duration::from_secs(u64::from(receiver.timeout_seconds)),
    })
}

struct Turns {
    monitor: Monitor,
    subscription: Subscription,
    /// What the engine is still to be told, oldest first.
    outbox: VecDeque<Event>,
    commands: CommandSender,
    clock: Arc<dyn Clock>,
    epoch_ms: i64,
    watch: RulesWatch,
    looked_ns: u64,
    notifiers: Option<Notifiers>,
    /// Silences that a receiver told of: no other one makes them its own.
    told_of: BTreeSet<SafeText>,
}

impl Turns {
    /// Until it is asked for its last words. Gives the receivers that have not heard all.
    fn go(mut self, speaker: &Speaker) -> Vec<String> {
        loop {
            self.turn();
            if speaker.is_asked_within(TURN) {
                break;
            }
        }
        // What the run said last is heeded: a recorder that failed is told of.
        self.turn();
        if let Some(notifiers) = &self.notifiers {
            notifiers.close();
        }
        self.flush(FLUSH_WITHIN);
        let unheard = self.notifiers.as_ref().map(Notifiers::leave).unwrap_or_default();
        self.outbox.extend(unheard.iter().map(|name| left_behind(name)));
        self.flush(REST_WITHIN);
        unheard
    }

    /// Until all receivers are done and the engine has taken what came of it, though no longer than this.
    fn flush(&mut self, within: Duration) {
        let until_ns = self.clock.now_ns().saturating_add(u64::try_from(within.as_nanos()).unwrap_or(u64::MAX));
        loop {
            // In this order: what one tells last is there once it is done.
            let are_done = self.notifiers.as_ref().is_none_or(Notifiers::are_done);
            let reports = self.notifiers.as_ref().map(Notifiers::reports).unwrap_or_default();
            self.outbox.extend(reports);
            self.send();
            if are_done && self.outbox.is_empty() || self.clock.now_ns() >= until_ns {
                return;
            }
            std::thread::sleep(FLUSH_TURN);
        }
    }

    fn turn(&mut self) {
        self.follow();
        self.watch_rules();
        let at_ms = self.epoch_ms.saturating_add((self.clock.now_ns() / 1_000_000) as i64);
        let events = self.monitor.advance(at_ms);
        self.outbox.extend(events);
        let pages = self.monitor.take_pages();
        if let Some(notifiers) = &self.notifiers {
            notifiers.tell(&pages);
            for report in notifiers.reports() {
                if let Event::SilenceSet(e) = &report {
                    self.told_of.insert(e.id.clone());
                }
                self.outbox.push_back(report);
            }
        }
        self.send();
    }

    fn follow(&mut self) {
        let mut deliveries = Vec::new();
        while self.subscription.poll(&mut deliveries, BUDGET) {}
        for delivery in deliveries {
            match delivery {
                Delivery::Event(envelope) => {
                    self.order(&envelope.event);
                    self.monitor.observe(&envelope);
                }
                // Events were missed: what can be known without them is taken from the state.
                Delivery::Snapshot(state) => {
                    let standing = state.alerting.silences.iter().filter(|(_, row)| row.ended_t_ns.is_none());
                    self.monitor.silences_are(standing.map(|(id, row)| (id, &row.silence)));
                    if state.seq.0 > 0 {
                        self.monitor.tell_all();
                        self.outbox.push_back(missed(state.seq.0));
                    }
                }
            }
        }
    }

    /// Silences of this run are made in Alertmanagers, too.
    fn order(&mut self, event: &Event) {
        let Some(notifiers) = &self.notifiers else { return };
        if let Event::SilenceSet(e) = event
            && !self.told_of.contains(&e.id)
        {
            notifiers.order(&Order::Silence(e.id.clone(), e.silence.clone()));
        }
        if let Event::SilenceEnded(e) = event {
            self.told_of.remove(&e.id);
            notifiers.order(&Order::End(e.id.clone()));
        }
    }

    fn watch_rules(&mut self) {
        let now_ns = self.clock.now_ns();
        if now_ns.saturating_sub(self.looked_ns) < LOOK_AT_RULES_NS {
            return;
        }
        self.looked_ns = now_ns;
        match self.watch.changed() {
            None => {}
            Some(Ok(rules)) => self.load(rules),
            Some(Err(fault)) => self.outbox.push_back(self.watch.refused(&fault).into()),
        }
    }

    fn load(&mut self, rules: Rules) {
        let loaded = self.monitor.load(&rules.name, rules.sha256, rules.file);
        self.outbox.push_back(loaded.into());
    }

    /// Hands the engine what it takes; the rest waits for the next turn. The engine is never waited for.
    fn send(&mut self) {
        while let Some(event) = self.outbox.pop_front() {
            match self.commands.fact(event.clone()) {
                Ok(()) => {}
                Err(SendError::Full) => {
                    self.outbox.push_front(event);
                    break;
                }
                Err(SendError::Closed) => return self.outbox.clear(),
            }
        }
        if self.outbox.len() > OUTBOX_MAX {
            self.outbox.retain(|event| !matches!(event, Event::RuleEvaluated(_)));
            self.monitor.tell_all();
        }
    }
}

/// What is said of a receiver that was not waited for.
pub fn left_behind_words(name: &str) -> String {
    format!("receiver {name} had not answered {} s after the end: it may not have heard of the last alerts", FLUSH_WITHIN.as_secs())
}

fn left_behind(name: &str) -> Event {
    LogLine { level: LogLevel::Warn, target: SafeText::new(name), text: left_behind_words(name).into() }.into()
}

fn missed(seq: u64) -> Event {
    let text = format!("the run was too quick for the alert rules: events up to {seq} are not all in their series");
    LogLine { level: LogLevel::Warn, target: "rules".into(), text: text.into() }.into()
}

#[cfg(test)]
#[path = "alerts_tests.rs"]
mod tests;
