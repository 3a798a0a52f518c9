//! Incident bundles as people make and open them: on one machine and on another, and what is refused.
#![allow(clippy::unwrap_used)]

use sha2::{Digest, Sha256};
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Names and bodies of a bundle's entries, in order.
type Entries = Vec<(String, Vec<u8>)>;

/// A machine: a home of its own, and a place for temporary files that must be empty afterwards.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pilothouse"));
        command
            .env("HOME", self.dir.path().join("home"))
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let told = said(&self.command().args(args).output().unwrap());
        let left: Vec<_> = std::fs::read_dir(self.dir.path().join("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{args:?} left {left:?}");
        told
    }
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn golden(name: &str) -> String {
    format!("{}/recordings/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

/// A bundle of a golden recording, on a machine that nobody sees again.
fn bundle(name: &str, args: &[&str]) -> Vec<u8> {
    let machine = Machine::new();
    let (code, _, told) = machine.run(&[&["bundle", &golden(name), "-o", "b.zip"], args].concat());
    assert_eq!(code, 0, "{told}");
    std::fs::read(machine.work().join("b.zip")).unwrap()
}

fn entries(bundle: &[u8]) -> Entries {
    let mut archive = ZipArchive::new(Cursor::new(bundle)).unwrap();
    let read = |i: usize, archive: &mut ZipArchive<Cursor<&[u8]>>| {
        let mut entry = archive.by_index(i).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.name().unwrap().into_owned(), bytes)
    };
    (0..archive.len()).map(|i| read(i, &mut archive)).collect()
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn zipped(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), stored()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_bundle_opens_on_another_machine_as_the_recording_does_on_this_one() {
    let (here, there) = (Machine::new(), Machine::new());
    let recording = golden("shift");
    let (code, told, _) = here.run(&["bundle", &recording]);
    assert!(code == 0 && told.contains("events 1 to 783"), "{told}");
    let made = here.work().join("shift.bundle.zip");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&made).unwrap()) & 0o777, 0o600);
    // Told by its content.
    let file = there.work().join("incident");
    std::fs::copy(&made, &file).unwrap();
    let file = file.to_str().unwrap();
    for args in [&["--headless"][..], &["--json"], &["--verify"], &["--headless", "--from", "2/3"]] {
        let wanted = here.run(&[&["replay", &recording], args].concat());
        assert_eq!(there.run(&[&["replay", file], args].concat()), wanted, "{args:?}");
    }
    assert_eq!(there.run(&["replay", file, "--shot", "a.txt", "--size", "120x36", "--unicode"]).0, 0);
    let picture = std::fs::read_to_string(there.work().join("a.txt")).unwrap();
    assert!(picture.lines().next().unwrap().contains("BUNDLE of 2"), "{picture}");
    let names: Vec<String> = entries(&std::fs::read(&made).unwrap()).into_iter().map(|(name, _)| name).collect();
    for name in ["bundle.json", "README.txt", "recording.jsonl.zst", "config.ron", "checkpoints.json", "log.txt", "screens/end-live.svg"] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
}

#[test]
fn a_part_opens_at_its_beginning_and_says_that_it_is_one() {
    let (here, there) = (Machine::new(), Machine::new());
    let recording = golden("shift");
    std::fs::write(there.work().join("b.zip"), bundle("shift", &["--last", "500ms"])).unwrap();
    let wanted = here.run(&["replay", &recording, "--json", "--from", "@487"]);
    assert!(wanted.1.lines().count() > 200);
    assert_eq!(there.run(&["replay", "b.zip", "--json"]), wanted);
    let (code, told, _) = there.run(&["replay", "b.zip", "--verify"]);
    assert!(
        code == 0 && told.contains("2 episodes, 22 steps: identical") && told.contains("from event 487 on: its beginning is not here"),
        "{told}"
    );
    // A condition that asks for more than its event holds finds the same.
    let until = ["--headless", "--until", "run.episodes > 4"];
    let (code, _, found) = there.run(&[&["replay", "b.zip"][..], &until].concat());
    assert_eq!((code, &found), (0, &here.run(&[&["replay", recording.as_str()][..], &until].concat()).2));
    assert!(found.contains("holds first at event 699"), "{found}");
    // Of a part the part; and of one in which none begins there is nothing to verify.
    assert_eq!(there.run(&["bundle", "b.zip", "--last", "1ns", "-o", "c.zip"]).0, 0);
    let (code, _, told) = there.run(&["replay", "c.zip", "--verify"]);
    assert!(code == 1 && told.contains("no episode begins in this part"), "{told}");
    assert_eq!(there.run(&["replay", "c.zip", "--headless"]).1.trim(), "run Ended: all episodes are done");
}

