//! Where a run or a replay is to stop: breakpoints and watched expressions, by the operator's keys.

use super::actions::Action;
use super::update::{Effect, Facts};
use super::view::View;

/// Does what is an action of stops.
pub fn act(_action: Action, _argument: &str, _view: &mut View, _facts: &Facts<'_>) -> Vec<Effect> {
    Vec::new()
}
