//! The queueing core: a discrete-event network of M/G/c/K stations in integer nanoseconds.
//!
//! A job enters at a station, waits there first come first served, is served by one of `c` servers, and goes on to the
//! next station of its path. A full station (`K` jobs, those in service included) drops it. The core knows no faults and no
//! observations, so queueing theory can be asked of it directly (`tests/queueing.rs`).

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Index of a job's slot.
pub type JobId = u32;

/// What a queue discipline needs to know from outside: where jobs come from, how long service takes, where they go.
pub trait Workload {
    /// Nanoseconds from an external arrival at `source` to the next one; `None` ends the source.
    fn next_arrival_ns(&mut self, source: usize, now_ns: u64) -> Option<u64>;
    /// The station at which an arrival of `source` enters.
    fn entry(&mut self, source: usize) -> usize;
    /// Service time of a job at `station`, in nanoseconds.
    fn service_ns(&mut self, station: usize, now_ns: u64) -> u64;
    /// Whether the service, once done, has failed.
    fn fails(&mut self, station: usize) -> bool;
    /// Where a job goes after `station`; `None` when its work is done.
    fn next_station(&mut self, station: usize) -> Option<usize>;
}

/// Counts of a station since the last `take_window`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub arrivals: u64,
    pub drops: u64,
    /// Visits that ended, whole subtree included.
    pub finished: u64,
    pub failed: u64,
    /// Response times of finished visits, subtree included, in nanoseconds.
    pub responses_ns: Vec<u64>,
    /// Integral of busy servers over time.
    pub busy_ns: u64,
}

/// Exact totals of a station since the network began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub arrivals: u64,
    pub drops: u64,
    pub departures: u64,
    /// Arrivals that had to wait.
    pub waited: u64,
    /// Sum of waits of jobs that entered service.
    pub wait_ns: u128,
    pub started: u64,
    /// Integrals over time of busy servers and of jobs inside.
    pub busy_ns: u128,
    pub inside_ns: u128,
    /// Sum over departed jobs of their time at this station.
    pub sojourn_ns: u128,
}

/// One M/G/c/K station.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Station {
    pub servers: u32,
    /// Most jobs inside, those in service included.
    pub capacity: u32,
    busy: u32,
    queue: VecDeque<JobId>,
    changed_ns: u64,
    pub window: Window,
    pub totals: Totals,
}

impl Station {
    pub fn new(servers: u32, capacity: u32) -> Self {
        Self { servers, capacity, busy: 0, queue: VecDeque::new(), changed_ns: 0, window: Window::default(), totals: Totals::default() }
    }

    /// Jobs inside, those in service included.
    pub fn inside(&self) -> u64 {
        u64::from(self.busy) + self.queue.len() as u64
    }

    /// Brings the time integrals up to `now_ns`.
    fn advance(&mut self, now_ns: u64) {
        let dt = now_ns - self.changed_ns;
        let busy = u64::from(self.busy) * dt;
        self.window.busy_ns += busy;
        self.totals.busy_ns += u128::from(busy);
        self.totals.inside_ns += u128::from(self.inside()) * u128::from(dt);
        self.changed_ns = now_ns;
    }
}

/// A job's visit at one station of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Visit {
    station: u32,
    arrived_ns: u64,
}

/// A job: the stations that wait for it, outermost first, and whether anything failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    path: Vec<Visit>,
    failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Kind {
    Arrival { source: u32 },
    ServiceEnd { station: u32, job: JobId },
}

/// An event's place in the order: time first, then the order in which it was scheduled.
type Scheduled = Reverse<(u64, u64, Kind)>;

/// The network. All its state is here, so that a clone is a snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Network {
    pub stations: Vec<Station>,
    now_ns: u64,
    sequence: u64,
    events: BinaryHeap<Scheduled>,
    jobs: Vec<Job>,
    free: Vec<JobId>,
    /// Events processed since the network began.
    pub events_total: u64,
    pub jobs_started_total: u64,
    pub jobs_ended_total: u64,
}

