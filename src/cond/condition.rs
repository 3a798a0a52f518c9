//! A condition: compiled once, asked of every event.

use super::facts::Facts;
use super::survey::Survey;
use super::variable::Variable;
use crate::event::{Envelope, SafeText, Seen, nearest};
use crate::state::DashState;
use cel::{Context, ExecutionError, Program, Value};

/// Longest expression.
pub(super) const SOURCE_BYTES_MAX: usize = 4096;
/// `all`, `exists`, `map` and the like inside each other: each level multiplies the work that one event costs, and a list may be as long as
/// a message has tokens.
const LOOP_DEPTH_MAX: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CondError {
    #[error("the condition has {bytes} bytes; at most {SOURCE_BYTES_MAX} are read")]
    Long { bytes: usize },
    #[error("condition, line {line}, column {column}: {reason}\n  {snippet}\n  {:>width$}", "^", width = column)]
    Syntax { line: usize, column: usize, reason: String, snippet: String },
    #[error("the condition knows no `{name}`{}; it knows {known}", suggestion.as_ref().map(|s| format!(" (did you mean `{s}`?)")).unwrap_or_default())]
    Unknown { name: String, suggestion: Option<String>, known: String },
    #[error("the condition has {depth} loops inside each other: a loop in a loop is not run")]
    Loops { depth: usize },
    #[error("`{name}` is never `{word}`{}; it can be {known}", suggestion.as_ref().map(|s| format!(" (did you mean `{s}`?)")).unwrap_or_default())]
    Word { name: String, word: String, suggestion: Option<String>, known: String },
    #[error("the condition gives a {found}, not true or false; compare it with something{}", example.as_ref().map(|e| format!(", such as {e}")).unwrap_or_default())]
    NotBoolean { found: String, example: Option<String> },
    #[error("the condition can never hold: {reason}")]
    Types { reason: String },
    #[error("{reason}")]
    Preset { reason: String },
}

/// Something that can be worked out of an event and the state after it. See [`Variable`] for what it can name.
pub struct Expression {
    program: Program,
    /// Standard functions; each event gets an inner scope, which is far cheaper than a context of its own.
    base: Context<'static, 'static>,
    /// The variables that the expression names: no others are worked out.
    uses: Vec<Variable>,
    /// Fields that it asks of them.
    fields: Vec<(Variable, String)>,
}

/// Longest value that is told of a hit.
const SEEN_CHARS_MAX: usize = 120;

/// An expression that is true or false.
pub struct Condition {
    source: String,
    expression: Expression,
}

impl Expression {
    /// # Errors
    /// Says where the expression stops making sense, which name it does not know, or that its types can't meet.
    pub fn compile(source: &str) -> Result<Self, CondError> {
        if source.len() > SOURCE_BYTES_MAX {
            return Err(CondError::Long { bytes: source.len() });
        }
        let program = Program::compile(source).map_err(|errors| syntax_error(source, &errors))?;
        let survey = Survey::of(program.expression());
        if survey.loop_depth > LOOP_DEPTH_MAX {
            return Err(CondError::Loops { depth: survey.loop_depth });
        }
        if let Some(name) = survey.functions.iter().find(|name| !super::survey::is_function(name)) {
            return Err(not_found(name, super::survey::FUNCTIONS));
        }
        let names: Vec<&str> = Variable::ALL.iter().map(|v| v.name()).collect();
        let uses: Result<Vec<Variable>, CondError> =
            survey.variables.iter().map(|name| Variable::by_name(name).ok_or_else(|| not_found(name, &names))).collect();
        for (name, field) in &survey.fields {
            let known = Variable::by_name(name).and_then(Variable::fields);
            if let Some(known) = known.filter(|known| !known.contains(*field)) {
                return Err(not_found(&format!("{name}.{field}"), &known.iter().map(|k| format!("{name}.{k}")).collect::<Vec<_>>()));
            }
        }
        for (name, word) in &survey.compared {
            let words = Variable::by_name(name).and_then(Variable::words);
            if let Some(words) = words.filter(|words| !words.contains(word)) {
                let suggestion = nearest(word, words.iter().copied()).map(str::to_owned);
                let (name, word) = ((*name).to_owned(), (*word).to_owned());
                return Err(CondError::Word { name, word, suggestion, known: words.join(", ") });
            }
        }
        let field = |(name, field): &(&str, &str)| Some((Variable::by_name(name)?, (*field).to_owned()));
        let fields = survey.fields.iter().filter_map(field).collect();
        let expression = Self { uses: uses?, fields, base: Context::default(), program };
        expression.rehearse()?;
        Ok(expression)
    }

