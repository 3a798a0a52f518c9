//! A training's own recording: its updates, checkpoints and phases, for the training screen.

use super::exit::Failure;
use super::join::BUILD;
use crate::checkpoint::Manifest;
use crate::env::EnvSpec;
use crate::event::*;
use crate::journal::{FORMAT, Header, HeaderEnv, Journal, Place, Recorder, VERSION};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the header says of a training whose episodes are of several levels: that of most of them.
const LEVEL: Level = Level::L1;

/// The journal of a training; one that is not recorded takes everything and keeps nothing.
pub struct TrainingRecord {
    journal: Journal,
    path: Option<PathBuf>,
    /// Nothing comes behind the end.
    is_over: bool,
}

impl TrainingRecord {
    /// `config_sha256` is over the training's settings.
    pub fn begin(path: Option<&Path>, clock: Arc<dyn Clock>, spec: &EnvSpec, seed: Seed, config_sha256: String) -> Result<Self, Failure> {
        let header = Header {
            fmt: FORMAT.into(),
            v: VERSION,
            id: RunId(ulid::Ulid::generate().to_string()),
            started: jiff::Timestamp::now().to_string(),
            build: BUILD.into(),
            env: HeaderEnv { name: spec.name.clone(), version: spec.version.clone(), params_sha256: spec.params_sha256.clone() },
            level: LEVEL,
            seed,
            config_sha256,
            checkpoint: None,
            lanes: 1,
            redaction: "v1".into(),
            cpu: super::join::cpu_features(),
        };
        let recorder = path.map(|path| Recorder::create(path, &header, Duration::from_millis(100))).transpose().map_err(Failure::usage)?;
        let path = recorder.as_ref().map(|r| r.path().to_owned());
        let mut record = Self { journal: Journal::new(clock, recorder), path, is_over: false };
        record.append(RunStateChanged { state: RunState::Running, reason: SafeText::new("training") });
        Ok(record)
    }

    /// The file, where there is one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn append(&mut self, event: impl Into<Event>) {
        if !self.is_over {
            self.journal.append(Place::default(), event);
        }
    }

    pub fn phase(&mut self, text: &str) {
        self.append(LogLine { level: LogLevel::Info, target: SafeText::new("training"), text: SafeText::new(text) });
    }

    pub fn update(&mut self, update: UpdateCompleted) {
        self.append(update);
    }

    pub fn saved(&mut self, manifest: &Manifest) {
        let sha256 = manifest.files.get(crate::checkpoint::WEIGHTS).map(|f| f.sha256.clone()).unwrap_or_default();
        self.append(CheckpointSaved { checkpoint: manifest.id.clone(), sha256, training_step: manifest.step });
    }

    /// Ends the recording; why it could not be written, if it could not.
    pub fn end(&mut self, reason: &str) -> Result<(), String> {
        self.append(RunStateChanged { state: RunState::Ended, reason: SafeText::new(reason) });
        self.is_over = true;
        self.journal.commit().map_err(|e| e.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env;
    use crate::event::CheckpointId;
    use crate::journal::Recording;

    #[test]
    fn a_recorded_training_is_read_back_as_the_training_screen_shows_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("training.jsonl");
        let env = env::make("ops").unwrap();
        let mut record = TrainingRecord::begin(Some(&path), MonotonicClock::start(), env.spec(), Seed(7), "abc".into()).unwrap();
        record.phase("cloning");
        for update in 1..=3 {
            record.update(UpdateCompleted { update, policy_loss: Some(1.0 / update as f64), tokens: 10, ..UpdateCompleted::default() });
        }
        let mut manifest = Manifest::new(CheckpointId("student".into()), 3);
        manifest.files.insert(crate::checkpoint::WEIGHTS.into(), crate::checkpoint::FileEntry { bytes: 1, sha256: "feed".into() });
        record.saved(&manifest);
        record.end("trained").unwrap();
        // A signal may come just behind the end.
        record.update(UpdateCompleted { update: 4, ..UpdateCompleted::default() });
        record.end("ended by signal 2").unwrap();
        let mut recording = Recording::open(&path).unwrap();
        assert!(recording.integrity().told().is_none());
        let end = recording.end();
        let state = recording.state_at(end).unwrap();
        assert_eq!((state.updates.len(), state.run_state), (3, RunState::Ended));
        let losses = state.updates.iter().map(|u| u.policy_loss).collect::<Vec<_>>();
        assert_eq!(losses, [Some(1.0), Some(0.5), Some(1.0 / 3.0)]);
        let log: Vec<String> = state.log.iter().map(|l| l.text.to_string()).collect();
        assert!(log.iter().any(|l| l == "cloning") && log.iter().any(|l| l.contains("student")), "{log:?}");
    }

    #[test]
    fn a_training_that_is_not_recorded_leaves_no_file() {
        let env = env::make("ops").unwrap();
        let mut record = TrainingRecord::begin(None, MonotonicClock::start(), env.spec(), Seed(7), "abc".into()).unwrap();
        record.update(UpdateCompleted::default());
        assert!(record.path().is_none());
        record.end("trained").unwrap();
    }
}
