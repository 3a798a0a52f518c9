//! Memory and state: the observation as named numbers, the prompt, the compression.

use crate::event::Unit;
use crate::ui::view::Context;
use crate::ui::widgets::{Canvas, Role, format};

pub fn draw(canvas: &mut Canvas<'_>, cx: &Context<'_>) {
    let Some(lane) = cx.state.lane(cx.view.lane) else {
        canvas.text(1, 0, "no episode has begun", Role::Dim);
        return;
    };
    let (e, end) = (&lane.episode, canvas.width());
    let context = cx.state.policy.as_ref().and_then(|p| p.context_tokens_max);
    let prompt = e.prompt_tokens.map_or("n/a".into(), |p| p.to_string());
    let of = context.map_or(String::new(), |c| format!("/{c}"));
    let ratio = e.compression_ratio_last.map_or("none yet".into(), |r| format!("{r:.1}:1"));
    canvas.text_upto(1, end, 0, &format!("prompt {prompt}{of} tokens  memory {ratio}"), Role::Text);
    canvas.text_upto(1, end, 1, &format!("state {:016x}", e.state_hash), Role::Dim);
    for (row, (field, value)) in e.fields.iter().zip(&e.values).enumerate() {
        let y = row as u16 + 3;
        let text = value.map_or("n/a".into(), |v| in_unit(v, field.unit));
        let x = canvas.text_before(end.saturating_sub(1), y, &text, if value.is_some() { Role::Text } else { Role::Dim });
        canvas.text_upto(1, x.saturating_sub(1), y, &field.name, Role::Dim);
    }
}

fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Milliseconds => format!("{value:.0} ms"),
        Unit::Seconds => format!("{value:.2} s"),
        Unit::PerSecond => format!("{value:.1}/s"),
        Unit::Ratio => format::percent(value),
        Unit::Count => format!("{value:.0}"),
        Unit::Bytes => format::bytes(value),
        Unit::None => format::number(value),
    }
}
