//! The alerts screen with keys and mouse: every state at every size, the form of a silence, dry runs, the way to an alert's event.

use super::*;
use crate::event::{SafeText, Seq, SilenceKind};
use crate::ui::backstage::{NotPlaced, OpenAt};
use crate::ui::panes::rules::testing::{dry_run, every_state};
use crate::ui::silence_form::Slot;

const SIZES: [(u16, u16); 4] = [(45, 22), (80, 24), (120, 36), (200, 50)];

fn on_alerts(size: (u16, u16)) -> (App, Inbox) {
    let (mut app, inbox) = live(size);
    app.state = every_state();
    app.backstage = Box::new(Stage::default());
    type_keys(&mut app, "ga");
    (app, inbox)
}

fn picture(app: &App) -> String {
    rows(&app.picture(app.area)).iter().map(|row| format!("{}\n", row.trim_end())).collect()
}

#[test]
fn every_state_stands_in_words_at_every_size() {
    for size in SIZES {
        let (mut app, _inbox) = on_alerts(size);
        let shot = |name: &str, app: &App| {
            insta::assert_snapshot!(format!("states-{name}-{}x{}", size.0, size.1), picture(app));
        };
        shot("list", &app);
        type_keys(&mut app, "2");
        shot("detail", &app);
        type_keys(&mut app, "3");
        shot("silences", &app);
        type_keys(&mut app, "1z");
        shot("form", &app);
        type_keys(&mut app, "\x1bD");
        app.take_news();
        shot("trial", &app);
        app.desk.dry_run = Some(dry_run());
        app.view.popup = Some(PaneId::TrialFound);
        shot("found", &app);
        app.options.ascii = Some(true);
        app.look.caps.ascii = true;
        assert!(picture(&app).is_ascii(), "{}", picture(&app));
        type_keys(&mut app, "\x1bz");
        assert!(picture(&app).is_ascii(), "{}", picture(&app));
        type_keys(&mut app, "\x1b");
        app.view.popup = None;
        assert!(picture(&app).is_ascii(), "{}", picture(&app));
    }
}

#[test]
fn a_form_silences_what_it_says_and_lists_it_before() {
    let (mut app, inbox) = on_alerts((120, 36));
    type_keys(&mut app, "s");
    assert!(shown(&app).contains("hushes now: 1") && shown(&app).contains("F ToolRateLimited tool=web_search"), "{}", shown(&app));
    type_keys(&mut app, "\n");
    assert!(sent(&inbox).is_empty() && app.notice.contains("say why"), "{}", app.notice);
    // A paste is text here, also one with an end of line.
    app.type_text("quota is\nraised");
    type_keys(&mut app, "\n");
    let sent_now = sent(&inbox);
    let [Command::Silence(silence)] = sent_now.as_slice() else { panic!("{sent_now:?}") };
    assert_eq!((silence.kind, silence.comment.as_str()), (SilenceKind::Silence, "quota israised"));
    assert_eq!(silence.ends_ms - silence.starts_ms, 2 * 3_600_000);
    assert_eq!(app.open, Open::Nothing);
    type_keys(&mut app, "z\x1b");
    assert!(sent(&inbox).is_empty() && app.notice == "nothing is silenced");
}

#[test]
fn the_form_is_drawn_and_clicked_at_any_size_with_any_text() {
    for size in [(1, 1), (2, 3), (7, 2), (20, 5), (36, 14), (45, 22), (200, 50)] {
        let (mut app, _inbox) = on_alerts((120, 36));
        type_keys(&mut app, "z");
        app.area = Rect::new(0, 0, size.0, size.1);
        for slot in [Slot::Name(0), Slot::Value(2), Slot::Note] {
            let Open::Silence(form) = &mut app.open else { panic!("{:?}", app.open) };
            form.focus(slot);
            app.type_text(&"工单\u{202e}x\u{1b}[2J ".repeat(20));
            assert!(!picture(&app).replace('\n', "").contains(char::is_control), "{size:?}");
        }
        for (x, y) in (0..size.0).flat_map(|x| (0..size.1).map(move |y| (x, y))) {
            point_at(&mut app, MouseEventKind::Down(MouseButton::Left), x, y);
        }
        for _ in 0..40 {
            press(&mut app, KeyCode::Tab, KeyModifiers::NONE);
            picture(&app);
        }
    }
}

