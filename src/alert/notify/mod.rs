//! Receivers: who is told of which alerts. Each has a thread and a bounded mailbox of its own, so that one that hangs holds up nobody.

mod alertmanager;
mod command;
mod http;
mod message;
mod webhook;
mod worker;

pub use alertmanager::AlertmanagerPlan;
pub use command::CommandPlan;
pub use http::{Credential, Token};
pub use message::Facts;
pub use webhook::{Address, WebhookPlan};

use super::pager::Page;
use crate::event::{Clock, Event, Matching, SafeText, Silence};
use crate::metrics::Labels;
use crate::net::Client;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Reports, sync_channel};
use std::time::Duration;
use worker::Worker;

/// Outcomes that wait to be told.
const REPORTS_MAX: usize = 256;

/// How much an alert matters, as rules write it; words that nobody knows matter as much as a warning.
pub fn severity_rank(word: &str) -> u8 {
    match word.to_lowercase().as_str() {
        "none" | "info" | "information" | "notice" | "low" => 0,
        "crit" | "critical" | "page" | "error" | "fatal" | "high" | "emergency" => 2,
        _ => 1,
    }
}

/// One receiver.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    pub to: To,
    /// As `severity_rank` has it.
    pub severity_min: u8,
    pub matching: Matching,
    pub send_resolved: bool,
    pub timeout: Duration,
}

#[derive(Clone, Debug)]
pub enum To {
    Webhook(WebhookPlan),
    Alertmanager(AlertmanagerPlan),
    Command(CommandPlan),
}

impl Plan {
    /// Whether it wants to hear of this.
    fn takes(&self, page: &Page, external: &Labels) -> bool {
        let wanted = severity_rank(page.severity()) >= self.severity_min
            && (page.firing || self.send_resolved)
            && self.matching.holds_of(|name| page.labels.get(name).or_else(|| external.get(name)));
        wanted
            && match &self.to {
                // It silences by itself, and forgets what it does not hear again.
                To::Alertmanager(plan) => plan.silences || !page.muted,
                To::Webhook(_) | To::Command(_) => !page.muted && page.why != super::pager::Why::Refresh,
            }
    }
}

/// About a silence, for Alertmanagers.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Silence(SafeText, Silence),
    End(SafeText),
}

/// Why something did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    pub reason: String,
    /// Whether trying again may help.
    pub again: bool,
}

impl Undelivered {
    /// Without a text that nobody may see.
    fn without(mut self, secret: &str) -> Self {
        if !secret.is_empty() {
            self.reason = self.reason.replace(secret, "…");
        }
        self
    }
}

/// What one receiver does with what it is told.
trait Deliver: Send {
    /// What came of it, such as `200`.
    fn deliver(&mut self, pages: &[Page], at_ms: i64) -> Result<String, Undelivered>;

    /// Silences to make or end there.
    fn order(&mut self, _order: Order) {}

    /// Does what is due besides, and tells what was found out; when it is to be asked again, if at all.
    fn look(&mut self, _at_ms: i64, _told: &mut Vec<Event>) -> Option<Duration> {
        None
    }
}

/// All receivers of a run.
pub struct Notifiers {
    workers: Vec<Worker>,
    reports: Reports<Event>,
    external_labels: Labels,
}

impl Notifiers {
    /// Starts a thread for each.
    pub fn start(plans: Vec<Plan>, facts: Facts, client: &Client, clock: &Arc<dyn Clock>) -> std::io::Result<Self> {
        let (report, reports) = sync_channel(REPORTS_MAX);
        let external_labels = facts.external_labels.clone();
        let start = |plan: Plan| Worker::start(plan, facts.clone(), client.clone(), clock.clone(), report.clone());
        Ok(Self { workers: plans.into_iter().map(start).collect::<Result<_, _>>()?, reports, external_labels })
    }

    /// Hands pages to those who want them. Never waits.
    pub fn tell(&self, pages: &[Page]) {
        for worker in &self.workers {
            let wanted: Vec<Page> = pages.iter().filter(|page| worker.plan().takes(page, &self.external_labels)).cloned().collect();
            if !wanted.is_empty() {
                worker.tell(wanted);
            }
        }
    }

    pub fn order(&self, order: &Order) {
        self.workers.iter().for_each(|worker| worker.order(order.clone()));
    }

    /// What came of it since the last call. Never waits.
    pub fn reports(&self) -> Vec<Event> {
        self.reports.try_iter().collect()
    }

    /// Lets each make one last attempt at what it holds. Whoever waits for that looks at `are_done` and takes `reports`.
    pub fn close(&self) {
        self.workers.iter().for_each(Worker::close);
    }

    /// Whether all have made their last attempt.
    pub fn are_done(&self) -> bool {
        self.workers.iter().all(Worker::is_done)
    }

    /// Those that are still at their last attempt, by name. They are left behind; programs that run are killed.
    pub fn leave(&self) -> Vec<String> {
        self.workers.iter().filter(|worker| !worker.is_done()).map(Worker::leave).collect()
    }
}

#[cfg(test)]
pub mod hook;
#[cfg(test)]
mod receiver_tests;
#[cfg(test)]
mod tests;
