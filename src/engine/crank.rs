//! The engine: one thread that looks at its inbox and moves every lane that may move, a token or a phase at a time.

use super::breakpoints::Breakpoints;
use super::control::{Control, Stepping};
use super::lane::{Boundary, DELTA_TOKENS_AT_MAX, Lane, Stand};
use super::provider::{Load, LoadedPolicy, Loader, PolicyProvider};
use super::recital::Recital;
use super::settings::{AgentKind, EngineSettings, episode_seed};
use super::silences::Silences;
use crate::agent::{Policy, Progress};
use crate::env::Environment;
use crate::event::*;
use crate::journal::{Journal, Place};
use std::sync::Arc;
use std::time::Duration;

/// Longest sleep; the recorder's health is looked at this often when nothing else happens.
const IDLE: Duration = Duration::from_millis(500);
/// Inputs that are taken in one turn.
const INPUTS_A_TURN: usize = 64;
const RECORDER_ALERT: &str = "RecordingFailed";

/// A policy that serves, or that still finishes messages of before a swap.
pub(super) struct Slot {
    pub number: u64,
    pub policy: Box<dyn Policy>,
    pub checkpoint: CheckpointId,
}

/// What a policy is loaded for.
pub(super) enum Wanted {
    /// To serve; unset when the run itself begins with it.
    Serve(Option<(CommandId, Origin)>),
    /// For lanes that are pinned to it.
    Branch,
}

/// The engine. `run` takes it to the end of the run.
pub struct Engine {
    pub(super) settings: EngineSettings,
    pub(super) journal: Journal,
    pub(super) inbox: Inbox,
    pub(super) loader: Loader,
    pub(super) control: Control,
    pub(super) lanes: Vec<Lane>,
    pub(super) slots: Vec<Slot>,
    pub(super) slots_total: u64,
    /// The slot that serves; unset before the first one does.
    pub(super) serving: Option<u64>,
    recorder_failed: bool,
    pub(super) breakpoints: Breakpoints,
    pub(super) silences: Silences,
    /// An episode of a recording with which the run begins; unset once its branch has begun.
    pub(super) recital: Option<Box<Recital>>,
    /// It waits for more once all lanes are done.
    pub(super) stays: bool,
    /// When the present pause began.
    paused_at_ns: u64,
    pub(super) loading: Option<(CheckpointId, Wanted)>,
    /// Of a thread that has something to tell at the end.
    pub(super) last_words: Option<LastWords>,
    ended: bool,
}

impl Engine {
    /// `wake` is a sender of the same inbox; the loader uses it.
    pub fn new(
        settings: EngineSettings,
        env: &dyn Environment,
        mut journal: Journal,
        inbox: Inbox,
        wake: CommandSender,
        provider: Arc<dyn PolicyProvider>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let lanes = (0..settings.lanes.max(1)).map(|id| Lane::new(LaneId(id), env.fresh(), &settings)).collect();
        let breakpoints = Breakpoints::default();
        journal.watch(breakpoints.watcher());
        let mut engine = Self {
            breakpoints,
            silences: Silences::default(),
            recital: None,
            stays: false,
            control: Control::new(settings.pace),
            loader: Loader::new(provider, wake, clock),
            lanes,
            slots: Vec::new(),
            slots_total: 0,
            serving: None,
            recorder_failed: false,
            paused_at_ns: 0,
            loading: None,
            last_words: None,
            ended: false,
            settings,
            journal,
            inbox,
        };
        engine.announce(env);
        engine
    }

    fn announce(&mut self, env: &dyn Environment) {
        let (s, spec) = (&self.settings, env.spec());
        let started = RunStarted {
            run: s.facts.run.clone(),
            started: s.facts.started.clone(),
            build: s.facts.build.clone(),
            agent: SafeText::new(s.agent.name()),
            env: spec.name.clone(),
            env_version: spec.version.clone(),
            level: s.level,
            seed: s.seed,
            lanes: s.lanes.max(1),
            max_steps: s.steps_max.unwrap_or(spec.max_steps).min(spec.max_steps),
            tools: spec.tools.clone(),
            reward: s.reward,
            profile: s.facts.profile.clone(),
            decoding: s.decoding(),
        };
        let pace = s.pace;
        self.append(started);
        for listed in self.loader.list() {
            self.append(listed);
        }
        self.append(PaceChanged { pace });
        match self.settings.agent.clone() {
            AgentKind::Model(checkpoint) => self.load(checkpoint, Wanted::Serve(None)),
            AgentKind::Baseline(_) | AgentKind::Oracle => {
                let detail = SafeText::from(format!("{} is scripted: no model is loaded", self.settings.agent.name()));
                self.append(policy_state(PolicyState::Ready, None, detail, 0));
                self.begin_running();
            }
        }
    }

