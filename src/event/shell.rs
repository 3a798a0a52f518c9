//! Commands to paste: words as a shell reads them, whatever is in them.

/// A word for a shell: as it is where that is safe, else in single quotes. Control characters, which a terminal may take for keys, are replaced.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What to paste to open an alert in the run's console. The words behind the host are read by two shells: this one, and that of the host, to which
/// ssh gives them as one text.
pub fn attach_command(host: &str, run: &str, alert: &str) -> String {
    // A name that begins with a dash would be an option by itself.
    let alert = if alert.starts_with('-') { shell_word(&format!("--alert={alert}")) } else { format!("--alert {}", shell_word(alert)) };
    let there = format!("pilothouse attach {} {alert}", shell_word(run));
    // What holds no quote holds nothing but plain words, which both shells read alike.
    let there = if there.contains('\'') { shell_word(&there) } else { there };
    let end_of_options = if host.starts_with('-') { "-- " } else { "" };
    format!("ssh -t {end_of_options}{} {there}", shell_word(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(attach_command("node7", "01RUN", "GpuHot"), "ssh -t node7 pilothouse attach 01RUN --alert GpuHot");
        assert_eq!(attach_command("ops@node7.example", "01RUN", "a:b"), "ssh -t ops@node7.example pilothouse attach 01RUN --alert a:b");
        for (text, quotes) in
            [("a b", "'a b'"), ("$(rm)", "'$(rm)'"), ("it's", "'it'\\''s'"), ("", "''"), ("a\u{1b}\nb", "'a\u{fffd}\u{fffd}b'")]
        {
            assert_eq!(shell_word(text), quotes);
        }
    }

    /// What the program on the other side gets as its words: by a real shell, with an `ssh` that hands its words to a second one as ssh does.
    #[cfg(unix)]
    fn words_there(command: &str, folder: &std::path::Path) -> (String, Vec<String>) {
        let ssh = r#"ssh() { [ "$1" = -t ] && shift; [ "$1" = -- ] && shift; printf '%s\0' "$1"; shift; sh -c "$*"; }; "#;
        std::fs::write(folder.join("pilothouse"), "#!/bin/sh\nprintf '%s\\0' \"$@\"\n").unwrap();
        std::fs::set_permissions(folder.join("pilothouse"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("{ssh}{command}")])
            .env("PATH", path)
            .current_dir(folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut words = text.split_terminator('\0').map(str::to_owned);
        (words.next().unwrap(), words.collect())
    }

    #[cfg(unix)]
    #[test]
    fn no_name_does_anything_on_either_side() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "x; touch gone",
            "$(touch gone)",
            "`touch gone`",
            "it's",
            "a  b",
            "a\\b",
            "\"q\"",
            "'; touch gone; '",
            "*",
            "~",
            "!x",
            "a&b|c>gone",
        ] {
            let (host, words) = words_there(&attach_command("node7", "01RUN", name), folder.path());
            assert_eq!((host.as_str(), words.as_slice()), ("node7", &["attach", "01RUN", "--alert", name].map(str::to_owned)[..]));
        }
        let (host, words) = words_there(&attach_command("-oProxyCommand=touch gone", "$(touch gone)", "-rf x"), folder.path());
        assert_eq!(host, "-oProxyCommand=touch gone");
        assert_eq!(words, ["attach", "$(touch gone)", "--alert=-rf x"]);
        assert!(!folder.path().join("gone").exists());
    }
}