#[test]
fn bundles_are_compared_as_their_recordings_are_and_by_their_own_names() {
    let machine = Machine::new();
    std::fs::write(machine.work().join("a.zip"), bundle("shift", &[])).unwrap();
    std::fs::write(machine.work().join("b.zip"), bundle("failure", &[])).unwrap();
    for name in ["shift", "failure"] {
        std::fs::copy(golden(name), machine.work().join(format!("{name}.jsonl"))).unwrap();
    }
    let of_bundles = |text: &str| text.replace("shift.jsonl", "a.zip").replace("failure.jsonl", "b.zip");
    for args in [["shift.jsonl", "failure.jsonl"], ["shift.jsonl#1", "failure.jsonl#1"], ["shift.jsonl#1", "0:2"]] {
        let (code, told, error) = machine.run(&["diff", args[0], args[1]]);
        assert!(code == 3, "{args:?} {code} {error}");
        let bundled = machine.run(&["diff", &of_bundles(args[0]), &of_bundles(args[1])]);
        assert_eq!(bundled, (code, of_bundles(&told), of_bundles(&error)), "{args:?}");
    }
    assert_eq!(machine.run(&["diff", "a.zip", "shift.jsonl"]).0, 0);
    let (code, _, error) = machine.run(&["diff", "a.zip#99", "1"]);
    assert!(code == 2 && error.contains("no episode 99 in a.zip"), "{error}");
}

#[test]
fn a_recording_that_is_being_written_is_whole_to_every_comparison() {
    let machine = Machine::new();
    let whole = std::fs::read(golden("shift")).unwrap();
    for name in ["a.jsonl", "b.jsonl"] {
        std::fs::write(machine.work().join(name), &whole[..whole.len() / 2]).unwrap();
    }
    let forms: [&[&str]; 2] = [&["diff", "a.jsonl", "b.jsonl"], &["diff", "a.jsonl#1", "b.jsonl#1"]];
    assert_eq!(forms.map(|args| machine.run(args).0), [4, 4]);
    let files = ["a.jsonl", "b.jsonl"].map(|name| std::fs::File::open(machine.work().join(name)).unwrap());
    files.iter().for_each(|file| file.try_lock().unwrap());
    assert_eq!(forms.map(|args| machine.run(args).0), [0, 0]);
}

#[test]
fn what_looks_like_a_secret_in_the_events_is_told_to_whoever_packs_them() {
    let machine = Machine::new();
    let text = std::fs::read_to_string(golden("failure")).unwrap();
    let at = text.find("\"thought\":\"").unwrap() + 11;
    let text = format!("{}ghp_abcdefghijklmnop {}", &text[..at], &text[at..]);
    std::fs::write(machine.work().join("a.jsonl"), text).unwrap();
    let (_, _, told) = machine.run(&["bundle", "a.jsonl"]);
    assert!(told.contains("what looks like a secret") && told.contains("handed on"), "{told}");
    let made = entries(&std::fs::read(machine.work().join("a.bundle.zip")).unwrap());
    assert!(String::from_utf8_lossy(&made[0].1).contains("secrets in the events are not left out"));
}