    pub(super) fn load(&mut self, checkpoint: CheckpointId, wanted: Wanted) {
        let detail = SafeText::new("loading in the background");
        self.append(policy_state(PolicyState::Loading, Some(checkpoint.clone()), detail, 0));
        self.loading = Some((checkpoint.clone(), wanted));
        self.loader.start(checkpoint);
    }

    fn begin_running(&mut self) {
        let (state, reason) =
            if self.settings.start_paused { (RunState::Paused, "started paused") } else { (RunState::Running, "started") };
        self.set_state(state, reason);
    }

    /// Runs to the end: the episodes are done, or somebody shut it down.
    pub fn run(mut self) {
        while !self.ended {
            if !self.crank() {
                self.rest();
            }
        }
    }

    /// One turn without any rest: the inbox, the recorder's health, then every lane that may move. False when nothing moved.
    pub(super) fn crank(&mut self) -> bool {
        self.take_inputs();
        if self.ended {
            return true;
        }
        self.look_at_recorder();
        self.end_long_pause();
        self.stop_at_breakpoints();
        self.turn()
    }

    /// A pause that was forgotten ends by itself where the place asks for it; one whose cause lasts does not.
    fn end_long_pause(&mut self) {
        let Some(max_ns) = self.settings.pause_ns_max else { return };
        let paused_ns = self.journal.now_ns().saturating_sub(self.paused_at_ns);
        if self.control.state == RunState::Paused && paused_ns >= max_ns && self.objection(&Command::Resume).is_none() {
            self.set_state(RunState::Running, &format!("the pause was longer than {} s, the limit of this place", max_ns / 1_000_000_000));
        }
    }

    pub(super) fn append(&mut self, event: impl Into<Event>) {
        self.journal.append(Place::default(), event);
    }

    pub(super) fn set_state(&mut self, state: RunState, reason: &str) {
        self.control.state = state;
        self.paused_at_ns = self.journal.now_ns();
        for lane in &mut self.lanes {
            lane.stand_still(!self.control.runs(lane.id), self.paused_at_ns);
        }
        self.append(RunStateChanged { state, reason: SafeText::new(reason) });
    }

    fn take_inputs(&mut self) {
        // Looked at in every turn: the message that wakes the engine is lost when the inbox is full.
        while let Some(load) = self.loader.take() {
            self.loaded(load);
        }
        for _ in 0..INPUTS_A_TURN {
            if self.ended {
                return;
            }
            match self.inbox.try_next() {
                Some(input) => self.input(input),
                None => return,
            }
        }
    }

    /// Sleeps until something is due or somebody asks.
    pub(super) fn rest(&mut self) {
        let now_ns = self.journal.now_ns();
        let due_ns = self.lanes.iter().filter(|l| self.control.runs(l.id) && l.stand != Stand::Done).map(|l| l.due_ns).min();
        let rest = due_ns.map_or(IDLE, |due| Duration::from_nanos(due.saturating_sub(now_ns)).min(IDLE));
        if let Some(input) = self.inbox.wait(rest) {
            self.input(input);
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Request(request) => {
                if self.control.is_new(request.id) {
                    self.request(request);
                }
            }
            Input::Fact(mut event) => {
                if let Event::TelemetrySampled(e) = event.as_mut() {
                    // The sampler can't know it.
                    e.host.recorder_events_behind = self.journal.events_behind();
                }
                self.silences.note(&event);
                self.append(*event);
            }
            // It only wakes: the next turn takes the policy from the loader.
            Input::PolicyLoaded => {}
        }
    }

