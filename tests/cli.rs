//! The program as people run it: exit codes, recordings, verification.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn pilothouse(args: &[&str], home: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pilothouse"))
        .args(args)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn record(dir: &Path, name: &str, args: &[&str]) -> PathBuf {
    let path = dir.join(name);
    let mut all = vec!["run", "--headless", "--seed", "7", "--record", path.to_str().unwrap()];
    all.extend(args);
    let output = pilothouse(&all, dir);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    path
}

/// Event lines without what the clock decides.
fn timeless(path: &Path) -> Vec<String> {
    let without = |value: &mut serde_json::Value| {
        value["t"] = 0.into();
        if let Some(d) = value["d"].as_object_mut() {
            d.retain(|k, _| !k.ends_with("_ns") && k != "run" && k != "started");
        }
    };
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter(|l| l.starts_with("{\"seq\""))
        .map(|l| {
            let mut value: serde_json::Value = serde_json::from_str(l).unwrap();
            without(&mut value);
            value.to_string()
        })
        .collect()
}

fn verify(path: &Path, dir: &Path) -> (i32, String) {
    let output = pilothouse(&["replay", path.to_str().unwrap(), "--headless", "--verify"], dir);
    (code(&output), text(&output.stderr))
}

/// Makes the commit chain of a recording anew, as somebody would who edits one on purpose.
fn rechain(lines: &[String]) -> String {
    let hex = |bytes: &[u8]| format!("{:08x}", crc32c::crc32c(bytes));
    let mut out = format!("{}\n", lines[0]);
    let (mut prev, mut batch) = (hex(out.as_bytes()), String::new());
    for line in &lines[1..] {
        if line.starts_with("{\"k\":\"Commit\"") {
            let mut commit: serde_json::Value = serde_json::from_str(line).unwrap();
            let crc = hex(batch.as_bytes());
            commit["crc32c"] = crc.clone().into();
            commit["prev"] = prev.into();
            out.push_str(&format!("{batch}{commit}\n"));
            (prev, batch) = (crc, String::new());
        } else {
            batch.push_str(&format!("{line}\n"));
        }
    }
    out + &batch
}

#[test]
fn a_run_is_recorded_and_verifies_and_the_same_seed_gives_the_same_events() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["--episodes", "3", "--agent", "heuristic"][..],
        &["--episodes", "3", "--agent", "heuristic", "--lanes", "2"],
        &["--episodes", "2"],
    ] {
        let (a, b) = (record(dir.path(), "a.jsonl", args), record(dir.path(), "b.jsonl", args));
        assert_eq!(verify(&a, dir.path()).0, 0);
        assert_eq!(timeless(&a), timeless(&b), "{args:?}");
        std::fs::remove_file(a).unwrap();
        std::fs::remove_file(b).unwrap();
    }
}

#[test]
fn the_policy_can_be_run_again_token_by_token() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "p.jsonl", &["--episodes", "2", "--lanes", "2"]);
    let output = pilothouse(&["replay", path.to_str().unwrap(), "--verify=policy"], dir.path());
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("messages of the policy"));
}

#[test]
fn a_flipped_byte_is_found_and_its_step_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "r.jsonl", &["--episodes", "1", "--agent", "heuristic"]);
    let lines: Vec<String> = std::fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    for (kind, from, to) in [
        ("ObservationReceived", "\"values\":[", "\"values\":[9"),
        ("TransitionRecorded", "\"reward\":1.0", "\"reward\":0.5"),
        ("ToolCallStarted", "\"name\":\"wait", "\"name\":\"wajt"),
        ("TransitionRecorded", "\"name\":\"wait", "\"name\":\"wajt"),
    ] {
        let at = lines.iter().position(|l| l.contains(&format!("\"k\":\"{kind}\"")) && l.contains(from)).unwrap();
        let step = serde_json::from_str::<serde_json::Value>(&lines[at]).unwrap()["step"].to_string();
        let mut changed = lines.clone();
        changed[at] = changed[at].replacen(from, to, 1);
        let edited = dir.path().join("edited.jsonl");
        std::fs::write(&edited, changed.join("\n") + "\n").unwrap();
        let (raw, _) = verify(&edited, dir.path());
        assert!(raw == 3 || raw == 4, "{kind}: {raw}");
        std::fs::write(&edited, rechain(&changed)).unwrap();
        let (chained, message) = verify(&edited, dir.path());
        assert_eq!(chained, 3, "{kind}: {message}");
        assert!(message.contains(&format!("1/{step}")), "{kind} step {step}: {message}");
    }
    // Without an edit the chain made anew is the chain that was written.
    assert_eq!(rechain(&lines), std::fs::read_to_string(&path).unwrap());
}