#[test]
fn what_is_longer_than_the_run_is_all_of_it_and_what_is_no_time_is_told() {
    let machine = Machine::new();
    let recording = golden("failure");
    let (code, told, _) = machine.run(&["bundle", &recording, "--last", "10m"]);
    assert!(code == 0 && told.contains("all of the recording"), "{told}");
    for bad in ["ten minutes", "-5m", "0s", "", "10"] {
        let (code, _, told) = machine.run(&["bundle", &recording, "--last", bad, "-o", "bad.zip"]);
        assert!(code == 2 && told.contains("10m, 90s or 1h30m"), "{bad}: {told}");
    }
    assert!(!machine.work().join("bad.zip").exists());
    // What is there stays as it is.
    let before = std::fs::read(machine.work().join("failure.bundle.zip")).unwrap();
    let (code, _, told) = machine.run(&["bundle", &recording]);
    assert!(code == 2 && told.contains("name another file by -o"), "{told}");
    assert_eq!(std::fs::read(machine.work().join("failure.bundle.zip")).unwrap(), before);
    let (code, _, told) = machine.run(&["bundle", &recording, "-o", "no/such/dir.zip"]);
    assert!(code == 1 && told.contains("no/such"), "{told}");
    assert_eq!(machine.run(&["bundle", "/no/such.jsonl"]).0, 2);
}

#[test]
fn without_a_name_it_is_the_newest_recording() {
    let machine = Machine::new();
    let (code, _, told) = machine.run(&["bundle"]);
    assert!(code == 2 && told.contains("there is no recording"), "{told}");
    let dir = machine.dir.path().join("home/.local/state/pilothouse/recordings");
    std::fs::create_dir_all(&dir).unwrap();
    for (name, started) in [("old", "2025-01-01T00:00:00Z"), ("new", "2026-06-01T00:00:00Z")] {
        let text = std::fs::read_to_string(golden("success")).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
        header["started"] = started.into();
        std::fs::write(dir.join(format!("{name}.jsonl")), format!("{header}\n{rest}")).unwrap();
    }
    // The header was changed, which breaks the chain: it is packed all the same, and said.
    let (code, told, error) = machine.run(&["bundle"]);
    assert!(code == 4 && told.contains("new.bundle.zip") && error.contains("packed as it is"), "{told}{error}");
    assert_eq!(machine.run(&["replay", "new.bundle.zip", "--headless"]).0, 4);
}

#[test]
fn what_is_not_whole_is_packed_and_stays_so() {
    let machine = Machine::new();
    let whole = std::fs::read(golden("failure")).unwrap();
    let cut = machine.work().join("cut.jsonl");
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let header = whole.split_inclusive(|b| *b == b'\n').next().unwrap();
    std::fs::write(machine.work().join("empty.jsonl"), header).unwrap();
    for name in ["cut", "empty"] {
        let (code, told, error) = machine.run(&["bundle", &format!("{name}.jsonl")]);
        assert!(code == 4 && told.contains(".bundle.zip") && error.contains("unfinished"), "{told}{error}");
        let of = |file: String| {
            let (code, transcript, error) = machine.run(&["replay", &file, "--headless"]);
            (code, transcript, error.replace("pilothouse: ", ""))
        };
        let (code, transcript, error) = of(format!("{name}.bundle.zip"));
        assert_eq!((code, transcript, error), of(format!("{name}.jsonl")));
        assert_eq!(machine.run(&["replay", &format!("{name}.bundle.zip"), "--shot", &format!("{name}.svg")]).0, 4);
    }
    // While its writer holds it, that its end is missing is no finding; what is not committed is left out.
    let held = std::fs::File::open(&cut).unwrap();
    held.try_lock().unwrap();
    let (code, told, error) = machine.run(&["bundle", "cut.jsonl", "-o", "live.zip", "--last", "10m"]);
    assert!(code == 0 && error.contains("the run goes on"), "{told}{error}");
    drop(held);
    let (code, _, error) = machine.run(&["replay", "live.zip", "--headless"]);
    assert!(code == 4 && error.contains("unfinished") && !error.contains("torn") && !error.contains("uncommitted"), "{error}");
}

