//! The thread of one receiver: takes what is in its mailbox, delivers it in one message, and tries again with growing pauses.

use super::alertmanager::Alertmanager;
use super::command::Program;
use super::http::Caller;
use super::message::Facts;
use super::webhook::Webhook;
use super::{Deliver, Order, Plan, To};
use crate::alert::pager::Page;
use crate::event::{AlertNotified, Clock, Event, SafeText};
use crate::metrics::Labels;
use crate::net::Client;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Pages that wait for one receiver; those that come when it is full are counted.
const PAGES_MAX: usize = 10_000;
const ORDERS_MAX: usize = 1_000;
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// What was not taken for so long is given up.
const GIVEN_UP_AFTER_MS: i64 = 15 * 60_000;
/// Rules that an outcome names.
const RULES_NAMED_MAX: usize = 16;
const IDLE: Duration = Duration::from_secs(3_600);

#[derive(Default)]
struct Mail {
    pages: Pages,
    orders: Vec<Order>,
    closed: bool,
}

/// Pages, of each alert the newest, in the order in which they came.
#[derive(Default)]
struct Pages {
    list: Vec<Page>,
    places: HashMap<(String, Labels), usize>,
    dropped: usize,
}

impl Pages {
    fn push(&mut self, page: Page) {
        let key = (page.group.clone(), page.labels.clone());
        match self.places.get(&key) {
            Some(at) => self.list[*at] = page,
            None if self.list.len() >= PAGES_MAX => self.dropped += 1,
            None => {
                self.places.insert(key, self.list.len());
                self.list.push(page);
            }
        }
    }