    pub(super) fn request(&mut self, request: Request) {
        let Request { id, origin, command } = request;
        let objection = self.control.objection(&command, self.lanes.len() as u32).or_else(|| self.objection(&command));
        if let Some(reason) = objection {
            self.append(CommandRejected { id, command, origin, reason: SafeText::from(reason) });
            return;
        }
        self.append(CommandAccepted { id, command: command.clone(), origin: origin.clone() });
        match command {
            Command::Pause => {
                self.control.stepping = None;
                self.set_state(RunState::Paused, "by command");
            }
            Command::Resume => {
                self.control.stepping = None;
                self.set_state(RunState::Running, "by command");
            }
            Command::Step { lane, unit, count } => {
                self.control.stepping = Some(Stepping { lane, unit, left: count });
                self.lanes[lane.0 as usize].due_ns = 0;
                self.set_state(RunState::Stepping, &format!("{count} {unit:?}").to_lowercase());
            }
            Command::SetPace(pace) => {
                self.control.pace = pace;
                self.lanes.iter_mut().for_each(|l| l.due_ns = 0);
                self.append(PaceChanged { pace });
            }
            Command::Swap { checkpoint } => self.load(checkpoint, Wanted::Serve(Some((id, origin)))),
            Command::Rewind { lane, at } => self.rewind(lane, at),
            Command::Fork { lane, episode, at, with } => self.fork(lane, episode, at, with),
            // It was looked at whether the lane takes it.
            Command::Override { lane, with } => drop(self.lanes[lane.0 as usize].override_with(with)),
            Command::Break { number, breakpoint } => self.set_breakpoint(number, breakpoint),
            Command::Unbreak { number } => self.clear_breakpoints(number),
            Command::Silence(silence) => self.silence(silence),
            Command::Unsilence { id } => self.unsilence(id),
            Command::Reseed { seed } => self.reseed(seed),
            Command::Shutdown => self.shut_down("by command"),
        }
    }

    pub(super) fn objection(&self, command: &Command) -> Option<String> {
        match command {
            Command::Rewind { .. } | Command::Fork { .. } | Command::Override { .. } if self.recital.is_some() => {
                Some("the recorded episode is still being played again; a moment".into())
            }
            Command::Swap { .. } if !matches!(self.settings.agent, AgentKind::Model(_)) => {
                Some(format!("the agent is {}: it has no checkpoint to swap", self.settings.agent.name()))
            }
            Command::Swap { .. } if self.loading.is_some() => Some("another checkpoint is being loaded; wait for it".into()),
            Command::Swap { checkpoint } if !self.loader.list().iter().any(|c| c.checkpoint == *checkpoint) => {
                let known: Vec<String> = self.loader.list().into_iter().map(|c| c.checkpoint.0).collect();
                Some(format!("no checkpoint is named {checkpoint}; there are {}", known.join(", ")))
            }
            Command::Rewind { lane, at } => self.lanes.get(lane.0 as usize)?.past.point(None, *at).err(),
            Command::Fork { lane, episode, at, with } => self.objection_to_fork(*lane, *episode, *at, with),
            Command::Override { lane, with } => self.objection_to_override(*lane, with),
            Command::Break { number, breakpoint } => self.breakpoints.objection(*number, breakpoint),
            Command::Reseed { .. } if self.stays => Some("this run plays branches of a recorded episode, and none of its own".into()),
            Command::Unbreak { number: Some(number) } => self.breakpoints.objection_to_number(*number),
            Command::Silence(silence) => self.silences.objection(silence),
            Command::Unsilence { id } => self.silences.objection_to_id(id),
            Command::Resume | Command::Step { .. } if self.slots.is_empty() && matches!(self.settings.agent, AgentKind::Model(_)) => {
                Some("no policy is ready yet".into())
            }
            Command::Step { lane, .. } if self.lanes.get(lane.0 as usize).is_some_and(|l| l.stand == Stand::Done) => {
                Some(format!("lane {lane} has played all its episodes; step another"))
            }
            Command::Resume | Command::Step { .. } if self.recorder_failed => {
                Some("the recording can't be written: free space first, it is tried again every second".into())
            }
            Command::Pause
            | Command::Resume
            | Command::Step { .. }
            | Command::SetPace(_)
            | Command::Swap { .. }
            | Command::Unbreak { number: None }
            | Command::Reseed { .. }
            | Command::Shutdown => None,
        }
    }

