//! The console on a live run or on a recording.

use super::backstage::Crew;
use super::bundle::{BUNDLE_SUFFIX, BundleOrigin};
use super::exit::{Code, Failure, Outcome, note};
use super::join::Started;
use super::recordings::sealed_if_wanted;
use super::sampling::sampler;
use crate::config::{self, Charts, Color, Config, Dirs};
use crate::event::{Event, MonotonicClock, Pace, Seq};
use crate::journal::{Delivery, Integrity, ReadError, Recording};
use crate::source::{LiveSource, Playback, RecordingSource, SourceError};
use crate::state::DashState;
use crate::telemetry::Sampler;
use crate::ui::desk::{Desk, ReplayDesk};
use crate::ui::keymap::KeyMap;
use crate::ui::lang::{Lang, tr};
use crate::ui::recording_failure;
use crate::ui::session::Said;
use crate::ui::theme::{Caps, Theme, Tier, may_be_utf8};
use crate::ui::view::{Context, PlaybackView, ScreenId, View};
use crate::ui::widgets::ChartGlyphs;
use crate::ui::{Ended, UiOptions, draw, run, shot};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// What pictures may take of a slow link: 2 KB a second.
const SLOW_BYTES_PER_SECOND: u32 = 2_000;

fn options(config: &Config, recording: Option<String>) -> Result<UiOptions, Failure> {
    let is_replay = recording.is_some();
    let (keys, keys_file) = keys(config)?;
    Ok(UiOptions {
        theme: config.ui.theme.clone(),
        tier: tier(config),
        ascii: config.ui.ascii,
        charts: charts(config),
        ambiguous_width: config.ui.ambiguous_width,
        mouse: config.ui.mouse,
        fps_max: if config.ui.low_bandwidth { config.ui.fps_max.min(2) } else { config.ui.fps_max },
        bytes_per_second: config.ui.low_bandwidth.then_some(SLOW_BYTES_PER_SECOND),
        read_only: config.profile.read_only,
        banner: config.profile.banner.clone(),
        recording,
        shots: PathBuf::from("."),
        state: Dirs::from_process().ok().map(|d| d.state),
        lang: lang(config),
        keys,
        keys_file,
        notify: (config.ui.notify, config.ui.notify_severity),
        host: super::alerts::host(config),
        acknowledge_minutes: config.alerts.acknowledge_minutes,
        screen: if is_replay { ScreenId::Replay } else { ScreenId::Live },
        said: Said { theme: was_said(config, "ui.theme"), colors: was_said(config, "ui.color") },
    })
}

pub fn lang(config: &Config) -> Lang {
    config.ui.lang.as_deref().and_then(Lang::from_name).unwrap_or_else(|| Lang::detect(|name| std::env::var(name).ok()))
}

/// The keys, and the file that they come from or would come from.
pub fn keys(config: &Config) -> Result<(KeyMap, Option<PathBuf>), Failure> {
    let own = || Dirs::from_process().ok().map(|d| d.config.join("keys.ron"));
    let Some(path) = config.ui.keys.clone().or_else(own) else { return Ok((KeyMap::default(), None)) };
    let is_asked_for = config.ui.keys.is_some();
    let keys = if is_asked_for || path.exists() { KeyMap::load(&path).map_err(Failure::usage)? } else { KeyMap::default() };
    Ok((keys, Some(path)))
}

/// Whether this start's command line or environment sets it.
fn was_said(config: &Config, path: &str) -> bool {
    config.lines().iter().any(|line| {
        line.path == path
            && match line.origin {
                config::Origin::Env(_) | config::Origin::Set | config::Origin::Flag(_) => true,
                config::Origin::Default | config::Origin::Profile(_) | config::Origin::File(_) => false,
            }
    })
}

fn charts(config: &Config) -> ChartGlyphs {
    match config.ui.charts {
        Charts::Braille => ChartGlyphs::Braille,
        Charts::Block => ChartGlyphs::Block,
        Charts::Ascii => ChartGlyphs::Ascii,
    }
}

