//! The functions of the fuzz targets over seeded input: recordings that were tampered with, and conditions made of what conditions are made of.

#![allow(clippy::unwrap_used)]

// It needs the dice alone.
#[allow(dead_code)]
mod events;
#[path = "hostile/mod.rs"]
mod targets;

use events::Random;
use pilothouse::journal::seal;

const TAMPERED: u64 = 600;
const CONDITIONS: u64 = 3000;

/// Pieces that a recording's reader looks at.
const PIECES: [&[u8]; 16] = [
    b"\n",
    b"{\"seq\":",
    b"{\"k\":\"Commit\",\"upto\":",
    b"{\"k\":\"Snapshot\",\"upto\":",
    b"18446744073709551615",
    b"\"packed\":\"KLUv/QRYAQAAmenYUQ==\"}",
    b",\"d\":{\"from\":1,\"upto\":18446744073709551615}}",
    b"\"k\":\"Elided\"",
    b"\"blobs\":{\"/d/text\":{\"sha256\":\"..\",\"bytes\":1}}}\n",
    b"}}}\n",
    b"\xff\xfe",
    b"\0",
    b"\\u0000",
    b"-1",
    b"[[[[[[[[[[[[[[[[",
    b"1e999",
];

fn tampered(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        let upto = (at + random.below(200)).min(bytes.len());
        match random.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..upto)),
            2 => drop(bytes.splice(at..at, PIECES[random.below(PIECES.len())].iter().copied())),
            3 => {
                let copy = bytes[at..upto].to_vec();
                let to = random.below(bytes.len().max(1));
                drop(bytes.splice(to..to, copy));
            }
            4 => bytes.truncate(bytes.len() - random.below(bytes.len().min(2000) + 1)),
            _ => {
                // Digits for digits, so that a line still parses.
                let digit = |b: &u8| b.is_ascii_digit();
                if let Some(place) = bytes[at..].iter().position(digit) {
                    bytes[at + place] = b'0' + random.below(10) as u8;
                }
            }
        }
    }
    bytes
}

#[test]
fn no_recording_does_harm() {
    let (dir, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plain: Vec<Vec<u8>> = ["success", "failure"].iter().map(|n| std::fs::read(format!("recordings/{n}.jsonl")).unwrap()).collect();
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, &plain[0]).unwrap();
    let sealed = std::fs::read(seal(&path).unwrap().path).unwrap();
    targets::recording(work.path(), b"");
    for seed in 0..TAMPERED {
        let mut random = Random(seed);
        let bytes = [&plain[0], &plain[1], &sealed][random.below(3)];
        targets::recording(work.path(), &tampered(bytes, &mut random));
        assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0, "seed {seed}: nothing is left");
    }
}

/// Tokens of which conditions are made, right and wrong ones.
const TOKENS: [&str; 54] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    "&&",
    "||",
    "?",
    ":",
    ".",
    ",",
    " in ",
    "0",
    "1",
    "-9223372036854775808",
    "9223372036854775807",
    "1e308",
    "1u",
    "'a'",
    "\"\\u0000\"",
    "b'\\xff'",
    "r'\\'",
    "true",
    "null",
    "event",
    "tool",
    "step",
    "reward",
    "tool.name",
    "kind",
    "reward-below ",
    "tool-error",
    "kl-above ",
    " ",
    "nan",
    "-inf",
    "obs",
    "size(",
    ".matches('(a+)+$')",
    ".exists(x, ",
    ".map(y, ",
    "has(",
    "\n",
];

#[test]
fn no_condition_does_harm() {
    let events = targets::events();
    assert!(events.len() > 10);
    for seed in 0..CONDITIONS {
        let mut random = Random(seed);
        let text: String = (0..1 + random.below(14)).map(|_| TOKENS[random.below(TOKENS.len())]).collect();
        targets::condition(&text, &events);
    }
}

#[test]
fn no_depth_does_harm() {
    let events = targets::events();
    for part in [
        "(",
        "[",
        "{",
        "!",
        "-",
        "((1)+",
        "!(",
        "[[",
        "{1:",
        "true ? (",
        "true ? true : ",
        "1 + ",
        "1 + (",
        "a.",
        "size(",
        "has(a.",
        "[1].map(x, ",
        "'",
        "true && ",
        "f(",
        "-(",
        "a[",
        "{'a': ",
    ] {
        for bytes in [40, 300, 1000, 4096] {
            let open = part.repeat(bytes / part.len());
            let close: String = part
                .chars()
                .rev()
                .filter_map(|c| match c {
                    '(' => Some(')'),
                    '[' => Some(']'),
                    '{' => Some('}'),
                    _ => None,
                })
                .collect();
            targets::condition(&open, &events);
            let half = part.repeat(bytes / (part.len() + close.len() + 1));
            let depth = half.len() / part.len();
            targets::condition(&format!("{half}1{}", close.repeat(depth)), &events);
            targets::condition(&format!("{half}true{}", close.repeat(depth)), &events);
        }
    }
}