impl Network {
    pub fn new(stations: Vec<Station>) -> Self {
        Self {
            stations,
            now_ns: 0,
            sequence: 0,
            events: BinaryHeap::new(),
            jobs: Vec::new(),
            free: Vec::new(),
            events_total: 0,
            jobs_started_total: 0,
            jobs_ended_total: 0,
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Jobs anywhere in the network.
    pub fn jobs_inside(&self) -> u64 {
        (self.jobs.len() - self.free.len()) as u64
    }

    /// Schedules the first arrival of `source`.
    pub fn start_source(&mut self, source: usize, workload: &mut impl Workload) {
        if let Some(gap_ns) = workload.next_arrival_ns(source, self.now_ns) {
            self.schedule(self.now_ns + gap_ns, Kind::Arrival { source: source as u32 });
        }
    }

    /// Runs until `until_ns`; events at that very time are included.
    pub fn run_until(&mut self, until_ns: u64, workload: &mut impl Workload) {
        while let Some(Reverse((time_ns, _, kind))) = self.events.peek().copied() {
            if time_ns > until_ns {
                break;
            }
            self.events.pop();
            self.now_ns = time_ns;
            self.events_total += 1;
            match kind {
                Kind::Arrival { source } => self.external_arrival(source as usize, workload),
                Kind::ServiceEnd { station, job } => self.service_end(station as usize, job, workload),
            }
        }
        self.now_ns = until_ns;
        for station in &mut self.stations {
            station.advance(until_ns);
        }
    }

    /// Changes the number of servers. Services under way are finished; more servers take up waiting jobs at once.
    pub fn set_servers(&mut self, station: usize, servers: u32, workload: &mut impl Workload) {
        self.stations[station].advance(self.now_ns);
        self.stations[station].servers = servers;
        self.fill_servers(station, workload);
    }

    /// Fails every job at `station`, as a crash does: waiting ones at once, those in service when their service would have ended.
    pub fn fail_inside(&mut self, station: usize) {
        self.stations[station].advance(self.now_ns);
        while let Some(job) = self.stations[station].queue.pop_front() {
            let arrived_ns = self.arrived_ns(job);
            let totals = &mut self.stations[station].totals;
            totals.departures += 1;
            totals.sojourn_ns += u128::from(self.now_ns - arrived_ns);
            self.jobs[job as usize].failed = true;
            self.end_job(job);
        }
        // What is left with this station at the end of its path is in service there; a free job has no path.
        for job in &mut self.jobs {
            job.failed |= job.path.last().is_some_and(|visit| visit.station as usize == station);
        }
    }

    /// Hands out the counts since the last call and begins anew.
    pub fn take_window(&mut self, station: usize) -> Window {
        std::mem::take(&mut self.stations[station].window)
    }

    fn schedule(&mut self, at_ns: u64, kind: Kind) {
        self.sequence += 1;
        self.events.push(Reverse((at_ns, self.sequence, kind)));
    }

    fn external_arrival(&mut self, source: usize, workload: &mut impl Workload) {
        if let Some(gap_ns) = workload.next_arrival_ns(source, self.now_ns) {
            self.schedule(self.now_ns + gap_ns, Kind::Arrival { source: source as u32 });
        }
        let job = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(Job::default());
            (self.jobs.len() - 1) as JobId
        });
        self.jobs_started_total += 1;
        let station = workload.entry(source);
        self.arrive(station, job, workload);
    }

    fn arrive(&mut self, station: usize, job: JobId, workload: &mut impl Workload) {
        let now_ns = self.now_ns;
        self.jobs[job as usize].path.push(Visit { station: station as u32, arrived_ns: now_ns });
        let s = &mut self.stations[station];
        s.advance(now_ns);
        s.window.arrivals += 1;
        s.totals.arrivals += 1;
        if s.inside() >= u64::from(s.capacity) || s.servers == 0 {
            s.window.drops += 1;
            s.totals.drops += 1;
            self.jobs[job as usize].failed = true;
            self.end_job(job);
        } else if s.busy < s.servers {
            self.start_service(station, job, now_ns, workload);
        } else {
            s.totals.waited += 1;
            s.queue.push_back(job);
        }
    }

    fn start_service(&mut self, station: usize, job: JobId, arrived_ns: u64, workload: &mut impl Workload) {
        let s = &mut self.stations[station];
        s.busy += 1;
        s.totals.started += 1;
        s.totals.wait_ns += u128::from(self.now_ns - arrived_ns);
        let end_ns = self.now_ns + workload.service_ns(station, self.now_ns);
        self.schedule(end_ns, Kind::ServiceEnd { station: station as u32, job });
    }

    fn service_end(&mut self, station: usize, job: JobId, workload: &mut impl Workload) {
        let arrived_ns = self.arrived_ns(job);
        let s = &mut self.stations[station];
        s.advance(self.now_ns);
        s.busy -= 1;
        s.totals.departures += 1;
        s.totals.sojourn_ns += u128::from(self.now_ns - arrived_ns);
        self.fill_servers(station, workload);
        if self.jobs[job as usize].failed || workload.fails(station) {
            self.jobs[job as usize].failed = true;
            self.end_job(job);
        } else if let Some(next) = workload.next_station(station) {
            self.arrive(next, job, workload);
        } else {
            self.end_job(job);
        }
    }

    fn fill_servers(&mut self, station: usize, workload: &mut impl Workload) {
        while self.stations[station].busy < self.stations[station].servers {
            let Some(job) = self.stations[station].queue.pop_front() else { break };
            let arrived_ns = self.arrived_ns(job);
            self.start_service(station, job, arrived_ns, workload);
        }
    }

    /// When the job came to the station where it is.
    fn arrived_ns(&self, job: JobId) -> u64 {
        self.jobs[job as usize].path.last().map_or(self.now_ns, |visit| visit.arrived_ns)
    }

    /// Tells every station on the job's path how the call ended, and frees the job.
    fn end_job(&mut self, job: JobId) {
        let Job { mut path, failed } = std::mem::take(&mut self.jobs[job as usize]);
        for visit in &path {
            let window = &mut self.stations[visit.station as usize].window;
            window.finished += 1;
            window.failed += u64::from(failed);
            if !failed {
                window.responses_ns.push(self.now_ns - visit.arrived_ns);
            }
        }
        path.clear();
        self.jobs[job as usize].path = path;
        self.jobs_ended_total += 1;
        self.free.push(job);
    }
}
