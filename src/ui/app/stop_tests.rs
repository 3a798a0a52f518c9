//! Breakpoints and watched expressions by their keys, in a recording and in a run.

use super::*;

#[test]
fn stops_hit_where_a_naive_scan_says_and_nowhere_else() {
    for name in ["success", "failure", "healthy"] {
        let below = seqs(name, |e| matches!(e, Event::TransitionRecorded(t) if t.reward < 0.5));
        let errors = seqs(name, |e| matches!(e, Event::ToolCallFinished(f) if f.error_type.is_some()));
        // It goes on to hold: that is one hit in each decision.
        let mut decisions = std::collections::BTreeSet::new();
        let late = seqs_of(name, |e| e.step.is_some_and(|s| s.0 >= 4) && decisions.insert((e.lane, e.episode, e.step)));
        assert!(late.len() > 1);
        for (typed, places) in [("reward < 0.5", below), ("tool-error", errors), ("step >= 4", late)] {
            let mut app = opened(name, (120, 36));
            keys(&mut app, &format!(":break {typed}\n0"));
            for seq in &places {
                keys(&mut app, "c");
                assert_eq!(app.state.seq, *seq, "{name}, {typed}: {}", app.notice);
                assert!(app.notice.contains("bp1") && shown(&app).contains("PAUSED at bp1"), "{}\n{}", app.notice, shown(&app));
            }
            let last = app.state.seq;
            keys(&mut app, "c");
            assert_eq!(app.state.seq, last);
            assert!(app.notice.contains("no breakpoint holds after"), "{}", app.notice);
            keys(&mut app, "$");
            for seq in places.iter().rev() {
                keys(&mut app, "C");
                assert_eq!(app.state.seq, *seq, "{name}, {typed}");
            }
            keys(&mut app, "C");
            assert!(app.notice.contains("no breakpoint holds before"), "{}", app.notice);
            // Playing stops there too, exactly.
            keys(&mut app, "0");
            app.with_playback(|p| {
                p.set_speed(Pace::Max);
                p.set_playing(true);
            });
            for seq in &places {
                app.with_playback(|p| p.set_playing(true));
                settle(&mut app);
                assert_eq!((app.state.seq, app.playback.as_ref().unwrap().playing), (*seq, false), "{name}, {typed}");
            }
        }
    }
}

#[test]
fn breakpoints_are_set_listed_counted_and_taken_away() {
    let mut app = opened("failure", (120, 36));
    keys(&mut app, "c");
    assert!(app.notice.contains("no breakpoint is set"), "{}", app.notice);
    keys(&mut app, ":seek 3\nb");
    assert_eq!(app.desk.stops.breaks().count(), 1);
    assert!(shown(&app).contains("b1"), "on the timeline:\n{}", shown(&app));
    keys(&mut app, "0");
    keys(&mut app, "c");
    assert_eq!(app.state.seq, settled("failure")[2]);
    keys(&mut app, ":break reward < 0.9\n");
    keys(&mut app, ":breakpoints\n");
    let text = shown(&app);
    let hits = seqs("failure", |e| matches!(e, Event::TransitionRecorded(t) if t.reward < 0.9)).len();
    assert!(text.contains("bp1") && text.contains("bp2  reward < 0.9") && text.contains(&format!("of {hits} time")), "{text}");
    keys(&mut app, "\x1b:breakpoints delete 2\n");
    assert_eq!(app.desk.stops.breaks().count(), 1);
    keys(&mut app, "b");
    assert_eq!(app.desk.stops.breaks().count(), 0, "b takes it away: {}", app.notice);
    keys(&mut app, ":break reward <\n");
    assert!(app.notice.contains("column") && app.desk.stops.all.is_empty(), "{}", app.notice);
    keys(&mut app, ":break tool-error with log\n");
    assert!(app.notice.contains("for live runs") && app.desk.stops.all.is_empty(), "{}", app.notice);
    keys(&mut app, ":break reward < 0.9\n:cond 2 tool-error\n");
    assert!(app.notice.contains("no bp2") && app.desk.stops.all[0].text == "reward < 0.9", "{}", app.notice);
    let number = app.desk.stops.all[0].number;
    keys(&mut app, &format!(":cond {number} tool-error\n"));
    keys(&mut app, ":breakpoints\n");
    let errors = seqs("failure", |e| matches!(e, Event::ToolCallFinished(f) if f.error_type.is_some())).len();
    assert!(shown(&app).contains(&format!("tool-error  hit 0 of {errors} time")), "{}", shown(&app));
    keys(&mut app, "\x1b:breakpoints clear\n");
    keys(&mut app, ":tbreak reward < 0.9\n0c");
    assert!(app.desk.stops.all.is_empty() && app.state.seq > Seq(0), "once: {}", app.notice);
    keys(&mut app, "B");
    assert_eq!(app.open, Open::Command("break ".into()));
}

#[test]
fn a_watched_expression_is_counted_where_the_playhead_is() {
    let mut app = opened("failure", (200, 50));
    keys(&mut app, ":watch reward < 0.9\n$");
    let hits = seqs("failure", |e| matches!(e, Event::TransitionRecorded(t) if t.reward < 0.9)).len();
    assert!(shown(&app).contains(&format!("hit {hits} of {hits} time")), "{}", shown(&app));
    keys(&mut app, "0");
    keys(&mut app, ":seek 1\n");
    assert!(shown(&app).contains(&format!("of {hits} time")), "{}", shown(&app));
    keys(&mut app, ":watch clear\n");
    assert!(app.desk.replay.tallies.is_empty() && app.desk.stops.all.is_empty());
}

