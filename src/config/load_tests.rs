use super::*;
use crate::config::Color;
use crate::event::{Level, Pace, RewardFormula, Seed};
use proptest::prelude::*;

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn sets(sets: &[&str]) -> Sources {
    Sources { sets: sets.iter().map(|s| (*s).to_owned()).collect(), ..Sources::default() }
}

/// Loads `text` as the file `my.ron`.
fn file(text: &str) -> Result<Config, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.ron");
    std::fs::write(&path, text).unwrap();
    let shown = format!("{}/", dir.path().display());
    load(&Sources { file: Some(path), ..Sources::default() }).map_err(|e| e.to_string().replace(&shown, ""))
}

fn fault(text: &str) -> String {
    file(text).unwrap_err()
}

fn set_fault(set: &str) -> String {
    load(&sets(&[set])).unwrap_err().to_string()
}

#[test]
fn the_defaults_and_every_profile_load() {
    let config = load(&Sources::default()).unwrap();
    assert_eq!(config.profile_name, Profile::Dev);
    assert_eq!(config.reward.formula(), RewardFormula::default());
    assert_eq!((config.run.level, config.run.seed, config.run.pace.0), (Level::L0, None, Pace::Times(1.0)));
    assert!(config.lines().iter().all(|line| line.origin == Origin::Default));
    for profile in Profile::ALL {
        let config = load(&Sources { profile: Some(profile.name().into()), ..Sources::default() }).unwrap();
        assert_eq!(config.profile_name, profile);
    }
}

#[test]
fn the_comments_of_the_file_are_those_of_the_table() {
    let mut lines = DEFAULTS.1.lines().map(str::trim).peekable();
    for field in FIELDS {
        let mut comment = Vec::new();
        loop {
            let line = lines.next().unwrap_or_else(|| panic!("{} is not in the file, or not in the table's order", field.path));
            match line.strip_prefix("//") {
                Some(text) => comment.push(text),
                None if line.starts_with(&format!("{}: ", field.name)) => break,
                None => comment.clear(),
            }
        }
        assert_eq!(comment, field.doc, "{}", field.path);
    }
}

#[test]
fn later_layers_win_and_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.ron");
    std::fs::write(&path, "(run: (lanes: 2, seed: 1, level: L1, env: \"ops\"), profile: (banner: \"STAGING\"))").unwrap();
    let sources = Sources {
        file: Some(path.clone()),
        profile: Some("prod".into()),
        env: env(&[("PILOTHOUSE__RUN__LANES", "3"), ("PILOTHOUSE__RUN__SEED", "2"), ("PILOTHOUSE_PROFILE", "test"), ("HOME", "/x")]),
        sets: vec!["run.lanes=4".into(), "run.lanes = 5".into()],
        flags: vec![Flag { name: "--seed", path: "run.seed", value: "9".into() }],
    };
    let config = load(&sources).unwrap();
    assert_eq!((config.run.lanes, config.run.seed, config.run.level), (5, Some(Seed(9)), Level::L1));
    assert_eq!(config.profile_name, Profile::Prod);
    assert_eq!((config.profile.banner.as_deref(), config.profile.pause_seconds_max), (Some("STAGING"), Some(600)));
    let origin = |path: &str| config.lines().into_iter().find(|line| line.path == path).unwrap().origin.to_string();
    assert_eq!(origin("run.lanes"), "--set");
    assert_eq!(origin("run.seed"), "--seed");
    assert_eq!(origin("run.level"), path.display().to_string());
    assert_eq!(origin("profile.pause_seconds_max"), "profile prod");
    assert_eq!(origin("ui.theme"), "default");
}

#[test]
fn a_later_layer_can_unset() {
    let sources = Sources { profile: Some("prod".into()), ..sets(&["profile.pause_seconds_max=none", "run.checkpoint=None"]) };
    assert_eq!(load(&sources).unwrap().profile.pause_seconds_max, None);
    assert_eq!(file("(run: (seed: None))").unwrap().run.seed, None);
    let test = Sources { profile: Some("test".into()), ..sets(&["run.seed=none"]) };
    assert_eq!(load(&test).unwrap().run.seed, None);
}

