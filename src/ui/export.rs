//! `:export`: what the focused pane shows, as a file that did not exist before.

use super::lang;
use super::panes::replay::{Scene, read_so_far};
use super::records::{cells, records};
use crate::event::SafeText;
use crate::ui::lang::tr;
use serde_json::Value;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Does it; gives what to tell.
pub fn export(argument: &str, scene: Scene<'_>) -> String {
    let (format, file) = argument.split_once(' ').unwrap_or((argument, ""));
    let form = match format {
        "csv" => csv,
        "json" => json_lines,
        _ => return tr!("export takes csv or json and a file, such as: export csv rewards.csv"),
    };
    if file.trim().is_empty() {
        return tr!("export {format} needs a file, such as: export {format} rewards.{format}", format = format);
    }
    let title = lang::text(scene.view.active().title());
    let records = match records(scene) {
        Ok(records) if records.is_empty() => return tr!("{title}: there is nothing to export yet", title = title),
        Ok(records) => records,
        Err(error) => return format!("{title}: {error}"),
    };
    let path = path(file.trim());
    match write_new(&path, &form(&records)) {
        Ok(()) => {
            let records = super::widgets::format::counted(records.len() as u64, "record");
            let told = tr!("wrote {records} of {title} to {path}", records = records, title = title, path = path.display());
            // What was not read yet is not in the file.
            let is_read = scene.playback.is_none() || scene.desk.replay.book.is_whole();
            if is_read { told } else { format!("{told}; {}", read_so_far(scene.desk)) }
        }
        Err(error) => failure(&path, &error),
    }
}

/// Writes a new file where the operator says; gives what to tell.
pub fn write_to(file: &str, bytes: &[u8]) -> String {
    let path = path(file);
    match write_new(&path, bytes) {
        Ok(()) => tr!("wrote {path}", path = path.display()),
        Err(error) => failure(&path, &error),
    }
}

/// A file that is there is never written over.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes);
    if written.is_err() {
        // Half a file is of no use, and takes the room that the recording may need.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn failure(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::AlreadyExists => tr!("{path} is there already, and is left as it is; name another file", path = path.display()),
        _ => format!("{}: {error}", path.display()),
    }
}

/// No shell stands between: `~/` is read here.
fn path(file: &str) -> PathBuf {
    match (file.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        (Some(_) | None, _) => file.into(),
    }
}

fn json_lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{}\n", SafeText::new(&record.to_string())).into_bytes()).collect()
}

/// The columns are all names that any record has, in the order in which they come up.
fn csv(records: &[Value]) -> Vec<u8> {
    let rows: Vec<Vec<(String, String)>> = records.iter().map(cells).collect();
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let mut out = line(columns.iter().copied());
    for row in &rows {
        let value = |column: &&str| row.iter().find(|(name, _)| name == column).map_or("", |(_, value)| value.as_str());
        out.push_str(&line(columns.iter().map(value)));
    }
    out.into_bytes()
}

/// RFC 4180, with plain line feeds.
fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    // Not every name in an event was made safe where it was read.
    let cells: Vec<String> = cells.map(|cell| quoted(&no_formula(&SafeText::new(cell)))).collect();
    format!("{}\n", cells.join(","))
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

/// Text of models and tools must not become a formula when a spreadsheet opens it. Numbers stay numbers.
fn no_formula(value: &str) -> String {
    let may_be = value.starts_with(['=', '+', '-', '@', '\t', '\r']) && value.parse::<f64>().is_err();
    if may_be { format!("'{value}") } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::DashState;
    use crate::ui::panes::curves::Figure;
    use crate::ui::panes::testing::{scene, typical};
    use crate::ui::view::{PaneId, View};

    fn exported(format: &str, view: &View) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out file");
        let told = export(&format!("{format} {}", file.display()), scene(&typical(), view));
        assert!(told.starts_with("wrote "), "{told}");
        std::fs::read_to_string(file).unwrap()
    }

    #[test]
    fn nothing_that_is_written_moves_a_terminal_or_turns_a_line() {
        let record = serde_json::json!({"p95\u{202e}\u{9b}2J\u{1b}[2J": "\u{7f}\u{85}\u{1b}]0;x\u{7}"});
        for written in [json_lines(std::slice::from_ref(&record)), csv(&[record])] {
            let text = String::from_utf8(written).unwrap();
            let is_raw = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!text.contains(is_raw), "{text:?}");
        }
    }

    fn read_csv(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut inside) = (Vec::new(), Vec::new(), String::new(), false);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, inside) {
                ('"', true) if chars.peek() == Some(&'"') => cell.extend(chars.next()),
                ('"', _) => inside = !inside,
                (',', false) => row.push(std::mem::take(&mut cell)),
                ('\n', false) => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                (c, _) => cell.push(c),
            }
        }
        assert!(cell.is_empty() && row.is_empty() && !inside, "the last line is not whole");
        rows
    }

    #[test]
    fn every_pane_exports_in_both_formats() {
        for focus in crate::ui::view::ScreenId::Live.panes().iter().copied() {
            let view = View { focus, ..View::default() };
            let json = exported("json", &view);
            assert!(json.lines().all(|line| serde_json::from_str::<Value>(line).unwrap().is_object()), "{json}");
            let text = exported("csv", &view);
            let rows = read_csv(&text);
            assert_eq!(rows.len(), json.lines().count() + 1);
            assert!(rows[0].len() > 2 && rows.iter().all(|r| r.len() == rows[0].len()));
        }
    }

    #[test]
    fn the_curve_is_exported_by_step_or_by_episode() {
        let mut view = View { focus: PaneId::Reward, ..View::default() };
        let episodes = read_csv(&exported("csv", &view));
        assert_eq!((episodes.len(), &episodes[1][..4]), (8, &["return", "", "episode", "1"].map(str::to_owned)[..]));
        view.chart.reward = vec![Figure::StepReward, Figure::Success];
        let steps = read_csv(&exported("csv", &view));
        assert_eq!((steps.len(), &steps[1][..4]), (11, &["step-reward", "7", "step", "1"].map(str::to_owned)[..]));
    }

    #[test]
    fn nothing_is_overwritten_and_mistakes_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("there.csv");
        std::fs::write(&file, "mine").unwrap();
        let (state, view) = (typical(), View::default());
        assert!(export(&format!("csv {}", file.display()), scene(&state, &view)).contains("there already"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert!(export("xml a", scene(&state, &view)).contains("csv or json"));
        assert!(export("csv", scene(&state, &view)).contains("needs a file"));
        assert!(export(&format!("csv {}", dir.path().join("no/such").display()), scene(&state, &view)).contains("no/such"));
        let fresh = dir.path().join("fresh.csv");
        assert!(export(&format!("csv {}", fresh.display()), scene(&DashState::default(), &view)).contains("nothing"));
        assert!(!fresh.exists());
    }

    #[test]
    fn what_a_cell_holds_comes_back() {
        let record = serde_json::json!({"a": "one, \"two\"\nthree", "b": {"c": [1, null]}, "d": "=x"});
        let rows = read_csv(&String::from_utf8(csv(&[record])).unwrap());
        assert_eq!(rows, [["a", "b.c.0", "b.c.1", "d"], ["one, \"two\"\nthree", "1", "", "'=x"]]);
    }

    #[test]
    fn text_becomes_no_formula() {
        assert_eq!(no_formula("=cmd()"), "'=cmd()");
        assert_eq!(no_formula("-1.5"), "-1.5");
        assert_eq!(no_formula("a=b"), "a=b");
    }
}