#[test]
fn a_broken_byte_without_its_chain_is_partial_input() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "r.jsonl", &["--episodes", "1", "--agent", "heuristic"]);
    let text_before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text_before.replacen("\"reason\":\"started", "\"reason\":\"startex", 1)).unwrap();
    let (found, message) = verify(&path, dir.path());
    assert_eq!(found, 4, "{message}");
    assert!(message.contains("steps 1/1"), "{message}");
    // Cut in front of a commit's line feed, or behind a commit: what was committed is read, and the exit code says that it is not all.
    std::fs::write(&path, &text_before[..text_before.len() - 5]).unwrap();
    assert_eq!(verify(&path, dir.path()).0, 4);
    let header_only = text_before.find('\n').unwrap() + 1;
    let first_commit = text_before.find("{\"k\":\"Commit\"").map(|at| at + text_before[at..].find('\n').unwrap() + 1).unwrap();
    for whole_lines in [header_only, first_commit].into_iter().filter(|length| *length < text_before.len()) {
        std::fs::write(&path, &text_before[..whole_lines]).unwrap();
        let (found, message) = verify(&path, dir.path());
        assert_eq!(found, 4, "{message}");
        assert!(message.contains("does not end"), "{message}");
    }
    // A line that is no JSON in the middle ends neither the transcript nor the reading.
    let at = text_before.match_indices('\n').nth(9).unwrap().0;
    std::fs::write(&path, format!("{}!!{}", &text_before[..at - 2], &text_before[at..])).unwrap();
    let output = pilothouse(&["replay", path.to_str().unwrap(), "--json"], dir.path());
    assert_eq!(code(&output), 4);
    assert!(text(&output.stdout).contains("\"Elided\"") && text(&output.stdout).contains("\"EpisodeEnded\""));
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_a_recording_that_replays_to_its_last_commit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("k.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
        .args(["run", "--headless", "--agent", "heuristic", "--episodes", "100000", "--record", path.to_str().unwrap()])
        .env("HOME", dir.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Not timed: it waits until there is something to lose.
    while std::fs::read_to_string(&path).map_or(0, |t| t.matches("\"k\":\"Commit\"").count()) < 3 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (found, message) = verify(&path, dir.path());
    // However clean the cut: the run does not end in the file.
    assert_eq!(found, 4, "{message}");
    assert!(message.contains("unfinished") && !message.contains("damaged"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_training_that_is_stopped_ends_its_recording() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("t.jsonl"), dir.path().join("out"));
    let child = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
        .args(["train", "bc", "--out", out.to_str().unwrap(), "--record", path.to_str().unwrap()])
        .env("HOME", dir.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Not timed: it waits until the training has begun, long before its first update.
    while !std::fs::read_to_string(&path).is_ok_and(|t| t.contains("LogLine")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    let integrity = pilothouse::journal::Integrity::check(&path).unwrap();
    assert!(integrity.is_intact(), "{:?}", integrity.lines());
}

#[test]
fn bad_input_is_named_and_exits_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let newer = file("newer.jsonl", "{\"fmt\":\"pilothouse-rec\",\"v\":[9,0]}\n");
    let other = file("other.jsonl", "{\"hello\":1}\n");
    let cases: [(&[&str], &str); 9] = [
        (&["replay", "missing.jsonl"], "missing.jsonl"),
        (&["replay", &newer], "9.0"),
        (&["replay", &other], "not a recording"),
        (&["run", "--headless", "--env", "opz"], "opz"),
        (&["run", "--headless", "--level", "L9"], "L9"),
        (&["run", "--headless", "--checkpoint", "nope"], "nope"),
        (&["run", "--headless", "--agent", "/no/such/dir"], "/no/such/dir"),
        (&["run", "--headless", "--set", "agent.temprature=1"], "temperature"),
        (&["eval", "nobody"], "nobody"),
    ];
    for (args, names) in cases {
        let output = pilothouse(args, dir.path());
        assert_eq!(code(&output), 2, "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(names), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn eval_takes_built_in_names_and_a_range_of_held_out_seeds() {
    let dir = tempfile::tempdir().unwrap();
    let eval = |args: &[&str]| pilothouse(args, dir.path());
    let output = eval(&["eval", "heuristic", "deckhand-final", "--level", "L0", "--seeds", "3..7"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    assert!(lines.contains("deckhand-final: success") && lines.contains("against heuristic"), "{lines}");
    let json = text(&eval(&["eval", "heuristic", "--level", "L0", "--seeds", "3..7", "--json"]).stdout);
    let row: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((row["episodes"].as_u64(), row["level"].as_str()), (Some(4), Some("L0")));
    for seeds in ["7..3", "x", "0..9999999999"] {
        assert_eq!(code(&eval(&["eval", "heuristic", "--seeds", seeds])), 2, "{seeds}");
    }
}

#[test]
fn global_flags_may_stand_before_a_command_and_flags_of_run_may_not() {
    let dir = tempfile::tempdir().unwrap();
    let shown = text(&pilothouse(&["--theme", "light", "config", "show", "--origin"], dir.path()).stdout);
    assert!(shown.lines().any(|l| l.contains("ui.theme") && l.contains("light") && l.contains("--theme")), "{shown}");
    let output = pilothouse(&["--seed", "7", "config", "check"], dir.path());
    assert_eq!(code(&output), 2, "{}", text(&output.stdout));
    assert_eq!(code(&pilothouse(&["--headless", "--agent", "oracle"], dir.path())), 0);
}

#[test]
fn a_recording_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "once.jsonl", &["--agent", "heuristic"]);
    let before = std::fs::read(&path).unwrap();
    let output = pilothouse(&["run", "--headless", "--agent", "heuristic", "--record", path.to_str().unwrap()], dir.path());
    assert_eq!(code(&output), 2);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// The limit on a file's size stands for a full disk: writes fail from there on.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_a_headless_run_and_loses_nothing_that_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let script = "trap '' XFSZ; ulimit -f 800; exec \"$0\" run --headless --agent heuristic --episodes 100000 --seed 3 --record full.jsonl";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_pilothouse")]).env("HOME", dir.path()).current_dir(dir.path());
    let output = command.output().unwrap();
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the recording can't be written"), "{}", text(&output.stderr));
    let path = dir.path().join("full.jsonl");
    let (found, message) = verify(&path, dir.path());
    assert!(found == 0 || found == 4, "{found}: {message}");
    let written = std::fs::read_to_string(&path).unwrap();
    let last: serde_json::Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
    assert!(last["upto"].as_u64().unwrap() > 500, "{last}");
}

#[test]
fn output_that_nobody_reads_ends_a_command_quietly() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["config", "show"][..], &["man"], &["completions", "bash"], &["run", "--headless", "--agent", "heuristic", "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command.args(args).env("HOME", dir.path()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), text(&output.stderr)), (0, String::new()), "{args:?}");
    }
}

#[test]
fn every_event_of_a_headless_run_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    for seed in ["1", "2", "3", "4"] {
        let args = ["run", "--headless", "--agent", "heuristic", "--episodes", "40", "--lanes", "4", "--seed", seed, "--json"];
        let output = pilothouse(&args, dir.path());
        let seqs = text(&output.stdout)
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["seq"].as_u64().unwrap())
            .collect::<Vec<_>>();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn what_a_recording_says_reaches_no_terminal_as_an_escape() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "h.jsonl", &["--agent", "heuristic"]);
    let good = std::fs::read_to_string(&path).unwrap();
    // A kind that can't be read is quoted in an error; an argument of a call is handed on as it is.
    let hostile = good.replacen(r#""phase":"observe""#, r#""phase":"\u001b]0;pwn\u0007\u001b[2J""#, 1);
    let hostile = hostile.replacen(r#""name":"wait","arguments":{}"#, r#""name":"wait","arguments":{"note":"\u009b2J\u202e"}"#, 1);
    assert!(hostile.contains("u009b"));
    std::fs::write(&path, hostile).unwrap();
    for mode in [&["--headless"][..], &["--json"], &["--verify"], &["--until", "step == 2", "--headless"]] {
        let output = pilothouse(&[&["replay", path.to_str().unwrap()], mode].concat(), dir.path());
        assert_eq!(code(&output), 4, "{mode:?}: {}", text(&output.stderr));
        let told = [output.stdout, output.stderr].concat();
        let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert_eq!(text(&told).chars().find(|c| bad(*c)), None, "{mode:?}: {:?}", text(&told));
    }
}

#[test]
fn what_has_no_end_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["replay", "/dev/zero", "--headless"][..],
        &["replay", "sample", "--shot", "s.svg", "--theme", "/dev/zero"],
        &["config", "check", "--config", "/dev/zero"],
    ] {
        let output = pilothouse(args, dir.path());
        assert_eq!(code(&output), 2, "{args:?}: {}", text(&output.stderr));
    }
    for args in [&["run", "--headless", "--agent", "/dev/zero"][..], &["eval", "/dev/zero"]] {
        let output = pilothouse(args, dir.path());
        assert_eq!(code(&output), 2, "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("no directory"), "{}", text(&output.stderr));
    }
    assert_eq!(code(&pilothouse(&["eval", "random", "--episodes", "1000000000"], dir.path())), 2);
    assert_eq!(code(&pilothouse(&["run", "--headless", "--episodes", "0"], dir.path())), 2);
}

/// A golden recording.
fn golden(name: &str) -> String {
    format!("{}/recordings/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_diff_says_whether_anything_differs_and_exits_so() {
    let dir = tempfile::tempdir().unwrap();
    let diff = |args: &[&str]| pilothouse(&[&["diff"], args].concat(), dir.path());
    let (failure, success, shift) = (golden("failure"), golden("success"), golden("shift"));
    let same = diff(&[&failure, &failure]);
    assert_eq!(code(&same), 0, "{}", text(&same.stderr));
    assert!(text(&same.stdout).contains("= nothing differs in 1 episode"), "{}", text(&same.stdout));
    let other = diff(&[&format!("{failure}#1"), &format!("{success}#1")]);
    assert_eq!(code(&other), 3);
    let told = text(&other.stdout);
    assert!(
        told.contains("~ first difference: step 1: observation") && told.contains("~ checkpoint: deckhand-middle -> deckhand-final"),
        "{told}"
    );
    for (args, says) in [
        (vec![format!("{shift}#0:99")], "there is no episode 99"),
        (vec![format!("{failure}#1")], "is no branch"),
        (vec![failure.clone()], "name a second recording"),
        (vec![failure.clone(), format!("{success}#1")], "can't be compared with an episode"),
        (vec!["#1".to_owned(), failure.clone()], "needs a file"),
        (vec![format!("{failure}#x"), failure.clone()], "is no episode"),
        (vec!["no-such.jsonl".to_owned(), failure.clone()], "no-such.jsonl"),
    ] {
        let output = diff(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(text(&output.stderr).contains(says), "{args:?}: {}", text(&output.stderr));
    }
    // Cut behind the episode: what is there is the same.
    let torn = dir.path().join("torn.jsonl");
    let whole = std::fs::read_to_string(&failure).unwrap();
    let ended = whole.find("\"k\":\"EpisodeEnded\"").unwrap();
    let end = ended + whole[ended..].find('\n').unwrap() + 1;
    std::fs::write(&torn, &whole[..end]).unwrap();
    let partial = diff(&[&failure, torn.to_str().unwrap()]);
    assert_eq!(code(&partial), 4, "{}", text(&partial.stdout));
    assert!(text(&partial.stderr).contains("unfinished"), "{}", text(&partial.stderr));
}

#[test]
fn a_diff_as_json_lines_names_its_kinds() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (format!("{}#1", golden("failure")), format!("{}#1", golden("success")));
    let output = pilothouse(&["diff", &a, &b, "--json"], dir.path());
    let records: Vec<serde_json::Value> = text(&output.stdout).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = records.iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("episodes", "summary"));
    for kind in ["given", "divergence", "step", "outcome", "cost"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let divergence = records.iter().find(|r| r["kind"] == "divergence").unwrap();
    let step = records.iter().find(|r| r["kind"] == "step").unwrap();
    assert_eq!(divergence["difference"], step["differences"][0]);
    assert!(step["thought"].as_array().is_some_and(|t| t.iter().any(|t| t["logprob_a"].is_number())), "{step}");
    let summary = records.last().unwrap();
    assert_eq!(summary["same"], false);
    assert_eq!(
        kinds.iter().filter(|k| **k == "step").count() as u64,
        summary["steps"].as_u64().unwrap() - summary["steps_same"].as_u64().unwrap()
    );
}

#[test]
fn what_two_recordings_say_reaches_no_terminal_as_an_escape() {
    let dir = tempfile::tempdir().unwrap();
    let text_of = std::fs::read_to_string(golden("failure")).unwrap();
    let evil = dir.path().join("evil.jsonl");
    std::fs::write(
        &evil,
        text_of
            .replace("logs(ship)", "logs\\u001b]0;evil\\u0007\\u202e(ship)")
            .replace("\"wait\"", "\"w\\u001b[31mait\"")
            .replace("\"name\":\"gw.p95\"", "\"name\":\"g\\u001b[2Jw\\u0007\"")
            .replace("\"deckhand-middle\"", "\"deck\\u009b2J\\u202e\""),
    )
    .unwrap();
    for args in [vec!["--all"], vec!["--json"], vec![]] {
        for episode in ["", "#1"] {
            let (a, b) = (format!("{}{episode}", golden("failure")), format!("{}{episode}", evil.display()));
            let output = pilothouse(&[&["diff", &a, &b], args.as_slice()].concat(), dir.path());
            assert_eq!(code(&output), 3);
            let all = [output.stdout, output.stderr].concat();
            let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert_eq!(text(&all).chars().find(|c| bad(*c)), None, "{args:?} {episode}: {:?}", text(&all));
        }
    }
}

#[test]
fn the_golden_episodes_verify() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["success", "failure", "healthy"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings").join(format!("{name}.jsonl"));
        let (found, message) = verify(&path, dir.path());
        assert_eq!(found, 0, "{name}: {message}");
    }
}

#[test]
fn until_and_from_cut_a_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let path = record(dir.path(), "u.jsonl", &["--agent", "heuristic"]);
    let run = |extra: &[&str]| {
        let mut args = vec!["replay", path.to_str().unwrap(), "--json"];
        args.extend(extra);
        let output = pilothouse(&args, dir.path());
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        text(&output.stdout).lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()).collect::<Vec<_>>()
    };
    let all = run(&[]);
    let cut = run(&["--until", "kind == \"DecisionSettled\" && step == 2"]);
    assert_eq!(cut.last().unwrap()["step"], 2);
    assert!(cut.len() < all.len());
    assert_eq!(run(&["--from", "1/2"])[0]["step"], 2);
}

/// Writes a generated part of the README, or compares it.
fn readme_holds(part: &str, begin: &str, end: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    if std::env::var_os("PILOTHOUSE_UPDATE").is_some() {
        let (before, rest) = readme.split_once(begin).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        std::fs::write(&path, format!("{before}{begin}{part}{end}{after}")).unwrap();
        return;
    }
    assert!(readme.contains(part), "the table is not the program's: run this with PILOTHOUSE_UPDATE=1");
}

#[test]
fn the_readme_lists_every_key_and_every_field() {
    let keys = pilothouse::ui::actions::key_table_markdown();
    readme_holds(&keys, "the_readme_lists_every_key -->\n", "<!-- end of keys -->");
    let fields = pilothouse::cond::Variable::table_markdown();
    readme_holds(&fields, "cli the_readme -->\n", "<!-- end of fields -->");
}
