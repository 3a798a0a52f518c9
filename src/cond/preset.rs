//! Conditions that have names, and what they stand for.

use super::condition::{CondError, Condition};

impl Condition {
    /// An expression, or a preset's name with its number, such as `reward-below 0.1`.
    ///
    /// # Errors
    /// Those of an expression; a preset whose number lacks or is none.
    pub fn parse(text: &str) -> Result<Self, CondError> {
        let text = text.trim();
        match expression_of(text).transpose()? {
            Some(expression) => Ok(Self::compile(&expression)?.named(text)),
            None => Self::compile(text),
        }
    }
}

/// What a preset stands for; unset where the text names none.
fn expression_of(text: &str) -> Option<Result<String, CondError>> {
    let mut words = text.split_whitespace();
    let (name, argument, more) = (words.next()?, words.next(), words.next());
    let mistake = |reason: String| Err(CondError::Preset { reason });
    let plain = |expression: &str| match argument {
        None => Ok(expression.to_owned()),
        Some(_) => mistake(format!("{name} takes no number")),
    };
    let number = |left: &str| match argument.map(str::parse::<f64>) {
        Some(Ok(x)) if x.is_finite() && more.is_none() => Ok(format!("{left} {x:?}")),
        Some(_) | None => mistake(format!("{name} needs one number, such as {name} 0.1")),
    };
    Some(match name {
        "tool-error" => plain("kind == 'ToolCallFinished' && error_type != ''"),
        "same-action-3" => plain("repeats >= 3"),
        // It is a variable too: `alert.state == 'firing'`, `alert == ...`.
        "alert" if argument.is_some() => return None,
        "alert" => plain("alert.state == 'firing'"),
        "reward-below" => number("reward <"),
        "kl-above" => number("kl >"),
        "entropy-below" => number("entropy_mean <"),
        "logprob-below" => number("logprob_min <"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::*;
    use crate::state::DashState;

    #[test]
    fn every_preset_that_is_named_is_an_expression_that_compiles() {
        for name in PRESETS {
            let typed = name.replace('X', "-0.5");
            let condition = Condition::parse(&typed).unwrap();
            assert_eq!(condition.source(), typed);
        }
        let error = |text: &str| Condition::parse(text).unwrap_err().to_string();
        assert!(error("kl-above").contains("kl-above needs one number"), "{}", error("kl-above"));
        assert!(error("kl-above x").contains("needs one number") && error("reward-below 1 2").contains("needs one number"));
        assert!(error("reward-below nan").contains("needs one number"));
        assert!(error("tool-error 5").contains("takes no number"));
        assert!(Condition::parse("alert != {}").is_ok(), "a variable is no preset");
    }

    #[test]
    fn presets_hold_where_their_names_say() {
        let holds = |text: &str, event: Event, state: &DashState| {
            let (lane, episode, step) = (LaneId(0), Some(EpisodeId(1)), Some(StepIndex(2)));
            let envelope = Envelope { seq: Seq(9), t_ns: 1, lane, episode, step, event };
            Condition::parse(text).unwrap().matches(&envelope, state)
        };
        let none = DashState::default();
        let finished = |error_type| ToolCallFinished {
            call_id: 1,
            tool: SafeText::new("scale"),
            result: SafeText::default(),
            error_type,
            duration_ns: 1,
        };
        assert!(holds("tool-error", finished(Some(ErrorType::Schema)).into(), &none));
        assert!(!holds("tool-error", finished(None).into(), &none));
        let update = |approx_kl| UpdateCompleted { approx_kl, ..UpdateCompleted::default() };
        assert!(holds("kl-above 0.1", update(Some(0.2)).into(), &none));
        assert!(!holds("kl-above 0.1", update(Some(0.1)).into(), &none) && !holds("kl-above 0.1", update(None).into(), &none));
        let alert = |state| AlertStateChanged {
            rule: SafeText::new("r"),
            state,
            severity: SafeText::new("warn"),
            summary: SafeText::default(),
            detail: None,
        };
        assert!(holds("alert", alert(AlertState::Firing).into(), &none) && !holds("alert", alert(AlertState::Pending).into(), &none));
    }

    #[test]
    fn the_same_call_three_times_in_a_row_is_counted_within_its_episode() {
        let mut state = DashState::default();
        let mut seq = 0;
        let mut say = |episode: u32, event: Event| {
            seq += 1;
            let (lane, episode, step) = (LaneId(0), Some(EpisodeId(episode)), Some(StepIndex(1)));
            let envelope = Envelope { seq: Seq(seq), t_ns: seq, lane, episode, step, event };
            state.apply(&envelope).unwrap();
            Condition::parse("same-action-3").unwrap().matches(&envelope, &state)
        };
        let call = |to: i64| ToolCallStarted { call_id: 1, route: Route::Tool, call: ToolCall::new("scale").with("to", to) };
        let said = [(1, 4), (1, 4), (2, 4), (2, 4), (2, 5), (2, 5), (2, 5), (2, 5)];
        let held: Vec<bool> = said.map(|(episode, to)| say(episode, call(to).into())).to_vec();
        assert_eq!(held, [false, false, false, false, false, false, true, true]);
        assert!(!say(2, DecisionSettled { duration_ns: 1, memory_bytes: None }.into()), "no call");
    }
}