#[test]
fn an_acknowledgement_asks_for_a_note_alone() {
    let (mut app, inbox) = on_alerts((80, 24));
    type_keys(&mut app, "aon it\n");
    let sent_now = sent(&inbox);
    let [Command::Silence(silence)] = sent_now.as_slice() else { panic!("{sent_now:?}") };
    assert_eq!((silence.kind, silence.comment.as_str()), (SilenceKind::Acknowledgement, "on it"));
    assert_eq!(silence.ends_ms - silence.starts_ms, 5 * 60_000, "as the configuration says");
}

#[test]
fn silences_are_listed_edited_extended_and_ended() {
    let (mut app, inbox) = on_alerts((120, 36));
    type_keys(&mut app, "3");
    assert!(shown(&app).contains("s1 until 13:00") && shown(&app).contains("s3 by ops1: old"), "{}", shown(&app));
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    let Open::Silence(form) = &app.open else { panic!("{:?}", app.open) };
    assert_eq!((form.at(), form.note().text()), (Slot::Lasts, "on it"));
    press(&mut app, KeyCode::Char('u'), KeyModifiers::CONTROL);
    type_keys(&mut app, "10m\n");
    let sent_now = sent(&inbox);
    let [Command::Silence(silence), Command::Unsilence { id }] = sent_now.as_slice() else { panic!("{sent_now:?}") };
    assert_eq!((silence.ends_ms - silence.starts_ms, id.as_str()), (600_000, "s2"), "the new one stands before the old one ends");
    type_keys(&mut app, "x");
    let sent_now = sent(&inbox);
    let [Command::Silence(longer), Command::Unsilence { id }] = sent_now.as_slice() else { panic!("{sent_now:?}") };
    assert_eq!((longer.ends_ms, id.as_str()), (36_000_000 + 4 * 3_600_000, "s2"));
    type_keys(&mut app, "Z");
    assert_eq!(sent(&inbox), [Command::Unsilence { id: SafeText::from("s2") }]);
    type_keys(&mut app, ":extend nonsense\n");
    assert!(app.notice.contains("30m, 2h or 1d"), "{}", app.notice);
}

#[test]
fn a_click_chooses_a_rule_a_silence_and_a_field() {
    let (mut app, _inbox) = on_alerts((120, 36));
    let click = |app: &mut App, words: &str| {
        let found = rows(&app.picture(app.area)).iter().enumerate().find_map(|(y, row)| {
            let at = row.find(words)?;
            Some((row[..at].chars().count() as u16, y as u16))
        });
        let (x, y) = found.unwrap_or_else(|| panic!("{words}:\n{}", shown(app)));
        point_at(app, MouseEventKind::Down(MouseButton::Left), x, y);
    };
    click(&mut app, "KlSpike");
    assert!(shown(&app).contains("2 KlSpike") || shown(&app).contains("KlSpike ━") || shown(&app).contains("KlSpike ─"), "{}", shown(&app));
    assert_eq!(app.view.rules.at.as_deref(), Some("g 5"));
    click(&mut app, "A s2 until");
    assert_eq!((app.view.focus, app.view.rules.silence.as_deref()), (PaneId::Silences, Some("s2")));
    type_keys(&mut app, "1z");
    click(&mut app, "30m 1h");
    let Open::Silence(form) = &app.open else { panic!("{:?}", app.open) };
    assert_eq!(form.at(), Slot::Lasts);
}

#[test]
fn enter_on_an_alert_opens_the_recording_at_its_event_which_is_marked() {
    let (mut app, _inbox) = on_alerts((120, 36));
    let seq = Seq(20);
    app.state.alerting.alerts.iter_mut().for_each(|alert| alert.seq = seq);
    type_keys(&mut app, "\n");
    settle(&mut app);
    assert!(app.parked.is_some(), "{}", app.notice);
    assert_eq!(app.playback.as_ref().map(|p| p.head), Some(seq));
    assert!(app.view.marks.contains(&seq) && app.notice.contains("event 20 is marked m"), "{}", app.notice);
    assert_eq!(app.view.screen, ScreenId::Replay);
    // In a replay it seeks.
    let mut replay = opened("success", (120, 36));
    let playing = std::mem::replace(&mut replay.state, every_state());
    replay.state.alerting.alerts.iter_mut().for_each(|alert| alert.seq = Seq(30));
    type_keys(&mut replay, "ga\n");
    replay.state = playing;
    assert_eq!(replay.playback.as_ref().map(|p| p.head), Some(Seq(30)));
    assert!(replay.view.marks.contains(&Seq(30)) && replay.view.screen == ScreenId::Replay);
}