#[test]
fn values_of_flags_are_written_as_in_the_file_and_text_needs_no_quotes() {
    let config = load(&sets(&[
        "run.agent=heuristic",
        "ui.theme=\"my theme.ron\"",
        "run.pace=max",
        "run.level=L3",
        "agent.temperature=0.5",
        "ui.color=never",
        "record.directory=/var/rec",
        "run.device=cuda:1",
        "run.seed=18446744073709551615",
        "ui.ascii=true",
    ]))
    .unwrap();
    assert_eq!((config.run.agent.as_str(), config.ui.theme.as_str()), ("heuristic", "my theme.ron"));
    assert_eq!((config.run.pace.0, config.run.level), (Pace::Max, Level::L3));
    assert_eq!((config.agent.temperature, config.ui.color, config.ui.ascii), (0.5, Color::Never, Some(true)));
    assert_eq!(config.record.directory.as_deref(), Some(Path::new("/var/rec")));
    assert_eq!(config.run.seed, Some(Seed(u64::MAX)));
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    insta::assert_snapshot!(fault("(\n    run: (\n        lnaes: 2,\n    ),\n)"), @"my.ron:3:9: section `run` has no setting `lnaes`; did you mean `lanes`?");
    insta::assert_snapshot!(fault("(rnu: (lanes: 2))"), @"my.ron:1:2: no section is named `rnu`; did you mean `run`?");
    insta::assert_snapshot!(fault("(run: (theme: \"dark\"))"), @"my.ron:1:8: section `run` has no setting `theme`; it belongs to section `ui`");
    insta::assert_snapshot!(fault("(lanes: 2)"), @"my.ron:1:2: no section is named `lanes`; it is a setting of section `run`");
    insta::assert_snapshot!(fault("(reward: (zeta: 2))"), @"my.ron:1:11: section `reward` has no setting `zeta`; there are step_weight, final_weight, gamma");
    insta::assert_snapshot!(set_fault("run.lane=2"), @"--set run.lane=2: section `run` has no setting `lane`; did you mean `lanes`?");
    insta::assert_snapshot!(set_fault("lanes=2"), @"--set lanes=2: no section is named `lanes`; it is a setting of section `run`");
    insta::assert_snapshot!(set_fault("run.lanes"), @"--set run.lanes: should be section.field=value, such as `agent.temperature=0.7`");
    let sources = Sources { env: env(&[("PILOTHOUSE__RUN__SED", "1")]), ..Sources::default() };
    insta::assert_snapshot!(load(&sources).unwrap_err(), @"environment variable PILOTHOUSE__RUN__SED: section `run` has no setting `sed`; did you mean `seed`?");
}

#[test]
fn duplicates_are_refused() {
    insta::assert_snapshot!(fault("(run: (\n  lanes: 2,\n  lanes: 3,\n))"), @"my.ron:3:3: `run.lanes` is set twice; keep one");
    insta::assert_snapshot!(fault("(run: (lanes: 2),\n run: (seed: 1))"), @"my.ron:2:2: section `run` stands twice; put both into one");
}

#[test]
fn wrong_types_and_ranges_say_what_is_right() {
    insta::assert_snapshot!(fault("(\n  run: (\n    lanes: \"two\",\n  ))"), @"my.ron:3:11: `run.lanes` should be a whole number, not negative");
    insta::assert_snapshot!(fault("(\n  run: (\n    lanes: 0,\n  ))"), @"my.ron:3:14: `run.lanes` is 0; give 1 to 256");
    insta::assert_snapshot!(fault("(run: (lanes: -1))"), @"my.ron:1:16: `run.lanes` should be a whole number, not negative");
    insta::assert_snapshot!(fault("(run: (lanes: None))"), @"my.ron:1:14: `run.lanes` should be a whole number, not negative");
    insta::assert_snapshot!(fault("(run: (level: L7))"), @"my.ron:1:15: `run.level` should be L0, L1, L2 or L3");
    insta::assert_snapshot!(fault("(run: (pace: \"warp\"))"), @"my.ron:1:15: `run.pace` should be text in quotes: `warp` is not a pace; use `max` or a factor from 0.1 to 1000, such as `2` or `x2`");
    insta::assert_snapshot!(fault("(run: (agent: heuristic))"), @"my.ron:1:14: `run.agent` should be text in quotes");
    insta::assert_snapshot!(fault("(run: 3)"), @"my.ron:1:6: not valid RON: a section is written as (name: value, …)");
    insta::assert_snapshot!(fault("(agent: (temperature: NaN))"), @"my.ron:1:26: `agent.temperature` is NaN; give 0 to 2");
    insta::assert_snapshot!(fault("(ui: (ambiguous_width: 3))"), @"my.ron:1:25: `ui.ambiguous_width` is 3; give 1 or 2");
    insta::assert_snapshot!(fault("(ui: (color: purple))"), @"my.ron:1:14: `ui.color` should be auto, always, never, ansi16, ansi256 or truecolor");
    insta::assert_snapshot!(set_fault("run.lanes=many"), @"--set run.lanes=many: `run.lanes` should be a whole number, not negative");
    insta::assert_snapshot!(set_fault("run.lanes=300"), @"--set run.lanes=300: `run.lanes` is 300; give 1 to 256");
    insta::assert_snapshot!(set_fault("run.device=gpu"), @"--set run.device=gpu: `run.device` is `gpu`; give auto, cpu, or cuda:N with the number of the GPU");
    insta::assert_snapshot!(set_fault("run.agent="), @"--set run.agent=: `run.agent` is empty; give a name or leave the setting out");
    insta::assert_snapshot!(set_fault("agent.keep_steps=6"), @"agent.keep_steps (from --set): is 6, which is not less than `agent.window_steps` (6): lower it");
    insta::assert_snapshot!(load(&Sources { profile: Some("production".into()), ..Sources::default() }).unwrap_err(), @"--profile production: `production` is not a profile; use dev, test or prod");
}