    /// Whether it can be nothing but true or false, as far as can be told before there is an event.
    pub fn is_condition(&self) -> bool {
        matches!(self.rehearse(), Ok(Some(Value::Bool(_)))) || super::survey::gives_truth(self.program.expression())
    }

    /// What it comes to, in JSON; unset where it can't be worked out for this event. `state` is the state after the event was folded.
    pub fn value(&self, envelope: &Envelope, state: &DashState) -> Option<serde_json::Value> {
        self.execute(envelope, state).map(|value| super::variable::to_json(&value))
    }

    /// What it names, and what that is at this event; what the event lacks is left out.
    fn seen(&self, envelope: &Envelope, state: &DashState) -> Vec<Seen> {
        let facts = Facts::of(&envelope.event);
        let mut seen = Vec::new();
        for variable in &self.uses {
            let Some(value) = variable.value(envelope, &facts, state).map(|v| super::variable::to_json(&v)) else { continue };
            let fields: Vec<&str> = self.fields.iter().filter(|(v, _)| v == variable).map(|(_, field)| field.as_str()).collect();
            if fields.is_empty() {
                // All readings or all of a line say less than the place.
                if !value.is_object() {
                    seen.push(seen_as(variable.name().to_owned(), &value));
                }
            }
            for field in fields.into_iter().filter(|field| value.get(field).is_some()) {
                seen.push(seen_as(format!("{}.{field}", variable.name()), &value[field]));
            }
        }
        seen
    }

    fn execute(&self, envelope: &Envelope, state: &DashState) -> Option<Value> {
        let facts = Facts::of(&envelope.event);
        let mut scope = self.base.new_inner_scope();
        for variable in &self.uses {
            if let Some(value) = variable.value(envelope, &facts, state) {
                scope.add_variable_from_value(variable.name(), value);
            }
        }
        self.program.execute(&scope).ok()
    }

    /// Runs it once over sample values, so that a mistake of types shows now and not by never holding. Unset where the samples lack
    /// what it asks for.
    fn rehearse(&self) -> Result<Option<Value>, CondError> {
        let mut scope = self.base.new_inner_scope();
        for variable in &self.uses {
            scope.add_variable_from_value(variable.name(), variable.sample());
        }
        match self.program.execute(&scope) {
            Ok(value) => Ok(Some(value)),
            // A key or an index that the samples lack, or what their zeros and empty texts can't be turned into.
            Err(
                ExecutionError::NoSuchKey(_)
                | ExecutionError::UnsupportedIndex(..)
                | ExecutionError::FunctionError { .. }
                | ExecutionError::DivisionByZero(_)
                | ExecutionError::RemainderByZero(_),
            ) => Ok(None),
            Err(e) => Err(CondError::Types { reason: e.to_string() }),
        }
    }
}

impl Condition {
    /// # Errors
    /// Those of an expression, and that it gives no truth value.
    pub fn compile(source: &str) -> Result<Self, CondError> {
        let expression = Expression::compile(source)?;
        match expression.rehearse()? {
            Some(Value::Bool(_)) | None => Ok(Self { source: source.to_owned(), expression }),
            Some(other) => Err(CondError::NotBoolean { found: other.type_of().to_string(), example: example(source, &other) }),
        }
    }