    /// Takes out what was told before this time.
    fn take_older(&mut self, than_ms: i64) -> Pages {
        let (old, young): (Vec<Page>, Vec<Page>) = std::mem::take(&mut self.list).into_iter().partition(|page| page.at_ms < than_ms);
        let dropped = self.dropped;
        self.clear();
        young.into_iter().for_each(|page| self.push(page));
        self.dropped = dropped;
        Pages { list: old, ..Pages::default() }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[derive(Default)]
struct Mailbox {
    mail: Mutex<Mail>,
    news: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Mail> {
        // Whoever panicked held whole pages.
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for news, though no longer than this.
    fn wait(&self, at_most: Duration) -> Mail {
        let nothing = |mail: &mut Mail| mail.pages.list.is_empty() && mail.orders.is_empty() && !mail.closed;
        let (mut mail, _) = self.news.wait_timeout_while(self.lock(), at_most, nothing).unwrap_or_else(PoisonError::into_inner);
        let closed = mail.closed;
        std::mem::replace(&mut *mail, Mail { closed, ..Mail::default() })
    }
}

pub struct Worker {
    plan: Plan,
    mailbox: Arc<Mailbox>,
    /// Closes when the thread has ended.
    ended: Receiver<()>,
    /// Nobody waits for it any more.
    left: Arc<AtomicBool>,
}

impl Worker {
    pub fn start(plan: Plan, facts: Facts, client: Client, clock: Arc<dyn Clock>, report: SyncSender<Event>) -> std::io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        let (ends, ended) = sync_channel(1);
        let left = Arc::new(AtomicBool::new(false));
        let deliver = receiver(&plan, &facts, client, (&clock, &left));
        let mut rounds = Rounds {
            name: plan.name.clone(),
            deliver,
            mailbox: mailbox.clone(),
            report,
            clock,
            epoch_ms: facts.epoch_ms,
            pages: Pages::default(),
            attempts: 0,
            again_ns: 0,
        };
        std::thread::Builder::new().name(format!("to {}", plan.name)).spawn(move || {
            rounds.go();
            drop(ends);
        })?;
        Ok(Self { plan, mailbox, ended, left })
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn tell(&self, pages: Vec<Page>) {
        let mut mail = self.mailbox.lock();
        pages.into_iter().for_each(|page| mail.pages.push(page));
        drop(mail);
        self.mailbox.news.notify_one();
    }

    pub fn order(&self, order: Order) {
        let mut mail = self.mailbox.lock();
        if mail.orders.len() < ORDERS_MAX {
            mail.orders.push(order);
        }
        drop(mail);
        self.mailbox.news.notify_one();
    }

    pub fn close(&self) {
        self.mailbox.lock().closed = true;
        self.mailbox.news.notify_one();
    }

    /// Whether it has made its last attempt.
    pub fn is_done(&self) -> bool {
        self.ended.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// What hangs is left behind; a program that runs is killed. Gives its name.
    pub fn leave(&self) -> String {
        self.left.store(true, Ordering::SeqCst);
        self.plan.name.clone()
    }
}

fn receiver(plan: &Plan, facts: &Facts, client: Client, (clock, left): (&Arc<dyn Clock>, &Arc<AtomicBool>)) -> Box<dyn Deliver> {
    let (name, timeout, facts) = (plan.name.clone(), plan.timeout, facts.clone());
    let caller = |credential| Caller { client, credential, timeout };
    match &plan.to {
        To::Webhook(to) => Box::new(Webhook { name, address: to.address.clone(), caller: caller(to.credential.clone()), facts }),
        To::Alertmanager(to) => Box::new(Alertmanager::new(to.clone(), name, caller(to.credential.clone()), facts)),
        To::Command(to) => Box::new(Program { name, plan: to.clone(), timeout, facts, clock: clock.clone(), left: left.clone() }),
    }
}

struct Rounds {
    name: String,
    deliver: Box<dyn Deliver>,
    mailbox: Arc<Mailbox>,
    report: SyncSender<Event>,
    clock: Arc<dyn Clock>,
    epoch_ms: i64,
    pages: Pages,
    attempts: u32,
    /// Not before this; of the run's clock.
    again_ns: u64,
}

impl Rounds {
    fn go(&mut self) {
        let mut look_in = Some(Duration::ZERO);
        loop {
            let mail = self.mailbox.wait(self.rest(look_in));
            mail.pages.list.into_iter().for_each(|page| self.pages.push(page));
            self.pages.dropped += mail.pages.dropped;
            let has_orders = !mail.orders.is_empty();
            mail.orders.into_iter().for_each(|order| self.deliver.order(order));
            if !self.pages.list.is_empty() && (mail.closed || self.clock.now_ns() >= self.again_ns) {
                self.attempt(mail.closed);
            }
            if mail.closed && !has_orders {
                return;
            }
            let mut told = Vec::new();
            look_in = self.deliver.look(self.at_ms(), &mut told);
            told.into_iter().for_each(|event| self.tell(event));
            if mail.closed {
                return;
            }
        }
    }

    fn at_ms(&self) -> i64 {
        self.epoch_ms.saturating_add((self.clock.now_ns() / 1_000_000) as i64)
    }

    fn rest(&self, look_in: Option<Duration>) -> Duration {
        let again = Duration::from_nanos(self.again_ns.saturating_sub(self.clock.now_ns()));
        let again = if self.pages.list.is_empty() { IDLE } else { again };
        again.min(look_in.unwrap_or(IDLE))
    }

    fn attempt(&mut self, is_last: bool) {
        let began_ns = self.clock.now_ns();
        let outcome = self.deliver.deliver(&self.pages.list, self.at_ms());
        let now_ns = self.clock.now_ns();
        self.attempts += 1;
        let (ok, again, mut text) = match outcome {
            Ok(text) => (true, false, text),
            Err(error) => (false, error.again && !is_last, error.reason),
        };
        if self.pages.dropped > 0 {
            text = format!("{text}; {} alerts more than a mailbox holds were left out", self.pages.dropped);
        }
        if !ok && !again {
            let why = if is_last { ", for the run has ended" } else { "" };
            text = format!("{text}; given up after {} attempts{why}", self.attempts);
        }
        // Of attempts that fail again and again the first, the second, the fourth and so on are told.
        if ok || !again || self.attempts.is_power_of_two() {
            let told = self.outcome(&self.pages, ok, text.clone(), now_ns.saturating_sub(began_ns));
            self.tell(told.into());
        }
        if again {
            self.give_up_old(&text);
        }
        if again && !self.pages.list.is_empty() {
            let pause = PAUSE_MIN.saturating_mul(1 << (self.attempts - 1).min(6)).min(PAUSE_MAX);
            self.again_ns = now_ns.saturating_add(u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX));
        } else {
            self.pages.clear();
            (self.attempts, self.again_ns) = (0, 0);
        }
    }

    /// By the age of each page: what came a moment ago is tried on, however long the receiver has been away.
    fn give_up_old(&mut self, text: &str) {
        let old = self.pages.take_older(self.at_ms().saturating_sub(GIVEN_UP_AFTER_MS));
        if !old.list.is_empty() {
            let text = format!("{text}; given up after {} minutes", GIVEN_UP_AFTER_MS / 60_000);
            self.tell(self.outcome(&old, false, text, 0).into());
        }
    }

    fn outcome(&self, pages: &Pages, ok: bool, text: String, duration_ns: u64) -> AlertNotified {
        let mut rules: Vec<&str> = pages.list.iter().map(|page| page.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        let rules = rules.into_iter().take(RULES_NAMED_MAX).map(SafeText::new).collect();
        AlertNotified { receiver: SafeText::new(&self.name), rules, ok, outcome: text.into(), duration_ns }
    }

    fn tell(&self, event: Event) {
        // Where nobody takes outcomes any more, the run has ended.
        let _ = self.report.try_send(event);
    }
}