#[test]
fn no_secret_and_nothing_of_this_place_is_in_it() {
    let machine = Machine::new();
    let home = machine.dir.path().join("home");
    let file = machine.work().join("c.ron");
    let banner = "PROD of canary-in-key";
    std::fs::write(&file, format!("(profile: (banner: Some(\"{banner}\")), record: (directory: Some({:?})))", home.join("kept"))).unwrap();
    let mut command = machine.command();
    command.args(["bundle", &golden("failure"), "-o", "b.zip", "--config", "c.ron"]);
    command.args(["--set", &format!("telemetry.nvml_library={}", home.join("lib/nvml.so").display())]);
    command.env("SOME_API_KEY", "canary-in-key").env("PILOTHOUSE__UI__THEME", "canary-in-environment").env("USER", "canary-user");
    let (code, _, told) = said(&command.output().unwrap());
    assert_eq!(code, 0, "{told}");
    let made = std::fs::read(machine.work().join("b.zip")).unwrap();
    let mut all = entries(&made);
    all.push(("the events".into(), machine.run(&["replay", "b.zip", "--json"]).1.into_bytes()));
    for (name, bytes) in &all {
        let text = String::from_utf8_lossy(bytes);
        for secret in ["canary", home.to_str().unwrap(), machine.dir.path().file_name().unwrap().to_str().unwrap()] {
            assert!(!text.contains(secret), "{secret} is in {name}");
        }
    }
    let config = &all.iter().find(|(name, _)| name == "config.ron").unwrap().1;
    let config = String::from_utf8_lossy(config);
    assert!(config.contains("// theme: redacted // PILOTHOUSE__UI__THEME"), "{config}");
    assert!(config.contains("PROD of [redacted]") && config.contains("\"~/kept\"") && config.contains("\"~/lib/nvml.so\""), "{config}");
}

#[test]
fn the_rules_in_force_are_in_it_without_what_must_not_leave() {
    let machine = Machine::new();
    let rules = "groups:\n- name: g\n  interval: 10s\n  labels: {team: gpu}\n  rules:\n  - record: a:b\n    expr: sum(pilothouse_lanes)\n  - alert: Lanes\n    expr: a:b > 3\n    for: 1m\n    keep_firing_for: 90s\n    labels: {severity: page}\n    annotations: {summary: 'lanes {{ $value }}', dashboard: 'https://h/?k=canary-in-key'}\n";
    std::fs::write(machine.work().join("own.yaml"), rules).unwrap();
    let (code, _, told) = machine.run(&["run", "--headless", "--agent", "heuristic", "--rules", "own.yaml", "--record", "r.jsonl"]);
    assert_eq!(code, 0, "{told}");
    let mut command = machine.command();
    let (code, _, told) = said(&command.args(["bundle", "r.jsonl", "-o", "b.zip"]).env("SOME_API_KEY", "canary-in-key").output().unwrap());
    assert_eq!(code, 0, "{told}");
    let packed = entries(&std::fs::read(machine.work().join("b.zip")).unwrap());
    let body = |wanted: &str| String::from_utf8(packed.iter().find(|(name, _)| name == wanted).unwrap().1.clone()).unwrap();
    let inside = body("rules.yaml");
    let sha256: String = Sha256::digest([rules.as_bytes(), &[0]].concat()).iter().map(|b| format!("{b:02x}")).collect();
    assert!(inside.lines().next().unwrap().contains(&sha256), "{inside}");
    assert!(inside.contains("https://h/?k=[redacted]") && !inside.contains("canary"), "{inside}");
    let manifest: serde_json::Value = serde_json::from_str(&body("bundle.json")).unwrap();
    assert!(!manifest["left_out"].to_string().contains("no rules"), "{manifest}");
    // It is a rule file, and says the same.
    std::fs::write(machine.work().join("inside.yaml"), &inside).unwrap();
    let (code, checked, told) = machine.run(&["rules", "check", "inside.yaml"]);
    assert!(code == 0 && checked.contains('2'), "{checked}{told}");
    let read: serde_yaml::Value = serde_yaml::from_str(&inside).unwrap();
    let alert = &read["groups"][0]["rules"][1];
    let text = |value: &serde_yaml::Value| value.as_str().unwrap_or_default().to_owned();
    assert_eq!((text(&alert["alert"]), text(&alert["expr"]), text(&alert["for"])), ("Lanes".into(), "a:b > 3".into(), "60000ms".into()));
    assert_eq!((text(&alert["keep_firing_for"]), text(&alert["labels"]["team"])), ("90000ms".into(), "gpu".into()));
    assert_eq!(
        (text(&read["groups"][0]["interval"]), text(&alert["annotations"]["summary"])),
        ("10000ms".into(), "lanes {{ $value }}".into())
    );
}

