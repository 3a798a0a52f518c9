//! `recordings` and `seal` as people run them.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

fn pilothouse(args: &[&str], home: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
    command.args(args).env("HOME", home).env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").current_dir(home);
    command.stdin(std::process::Stdio::null()).output().unwrap()
}

#[track_caller]
fn stdout(args: &[&str], home: &Path, code: i32) -> String {
    let output = pilothouse(args, home);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn record(home: &Path, name: &str, seed: &str, more: &[&str]) {
    let args = ["run", "--headless", "--agent", "heuristic", "--seed", seed, "--record", name];
    stdout(&[&args, more].concat(), home, 0);
}

/// Names in the list, first to last.
fn listed(home: &Path, more: &[&str]) -> Vec<String> {
    let lines = stdout(&[&["recordings", "ls", "--dir", ".", "--json"], more].concat(), home, 0);
    let rows: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    rows.iter().map(|r| r["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn recordings_are_listed_filtered_pinned_and_pruned() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "a.jsonl", "1", &[]);
    record(home, "b.jsonl", "2", &["--episodes", "4"]);
    record(home, "c.jsonl", "3", &["--level", "L2"]);
    std::fs::write(home.join("notes.jsonl"), "no recording\n").unwrap();
    assert_eq!(listed(home, &[]), ["c", "b", "a"]);
    assert_eq!(listed(home, &["--sort", "name"]), ["a", "b", "c"]);
    assert_eq!(listed(home, &["--sort", "events"])[0], "b");
    assert_eq!(listed(home, &["--filter", "level == 'L2' && ended && !sealed"]), ["c"]);
    let unknown = pilothouse(&["recordings", "ls", "--dir", ".", "--filter", "evnts > 3"], home);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `events`"));
    assert!(stdout(&["recordings", "--dir", "."], home, 0).lines().count() == 4, "`ls` may be left out; heads come first");
    // Without --yes nothing is removed; what is pinned stays.
    stdout(&["recordings", "pin", "a.jsonl"], home, 0);
    let prune = ["recordings", "prune", "--dir", ".", "--keep-mb", "0"];
    assert_eq!(stdout(&prune, home, 0).lines().count(), 3);
    assert_eq!(listed(home, &[]).len(), 3);
    stdout(&[&prune[..], &["--yes"]].concat(), home, 0);
    assert_eq!(listed(home, &[]), ["a"]);
    stdout(&["recordings", "prune", "--dir", "."], home, 2);
    assert_eq!(stdout(&["recordings", "prune", "--dir", ".", "--older-than", "1"], home, 0), "", "it is of today");
    stdout(&["recordings", "unpin", "a.jsonl"], home, 0);
    stdout(&[&prune[..], &["--yes"]].concat(), home, 0);
    assert!(listed(home, &[]).is_empty() && home.join("notes.jsonl").exists());
}

#[test]
fn a_sealed_recording_is_read_like_the_plain_one() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "a.jsonl", "1", &["--episodes", "30"]);
    let plain = stdout(&["replay", "a.jsonl", "--json"], home, 0);
    let before = std::fs::metadata(home.join("a.jsonl")).unwrap().len();
    stdout(&["seal", "a.jsonl"], home, 0);
    assert!(!home.join("a.jsonl").exists());
    assert_eq!(stdout(&["replay", "a.jsonl.zst", "--json"], home, 0), plain);
    let after = std::fs::metadata(home.join("a.jsonl.zst")).unwrap().len();
    assert!(after * 4 < before, "{after} of {before}");
    stdout(&["replay", "a.jsonl.zst", "--verify"], home, 0);
    assert_eq!(listed(home, &["--filter", "sealed"]), ["a"]);
    stdout(&["seal", "a.jsonl.zst"], home, 2);
    // A run may seal its recording itself.
    record(home, "b.jsonl", "2", &["--set", "record.seal=true"]);
    assert!(home.join("b.jsonl.zst").exists() && !home.join("b.jsonl").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(home.join("b.jsonl.zst")).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_hostile_header_and_a_hostile_name_are_listed_harmlessly() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "a.jsonl", "1", &[]);
    let text = std::fs::read_to_string(home.join("a.jsonl")).unwrap();
    let text = text.replacen("\"name\":\"ops\"", "\"name\":\"\\u001b]0;x\\u0007\\u009b\\u202e\"", 1);
    std::fs::write(home.join("b\u{1b}[2J\u{9b}\u{202e}\n.jsonl"), text).unwrap();
    for args in [&["recordings", "ls", "--dir", "."][..], &["recordings", "prune", "--keep-mb", "0", "--dir", "."]] {
        for more in [&[][..], &["--json"]] {
            let shown = stdout(&[args, more].concat(), home, 0);
            assert_eq!(shown.lines().count(), if more.is_empty() { 3 } else { 2 }, "{shown:?}");
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{shown:?}");
        }
    }
}

#[test]
fn a_run_does_not_record_beside_its_sealed_namesake() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "r.jsonl", "1", &["--set", "record.seal=true"]);
    let again = pilothouse(&["run", "--headless", "--agent", "heuristic", "--seed", "1", "--record", "r.jsonl"], home);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("r.jsonl.zst exists"));
    assert!(!home.join("r.jsonl").exists() && home.join("r.jsonl.zst").exists());
}

