//! `config check` and `config show`.

use super::cli::{ConfigCmd, GlobalArgs};
use super::exit::{Code, Outcome, say};
use super::join::configuration;

pub fn run(command: &ConfigCmd, global: &GlobalArgs) -> Outcome {
    let config = configuration(global, None)?;
    match command {
        ConfigCmd::Check => {
            super::screen::keys(&config)?;
            say(format_args!("the configuration is good (profile {}, sha256 {})", config.profile_name, config.sha256()))?;
        }
        ConfigCmd::Show { origin, json } => {
            for line in config.lines() {
                if *json {
                    say(serde_json::json!({"path": line.path, "value": line.value, "origin": line.origin.to_string()}))?;
                } else if *origin {
                    say(format_args!("{:<30} {:<24} {}", line.path, line.value.as_str(), line.origin))?;
                } else {
                    say(format_args!("{:<30} {}", line.path, line.value.as_str()))?;
                }
            }
        }
    }
    Ok(Code::Holds)
}
