//! A filter of rows: an expression over named facts of one thing, such as a recording in a list.

use super::condition::{CondError, SOURCE_BYTES_MAX, not_found, syntax_error};
use super::survey::{FUNCTIONS, Survey, is_function};
use cel::{Context, Program, Value};

/// What is known of a thing.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Text(String),
    Count(i64),
    Number(f64),
    Flag(bool),
}

impl Fact {
    fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone().into()),
            Self::Count(n) => Value::Int(*n),
            Self::Number(x) => Value::Float(*x),
            Self::Flag(is) => Value::Bool(*is),
        }
    }
}

/// An expression that is true or false of a thing.
pub struct Filter {
    program: Program,
    base: Context<'static, 'static>,
}

impl Filter {
    /// `names` are all that a thing may have.
    ///
    /// # Errors
    /// Says where the expression stops making sense, or which name it does not know.
    pub fn compile(source: &str, names: &[&str]) -> Result<Self, CondError> {
        if source.len() > SOURCE_BYTES_MAX {
            return Err(CondError::Long { bytes: source.len() });
        }
        let program = Program::compile(source).map_err(|errors| syntax_error(source, &errors))?;
        let survey = Survey::of(program.expression());
        if survey.loop_depth > 0 {
            return Err(CondError::Loops { depth: survey.loop_depth });
        }
        if let Some(name) = survey.functions.iter().find(|name| !is_function(name)) {
            return Err(not_found(name, FUNCTIONS));
        }
        if let Some(name) = survey.variables.iter().find(|name| !names.contains(name)) {
            return Err(not_found(name, names));
        }
        Ok(Self { program, base: Context::default() })
    }

    /// Whether it holds. It does not where it asks for a fact that is not known of this thing.
    pub fn matches<'a>(&self, facts: impl IntoIterator<Item = (&'a str, Fact)>) -> bool {
        let mut scope = self.base.new_inner_scope();
        for (name, fact) in facts {
            scope.add_variable_from_value(name, fact.value());
        }
        self.program.execute(&scope) == Ok(Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_holds_of_what_is_known_and_names_what_is_not() {
        let names = ["name", "events", "seconds", "ended"];
        let facts = || [("name", Fact::Text("a".into())), ("events", Fact::Count(20)), ("ended", Fact::Flag(true))];
        let holds = |source: &str| Filter::compile(source, &names).unwrap().matches(facts());
        assert!(holds("events > 10 && ended && name.startsWith('a')"));
        assert!(!holds("events > 30"));
        assert!(!holds("seconds > 1.0") && !holds("!(seconds > 1.0)"), "it is not known");
        let unknown = Filter::compile("event > 1", &names).err().unwrap().to_string();
        assert!(unknown.contains("did you mean `events`"), "{unknown}");
        assert!(Filter::compile("events >", &names).is_err());
    }
}