#[test]
fn a_file_that_can_not_be_sealed_keeps_no_other_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "b.jsonl", "1", &[]);
    std::fs::write(home.join("a.jsonl"), "no recording\n").unwrap();
    let output = pilothouse(&["seal", "a.jsonl", "b.jsonl", "c.jsonl"], home);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("a.jsonl") && told.contains("c.jsonl"), "{told}");
    assert!(home.join("b.jsonl.zst").exists() && !home.join("b.jsonl").exists());
}

#[test]
fn what_a_killed_run_left_beside_its_recording_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "a.jsonl", "1", &[]);
    record(home, "b.jsonl", "2", &[]);
    std::fs::write(home.join("a.reserve"), [0; 64]).unwrap();
    std::fs::write(home.join("a.sealing"), "half").unwrap();
    std::fs::write(home.join("b.sealing"), "half").unwrap();
    stdout(&["recordings", "pin", "b.jsonl"], home, 0);
    let prune = |more: &[&str]| {
        let output = pilothouse(&[&["recordings", "prune", "--keep-mb", "0", "--dir", "."], more].concat(), home);
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(prune(&[]).contains("would be removed: ./b.sealing") && home.join("b.sealing").exists());
    let told = prune(&["--filter", "name == 'c'", "--yes"]);
    assert!(told.contains("removed: ./a.sealing, left by a seal that was cut short"), "{told}");
    assert!(!home.join("b.sealing").exists() && home.join("b.jsonl").exists());
    std::fs::write(home.join("a.sealing"), "half").unwrap();
    stdout(&["recordings", "prune", "--keep-mb", "0", "--yes", "--dir", "."], home, 0);
    assert!(!home.join("a.jsonl").exists() && !home.join("a.reserve").exists() && !home.join("a.sealing").exists());
}

#[test]
fn what_is_no_sealed_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    // A frame without a table, and bytes that only begin like one.
    std::fs::write(home.join("a.jsonl.zst"), [0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0x01, 0x00, 0x00]).unwrap();
    std::fs::write(home.join("b.jsonl.zst"), [0x28, 0xb5, 0x2f, 0xfd]).unwrap();
    for name in ["a.jsonl.zst", "b.jsonl.zst"] {
        let output = pilothouse(&["replay", name, "--json"], home);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("table of frames is missing") && told.contains("`zstd -dc` gives"), "{told}");
    }
}

#[cfg(unix)]
#[test]
fn what_a_run_writes_is_its_owners_alone_whatever_the_mask() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_pilothouse"), "run", "--headless", "--agent", "heuristic"]);
    command.args(["--seed", "1", "--record", "new/dir/r.jsonl", "--set", "record.seal=true"]);
    command.env("HOME", home).env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").current_dir(home);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mode = |name: &str| std::fs::metadata(home.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("new"), mode("new/dir"), mode("new/dir/r.jsonl.zst")], [0o700, 0o700, 0o600]);
}

/// Sockets among the open files of a process, and processes that it has started.
#[cfg(target_os = "linux")]
fn reaches(pid: u32) -> (Vec<String>, Vec<String>) {
    let all = |dir: String| std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let links = all(format!("/proc/{pid}/fd")).filter_map(|fd| Some(std::fs::read_link(fd).ok()?.display().to_string()));
    let children = all(format!("/proc/{pid}/task")).map(|task| std::fs::read_to_string(task.join("children")).unwrap());
    (links.filter(|link| link.starts_with("socket:")).collect(), children.filter(|c| !c.trim().is_empty()).collect())
}

#[cfg(target_os = "linux")]
#[test]
fn a_replay_opens_no_socket_and_starts_no_process() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let root = env!("CARGO_MANIFEST_DIR");
    let replay = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command.arg("replay").arg(format!("{root}/recordings/shift.jsonl")).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    // A pipe that nobody reads on holds it in the middle of its events.
    let mut child = replay(&["--json"]);
    let mut output = BufReader::with_capacity(1, child.stdout.take().unwrap());
    output.read_until(b'\n', &mut Vec::new()).unwrap();
    assert_eq!(reaches(child.id()), (vec![], vec![]));
    assert!(child.try_wait().unwrap().is_none(), "it was looked at while it replayed");
    child.kill().unwrap();
    child.wait().unwrap();
    // The look finds them where they are.
    let listener = std::os::unix::net::UnixListener::bind(tempfile::tempdir().unwrap().path().join("s")).unwrap();
    let mut sleep = Command::new("sleep").arg("60").spawn().unwrap();
    let (sockets, children) = reaches(std::process::id());
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    drop(listener);
    assert!(!sockets.is_empty() && !children.is_empty());
}

#[test]
fn what_a_replay_prints_of_a_hostile_recording_reaches_no_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    record(home, "a.jsonl", "1", &[]);
    let hostile = "\\u001b[2J\\u001b]0;x\\u0007\\u009b31m\\u202e";
    let mut text = std::fs::read_to_string(home.join("a.jsonl")).unwrap();
    for key in ["text", "compact", "goal", "briefing", "result", "reason", "truth"] {
        text = text.replace(&format!("\"{key}\":\""), &format!("\"{key}\":\"{hostile}"));
    }
    std::fs::write(home.join("a.jsonl"), text).unwrap();
    for args in [&["replay", "a.jsonl", "--json"][..], &["replay", "a.jsonl", "--headless"]] {
        let output = pilothouse(args, home);
        let shown = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(shown.contains("31m"), "the texts are there: {shown}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{shown:?}");
    }
}