#[test]
fn an_event_that_is_not_written_yet_is_waited_for() {
    let (mut app, _inbox) = on_alerts((120, 36));
    app.state.alerting.alerts.iter_mut().for_each(|alert| alert.seq = Seq(1 << 40));
    type_keys(&mut app, "\n");
    settle(&mut app);
    assert!(app.notice.contains("does not hold event"), "{}", app.notice);
}

#[test]
fn a_dry_run_is_asked_for_by_a_list_and_leads_to_the_event() {
    let (mut app, _inbox) = on_alerts((120, 36));
    let stage = Stage::default();
    let asked = stage.asked.clone();
    app.backstage = Box::new(stage);
    type_keys(&mut app, "D");
    app.take_news();
    assert!(shown(&app).contains("this run, as it is recorded") && shown(&app).contains("failure"), "{}", shown(&app));
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    let last = asked.lock().unwrap().last().cloned();
    let Some(Ask::DryRun(ask)) = last else { panic!("{last:?}") };
    assert_eq!((ask.rule.as_deref(), ask.file.as_str()), (Some("ToolRateLimited"), "rules.yaml"));
    assert!(ask.recording.as_deref().is_some_and(|name| name.contains("failure")));
    assert!(shown(&app).contains("being tried"), "{}", shown(&app));
    // Of another one that was asked for before nothing is shown.
    let (_, Some(outcome)) = dry_run() else { unreachable!() };
    app.desk.take(News::DryRun(dry_run().0, outcome.clone()));
    assert!(shown(&app).contains("being tried"));
    app.desk.take(News::DryRun(ask, outcome));
    assert!(shown(&app).contains("would fire 3 times") && shown(&app).contains("never clear"), "{}", shown(&app));
    press(&mut app, KeyCode::Down, KeyModifiers::NONE);
    type_keys(&mut app, "\n");
    let last = asked.lock().unwrap().last().cloned();
    let Some(Ask::Open { at: Some(at), .. }) = last else { panic!("{last:?}") };
    assert_eq!(at, OpenAt::Event { seq: Seq(70), is_marked: true });
}

/// A rule file in memory.
struct Shelf(std::cell::RefCell<String>);

impl Backstage for Shelf {
    fn ask(&mut self, _: Ask) -> Result<(), String> {
        Ok(())
    }

    fn news(&mut self) -> Vec<News> {
        Vec::new()
    }

    fn rules_of(&self, _: &str) -> Result<String, String> {
        Ok(self.0.borrow().clone())
    }

    fn place_rules(&self, _: &str, before: &str, text: &str) -> Result<(), NotPlaced> {
        match (text, *self.0.borrow() == before) {
            ("bad", _) => Err(NotPlaced::Wrong("rules.yaml:3: bad".into())),
            (_, false) => Err(NotPlaced::Changed),
            (_, true) => Ok(()),
        }
    }
}

#[test]
fn a_rule_file_is_edited_on_until_it_is_right_and_never_put_over_anothers_change() {
    use crate::ui::outside::Back;
    let (mut app, _inbox) = on_alerts((120, 36));
    let folder = tempfile::tempdir().unwrap();
    app.options.state = Some(folder.path().to_owned());
    app.backstage = Box::new(Shelf(std::cell::RefCell::new("old".into())));
    type_keys(&mut app, "e");
    assert_eq!(app.wants_rules().unwrap().1, "old");
    app.rules_came_back(Back::Text("bad".into()));
    assert!(app.notice.contains("rules.yaml:3: bad") && app.notice.contains("stays as it was"), "{}", app.notice);
    type_keys(&mut app, "e");
    assert_eq!(app.wants_rules().unwrap().1, "bad", "what is to be mended is not lost");
    app.rules_came_back(Back::Failed("killed".into()));
    type_keys(&mut app, "e");
    let directory = app.wants_rules().unwrap().0;
    // Somebody else saves the file meanwhile.
    app.backstage = Box::new(Shelf(std::cell::RefCell::new("theirs".into())));
    std::fs::create_dir_all(&directory).unwrap();
    app.rules_came_back(Back::Text("mine".into()));
    assert!(app.notice.contains("was changed on the disk meanwhile"), "{}", app.notice);
    let kept: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(kept.iter().any(|path| std::fs::read_to_string(path).is_ok_and(|text| text == "mine")), "{kept:?}");
    type_keys(&mut app, "e");
    assert_eq!(app.wants_rules().unwrap().1, "theirs");
    app.rules_came_back(Back::Text("mended".into()));
    assert!(app.notice.contains("is in its place"), "{}", app.notice);
}