    /// The same, by the name under which it was asked for.
    pub(super) fn named(self, name: &str) -> Self {
        Self { source: name.to_owned(), ..self }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it asks what happened, and not only where and when, or how the run stands.
    pub fn asks_event(&self) -> bool {
        self.expression.uses.iter().any(|variable| variable.is_of_event())
    }

    /// Why it holds of `envelope`, or does not: what it names, and what that came to.
    pub fn why(&self, envelope: &Envelope, state: &DashState) -> Vec<Seen> {
        self.expression.seen(envelope, state)
    }

    /// Whether it holds of `envelope`; `state` is the state after it was folded. An expression that can't be worked out for this event, such
    /// as one about the reward of an event that has none, does not hold.
    pub fn matches(&self, envelope: &Envelope, state: &DashState) -> bool {
        self.expression.execute(envelope, state) == Some(Value::Bool(true))
    }
}

fn seen_as(name: String, value: &serde_json::Value) -> Seen {
    // Six digits say as much as seventeen; the event itself has them all.
    let short = value.as_f64().filter(|_| value.is_f64()).and_then(|x| format!("{x:.5e}").parse::<f64>().ok());
    let mut text = short.map_or_else(|| value.to_string(), |x| x.to_string());
    if let Some((at, _)) = text.char_indices().nth(SEEN_CHARS_MAX) {
        text.truncate(at);
        text.push_str("..");
    }
    Seen { name: SafeText::from(name), value: SafeText::from(text) }
}

/// What could be compared, for an expression that is a name with fields or a plain value.
fn example(source: &str, value: &Value) -> Option<String> {
    let name = source.trim();
    let variable = Variable::by_name(name);
    match value {
        Value::Map(_) => {
            let field = variable.filter(|v| *v == Variable::Tool).map(|_| "name".to_owned());
            let field = field.or_else(|| variable?.fields()?.into_iter().next())?;
            Some(format!("{name}.{field} == '...'"))
        }
        Value::String(_) => Some(format!("{name} == '...'")),
        Value::Int(_) => Some(format!("{name} > 0")),
        Value::Float(_) => Some(format!("{name} > 0.0")),
        // The other types are none that a name of ours has by itself.
        _ => None,
    }
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Condition").field(&self.source).finish()
    }
}

pub(super) fn not_found(name: &str, known: &[impl AsRef<str>]) -> CondError {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let suggestion = nearest(name, known.iter().copied()).map(str::to_owned);
    CondError::Unknown { name: name.to_owned(), suggestion, known: known.join(", ") }
}

