//! A theme without colour and a way to read a screen, for tests.

use super::{Paint, Role};
use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};

pub struct Plain;

impl Paint for Plain {
    fn style(&self, role: Role) -> Style {
        match role {
            Role::Selected => Style::new().add_modifier(Modifier::REVERSED),
            Role::Match => Style::new().add_modifier(Modifier::UNDERLINED),
            Role::Text
            | Role::Dim
            | Role::Strong
            | Role::Border
            | Role::BorderFocused
            | Role::Title
            | Role::Thought
            | Role::Action
            | Role::Observation
            | Role::Good
            | Role::Warn
            | Role::Bad
            | Role::Curve
            | Role::CurveSecond
            | Role::CurveThird
            | Role::Mark => Style::new(),
        }
    }
}

/// The screen as text, a row a string; what a wide character covers is left out.
pub fn rows(buffer: &Buffer) -> Vec<String> {
    use ratatui::buffer::CellWidth;
    let width = buffer.area.width as usize;
    buffer
        .content()
        .chunks(width.max(1))
        .map(|cells| {
            let mut row = String::new();
            let mut x = 0;
            while x < cells.len() {
                row.push_str(cells[x].symbol());
                x += usize::from(cells[x].cell_width()).max(1);
            }
            row
        })
        .collect()
}
