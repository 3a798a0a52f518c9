//! The names of keys: what the terminal reports, and what stands in the table and in `keys.ron`.

use crate::ui::lang::tr;
use crate::ui::patches::quoted;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Keys that mean something else than the same key alone.
const MODIFIERS: [(KeyModifiers, &str); 5] = [
    (KeyModifiers::CONTROL, "ctrl-"),
    (KeyModifiers::ALT, "alt-"),
    (KeyModifiers::SUPER, "super-"),
    (KeyModifiers::HYPER, "hyper-"),
    (KeyModifiers::META, "meta-"),
];

/// Keys that are no characters.
const NAMED: [&str; 16] = [
    "space",
    "tab",
    "backtab",
    "backspace",
    "enter",
    "esc",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "insert",
    "delete",
];

const FUNCTION_KEYS: u8 = 12;

pub fn is_modified(key: &KeyEvent) -> bool {
    MODIFIERS.iter().any(|(modifier, _)| key.modifiers.contains(*modifier))
}

/// The name by which the table knows a key. A modified key is another key: alt-q must not quit.
pub fn key_name(key: &KeyEvent) -> Option<String> {
    let plain = match key.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) if is_modified(key) => c.to_lowercase().to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => "backtab".to_owned(),
        KeyCode::Backspace => "backspace".to_owned(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::PageUp => "pageup".to_owned(),
        KeyCode::PageDown => "pagedown".to_owned(),
        KeyCode::Insert => "insert".to_owned(),
        KeyCode::Delete => "delete".to_owned(),
        KeyCode::F(number) => format!("f{number}"),
        _ => return None,
    };
    let modifiers: String = MODIFIERS.iter().filter(|(m, _)| key.modifiers.contains(*m)).map(|(_, name)| *name).collect();
    Some(modifiers + &plain)
}

/// A sequence as the operator writes it, in the form in which keys arrive.
pub fn sequence(text: &str) -> Result<String, String> {
    let keys = text.split_whitespace().map(one).collect::<Result<Vec<_>, _>>()?;
    match keys.len() {
        0 => Err(tr!("an empty text is no key; write [] to unbind an action")),
        1..=3 => Ok(keys.join(" ")),
        _ => Err(tr!("`{text}` is a sequence of {n} keys; three are the most", text = quoted(text), n = keys.len())),
    }
}

fn one(name: &str) -> Result<String, String> {
    let (mut modifiers, mut rest) = ([false; MODIFIERS.len()], name);
    while let Some((index, behind)) = MODIFIERS.iter().enumerate().find_map(|(i, (_, m))| Some((i, strip(rest, m)?))) {
        (modifiers[index], rest) = (true, behind);
    }
    let is_modified = modifiers.contains(&true);
    let plain = plain(rest, is_modified).ok_or_else(|| {
        tr!(
            "`{name}` is no key; write a character, {names}, f1 to f{last}, or one of them behind ctrl- or alt-, and several \
             with a space between, such as \"g l\"",
            name = quoted(name),
            names = NAMED.join(", "),
            last = FUNCTION_KEYS
        )
    })?;
    let prefix: String = MODIFIERS.iter().zip(modifiers).filter(|(_, on)| *on).map(|((_, m), _)| *m).collect();
    Ok(prefix + &plain)
}

/// What stands behind a modifier; `ctrl-` itself, with nothing behind it, is no key.
fn strip<'a>(text: &'a str, modifier: &str) -> Option<&'a str> {
    let head = text.get(..modifier.len())?;
    head.eq_ignore_ascii_case(modifier).then(|| &text[modifier.len()..]).filter(|rest| !rest.is_empty())
}

fn plain(name: &str, is_modified: bool) -> Option<String> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        let is_key = !c.is_control() && !c.is_whitespace();
        return is_key.then(|| if is_modified { c.to_lowercase().to_string() } else { c.to_string() });
    }
    let lower = name.to_ascii_lowercase();
    if lower == "shift-tab" {
        return Some("backtab".to_owned());
    }
    let is_function = lower.strip_prefix('f').and_then(|n| n.parse().ok()).is_some_and(|n| (1..=FUNCTION_KEYS).contains(&n));
    (is_function || NAMED.contains(&lower.as_str())).then_some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_keys_arrive() {
        for (written, key) in [
            ("g l", "g l"),
            ("  g   l ", "g l"),
            ("Ctrl-P", "ctrl-p"),
            ("alt-ctrl-x", "ctrl-alt-x"),
            ("shift-tab", "backtab"),
            ("F12", "f12"),
            ("-", "-"),
            ("ctrl--", "ctrl--"),
            ("工", "工"),
            ("Delete", "delete"),
        ] {
            assert_eq!(sequence(written).as_deref(), Ok(key), "{written}");
        }
        for wrong in ["", "gl", "f13", "f0", "ctrl-", "shift-a", "spcae", "a b c d", "\u{1b}"] {
            assert!(sequence(wrong).is_err(), "{wrong:?}");
        }
        assert!(sequence("gl").unwrap_err().contains("\"g l\""));
    }

    #[test]
    fn every_key_that_can_be_written_can_be_pressed() {
        let pressed = |code, modifiers| key_name(&KeyEvent::new(code, modifiers));
        assert_eq!(pressed(KeyCode::F(5), KeyModifiers::NONE).as_deref(), Some("f5"));
        assert_eq!(pressed(KeyCode::Insert, KeyModifiers::NONE).as_deref(), Some("insert"));
        assert_eq!(pressed(KeyCode::Char('X'), KeyModifiers::ALT | KeyModifiers::SHIFT).as_deref(), Some("alt-x"));
        assert_eq!(pressed(KeyCode::Char('p'), KeyModifiers::CONTROL).as_deref(), Some("ctrl-p"));
        assert_eq!(pressed(KeyCode::BackTab, KeyModifiers::SHIFT).as_deref(), Some("backtab"));
    }
}