fn tier(config: &Config) -> Option<Tier> {
    match config.ui.color {
        Color::Auto => None,
        Color::Never => Some(Tier::None),
        Color::Ansi16 => Some(Tier::Ansi16),
        Color::Ansi256 => Some(Tier::Ansi256),
        Color::Always | Color::Truecolor => Some(Tier::Truecolor),
    }
}

/// Whether there is a terminal, and one that can show more than lines.
pub fn has_screen() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal() && !is_dumb
}

fn ended(ended: Ended, is_recorded: bool) -> Outcome {
    match ended {
        Ended::Quit | Ended::HungUp => Ok(Code::Holds),
        Ended::Signal(signal) if is_recorded => Err(Failure::failed(format!("ended by signal {signal}; what was recorded is whole"))),
        Ended::Signal(signal) => Err(Failure::failed(format!("ended by signal {signal}"))),
    }
}

/// A run that goes on from a recording.
pub struct ForkedRun {
    pub started: Started,
    sampler: Sampler,
}

impl ForkedRun {
    pub fn watched(started: Started, config: &Config) -> Result<Self, Failure> {
        let sampler = sampler(&started, config)?;
        Ok(Self { started, sampler })
    }
}

/// The console on a run of this process. The run ends with it.
pub fn live(started: Started, config: &Config) -> Outcome {
    let options = options(config, None)?;
    let sampler = sampler(&started, config)?;
    let commands = (!config.profile.read_only).then(|| started.commands.clone());
    let source = LiveSource::new(&started.hub, commands);
    let crew = Crew::new(recordings(config), started.recording.clone(), config);
    let outcome = run(Box::new(source), Box::new(crew), options);
    let is_recorded = started.recording.is_some();
    end(started, sampler, config)?;
    ended(outcome.map_err(Failure::failed)?, is_recorded)
}

/// Ends a run and says where it is recorded.
fn end(started: Started, sampler: Sampler, config: &Config) -> Result<(), Failure> {
    sampler.stop();
    let recording = started.recording.clone();
    let lost = lost_by_ending(started);
    if let Some(path) = &recording {
        let what = if lost.is_some() { "what was committed is in" } else { "recorded to" };
        let path = sealed_if_wanted(path, config.record.seal && lost.is_none());
        note(format_args!("{what} {}", path.display()));
    }
    lost.map_or(Ok(()), |reason| Err(Failure::failed(reason)))
}

/// Where runs are recorded to.
pub fn recordings(config: &Config) -> Option<PathBuf> {
    let state = || Dirs::from_process().ok().map(|d| d.state.join("recordings"));
    config.record.directory.clone().or_else(state)
}

/// Ends the run. Why its recording is not whole, if so: it failed before, or its end could not be written.
fn lost_by_ending(started: Started) -> Option<String> {
    let (mut rest, mut deliveries) = (started.hub.subscribe(), Vec::new());
    rest.poll(&mut deliveries, 1);
    let before = deliveries.drain(..).find_map(|d| match d {
        Delivery::Snapshot(state) => recording_failure(&state),
        Delivery::Event(_) => None,
    });
    started.shut_down();
    while rest.poll(&mut deliveries, usize::MAX) {}
    before.or_else(|| {
        deliveries.iter().find_map(|d| match d {
            Delivery::Event(e) => {
                if let Event::SinkFailed(failed) = &e.event {
                    Some(format!("{}: {}", failed.sink, failed.reason))
                } else {
                    None
                }
            }
            Delivery::Snapshot(_) => None,
        })
    })
}