    fn loaded(&mut self, load: Load) {
        // A load that ends after the run has nobody to serve.
        if self.ended {
            return;
        }
        let Some((_, wanted)) = self.loading.take() else { return };
        let asked_by = match wanted {
            Wanted::Serve(asked_by) => asked_by,
            Wanted::Branch => return self.loaded_for_branch(load),
        };
        match load.result {
            Ok(LoadedPolicy { policy, checkpoint, sha256 }) => {
                let caps = policy.caps();
                let ready = PolicyStateChanged {
                    parameters: Some(caps.parameters),
                    context_tokens_max: Some(caps.context_tokens_max),
                    ..policy_state(PolicyState::Ready, Some(checkpoint.clone()), caps.device, load.duration_ns)
                };
                let from = self.slot_serving().map(|s| s.checkpoint.clone());
                self.serving = Some(self.add_slot(policy, checkpoint.clone()));
                self.append(ready);
                // From here on every decision that begins is by the new weights; messages under way end by the old ones.
                self.append(CheckpointSwapped { from, to: checkpoint, sha256 });
                self.drop_idle_slots();
                // An operator who paused meanwhile finds it paused.
                if self.control.state == RunState::Starting {
                    self.begin_running();
                }
            }
            Err(reason) => {
                let reason = SafeText::from(reason);
                self.append(policy_state(PolicyState::Failed, Some(load.asked.clone()), reason.clone(), load.duration_ns));
                if let Some((id, origin)) = asked_by {
                    self.append(CommandRejected { id, command: Command::Swap { checkpoint: load.asked }, origin, reason });
                } else {
                    self.set_state(RunState::Paused, "the policy could not be loaded");
                    if self.settings.episodes_max.is_some() {
                        self.shut_down("the policy could not be loaded");
                    }
                }
            }
        }
    }

    /// Old weights go when no message of theirs is under way.
    pub(super) fn drop_idle_slots(&mut self) {
        let (serving, lanes) = (self.serving, &self.lanes);
        let wants = |lane: &Lane, slot: &Slot| {
            lane.slot == Some(slot.number) || lane.stand != Stand::Done && lane.pinned.as_ref() == Some(&slot.checkpoint)
        };
        self.slots.retain(|s| serving == Some(s.number) || lanes.iter().any(|l| wants(l, s)));
    }

    fn reseed(&mut self, seed: Seed) {
        self.settings.seed = seed;
        self.lanes.iter_mut().for_each(|l| l.episodes_begun = 0);
        self.abort_lanes();
    }

    fn abort_lanes(&mut self) {
        for lane in &mut self.lanes {
            for slot in &mut self.slots {
                slot.policy.cancel(lane.id);
            }
            // An episode that is cut short has no final reward to be out of range.
            let _ = lane.end(EpisodeEnding::Aborted, None, &mut self.journal);
            lane.stand = Stand::Between;
            lane.due_ns = 0;
        }
    }

    fn shut_down(&mut self, reason: &str) {
        if self.ended {
            return;
        }
        self.abort_lanes();
        self.hear_last_words();
        self.set_state(RunState::Ended, reason);
        if let Err(error) = self.journal.commit()
            && !self.recorder_failed
        {
            // It can't be in the recording, but whoever watches or waits for the exit code is told.
            self.append(SinkFailed { sink: SafeText::new("recording"), reason: SafeText::from(error.to_string()) });
        }
        self.journal.hub().close();
        self.ended = true;
    }

    fn look_at_recorder(&mut self) {
        match (self.journal.recorder_failure(), self.recorder_failed) {
            (Some(reason), false) => {
                self.recorder_failed = true;
                self.append(SinkFailed { sink: SafeText::new("recording"), reason: SafeText::from(reason.clone()) });
                self.append(recorder_alert(AlertState::Firing, &reason));
                self.control.stepping = None;
                if !self.ended {
                    self.set_state(RunState::Paused, "the recording can't be written");
                }
                // Nobody watches who could free space and resume.
                if !self.settings.streams {
                    self.shut_down("the recording can't be written");
                }
            }
            (None, true) => {
                self.recorder_failed = false;
                self.append(recorder_alert(AlertState::Resolved, "the recording is written again"));
            }
            (Some(_), true) | (None, false) => {}
        }
    }

