//! The pictures of the README are what the program draws of its recordings today. `PILOTHOUSE_UPDATE=1 cargo test --test pictures`
//! draws them anew.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// File in docs/img, and what draws it.
const PICTURES: [(&str, &[&str]); 3] = [
    ("live.svg", &["recordings/shift.jsonl", "--from", "6/7", "--screen", "live", "--size", "120x36"]),
    ("replay.svg", &["recordings/shift.jsonl", "--from", "5/9", "--screen", "replay", "--size", "120x36"]),
    ("phone.svg", &["recordings/shift.jsonl", "--from", "6/7", "--screen", "live", "--size", "45x22"]),
];

fn draw(arguments: &[&str], to: &Path) {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_pilothouse"))
        .arg("replay")
        .args(arguments)
        .arg("--shot")
        .arg(to)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("XDG_CONFIG_HOME", home.path())
        .env("XDG_STATE_HOME", home.path())
        .env_remove("NO_COLOR")
        .env("LANG", "C.UTF-8")
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_pictures_of_the_readme_are_current() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/img");
    let aside = tempfile::tempdir().unwrap();
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for (name, arguments) in PICTURES {
        assert!(readme.contains(&format!("docs/img/{name}")), "{name} is not in the README");
        let kept = place.join(name);
        if std::env::var_os("PILOTHOUSE_UPDATE").is_some() {
            let _ = std::fs::remove_file(&kept);
            draw(arguments, &kept);
            continue;
        }
        let now = aside.path().join(name);
        draw(arguments, &now);
        let same = std::fs::read(&kept).unwrap() == std::fs::read(&now).unwrap();
        assert!(same, "docs/img/{name} is not what the program draws: run this with PILOTHOUSE_UPDATE=1 and look at it");
    }
}