/// A bundle with another body for an entry, and the hash that fits it.
fn with_body(entries: &[(String, Vec<u8>)], name: &str, body: Vec<u8>) -> Entries {
    let mut entries = entries.to_vec();
    let mut manifest: serde_json::Value = serde_json::from_slice(&entries[0].1).unwrap();
    let listed = manifest["entries"].as_array_mut().unwrap().iter_mut().find(|e| e["name"] == name).unwrap();
    listed["bytes"] = body.len().into();
    listed["sha256"] = Sha256::digest(&body).iter().map(|b| format!("{b:02x}")).collect::<String>().into();
    entries[0].1 = manifest.to_string().into_bytes();
    entries.iter_mut().find(|(n, _)| n == name).unwrap().1 = body;
    entries
}

#[test]
fn what_is_no_bundle_or_was_changed_is_refused_and_named() {
    let good = bundle("failure", &[]);
    let parts = entries(&good);
    let changed = |change: &dyn Fn(&mut Entries)| {
        let mut parts = parts.clone();
        change(&mut parts);
        zipped(&parts)
    };
    let manifest = |change: &dyn Fn(&mut serde_json::Value)| {
        changed(&|parts| {
            let mut value: serde_json::Value = serde_json::from_slice(&parts[0].1).unwrap();
            change(&mut value);
            parts[0].1 = value.to_string().into_bytes();
        })
    };
    let link = {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_symlink("recording.jsonl.zst", "/etc/passwd", stored()).unwrap();
        zip.finish().unwrap().into_inner()
    };
    let mut flipped = good.clone();
    let at = good.windows(8).position(|w| w == b"An incid").unwrap();
    flipped[at] ^= 1;
    let cases: Vec<(&str, Vec<u8>, i32, &str)> = vec![
        ("a path", changed(&|p| p.push(("../../evil".into(), b"x".to_vec()))), 1, "`../../evil` leads out"),
        ("an absolute path", changed(&|p| p.push(("/tmp/evil".into(), b"x".to_vec()))), 1, "`/tmp/evil` leads out"),
        ("a backslash", changed(&|p| p.push(("a\\..\\evil".into(), b"x".to_vec()))), 1, "leads out"),
        ("control characters", changed(&|p| p.push(("a\u{1b}[2Jb".into(), b"x".to_vec()))), 1, "a␛[2Jb"),
        ("a link", link, 1, "is a link"),
        ("truncated", good[..good.len() - 30].to_vec(), 1, "cut short"),
        ("half", good[..good.len() / 2].to_vec(), 1, "cut short"),
        ("a flipped byte", flipped, 1, "README.txt"),
        (
            "another log",
            changed(&|p| p.iter_mut().find(|e| e.0 == "log.txt").unwrap().1 = b"all was well".to_vec()),
            1,
            "`log.txt` was changed",
        ),
        ("a wrong hash", manifest(&|m| m["entries"][1]["sha256"] = "00".into()), 1, "`recording.jsonl.zst` was changed"),
        ("one more", changed(&|p| p.push(("more.txt".into(), b"x".to_vec()))), 1, "`more.txt` is not in its list"),
        ("one less", changed(&|p| p.retain(|e| e.0 != "config.ron")), 1, "`config.ron` is missing"),
        ("no list", changed(&|p| drop(p.remove(0))), 2, "no bundle: it holds no `bundle.json`"),
        ("another list", changed(&|p| p[0].1 = b"{}".to_vec()), 2, "no bundle"),
        ("a newer one", manifest(&|m| m["v"] = serde_json::json!([2, 0])), 2, "version 2.0; this build reads 1.x"),
        (
            "no recording",
            manifest(&|m| drop(m["entries"].as_array_mut().unwrap().remove(1))),
            1,
            "`recording.jsonl.zst` is not in its list",
        ),
        (
            "listed twice",
            manifest(&|m| {
                let e = m["entries"][2].clone();
                m["entries"].as_array_mut().unwrap().push(e);
            }),
            1,
            "twice",
        ),
        ("an empty one", zipped(&[]), 2, "no bundle"),
        ("no zip", b"PK\x03\x04 and then nothing".to_vec(), 1, "cut short"),
        ("no recording in it", zipped(&with_body(&parts, "recording.jsonl.zst", b"not one".to_vec())), 2, "is not a recording"),
        ("text", b"hello".to_vec(), 2, "is not a recording"),
    ];
    let machine = Machine::new();
    for (what, bytes, wanted, words) in cases {
        std::fs::write(machine.work().join("x.zip"), bytes).unwrap();
        for verb in ["replay", "bundle"] {
            let args: &[&str] = if verb == "replay" { &["replay", "x.zip", "--headless"] } else { &["bundle", "x.zip", "-o", "y.zip"] };
            let (code, out, told) = machine.run(args);
            assert!(code == wanted && told.contains(words) && out.is_empty(), "{what}, {verb}: {code} {told}");
            assert!(!machine.work().join("y.zip").exists() && !told.contains('\u{1b}'), "{what}");
        }
    }
    assert!(!machine.dir.path().join("evil").exists() && !machine.work().join("evil").exists());
}

