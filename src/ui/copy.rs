//! `y` and `Y`: the row in view to the clipboard of the terminal, wherever that runs, by OSC 52.

use super::export::write_new;
use super::lang;
use super::panes::replay::Scene;
use super::records::{in_view, records, text};
use crate::event::SafeText;
use crate::ui::lang::tr;
use crossterm::Command;
use crossterm::clipboard::CopyToClipboard;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
}

/// What terminals take at most, in characters of base64 (xterm's limit).
const BASE64_MAX: usize = 74_994;

/// What comes of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// For the terminal.
    pub bytes: Vec<u8>,
    pub told: String,
}

/// Copies the row in view of the focused pane. What is too long for the terminal is written below `directory`.
pub fn copy(form: Form, scene: Scene<'_>, directory: Option<&Path>, in_tmux: bool) -> Copied {
    let told = |told: String| Copied { told, ..Copied::default() };
    let title = lang::text(scene.view.active().title());
    let records = match records(scene) {
        Ok(records) => records,
        Err(error) => return told(format!("{title}: {error}")),
    };
    let Some(index) = in_view(&records, scene) else { return told(tr!("{title}: there is nothing to copy yet", title = title)) };
    let (content, extension) = match form {
        Form::Text => (text(&records[index], index, scene), "txt"),
        Form::Json => (records[index].to_string(), "json"),
    };
    let content = SafeText::new(&content).to_string();
    match sequence(&content, in_tmux) {
        Some(bytes) => Copied { bytes, told: tr!("copied a row of {title}: {n} characters", title = title, n = content.chars().count()) },
        None => told(to_file(&content, extension, directory)),
    }
}

/// The escape sequence; none where terminals would not take that much.
fn sequence(content: &str, in_tmux: bool) -> Option<Vec<u8>> {
    if content.len().div_ceil(3) * 4 > BASE64_MAX {
        return None;
    }
    let mut plain = String::new();
    CopyToClipboard::to_clipboard_from(content).write_ansi(&mut plain).ok()?;
    if !in_tmux {
        return Some(plain.into_bytes());
    }
    // tmux takes the plain one where set-clipboard is on, and hands the wrapped one through where allow-passthrough is on.
    let wrapped = format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b"));
    Some((plain + &wrapped).into_bytes())
}

fn to_file(content: &str, extension: &str, directory: Option<&Path>) -> String {
    let Some(directory) = directory.map(|d| d.join("copies")) else {
        return tr!("too long for the terminal's clipboard, and there is no state directory to write it to");
    };
    let name = |n: u32| directory.join(format!("copy-{n}.{extension}"));
    let free: Option<PathBuf> = (1..10_000).map(name).find(|p| !p.exists());
    let Some(path) = free else { return tr!("too long for the terminal's clipboard, and {path} is full", path = directory.display()) };
    match std::fs::create_dir_all(&directory).and_then(|()| write_new(&path, content.as_bytes())) {
        Ok(()) => tr!("too long for the terminal's clipboard; wrote {path}", path = path.display()),
        Err(error) => format!("{}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::DashState;
    use crate::ui::panes::testing::{scene, typical};
    use crate::ui::view::{PaneId, View};

    #[test]
    fn a_row_goes_to_the_terminal_and_through_tmux() {
        assert_eq!(sequence("hi", false).unwrap(), b"\x1b]52;c;aGk=\x1b\\");
        let both = String::from_utf8(sequence("hi", true).unwrap()).unwrap();
        assert!(both.ends_with("\x1bPtmux;\x1b\x1b]52;c;aGk=\x1b\x1b\\\x1b\\"), "{both:?}");
        let copied = copy(Form::Text, scene(&typical(), &View::default()), None, false);
        assert!(copied.bytes.starts_with(b"\x1b]52;c;") && copied.told.contains("Thought chain"));
    }

    #[test]
    fn what_is_too_long_goes_to_a_file_that_is_named() {
        let most = BASE64_MAX / 4 * 3;
        assert!(sequence(&"a".repeat(most), false).is_some());
        assert!(sequence(&"a".repeat(most + 3), false).is_none());
        let dir = tempfile::tempdir().unwrap();
        let told = to_file("long", "json", Some(dir.path()));
        assert!(told.contains("copy-1.json"), "{told}");
        assert!(to_file("longer", "json", Some(dir.path())).contains("copy-2.json"));
        assert_eq!(std::fs::read_to_string(dir.path().join("copies/copy-1.json")).unwrap(), "long");
        assert!(to_file("long", "txt", None).contains("no state directory"));
    }

    #[test]
    fn a_copy_is_named_after_the_pane_that_it_is_of() {
        let view = View { popup: Some(PaneId::Log), ..View::default() };
        assert!(copy(Form::Text, scene(&typical(), &view), None, false).told.contains("Log"));
    }

    #[test]
    fn with_nothing_to_copy_nothing_is_sent() {
        let view = View { focus: PaneId::Alerts, ..View::default() };
        let copied = copy(Form::Json, scene(&DashState::default(), &view), None, false);
        assert!(copied.bytes.is_empty() && copied.told.contains("nothing"));
    }
}