    /// Moves every lane that may move by a phase or a token. False when none could.
    fn turn(&mut self) -> bool {
        let now_ns = self.journal.now_ns();
        let mut moved = false;
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if lane.due_ns > now_ns || !self.control.runs(lane.id) {
                continue;
            }
            match self.phase(index) {
                Ok(Some(boundary)) => {
                    moved = true;
                    self.passed(index, boundary);
                }
                Ok(None) => {}
                Err(reason) => self.fail(index, &reason),
            }
        }
        moved |= self.decode(now_ns);
        self.conclude_recital();
        if self.lanes.iter().all(|l| l.stand == Stand::Done) && !self.ended {
            self.all_done();
        }
        moved
    }

    fn all_done(&mut self) {
        if !self.stays {
            self.shut_down("all episodes are done");
        } else if self.control.state == RunState::Running {
            self.set_state(RunState::Paused, "all branches are played; fork another");
        }
    }

    /// One phase of a lane that is not decoding; `None` when there was nothing to do.
    fn phase(&mut self, index: usize) -> Result<Option<Boundary>, String> {
        let streams = self.settings.streams;
        match self.lanes[index].stand {
            Stand::Done | Stand::Decoding => Ok(None),
            Stand::Between => {
                self.begin_episode(index)?;
                Ok(Some(Boundary::None))
            }
            Stand::Observe => {
                let slot = self.slot_of(index);
                if slot.is_none() && self.lanes[index].pinned.is_some() {
                    // Its own policy is being loaded.
                    return Ok(None);
                }
                let policy = slot.map(|at| self.slots[at].policy.as_ref());
                self.lanes[index].observe(&mut self.journal, policy);
                Ok(Some(Boundary::Phase))
            }
            Stand::Think if !self.lanes[index].script.is_empty() => {
                self.lanes[index].recite(streams, &mut self.journal)?;
                Ok(Some(Boundary::Phase))
            }
            Stand::Think => match self.slot_of(index).map(|at| &mut self.slots[at]) {
                Some(slot) => {
                    self.lanes[index].slot = Some(slot.number);
                    self.lanes[index].checkpoint = Some(slot.checkpoint.clone());
                    self.lanes[index].open(slot.policy.as_mut(), &self.settings, &mut self.journal)?;
                    Ok(Some(Boundary::None))
                }
                None if self.lanes[index].pinned.is_some() => Ok(None),
                None => {
                    self.lanes[index].decide(streams, &mut self.journal)?;
                    self.passed(index, Boundary::Token);
                    Ok(Some(Boundary::Phase))
                }
            },
            Stand::Act => {
                self.lanes[index].act(&mut self.journal)?;
                Ok(Some(Boundary::Phase))
            }
            Stand::Settle => {
                let over = self.lanes[index].settle(&self.settings, &mut self.journal)?;
                self.drop_idle_slots();
                Ok(Some(if over { Boundary::Episode } else { Boundary::Decision }))
            }
        }
    }

    fn begin_episode(&mut self, index: usize) -> Result<(), String> {
        if self.begin_recital(index)? {
            return Ok(());
        }
        // The n-th episode of the run goes to lane n modulo lanes, whatever the lanes' speeds.
        let lanes = u64::from(self.settings.lanes.max(1));
        let number = self.lanes[index].episodes_begun * lanes + index as u64;
        let is_over = self.settings.episodes_max.is_some_and(|max| number >= u64::from(max));
        if is_over || self.lanes[index].is_branch {
            self.lanes[index].stand = Stand::Done;
            self.drop_idle_slots();
            if self.control.stepping.take_if(|s| s.lane.0 as usize == index).is_some() {
                self.set_state(RunState::Paused, "the lane has played all its episodes");
            }
            return Ok(());
        }
        let seed = episode_seed(self.settings.seed, number);
        let checkpoint = self.slot_serving().map(|s| s.checkpoint.clone());
        self.lanes[index].episodes_begun += 1;
        self.lanes[index].begin(seed, checkpoint, &self.settings, &mut self.journal)
    }

    /// One token for every lane that decodes and may, one batch a slot.
    fn decode(&mut self, now_ns: u64) -> bool {
        let mut progress = Vec::new();
        let mut moved = false;
        for slot in 0..self.slots.len() {
            let number = self.slots[slot].number;
            let ready = |l: &&Lane| l.stand == Stand::Decoding && l.slot == Some(number) && l.due_ns <= now_ns && self.control.runs(l.id);
            let batch: Vec<LaneId> = self.lanes.iter().filter(ready).map(|l| l.id).collect();
            if batch.is_empty() {
                continue;
            }
            moved = true;
            progress.clear();
            // A failure pauses or ends the run, so what the other lanes of the batch said comes first.
            let mut failed: Vec<(usize, String)> = Vec::new();
            let mut passed: Vec<(usize, Boundary)> = Vec::new();
            match self.slots[slot].policy.advance(&batch, &mut progress) {
                Ok(()) => {
                    for (lane, what) in progress.drain(..) {
                        let index = lane.0 as usize;
                        match self.progress(index, what) {
                            Ok(boundary) => passed.extend(boundary.map(|boundary| (index, boundary))),
                            Err(reason) => failed.push((index, reason)),
                        }
                    }
                }
                Err(error) => failed.extend(batch.iter().map(|lane| (lane.0 as usize, error.to_string()))),
            }
            // A breakpoint at what one lane said pauses the run once all have said what they were asked for.
            passed.into_iter().for_each(|(index, boundary)| self.passed(index, boundary));
            failed.into_iter().for_each(|(index, reason)| self.fail(index, &reason));
        }
        moved
    }

    /// Takes up what a lane's policy said; the boundary that it came to, if to any.
    fn progress(&mut self, index: usize, what: Progress) -> Result<Option<Boundary>, String> {
        let streams = self.settings.streams;
        match what {
            Progress::Pending => Ok(None),
            Progress::Piece { text, token, logprob, entropy } => {
                // A breakpoint may be about a single token.
                let groups = self.control.pace == Pace::Max && self.control.state == RunState::Running && self.breakpoints.is_empty();
                let group = if groups { DELTA_TOKENS_AT_MAX } else { 1 };
                self.lanes[index].began_to_say(self.journal.now_ns());
                self.lanes[index].piece(&text, token, logprob, entropy)?;
                self.lanes[index].tell(group, streams, &mut self.journal);
                Ok(Some(Boundary::Token))
            }
            Progress::Done(reason) => {
                self.lanes[index].tell(1, streams, &mut self.journal);
                self.lanes[index].finish(reason, &mut self.journal)?;
                Ok(Some(Boundary::Phase))
            }
        }
    }

    fn passed(&mut self, index: usize, boundary: Boundary) {
        self.stop_at_breakpoints();
        let lane = self.lanes[index].id;
        let is_recited = self.lanes[index].recited_hash.is_some() || !self.lanes[index].script.is_empty();
        self.lanes[index].due_ns = if is_recited { 0 } else { self.journal.now_ns() + self.control.rest_ns(boundary) };
        if self.control.passed(lane, boundary) {
            self.set_state(RunState::Paused, "stepped");
        }
    }

    /// An episode that can't go on is ended and said so; the run pauses, so that somebody looks.
    pub(super) fn fail(&mut self, index: usize, reason: &str) {
        if self.ended {
            return;
        }
        for slot in &mut self.slots {
            slot.policy.cancel(self.lanes[index].id);
        }
        self.recital = None;
        let text = SafeText::from(format!("lane {index}: {reason}"));
        self.append(LogLine { level: LogLevel::Error, target: SafeText::new("engine"), text });
        let _ = self.lanes[index].end(EpisodeEnding::Aborted, None, &mut self.journal);
        self.lanes[index].stand = Stand::Between;
        self.control.stepping = None;
        if self.control.state != RunState::Paused {
            self.set_state(RunState::Paused, "a lane failed");
        }
        if self.settings.episodes_max.is_some() {
            self.shut_down("a lane failed");
        }
    }
}

fn policy_state(state: PolicyState, checkpoint: Option<CheckpointId>, detail: SafeText, duration_ns: u64) -> PolicyStateChanged {
    PolicyStateChanged { state, checkpoint, detail, parameters: None, context_tokens_max: None, duration_ns }
}

fn recorder_alert(state: AlertState, summary: &str) -> AlertStateChanged {
    AlertStateChanged {
        rule: SafeText::new(RECORDER_ALERT),
        state,
        severity: SafeText::new("critical"),
        summary: SafeText::new(summary),
        detail: None,
    }
}
