//! `bundle`: what an incident needs in one redacted file, which opens on another machine.

mod make;
mod manifest;
mod pack;
mod redact;
mod scene;
mod temporary;
mod unpack;

pub use make::{Made, Span, Wish, make};
pub use redact::Redactor;
pub use temporary::Temporary;
pub use unpack::{Unpacked, is_bundle, unpack_if_bundle};

use super::cli::{BundleArgs, GlobalArgs};
use super::exit::{Code, Failure, Outcome, note, say};
use super::join::configuration;

/// How a bundle's name ends, unless another one is wished for.
pub const BUNDLE_SUFFIX: &str = ".bundle.zip";

/// What the console says of a recording that came in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleOrigin {
    /// The bundle's file, without what says that it is one.
    pub name: String,
    /// When it was made, to the minute, UTC.
    pub made: String,
}

pub fn run(args: &BundleArgs, global: &GlobalArgs) -> Outcome {
    super::signals::remove_on_signal();
    let config = configuration(global, None)?;
    let recording = match &args.recording {
        Some(path) => path.clone(),
        None => super::recordings::newest(global)?
            .ok_or_else(|| Failure::usage("there is no recording in the state directory: name one, such as `pilothouse bundle FILE`"))?,
    };
    let span = Span::of(args.last.as_deref(), args.from.as_deref()).map_err(Failure::usage)?;
    let made = make(&Wish { recording, span, name: None, output: args.output.clone() }, &config, &Redactor::of_process())?;
    say(made.told())?;
    if let Some(told) = made.secrets_told() {
        note(format_args!("pilothouse: {told}"));
    }
    if made.is_growing {
        note(format_args!("the run goes on: the bundle ends at its last commit, event {}", made.upto));
    } else if !made.findings.is_empty() {
        let findings = made.findings.join("\npilothouse: ");
        return Err(Failure {
            code: Code::Partial,
            message: format!("the recording is not whole, and is packed as it is\npilothouse: {findings}"),
        });
    }
    Ok(Code::Holds)
}
