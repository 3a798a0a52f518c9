//! What the replay screen says of places that there are not, of what is to come, and what it writes to files.

use super::*;
use crate::ui::view::{Detail, PaneId};

#[test]
fn a_seek_to_nowhere_says_what_is_missing() {
    let mut app = opened("failure", (120, 36));
    for (place, part) in
        [("99999/1", "holds no episode 99999"), ("3:1/1", "no episode 1 of lane 3"), ("1/99", "episode 1 has 7 steps, and no step 99")]
    {
        keys(&mut app, &format!(":seek {place}\n"));
        assert!(shown(&app).contains(part), "{place}: {}", shown(&app));
        keys(&mut app, "\x1b");
    }
}

#[test]
fn an_episode_that_is_over_at_once_is_not_offered_by_time() {
    let mut app = opened("failure", (120, 36));
    let lasting = |app: &mut App, ns: u64| {
        let mut track = crate::source::Track::clone(app.desk.replay.track.as_ref().unwrap());
        track.t_ns_last = track.t_ns_first + ns;
        app.desk.replay.track = Some(Arc::new(track));
        shown(app)
    };
    assert!(lasting(&mut app, 60_000_000_000).contains(":seek 41.8s"));
    let text = lasting(&mut app, 1_000);
    assert!(text.contains(":seek 3/12") && !text.contains("41.8s"), "{text}");
}

#[test]
fn every_row_that_is_to_come_says_so() {
    for size in [(80, 24), (120, 36), (200, 50)] {
        let mut app = opened("failure", size);
        app.view.detail = Detail::Brief;
        app.view.share = Share::Full;
        let text = shown(&app);
        let is_step = |l: &&str| l.split_whitespace().take(4).any(|word| ["T", "A", "O"].contains(&word));
        let rows: Vec<&str> = text.lines().filter(is_step).collect();
        assert!(rows.len() > 5, "{text}");
        let silent: Vec<_> = rows.iter().filter(|l| !l.contains("(future)")).collect();
        assert!(silent.is_empty(), "{size:?}: {silent:?}");
    }
}

#[test]
fn an_export_has_what_is_to_come_and_what_the_filter_shows() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = opened("shift", (120, 36));
    let export = |app: &mut App, name: &str| {
        let file = dir.path().join(name);
        keys(app, &format!(":export json {}\n", file.display()));
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{e}: {}", app.notice)).lines().count()
    };
    let rows = app.desk.replay.track.as_ref().unwrap().rows.len();
    assert!(rows > app.state.lane(LaneId(0)).map_or(0, |l| l.transcript.rows.len()));
    assert_eq!(export(&mut app, "rows.json"), rows);
    let all = app.desk.replay.book.episodes.len();
    app.view.focus = PaneId::Episodes;
    assert!(all > 1);
    assert_eq!(export(&mut app, "episodes.json"), all);
    keys(&mut app, ":filter ep=1\n");
    assert_eq!(export(&mut app, "one.json"), 1);
    let copied = copy(crate::ui::copy::Form::Text, app.scene(), None, false);
    assert!(!copied.bytes.is_empty(), "{}", copied.told);
}