/// What an event of its kind says of the reward, worked out anew: the sum so far, by lane and playhead.
fn sum_at(name: &str, head: Seq) -> Option<f64> {
    let sums = events(name).into_iter().take_while(|e| e.seq <= head);
    sums.filter_map(|e| if let Event::TransitionRecorded(t) = e.event { Some(t.reward_sum) } else { None }).last()
}

#[test]
fn a_watched_value_is_shown_wherever_the_playhead_goes_and_stops_nothing() {
    let mut app = opened("failure", (200, 50));
    keys(&mut app, ":watch reward_sum\n");
    assert!(app.notice.contains("watching reward_sum"), "{}", app.notice);
    app.seek(seqs("failure", |e| matches!(e, Event::ObservationReceived(_)))[0]);
    settle(&mut app);
    assert!(shown(&app).contains("reward_sum: n/a (no event had it so far)"), "{}", shown(&app));
    let steps = settled("failure");
    for step in [3, 1, 5, 2] {
        keys(&mut app, &format!(":seek {step}\n"));
        assert_eq!(app.state.seq, steps[step - 1]);
        let number = crate::ui::widgets::format::number(sum_at("failure", app.state.seq).unwrap());
        let line = shown(&app).lines().find(|l| l.contains("watch    reward_sum")).unwrap_or_default().to_owned();
        assert!(line.contains(&number), "step {step}, {number}: {line}");
        let changed = step > 1 && sum_at("failure", app.state.seq) != sum_at("failure", steps[step - 2]);
        assert_eq!(line.contains("~ "), changed, "step {step}: {line}");
    }
    keys(&mut app, "c");
    assert!(app.notice.contains("no breakpoint is set"), "{}", app.notice);
    // Listed by a line without an expression, and taken away by number.
    keys(&mut app, ":watch tool-error\n");
    keys(&mut app, "w\n");
    let text = shown(&app);
    assert!(text.contains("watch 1  reward_sum  ") && text.contains("watch 2  tool-error  hit"), "{text}");
    keys(&mut app, "\x1b:watch delete 1\n");
    assert_eq!(app.desk.stops.watches().map(|s| s.number).collect::<Vec<_>>(), [2], "{}", app.notice);
    keys(&mut app, ":watch delete 9\n");
    assert!(app.notice.contains("there is no watch 9"), "{}", app.notice);
    keys(&mut app, ":watch delete x\n");
    assert!(app.notice.contains("`x` is no number"), "{}", app.notice);
    keys(&mut app, "\x1b:watch clear\n:watch\n");
    assert!(app.notice.contains("nothing is watched; write"), "{}", app.notice);
}

#[test]
fn a_watched_value_of_a_live_run_is_followed_and_pauses_nothing() {
    let all = events("failure");
    let (mut app, inbox, feed) = talking((200, 50));
    keys(&mut app, ":watch reward_sum\n");
    let last = all.iter().rposition(|e| matches!(e.event, Event::TransitionRecorded(_))).unwrap();
    for upto in [last - 1, last] {
        let before = app.state.seq.0 as usize;
        say(&feed, &all[before..=upto]);
        app.take_frames().unwrap();
        let number = crate::ui::widgets::format::number(sum_at("failure", Seq(upto as u64 + 1)).unwrap());
        let line = shown(&app).lines().find(|l| l.contains("watch    reward_sum")).unwrap_or_default().to_owned();
        assert!(line.contains(&number), "{number}: {line}");
    }
    assert_eq!(sent(&inbox), []);
}

#[test]
fn breakpoints_of_a_live_run_are_asked_of_the_engine() {
    let (mut app, inbox, feed) = talking((120, 36));
    keys(&mut app, ":break reward < 0.9 with log ignore=2\n:tbreak tool-error\n:cond 2 reward < 0.5\n:breakpoints delete 2\n");
    let breakpoint = |when: &str| Breakpoint::new(when);
    let wanted = [
        Command::Break { number: None, breakpoint: Breakpoint { log: true, ignore: 2, ..breakpoint("reward < 0.9") } },
        Command::Break { number: None, breakpoint: Breakpoint { once: true, ..breakpoint("tool-error") } },
        Command::Break { number: Some(2), breakpoint: breakpoint("reward < 0.5") },
        Command::Unbreak { number: Some(2) },
    ];
    assert_eq!(sent(&inbox), wanted);
    keys(&mut app, ":break reward <\n");
    assert!(sent(&inbox).is_empty() && app.notice.contains("column"), "a mistake is told before it is sent: {}", app.notice);
    // `b` sets one at the step, and takes it away once the engine has it.
    say(&feed, &events("failure")[..40]);
    app.take_frames().unwrap();
    keys(&mut app, "b");
    let Some(Command::Break { breakpoint, .. }) = sent(&inbox).pop() else { panic!("{}", app.notice) };
    let seq = app.state.seq.next();
    let set = crate::event::BreakpointSet { number: 7, breakpoint }.into();
    say(&feed, &[Envelope { seq, episode: None, step: None, event: set, ..events("failure")[20].clone() }]);
    app.take_frames().unwrap();
    assert!(app.notice.contains("bp7: phase == 'observe' && step == "), "{}", app.notice);
    keys(&mut app, "b");
    assert_eq!(sent(&inbox), [Command::Unbreak { number: Some(7) }]);
    keys(&mut app, ":breakpoints\n");
    assert!(shown(&app).contains("bp7  phase") && shown(&app).contains("hit 0"), "{}", shown(&app));
    // Where nothing can be commanded, none can be set.
    let (mut app, inbox, _feed) = talking((120, 36));
    app.options.read_only = true;
    keys(&mut app, ":break reward < 0.9\n");
    assert!(sent(&inbox).is_empty() && app.notice.contains("read-only"), "{}", app.notice);
}
