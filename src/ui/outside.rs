//! The editor of the operator's choice, on a file of its own: the console leaves the terminal to it and comes back.

use super::output;
use super::terminal::{Incoming, Taken, input_held, is_alive};
use crate::ui::form_file::BYTES_MAX;
use crate::ui::lang::tr;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Between two looks at the editor.
const LOOK: Duration = Duration::from_millis(30);
/// How long an editor may take to end when the console has to.
const LAST: Duration = Duration::from_secs(1);

/// How an editor came back.
#[derive(Debug, PartialEq, Eq)]
pub enum Back {
    /// With this text.
    Text(String),
    /// Not with a text, and why.
    Failed(String),
    /// The console has to end: a signal, or 0 where the terminal is gone.
    Ended(i32),
}

/// The program and its arguments, by `$VISUAL`, else `$EDITOR`. No shell reads them: words, and quotes around several of them.
pub fn argv(var: impl Fn(&str) -> Option<String>) -> Result<Vec<String>, String> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| var(name).filter(|value| !value.trim().is_empty()));
    let Some(text) = named else { return Err(tr!("no editor is named: set VISUAL or EDITOR")) };
    words(&text).filter(|words| !words.is_empty()).ok_or_else(|| tr!("`{text}` names no editor: a quote is not closed", text = text))
}

fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Lets the editor work on a text, in a file that only this user can read and that is gone afterwards.
pub fn edit(taken: &Taken, rx: &Receiver<Incoming>, directory: &Path, (name, suffix): (&str, &str), text: &str) -> Back {
    let argv = match argv(|name| std::env::var(name).ok()) {
        Ok(argv) => argv,
        Err(told) => return Back::Failed(told),
    };
    let path = directory.join(format!("{name}-{}.{suffix}", std::process::id()));
    if let Err(error) = write(&path, text) {
        return Back::Failed(format!("{}: {error}", path.display()));
    }
    let back = visit(taken, rx, &argv, &path);
    // What an editor leaves beside it is the editor's.
    let _ = std::fs::remove_file(&path);
    back
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    // One of a process of that number that was killed.
    let _ = std::fs::remove_file(path);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

fn read(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let mut bytes = Vec::new();
    // What an editor leaves in its place, such as a pipe that nobody writes to, holds nothing up.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(tr!("{path} is no regular file any more", path = path.display()));
    }
    file.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > BYTES_MAX {
        return Err(tr!("what was left is over {n} bytes: too much for a call", n = BYTES_MAX));
    }
    String::from_utf8(bytes).map_err(|_| tr!("what was left is no UTF-8 text"))
}

/// Leaves the terminal to the editor until it ends.
fn visit(taken: &Taken, rx: &Receiver<Incoming>, argv: &[String], path: &Path) -> Back {
    // Its keys are its own.
    let held = input_held();
    super::terminal::give_back();
    let calm = rustix::termios::tcgetattr(io::stdin()).ok();
    let spawned = Command::new(&argv[0]).args(&argv[1..]).arg(path).spawn();
    let ended = match spawned {
        Ok(mut child) => wait(&mut child, rx),
        Err(error) => Ok(Err(format!("{}: {error}", argv[0]))),
    };
    // One that was killed may have left it raw, and that is not what the shell is to find.
    if let Some(calm) = calm {
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Drain, &calm);
    }
    let entered = taken.enter();
    drop(held);
    match (ended, entered) {
        (Err(signal), _) => Back::Ended(signal),
        (Ok(_), Err(_)) => Back::Ended(0),
        (Ok(Err(told)), Ok(())) => Back::Failed(told),
        (Ok(Ok(status)), Ok(())) if !status.success() => {
            Back::Failed(tr!("{editor}: {status}; nothing is changed", editor = argv[0], status = status))
        }
        (Ok(Ok(_)), Ok(())) => read(path).map_or_else(Back::Failed, Back::Text),
    }
}

/// Until the editor has ended, or the console has to: then the signal. What else comes is for nobody.
fn wait(child: &mut Child, rx: &Receiver<Incoming>) -> Result<Result<ExitStatus, String>, i32> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => return Ok(Err(error.to_string())),
        }
        match rx.recv_timeout(LOOK) {
            // The editor was stopped by the same key, and the shell is to have the terminal.
            Ok(Incoming::Suspend) => {
                let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
            }
            Ok(Incoming::Ended(signal)) => {
                end(child);
                return Err(signal);
            }
            Ok(Incoming::HungUp) => {
                end(child);
                return Err(0);
            }
            Ok(Incoming::Terminal(_) | Incoming::Continued | Incoming::Background { .. }) | Err(_) => {}
        }
        if !is_alive(Duration::ZERO).unwrap_or(false) || output::ended_by().is_some() {
            end(child);
            return Err(output::ended_by().unwrap_or(0));
        }
    }
}

/// It is asked to end, and not waited for long.
fn end(child: &mut Child) {
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        let _ = kill_process(pid, Signal::TERM);
    }
    let begun = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < LAST {
        std::thread::sleep(LOOK);
    }
    // One that takes no notice would keep the terminal for itself.
    let _ = child.kill();
}

/// Where its file goes.
pub fn directory(state: Option<&Path>) -> Result<PathBuf, String> {
    state.map(Path::to_owned).ok_or_else(|| tr!("there is no state directory to edit in"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_editor_is_words_and_quotes_and_no_shell() {
        let of =
            |visual: Option<&str>, editor: Option<&str>| argv(|name| if name == "VISUAL" { visual } else { editor }.map(str::to_owned));
        assert_eq!(of(Some("code --wait"), Some("vi")), Ok(vec!["code".to_owned(), "--wait".into()]));
        assert_eq!(of(Some(" "), Some("'/a b/vi' -c \"set ft=json\" ''")).unwrap(), ["/a b/vi", "-c", "set ft=json", ""]);
        assert_eq!(of(None, Some("vi; rm -rf $HOME `x`")).unwrap(), ["vi;", "rm", "-rf", "$HOME", "`x`"]);
        assert!(of(None, None).unwrap_err().contains("EDITOR"));
        assert!(of(Some("vi 'x"), None).unwrap_err().contains("quote"));
    }

    #[test]
    fn the_file_is_for_this_user_alone_and_a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("state/decision-1.json"), folder.path().join("other"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&other, "mine").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        write(&path, "{}").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!((std::fs::read_to_string(&other).unwrap().as_str(), read(&path)), ("mine", Ok("{}".to_owned())));
        std::fs::write(&path, "x".repeat(BYTES_MAX + 1)).unwrap();
        assert!(read(&path).is_err());
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read(&path).is_err());
        // Neither a pipe nor a link is waited for or followed.
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert!(read(&path).unwrap_err().contains("no regular file"));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(read(&path).is_err());
    }
}
