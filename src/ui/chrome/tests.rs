use super::*;
use crate::state::DashState;
use crate::ui::theme::{BUILT_IN, Tier};
use crate::ui::view::View;
use crate::ui::widgets::ChartGlyphs;
use crate::ui::widgets::testing::rows;

#[test]
fn help_names_every_theme_on_the_smallest_usual_screen() {
    let caps = Caps { tier: Tier::None, ascii: false, charts: ChartGlyphs::Braille, ambiguous_width: 1 };
    let (state, view, theme) = (DashState::default(), View::default(), Theme::load("dark", Tier::None).unwrap());
    let (desk, keys) = (crate::ui::desk::Desk::default(), crate::ui::keymap::KeyMap::default());
    let cx = Context {
        state: &state,
        desk: &desk,
        keys: &keys,
        view: &view,
        theme: &theme,
        caps: &caps,
        playback: None,
        read_only: false,
        banner: None,
        lang: crate::ui::lang::Lang::English,
    };
    let at = help::entries("", &keys).iter().position(|e| e.action == Action::Theme).unwrap();
    let open = Open::Help(help::Help { at, ..help::Help::default() });
    let area = Rect::new(0, 0, 80, 24);
    let mut buffer = Buffer::empty(area);
    overlay(&mut buffer, area, &cx, (&open, ""), &[]);
    let shown = rows(&buffer).join("\n");
    for (name, _) in BUILT_IN {
        assert!(shown.contains(name), "{name}:\n{shown}");
    }
    assert!(shown.contains("read again when saved") && shown.contains(":theme"), "{shown}");
}