#[test]
fn what_would_fill_the_disk_is_refused_before_anything_is_written() {
    let parts = entries(&bundle("failure", &[]));
    let good = zipped(&parts);
    let machine = Machine::new();
    let file = machine.work().join("x.zip");
    // The table says of an entry that it is stored, and a thousand times as long.
    let mut claims = good.clone();
    let name = b"log.txt";
    let central = claims.windows(4 + 42 + name.len()).rposition(|w| w.starts_with(b"PK\x01\x02") && w.ends_with(name)).unwrap();
    for at in [20, 24] {
        claims[central + at..central + at + 4].copy_from_slice(&0x7fff_ffffu32.to_le_bytes());
    }
    std::fs::write(&file, &claims).unwrap();
    let (code, _, told) = machine.run(&["replay", "x.zip", "--headless"]);
    assert!(code == 1 && told.contains("are said to hold"), "{told}");
    // Said to be deflated.
    let mut packed = good.clone();
    packed[central + 10..central + 12].copy_from_slice(&8u16.to_le_bytes());
    std::fs::write(&file, &packed).unwrap();
    let (code, _, told) = machine.run(&["replay", "x.zip", "--headless"]);
    assert!(code == 1 && told.contains("log.txt"), "{told}");
    // Too many entries.
    let many: Entries = (0..20_001).map(|n| (format!("e{n}"), Vec::new())).collect();
    std::fs::write(&file, zipped(&many)).unwrap();
    let (code, _, told) = machine.run(&["replay", "x.zip", "--headless"]);
    assert!(code == 1 && told.contains("20001 entries"), "{told}");
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_nothing_is_left_of_it() {
    let machine = Machine::new();
    let limited = |blocks: u32| {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" bundle \"$1\" -o out.zip");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_pilothouse"), &golden("failure")]);
        shell.env("HOME", machine.dir.path().join("home")).env("TMPDIR", machine.dir.path().join("tmp"));
        shell.current_dir(machine.work()).stdin(Stdio::null());
        said(&shell.output().unwrap())
    };
    // Room for the part and not for the bundle; and for neither.
    for blocks in [64, 1] {
        let (code, _, told) = limited(blocks);
        assert!(code == 1 && told.starts_with("pilothouse: "), "{blocks}: {code} {told}");
        assert_eq!(std::fs::read_dir(machine.work()).unwrap().count(), 0, "{blocks}");
        assert_eq!(std::fs::read_dir(machine.dir.path().join("tmp")).unwrap().count(), 0, "{blocks}");
    }
}
