//! Functions.

use super::super::ast::{Expr, Node, Reach};
use super::super::functions::{Function, Id};
use super::aggregate::{ascending, descending};
use super::vector::{Sample, Tags, Vector};
use super::window::Window;
use super::{Evaluator, Outcome, Value, calendar, failed};

/// Suffixes of a counter's name.
const COUNTER_SUFFIXES: [&str; 4] = ["_total", "_sum", "_count", "_bucket"];

impl<'c> Evaluator<'c> {
    pub(super) fn call(&self, function: &Function, arguments: &'c [Expr], call: &'c Expr, t_ms: i64) -> Outcome<Value<'c>> {
        let seconds = |ms: i64| ms as f64 / 1000.0;
        check_reach(function, arguments)?;
        let value = match function.id {
            Id::Time => Value::Scalar(seconds(t_ms)),
            Id::Pi => Value::Scalar(std::f64::consts::PI),
            Id::Start => Value::Scalar(seconds(self.times.start_ms)),
            Id::End => Value::Scalar(seconds(self.times.end_ms)),
            Id::Step => Value::Scalar(seconds(self.times.step_ms)),
            Id::Range => Value::Scalar(seconds(self.times.end_ms.saturating_sub(self.times.start_ms))),
            Id::MinOf => Value::Scalar(smaller(self.scalar(&arguments[0], t_ms)?, self.scalar(&arguments[1], t_ms)?)),
            Id::MaxOf => Value::Scalar(larger(self.scalar(&arguments[0], t_ms)?, self.scalar(&arguments[1], t_ms)?)),
            Id::Scalar_ => {
                let vector = self.vector(&arguments[0], t_ms)?;
                let [sample] = &vector.samples[..] else { return Ok(Value::Scalar(f64::NAN)) };
                Value::Scalar(sample.value)
            }
            _ => Value::Vector(self.vector_call(function.id, arguments, call, t_ms)?),
        };
        Ok(value)
    }

    fn vector_call(&self, id: Id, arguments: &'c [Expr], call: &'c Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        match id {
            Id::Vector_ => Ok(Vector::one(Tags::none(), self.scalar(&arguments[0], t_ms)?)),
            Id::Absent => self.absent(&arguments[0], t_ms),
            Id::AbsentOverTime => self.absent_over_time(&arguments[0], t_ms),
            Id::Timestamp => self.timestamp(&arguments[0], t_ms),
            Id::Sort | Id::SortDesc => {
                let mut vector = self.vector(&arguments[0], t_ms)?;
                let order = if id == Id::Sort { ascending } else { descending };
                vector.samples.sort_by(|a, b| order(a.value, b.value));
                Ok(vector)
            }
            Id::SortByLabel | Id::SortByLabelDesc => self.sort_by_label(arguments, id == Id::SortByLabelDesc, t_ms),
            Id::LabelReplace => self.label_replace(arguments, call, t_ms),
            Id::LabelJoin => self.label_join(arguments, t_ms),
            Id::HistogramQuantile => self.histogram_quantile(arguments, t_ms),
            Id::HistogramQuantiles => self.histogram_quantiles(arguments, t_ms),
            Id::HistogramFraction => self.histogram_fraction(arguments, t_ms),
            // Of native histograms only, of which there are none here: floats are passed over.
            Id::HistogramAvg | Id::HistogramCount | Id::HistogramStddev | Id::HistogramStdvar | Id::HistogramSum => {
                self.vector(&arguments[0], t_ms).map(|_| Vector::empty())
            }
            Id::Info => self.info(arguments, t_ms),
            Id::Clamp | Id::ClampMin | Id::ClampMax => self.clamp(id, arguments, t_ms),
            Id::Round => self.round(arguments, t_ms),
            _ => match (simple(id), calendar::part(id)) {
                (Some(map), _) => self.mapped(self.vector(&arguments[0], t_ms)?, map),
                (None, Some(part)) => self.date(arguments, part, t_ms),
                (None, None) => self.over_time(id, arguments, t_ms),
            },
        }
    }

    /// Without an argument, of the time of the evaluation.
    fn date(&self, arguments: &'c [Expr], part: fn(&calendar::Date) -> f64, t_ms: i64) -> Outcome<Vector<'c>> {
        let of = |seconds: f64| calendar::Date::new(seconds).map_or(f64::NAN, |date| part(&date));
        match arguments.first() {
            Some(argument) => self.mapped(self.vector(argument, t_ms)?, of),
            None => Ok(Vector::one(Tags::none(), of(t_ms as f64 / 1000.0))),
        }
    }

    fn timestamp(&self, argument: &'c Expr, t_ms: i64) -> Outcome<Vector<'c>> {
        let mut vector = match &argument.bare().node {
            // Of a selector, the time of the sample itself.
            Node::Selector(selector) => self.selector(selector, t_ms, |point| point.t_ms as f64 / 1000.0)?,
            _ => {
                let mut vector = self.vector(argument, t_ms)?;
                vector.samples.iter_mut().for_each(|sample| sample.value = t_ms as f64 / 1000.0);
                vector
            }
        };
        vector.samples.iter_mut().for_each(|sample| sample.tags.drop_name(self.delayed));
        self.unique(vector)
    }

    fn clamp(&self, id: Id, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let vector = self.vector(&arguments[0], t_ms)?;
        let first = self.scalar(&arguments[1], t_ms)?;
        let (min, max) = match id {
            Id::Clamp => (first, self.scalar(&arguments[2], t_ms)?),
            Id::ClampMin => (first, f64::INFINITY),
            _ => (f64::NEG_INFINITY, first),
        };
        if max < min {
            return Ok(Vector::empty());
        }
        self.mapped(vector, |value| larger(min, smaller(max, value)))
    }

    fn round(&self, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let vector = self.vector(&arguments[0], t_ms)?;
        let to_nearest = arguments.get(1).map_or(Ok(1.0), |argument| self.scalar(argument, t_ms))?;
        // The inverse is used, for 0.1 is less exact than 10.
        let inverse = 1.0 / to_nearest;
        self.mapped(vector, |value| (value * inverse + 0.5).floor() / inverse)
    }

    fn over_time(&self, id: Id, arguments: &'c [Expr], t_ms: i64) -> Outcome<Vector<'c>> {
        let at = usize::from(id == Id::QuantileOverTime);
        let Some(range) = arguments.get(at) else { return failed("a range vector is needed") };
        let scalar = |index: usize| arguments.get(index).map_or(Ok(f64::NAN), |argument| self.scalar(argument, t_ms));
        let parameters = match id {
            Id::QuantileOverTime => [scalar(0)?, f64::NAN],
            Id::PredictLinear => [scalar(1)?, f64::NAN],
            Id::DoubleExponentialSmoothing | Id::HoltWinters => [factor(scalar(1)?, "smoothing")?, factor(scalar(2)?, "trend")?],
            _ => [f64::NAN; 2],
        };
        if id == Id::QuantileOverTime {
            self.check_quantile(parameters[0], &arguments[0]);
        }
        let keeps_name = matches!(id, Id::LastOverTime | Id::FirstOverTime);
        let is_counter = matches!(id, Id::Rate | Id::Increase);
        let (mut samples, mut uncounted) = (Vec::new(), None::<String>);
        let distinct = self.windows(range, t_ms, is_counter, |tags, window| {
            if let Some(value) = reduce(id, window, parameters, t_ms) {
                let is_counted = || tags.name().is_empty() || COUNTER_SUFFIXES.iter().any(|suffix| tags.name().ends_with(suffix));
                if is_counter && uncounted.is_none() && !is_counted() {
                    uncounted = Some(tags.name().to_owned());
                }
                samples.push(Sample { tags: if keeps_name { tags } else { tags.without_name(self.delayed) }, value });
            }
        })?;
        if let Some(name) = uncounted {
            let message = "metric might not be a counter, name does not end in _total/_sum/_count/_bucket:";
            self.inform(&format!("{message} {name:?}"), range);
        }
        self.unique(Vector { samples, distinct })
    }
}

/// As Go's `math.Max`: NaN on either side gives NaN, other than with `f64::max`, unless infinity stands on the other.
fn larger(a: f64, b: f64) -> f64 {
    let is_nan = a.is_nan() || b.is_nan();
    if is_nan && a != f64::INFINITY && b != f64::INFINITY { f64::NAN } else { a.max(b) }
}

fn smaller(a: f64, b: f64) -> f64 {
    -larger(-a, -b)
}

fn factor(value: f64, what: &str) -> Outcome<f64> {
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    let letter = if what == "smoothing" { "sf" } else { "tf" };
    failed(format!("invalid {what} factor. Expected: 0 < {letter} < 1, got: {value:.6}"))
}

/// Only some functions know what to do with an extended window.
fn check_reach(function: &Function, arguments: &[Expr]) -> Outcome<()> {
    for argument in arguments {
        let Node::Range(selector, _) = &argument.bare().node else { continue };
        let (fits, allowed) = match selector.reach {
            Reach::Plain => continue,
            Reach::Anchored => (
                matches!(function.id, Id::Changes | Id::Delta | Id::Increase | Id::Rate | Id::Resets),
                "changes, delta, increase, rate, resets",
            ),
            Reach::Smoothed => (matches!(function.id, Id::Delta | Id::Increase | Id::Rate), "delta, increase, rate"),
        };
        if !fits {
            let (word, name) = (selector.reach.word(), function.name);
            return failed(format!("{word} modifier can only be used with: {allowed} - not with {name}"));
        }
    }
    Ok(())
}

/// Functions of a window of points. `None` where it is too short, or no such function.
fn reduce(id: Id, window: Window<'_>, parameters: [f64; 2], t_ms: i64) -> Option<f64> {
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let (first, last) = (window.points.first()?, window.points.last()?);
    match id {
        Id::Rate => window.extrapolated(true, true),
        Id::Increase => window.extrapolated(true, false),
        Id::Delta => window.extrapolated(false, false),
        Id::Irate => window.instant(true),
        Id::Idelta => window.instant(false),
        Id::Changes => Some(window.changes()),
        Id::Resets => Some(window.resets()),
        Id::Deriv => window.line(first.t_ms).map(|(slope, _)| slope),
        Id::PredictLinear => window.line(t_ms).map(|(slope, value)| slope * parameters[0] + value),
        Id::DoubleExponentialSmoothing | Id::HoltWinters => window.smoothed(parameters[0], parameters[1]),
        Id::SumOverTime => Some(window.sum()),
        Id::AvgOverTime => Some(window.mean()),
        Id::CountOverTime => Some(window.points.len() as f64),
        Id::MinOverTime => window.min(),
        Id::MaxOverTime => window.max(),
        Id::StdvarOverTime => Some(window.variance()),
        Id::StddevOverTime => Some(window.variance().sqrt()),
        Id::QuantileOverTime => Some(window.quantile(parameters[0])),
        Id::MadOverTime => Some(window.median_deviation()),
        Id::PresentOverTime => Some(1.0),
        Id::FirstOverTime => Some(first.value),
        Id::LastOverTime => Some(last.value),
        Id::TsOfFirstOverTime => Some(seconds(first.t_ms)),
        Id::TsOfLastOverTime => Some(seconds(last.t_ms)),
        Id::TsOfMaxOverTime => window.extreme_seconds(true),
        Id::TsOfMinOverTime => window.extreme_seconds(false),
        _ => None,
    }
}

/// Functions of one value.
fn simple(id: Id) -> Option<fn(f64) -> f64> {
    Some(match id {
        Id::Abs => f64::abs,
        Id::Acos => f64::acos,
        Id::Acosh => f64::acosh,
        Id::Asin => f64::asin,
        Id::Asinh => f64::asinh,
        Id::Atan => f64::atan,
        Id::Atanh => f64::atanh,
        Id::Ceil => f64::ceil,
        Id::Cos => f64::cos,
        Id::Cosh => f64::cosh,
        Id::Deg => |value| value * 180.0 / std::f64::consts::PI,
        Id::Exp => f64::exp,
        Id::Floor => f64::floor,
        Id::Ln => f64::ln,
        Id::Log10 => f64::log10,
        Id::Log2 => f64::log2,
        Id::Rad => |value| value * std::f64::consts::PI / 180.0,
        Id::Sgn => |value| {
            if value < 0.0 {
                -1.0
            } else if value > 0.0 {
                1.0
            } else {
                value
            }
        },
        Id::Sin => f64::sin,
        Id::Sinh => f64::sinh,
        Id::Sqrt => f64::sqrt,
        Id::Tan => f64::tan,
        Id::Tanh => f64::tanh,
        _ => return None,
    })
}