#[test]
fn broken_files_say_where() {
    insta::assert_snapshot!(fault(""), @"my.ron:1:1: not valid RON: Expected opening `(`");
    insta::assert_snapshot!(fault("(\n  run: (lanes: 2\n"), @"my.ron:2:17: not valid RON: Expected comma");
    insta::assert_snapshot!(fault("(run: (lanes: 2) ui: ())"), @"my.ron:1:18: not valid RON: Expected comma");
    insta::assert_snapshot!(fault("()\nmore"), @"my.ron:1:3: not valid RON: Non-whitespace trailing characters");
    insta::assert_snapshot!(fault("[]"), @"my.ron:1:1: not valid RON: Expected opening `(`");
}

#[test]
fn bombs_end_in_an_error() {
    for bomb in ["(", "[", "{", "Some(", "/*", "#![enable(implicit_some)]\n(run: ((((", "\"", "r#"] {
        let text = bomb.repeat((1 << 20) / bomb.len() - 1);
        assert!(fault(&text).starts_with("my.ron"), "{bomb}");
        let inside = format!("(run: (lanes: {text}");
        assert!(fault(&inside[..inside.len().min(1 << 20)]).starts_with("my.ron"), "{bomb}");
    }
    insta::assert_snapshot!(fault(&" ".repeat((1 << 20) + 1)), @"my.ron: is larger than 1024 KiB, which no configuration is; is it the right file?");
}

#[test]
fn files_that_can_t_be_read_are_named() {
    let error = load(&Sources { file: Some("no/such.ron".into()), ..Sources::default() }).unwrap_err();
    assert!(error.to_string().starts_with("no/such.ron: can't be read: "), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.ron");
    std::fs::write(&path, [0x28, 0xff, 0x29]).unwrap();
    let error = load(&Sources { file: Some(path), ..Sources::default() }).unwrap_err();
    assert!(matches!(error.problem, Problem::NotText));
    assert!(matches!(load(&Sources { file: Some(dir.path().into()), ..Sources::default() }).unwrap_err().problem, Problem::Read(_)));
}

#[test]
fn the_hash_is_of_the_values_and_not_of_who_said_them() {
    let hash = |sources: &Sources| load(sources).unwrap().sha256();
    let plain = hash(&Sources::default());
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, hash(&sets(&["run.lanes=1"])));
    assert_ne!(plain, hash(&sets(&["run.lanes=2"])));
    assert_ne!(plain, hash(&Sources { profile: Some("prod".into()), ..Sources::default() }));
}

#[test]
fn shown_values_read_back() {
    let sources = sets(&["run.seed=3", "record.directory=/a b/c", "run.pace=2.5", "profile.banner=say \"hi\""]);
    let config = load(&sources).unwrap();
    let shown = Sources { sets: config.lines().iter().map(|line| format!("{}={}", line.path, line.value)).collect(), ..Sources::default() };
    let again = load(&shown).unwrap();
    assert_eq!(again.sha256(), config.sha256());
    let text: Vec<String> = config.lines().iter().take(4).map(|line| format!("{} = {}", line.path, line.value)).collect();
    assert_eq!(text, ["run.env = \"ops\"", "run.level = L0", "run.seed = 3", "run.lanes = 1"]);
}

proptest! {
    #[test]
    fn garbage_never_panics(text in "[(){}:,\"a-z0-9 .\\[\\]#/*-]{0,80}", set in "\\PC{0,30}") {
        let _ = file(&text);
        let _ = load(&sets(&[&set]));
        let _ = load(&sets(&[&format!("run.seed={set}")]));
    }
}
