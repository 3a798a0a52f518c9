//! Go's text templates, as far as rules use them, with Prometheus' functions.

mod ast;
mod escape;
mod exec;
mod functions;
mod go_regex;
mod humanize;
mod lex;
mod methods;
mod number;
mod parse;
mod printf;
mod time;
mod value;

use crate::alert::promql::VectorSample;
use crate::metrics::Labels;
use parse::Trees;

/// What Prometheus puts before each template of a rule; it counts in the columns of errors.
const PRELUDE: &str = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}";

/// What is wrong with a template, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TemplateError(pub String);

/// What a template of a rule may ask for.
pub struct Scope<'s> {
    pub labels: &'s Labels,
    pub external_labels: &'s Labels,
    pub external_url: &'s str,
    pub value: f64,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Answers the function `query`.
    pub query: &'s dyn Fn(&str) -> Result<Vec<VectorSample>, String>,
}

/// A template that was read.
#[derive(Clone, Debug)]
pub struct Template {
    name: String,
    text: String,
    trees: Trees,
}

impl Template {
    /// Of a label or an annotation of an alert: `$labels`, `$value`, `$externalLabels` and `$externalURL` are known.
    pub fn for_alert(alert: &str, text: &str) -> Result<Self, TemplateError> {
        let (name, text) = (format!("__alert_{alert}"), format!("{PRELUDE}{text}"));
        let trees = parse::parse(&name, &text).map_err(|error| TemplateError(format!("error parsing template {name}: {error}")))?;
        Ok(Self { name, text, trees })
    }

    /// The text; an error where a function or a field can't do what it is asked, and past bounds of steps, depth and length.
    pub fn expand(&self, scope: &Scope<'_>) -> Result<String, TemplateError> {
        exec::run(&self.name, &self.text, &self.trees, scope)
            .map_err(|error| TemplateError(format!("error executing template {}: {error}", self.name)))
    }
}

#[cfg(test)]
mod tests;