/// The console on a recording.
pub fn replay(
    recording: Recording,
    origin: Option<&BundleOrigin>,
    from: Option<Seq>,
    stop: Option<Seq>,
    speed: Option<Pace>,
    config: &Config,
) -> Result<Integrity, Failure> {
    let (name, when) = (name_of(&recording, origin), when_of(&recording, origin, config));
    let path = recording.path().to_owned();
    let unpacked = origin.map(|_| (name.clone(), path.clone()));
    let crew = Crew::new(recordings(config), None, config).with_unpacked(unpacked);
    let forked = crew.forked();
    let mut options = options(config, Some(name))?;
    let mut recording = recording;
    // All that a training has to show lies behind its first event.
    let training_end = if from.is_none() && stop.is_none() { training_end(&mut recording).map_err(Failure::usage)? } else { None };
    if training_end.is_some() {
        options.screen = ScreenId::Training;
    }
    let mut source = RecordingSource::new(recording, MonotonicClock::start()).map_err(Failure::usage)?;
    source.set_bundle(when);
    if speed.is_none() {
        source = source.made_watchable().map_err(Failure::usage)?;
    }
    source.set_speed(speed.unwrap_or(Pace::Times(1.0)));
    if let Some(seq) = stop.or(from).or(training_end) {
        source.set_playing(false);
        source.seek(seq);
    }
    let found = source.findings();
    let outcome = run(Box::new(source), Box::new(crew), options);
    let forked = forked.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_recorded = forked.as_ref().is_some_and(|run| run.started.recording.is_some());
    if let Some(ForkedRun { started, sampler }) = forked {
        end(started, sampler, config)?;
    }
    ended(outcome.map_err(Failure::failed)?, is_recorded)?;
    Ok(found.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Events that are looked at for an episode before the end of a recording is.
const BEGINNING_EVENTS: usize = 16;

/// Where a training's recording ends; unset for a recording with episodes.
fn training_end(recording: &mut Recording) -> Result<Option<Seq>, ReadError> {
    for envelope in recording.events_from(Seq(1))?.take(BEGINNING_EVENTS) {
        // What is damaged is told when it is played.
        let Ok(envelope) = envelope else { return Ok(None) };
        if envelope.episode.is_some() || matches!(envelope.event, Event::RunStarted(_)) {
            return Ok(None);
        }
    }
    let end = recording.end();
    let state = recording.state_at(end)?;
    Ok((!state.updates.is_empty() && state.lanes.is_empty()).then_some(end))
}

/// What the console calls a recording: by its file, or by the bundle that it came in.
fn name_of(recording: &Recording, origin: Option<&BundleOrigin>) -> String {
    origin.map_or_else(|| recording.path().display().to_string(), |origin| format!("{}{BUNDLE_SUFFIX}", origin.name))
}

/// Of when a bundle is, and where it begins if that is not the beginning.
fn when_of(recording: &Recording, origin: Option<&BundleOrigin>, config: &Config) -> Option<String> {
    crate::ui::lang::set(lang(config));
    let made = &origin?.made;
    Some(match recording.base() {
        Seq(0) => made.clone(),
        base => tr!("{made}, from event {from}", made = made, from = base.next()),
    })
}

/// A picture of the console at an event of a recording, without a terminal.
pub fn shot(
    recording: Recording,
    origin: Option<&BundleOrigin>,
    at: Option<Seq>,
    path: &Path,
    size: &str,
    screen: ScreenId,
    config: &Config,
) -> Result<Integrity, Failure> {
    let bad = || Failure::usage(format!("`{size}` is no size; write columns and rows, such as 120x36"));
    let (columns, rows) = size.split_once('x').ok_or_else(bad)?;
    let number = |text: &str| text.parse::<u16>().ok().filter(|n| (1..=500).contains(n)).ok_or_else(bad);
    let area = Rect::new(0, 0, number(columns)?, number(rows)?);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let format: shot::Format = extension.parse().map_err(Failure::usage)?;
    // A drawn picture has its own letters; text is read where the locale holds.
    let is_text = match format {
        shot::Format::Text | shot::Format::Ansi => true,
        shot::Format::Svg | shot::Format::Png => false,
    };
    // A pipe would be waited for until somebody reads it.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(Failure::usage(format!("{}: is no regular file; name one that can be made", path.display())));
    }
    let seq = at.unwrap_or(recording.end());
    let caps = Caps {
        tier: tier(config).unwrap_or(Tier::Truecolor),
        ascii: config.ui.ascii.unwrap_or_else(|| is_text && !may_be_utf8(|name| std::env::var(name).ok())),
        charts: charts(config),
        ambiguous_width: config.ui.ambiguous_width.unwrap_or(1),
    };
    let theme = Theme::load(&config.ui.theme, caps.tier).map_err(Failure::usage)?;
    let (keys, _) = keys(config)?;
    crate::ui::lang::set(lang(config));
    let (name, when) = (name_of(&recording, origin), when_of(&recording, origin, config));
    let mut source = RecordingSource::new(recording, MonotonicClock::start()).map_err(Failure::usage)?;
    source.set_bundle(when);
    let easel = Easel { caps, theme, keys, lang: lang(config), banner: config.profile.banner.clone(), name };
    let picture = easel.draw(&mut source, seq, screen, area).map_err(Failure::usage)?;
    let picture = shot::write(&picture, &easel.theme, format).map_err(Failure::failed)?;
    std::fs::write(path, picture).map_err(|e| Failure::failed(format!("{}: {e}", path.display())))?;
    Ok(source.recording().integrity().clone())
}

/// What it takes to draw the console without a terminal.
pub struct Easel {
    pub caps: Caps,
    pub theme: Theme,
    pub keys: KeyMap,
    pub lang: Lang,
    pub banner: Option<String>,
    /// What the recording is called.
    pub name: String,
}

impl Easel {
    /// Draws a screen at an event of a recording.
    pub fn draw(&self, source: &mut RecordingSource, seq: Seq, screen: ScreenId, area: Rect) -> Result<Buffer, SourceError> {
        let state = source.state_at(seq)?;
        let desk = Desk { replay: replay_desk(source, &state)?, ..Desk::default() };
        let recording = source.recording();
        let playback = PlaybackView {
            head: state.seq,
            end: recording.end(),
            t_ns_end: recording.t_ns_end(),
            playing: false,
            speed: Pace::Times(1.0),
            damage: recording.integrity().told(),
            name: self.name.clone(),
            bundle: source.bundle().map(str::to_owned),
        };
        let mut view = View::default();
        view.go(screen);
        let context = Context {
            state: &state,
            desk: &desk,
            keys: &self.keys,
            lang: self.lang,
            view: &view,
            theme: &self.theme,
            caps: &self.caps,
            playback: Some(&playback),
            read_only: true,
            banner: self.banner.as_deref(),
        };
        Ok(draw(&context, area))
    }
}

/// All that can be found out about the recording, with the episode at the playhead.
fn replay_desk(source: &mut RecordingSource, state: &DashState) -> Result<ReplayDesk, SourceError> {
    while source.read_on(usize::MAX)? {}
    let lane = View::default().lane;
    let book = source.book();
    let episode = state.lane(lane).map(|l| l.episode.episode).or_else(|| book.episodes.first().map(|e| e.episode));
    let mut desk = ReplayDesk { book, ..ReplayDesk::default() };
    if let Some(episode) = episode {
        source.track(lane, episode);
        while source.read_on(usize::MAX)? {}
        desk.track = source.track(lane, episode);
    }
    Ok(desk)
}

#[cfg(test)]
mod tests {
    use super::super::training_record::TrainingRecord;
    use super::*;
    use crate::event::{Seed, UpdateCompleted};

    #[test]
    fn a_training_opens_at_its_end_and_a_run_at_its_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("training.jsonl");
        let env = crate::env::make("ops").unwrap();
        let mut record = TrainingRecord::begin(Some(&path), MonotonicClock::start(), env.spec(), Seed(7), "abc".into()).unwrap();
        (1..=30).for_each(|update| record.update(UpdateCompleted { update, ..UpdateCompleted::default() }));
        record.end("trained").unwrap();
        let end = |path: &Path| training_end(&mut Recording::open_quickly(path).unwrap()).unwrap();
        assert_eq!(end(&path), Some(Recording::open(&path).unwrap().end()));
        assert_eq!(end(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/failure.jsonl")), None);
    }
}
