//! Duty: the configuration: what the files say (raw) to plain settings (resolved), each with its origin.
//! May import: event.
//! Emits: settings, errors with file, line and column.
//! Accepts: RON files, environment variables, flags.
//! Test: `cargo test --lib config::`.

mod dirs;
mod error;
mod load;
mod receivers;
mod scrape;
mod setting;
mod table;

pub use dirs::{Dirs, DirsError};
pub use error::{ConfigError, Place, Problem};
pub use load::{Flag, Line, Origin, Profile, Sources, load};
pub use receivers::{Receiver, Target, file_list};
pub use scrape::{Scrape, scrape_list};
pub use setting::{Charts, Color, Notify, Parsed, Severity};
pub use table::{
    AgentSettings, AlertSettings, Config, FIELDS, Field, ProfileSettings, RecordSettings, RewardSettings, RunSettings, TelemetrySettings,
    UiSettings,
};