pub(super) fn syntax_error(source: &str, errors: &cel::ParseErrors) -> CondError {
    let (line, column, reason) = errors.errors.first().map_or((1, 1, "not an expression".to_owned()), |e| {
        let place = |n: isize| usize::try_from(n).unwrap_or(1).max(1);
        (place(e.pos.0), place(e.pos.1), e.msg.clone())
    });
    let snippet = source.lines().nth(line - 1).unwrap_or_default().to_owned();
    CondError::Syntax { line, column, reason, snippet }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::*;

    fn at(event: impl Into<Event>) -> Envelope {
        let (lane, episode, step) = (LaneId(0), Some(EpisodeId(2)), Some(StepIndex(4)));
        Envelope { seq: Seq(9), t_ns: 1_500_000_000, lane, episode, step, event: event.into() }
    }

    fn transition(reward: f64) -> Envelope {
        let call = ToolCall::new("scale").with("service", "checkout").with("to", 4);
        at(TransitionRecorded {
            action: RecordedAction::Tool(call),
            reward,
            terminated: false,
            truncated: false,
            value: None,
            state_hash: 1,
            reward_sum: 1.0,
            discounted_sum: 1.0,
        })
    }

    fn holds(source: &str, envelope: &Envelope) -> bool {
        Condition::compile(source).unwrap().matches(envelope, &DashState::default())
    }

    #[test]
    fn conditions_hold_of_the_events_that_they_are_about() {
        let event = transition(-0.25);
        for source in [
            r#"tool.name == "scale" && reward < 0.0"#,
            "reward < 0",
            "tool.args.to == 4 && tool.args.service.startsWith('check')",
            "kind == 'TransitionRecorded' && episode == 2 && step == 4 && lane == 0 && seq == 9",
            "t > 1.0 && t < 2.0",
            "!terminated && !truncated",
            "address == '2/4'",
            "run.state == 'starting' && run.decisions == 0",
            "kind in ['EpisodeEnded', 'TransitionRecorded']",
            "['scale', 'restart'].exists(name, name == tool.name)",
            "has(tool.name) && !has(alert.rule)",
        ] {
            assert!(holds(source, &event), "{source}");
        }
        for source in ["reward > 0", "tool.name == 'restart'", "success", "logprob_min < -5.0", "alert.rule == 'x'", "obs['a.p95'] > 1.0"] {
            assert!(!holds(source, &event), "{source}");
        }
    }

    #[test]
    fn an_expression_has_a_value_where_an_event_has_what_it_names() {
        let expression = |source: &str| Expression::compile(source).unwrap();
        let value = |source: &str| expression(source).value(&transition(-0.25), &DashState::default());
        for (source, is) in [
            ("reward", serde_json::json!(-0.25)),
            ("reward * 4.0", serde_json::json!(-1.0)),
            ("episode + 1", serde_json::json!(3)),
            ("tool.name", serde_json::json!("scale")),
            ("[tool.args.to, lane]", serde_json::json!([4, 0])),
            ("tool.args", serde_json::json!({"service": "checkout", "to": 4})),
            ("d.terminated", serde_json::json!(false)),
        ] {
            assert_eq!(value(source), Some(is), "{source}");
            assert!(!expression(source).is_condition(), "{source}");
        }
        assert_eq!(value("success"), None);
        for source in ["reward < 0.0", "obs['checkout.p95'] > 400.0", "!terminated", "d.x == 1 && d.y == 2", "'a.p95' in obs", "terminated"]
        {
            assert!(expression(source).is_condition(), "{source}");
        }
        assert!(matches!(Expression::compile("rewrad"), Err(CondError::Unknown { .. })));
        assert!(matches!(Expression::compile("kind - 1"), Err(CondError::Types { .. })));
    }

    #[test]
    fn a_hit_says_what_it_names_and_what_that_was() {
        let why = |source: &str| {
            let seen = Condition::compile(source).unwrap().why(&transition(-0.25), &DashState::default());
            seen.iter().map(|s| format!("{}={}", s.name, s.value)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(why(r#"tool.name == "scale" && reward < 0.0"#), r#"reward=-0.25 tool.name="scale""#);
        assert_eq!(
            why("kind == 'TransitionRecorded' && !success || tool.args.to == 4"),
            r#"kind="TransitionRecorded" tool.args={"service":"checkout","to":4}"#
        );
        assert_eq!(why("obs['a.p95'] > 1.0 || step == 4"), "step=4");
        let seen = |reward: f64| Condition::compile("reward < 9.0").unwrap().why(&transition(reward), &DashState::default());
        assert_eq!([0.16999999999999998, -1e-9 / 3.0, 2.0].map(|x| seen(x)[0].value.to_string()), ["0.17", "-0.000000000333333", "2"]);
        let text = format!("text != '{}'", "x".repeat(10));
        let said = at(LogLine { level: LogLevel::Info, target: SafeText::new("t"), text: SafeText::from("y".repeat(4000)) });
        let seen = Condition::compile(&text).unwrap().why(&said, &DashState::default());
        assert!(seen[0].value.chars().count() < 130 && seen[0].value.ends_with(".."), "{seen:?}");
    }

    #[test]
    fn what_an_event_lacks_is_not_false_by_negation_but_leaves_the_rest_alone() {
        let event = transition(0.5);
        assert!(!holds("!success", &event), "a transition has no success that could be negated");
        assert!(holds("success || reward > 0.0", &event));
    }

    #[test]
    fn the_last_observation_is_known_by_its_fields() {
        let mut state = DashState::default();
        let field = ObservationField { name: "checkout.p95".into(), unit: Unit::Milliseconds };
        let missing = ObservationField { name: "search.p95".into(), unit: Unit::Milliseconds };
        state.lanes.entry(LaneId(0)).or_default().episode.fields = vec![field, missing];
        state.lanes.entry(LaneId(0)).or_default().episode.values = vec![Some(450.0), None];
        let event = at(DecisionSettled { duration_ns: 1, memory_bytes: None });
        let condition = |source: &str| Condition::compile(source).unwrap().matches(&event, &state);
        assert!(condition("obs['checkout.p95'] > 400"));
        assert!(!condition("obs['search.p95'] > 400"), "no reading");
        assert!(condition("!('search.p95' in obs)"));
    }

    #[test]
    fn a_mistake_says_what_and_where() {
        let error = |source: &str| Condition::compile(source).unwrap_err();
        let syntax = error("reward <\n  && kind");
        assert!(matches!(&syntax, CondError::Syntax { line: 2, .. }), "{syntax}");
        assert!(matches!(error(""), CondError::Syntax { .. }));
        let unknown = error("rewrad < 0.0").to_string();
        assert!(unknown.contains("`rewrad`") && unknown.contains("did you mean `reward`"), "{unknown}");
        let field = error("run.episode > 3").to_string();
        assert!(field.contains("`run.episode`") && field.contains("did you mean `run.episodes`"), "{field}");
        assert!(matches!(error("kind.matches('a+')"), CondError::Unknown { .. }), "a function that is not there");
        assert!(matches!(error("reward"), CondError::NotBoolean { .. }));
        assert!(matches!(error("kind - 1 == 2"), CondError::Types { .. }));
        let told = error("tool").to_string();
        assert!(told.contains("such as tool.name == '...'"), "{told}");
    }

    #[test]
    fn a_word_that_a_name_can_never_be_is_refused() {
        let error = |source: &str| Condition::compile(source).err().map(|e| e.to_string()).unwrap_or_default();
        for source in ["kind == 'TolCallFinished'", "'TolCallFinished' != kind && step > 3", "kind in ['EpisodeEnded', 'TolCallFinished']"]
        {
            let told = error(source);
            assert!(told.contains("`kind` is never `TolCallFinished` (did you mean `ToolCallFinished`?)"), "{source}: {told}");
        }
        assert!(error("kind == 'nonsense'").contains("it can be RunStarted"), "{}", error("kind == 'nonsense'"));
        assert!(error("phase == 'thinking'").contains("observe, think, act, settle"));
        // What is open, or bound by a loop, is left alone.
        for source in ["tool.name == 'nonsense'", "text == 'nonsense'", "['x'].exists(kind, kind == 'x')", "phase == 'think'"] {
            assert_eq!(error(source), "", "{source}");
        }
    }

    #[test]
    fn the_words_of_phases_and_reasons_are_those_of_the_events() {
        let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let phases = [Phase::Observe, Phase::Think, Phase::Act, Phase::Settle].map(|p| word(serde_json::to_value(p).unwrap()));
        assert_eq!(Variable::Phase.words().unwrap(), phases);
        let reasons = [FinishReason::Stop, FinishReason::Length, FinishReason::Cancelled, FinishReason::Scripted];
        assert_eq!(Variable::FinishReason.words().unwrap(), reasons.map(|r| word(serde_json::to_value(r).unwrap())));
    }

    #[test]
    fn an_expression_that_would_cost_much_is_refused() {
        let long = format!("kind == '{}'", "x".repeat(SOURCE_BYTES_MAX));
        assert!(matches!(Condition::compile(&long), Err(CondError::Long { .. })));
        let deep = format!("{}true{}", "(".repeat(1500), ")".repeat(1500));
        assert!(Condition::compile(&deep).is_err());
        let loops = "[1].all(a, [1].all(b, [1].all(c, a + b + c > 0)))";
        assert_eq!(Condition::compile(loops).unwrap_err(), CondError::Loops { depth: 3 });
        assert!(Condition::compile("[1].all(a, [1].all(b, a + b > 0))").is_err());
        assert!(Condition::compile("[1].all(a, a > 0) && [2].exists(b, b > 1)").is_ok());
    }

    #[test]
    fn every_variable_has_a_name_of_its_own_and_a_sample_that_compiles() {
        for variable in Variable::ALL {
            assert_eq!(Variable::by_name(variable.name()), Some(*variable));
            assert!(Condition::compile(&format!("{0} == {0}", variable.name())).is_ok(), "{variable:?}");
        }
    }
}
