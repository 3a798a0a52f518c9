//! Which keys do what: the table of actions, as the operator changed it.

mod names;
mod patch;

pub use names::{is_modified, key_name};
pub use patch::KeysError;

use super::actions::{ACTIONS, Action, Scope};

/// What a key sequence means so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup {
    Action(Action),
    /// More keys must follow.
    Prefix,
    Unknown,
}

/// A key sequence, such as `g l`, with a space between its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binding {
    scope: Scope,
    keys: String,
    action: Action,
    /// The operator's, not the table's.
    is_own: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMap {
    bindings: Vec<Binding>,
}

impl Default for KeyMap {
    /// The keys of the table.
    fn default() -> Self {
        let of = |e: &'static super::actions::Entry| {
            e.keys.iter().map(|keys| Binding { scope: e.scope, keys: (*keys).to_owned(), action: e.action, is_own: false })
        };
        Self { bindings: ACTIONS.iter().flat_map(of).collect() }
    }
}

impl KeyMap {
    /// What `keys` mean where `scopes` hold, the narrowest first. A narrower scope hides a wider one, prefixes included.
    pub fn lookup(&self, keys: &str, scopes: &[Scope]) -> Lookup {
        let prefix = format!("{keys} ");
        for scope in scopes {
            let mut here = self.bindings.iter().filter(|b| b.scope == *scope);
            if let Some(binding) = here.clone().find(|b| b.keys == keys) {
                return Lookup::Action(binding.action);
            }
            if here.any(|b| b.keys.starts_with(&prefix)) {
                return Lookup::Prefix;
            }
        }
        Lookup::Unknown
    }

    /// The first key of an action, as it is shown; none where it has none.
    pub fn shown(&self, action: Action) -> Option<String> {
        self.keys_of(action).next().map(shown)
    }

    /// The keys of an action, in the order of the table.
    pub fn keys_of(&self, action: Action) -> impl Iterator<Item = &str> {
        self.bindings.iter().filter(move |b| b.action == action).map(|b| b.keys.as_str())
    }
}

/// A sequence as it is shown: `g l` is `gl`, and names stay apart.
pub fn shown(keys: &str) -> String {
    let joint = if keys.split(' ').all(|key| key.chars().count() == 1) { "" } else { " " };
    keys.replace(' ', joint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::view::{PaneId, ScreenId};

    #[test]
    fn keys_that_are_reserved_are_free() {
        let map = KeyMap::default();
        for key in ["F", "d", "ctrl-j", "ctrl-k", "ctrl-a", "ctrl-b"] {
            assert_eq!(map.lookup(key, &[Scope::Anywhere]), Lookup::Unknown, "{key}");
        }
    }

    #[test]
    fn every_key_of_the_table_does_what_it_says_where_it_holds() {
        let map = KeyMap::default();
        for e in ACTIONS {
            for key in e.keys {
                assert_eq!(map.lookup(key, &[e.scope]), Lookup::Action(e.action));
            }
        }
        assert_eq!(map.lookup("g", &[Scope::Anywhere]), Lookup::Prefix);
        assert_eq!(map.lookup("Q", &[Scope::Anywhere]), Lookup::Unknown);
    }

    #[test]
    fn the_narrower_scope_comes_first() {
        let map = KeyMap::default();
        let chart = Scope::of(ScreenId::Live, PaneId::Reward);
        assert_eq!(map.lookup("L", &chart), Lookup::Action(Action::LogAxis));
        assert_eq!(map.lookup("L", &Scope::of(ScreenId::Live, PaneId::Chain)), Lookup::Action(Action::NextEpisode));
        assert_eq!(map.lookup("z", &Scope::of(ScreenId::Alerts, PaneId::Rules)), Lookup::Action(Action::Silence));
        assert_eq!(map.lookup("z", &Scope::of(ScreenId::Live, PaneId::Chain)), Lookup::Prefix);
    }
}
