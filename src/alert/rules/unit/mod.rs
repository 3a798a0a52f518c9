//! promtool's unit tests of rules: series, the times at which rules are evaluated, and what alerts and expressions are to be by then.

mod file;
mod run;

pub use file::{AlertTest, ExpectedAlert, ExpectedSample, ExprTest, TestFile, TestGroup};
pub use run::{Failed, Outcome, Wishes};
