//! PromQL's functions: names, types of arguments, types of results.

use super::ast::Type;
use Type::{Matrix, Scalar, Text, Vector};

/// How many arguments may follow, or be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variadic {
    No,
    /// The last type may be left out, or be given up to this many times.
    UpTo(usize),
    Any,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: &'static str,
    pub arguments: &'static [Type],
    pub variadic: Variadic,
    pub returns: Type,
    pub id: Id,
}

macro_rules! functions {
    ($($id:ident $name:literal ($($argument:ident),*) $variadic:expr => $returns:ident;)*) => {
        /// Which function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Id { $($id,)* }

        static FUNCTIONS: &[Function] = &[$(Function {
            name: $name, arguments: &[$($argument),*], variadic: $variadic, returns: $returns, id: Id::$id,
        },)*];
    };
}

use Variadic::{Any, No, UpTo};

/// Functions that Prometheus refuses unless its feature `promql-experimental-functions` is on.
pub const EXPERIMENTAL: [Id; 17] = [
    Id::DoubleExponentialSmoothing,
    Id::End,
    Id::FirstOverTime,
    Id::HistogramQuantiles,
    Id::Info,
    Id::MadOverTime,
    Id::MaxOf,
    Id::MinOf,
    Id::Range,
    Id::SortByLabel,
    Id::SortByLabelDesc,
    Id::Start,
    Id::Step,
    Id::TsOfFirstOverTime,
    Id::TsOfLastOverTime,
    Id::TsOfMaxOverTime,
    Id::TsOfMinOverTime,
];

functions! {
    Abs "abs" (Vector) No => Vector;
    Absent "absent" (Vector) No => Vector;
    AbsentOverTime "absent_over_time" (Matrix) No => Vector;
    Acos "acos" (Vector) No => Vector;
    Acosh "acosh" (Vector) No => Vector;
    Asin "asin" (Vector) No => Vector;
    Asinh "asinh" (Vector) No => Vector;
    Atan "atan" (Vector) No => Vector;
    Atanh "atanh" (Vector) No => Vector;
    AvgOverTime "avg_over_time" (Matrix) No => Vector;
    Ceil "ceil" (Vector) No => Vector;
    Changes "changes" (Matrix) No => Vector;
    Clamp "clamp" (Vector, Scalar, Scalar) No => Vector;
    ClampMax "clamp_max" (Vector, Scalar) No => Vector;
    ClampMin "clamp_min" (Vector, Scalar) No => Vector;
    Cos "cos" (Vector) No => Vector;
    Cosh "cosh" (Vector) No => Vector;
    CountOverTime "count_over_time" (Matrix) No => Vector;
    DayOfMonth "day_of_month" (Vector) UpTo(1) => Vector;
    DayOfWeek "day_of_week" (Vector) UpTo(1) => Vector;
    DayOfYear "day_of_year" (Vector) UpTo(1) => Vector;
    DaysInMonth "days_in_month" (Vector) UpTo(1) => Vector;
    Deg "deg" (Vector) No => Vector;
    Delta "delta" (Matrix) No => Vector;
    Deriv "deriv" (Matrix) No => Vector;
    DoubleExponentialSmoothing "double_exponential_smoothing" (Matrix, Scalar, Scalar) No => Vector;
    End "end" () No => Scalar;
    Exp "exp" (Vector) No => Vector;
    FirstOverTime "first_over_time" (Matrix) No => Vector;
    Floor "floor" (Vector) No => Vector;
    HistogramAvg "histogram_avg" (Vector) No => Vector;
    HistogramCount "histogram_count" (Vector) No => Vector;
    HistogramFraction "histogram_fraction" (Scalar, Scalar, Vector) No => Vector;
    HistogramQuantile "histogram_quantile" (Scalar, Vector) No => Vector;
    HistogramQuantiles "histogram_quantiles" (Vector, Text, Scalar) UpTo(9) => Vector;
    HistogramStddev "histogram_stddev" (Vector) No => Vector;
    HistogramStdvar "histogram_stdvar" (Vector) No => Vector;
    HistogramSum "histogram_sum" (Vector) No => Vector;
    HoltWinters "holt_winters" (Matrix, Scalar, Scalar) No => Vector;
    Hour "hour" (Vector) UpTo(1) => Vector;
    Idelta "idelta" (Matrix) No => Vector;
    Increase "increase" (Matrix) No => Vector;
    Info "info" (Vector, Vector) UpTo(1) => Vector;
    Irate "irate" (Matrix) No => Vector;
    LabelJoin "label_join" (Vector, Text, Text, Text) Any => Vector;
    LabelReplace "label_replace" (Vector, Text, Text, Text, Text) No => Vector;
    LastOverTime "last_over_time" (Matrix) No => Vector;
    Ln "ln" (Vector) No => Vector;
    Log10 "log10" (Vector) No => Vector;
    Log2 "log2" (Vector) No => Vector;
    MadOverTime "mad_over_time" (Matrix) No => Vector;
    MaxOf "max_of" (Scalar, Scalar) No => Scalar;
    MaxOverTime "max_over_time" (Matrix) No => Vector;
    MinOf "min_of" (Scalar, Scalar) No => Scalar;
    MinOverTime "min_over_time" (Matrix) No => Vector;
    Minute "minute" (Vector) UpTo(1) => Vector;
    Month "month" (Vector) UpTo(1) => Vector;
    Pi "pi" () No => Scalar;
    PredictLinear "predict_linear" (Matrix, Scalar) No => Vector;
    PresentOverTime "present_over_time" (Matrix) No => Vector;
    QuantileOverTime "quantile_over_time" (Scalar, Matrix) No => Vector;
    Rad "rad" (Vector) No => Vector;
    Range "range" () No => Scalar;
    Rate "rate" (Matrix) No => Vector;
    Resets "resets" (Matrix) No => Vector;
    Round "round" (Vector, Scalar) UpTo(1) => Vector;
    Scalar_ "scalar" (Vector) No => Scalar;
    Sgn "sgn" (Vector) No => Vector;
    Sin "sin" (Vector) No => Vector;
    Sinh "sinh" (Vector) No => Vector;
    Sort "sort" (Vector) No => Vector;
    SortByLabel "sort_by_label" (Vector, Text) Any => Vector;
    SortByLabelDesc "sort_by_label_desc" (Vector, Text) Any => Vector;
    SortDesc "sort_desc" (Vector) No => Vector;
    Sqrt "sqrt" (Vector) No => Vector;
    Start "start" () No => Scalar;
    StddevOverTime "stddev_over_time" (Matrix) No => Vector;
    StdvarOverTime "stdvar_over_time" (Matrix) No => Vector;
    Step "step" () No => Scalar;
    SumOverTime "sum_over_time" (Matrix) No => Vector;
    Tan "tan" (Vector) No => Vector;
    Tanh "tanh" (Vector) No => Vector;
    Time "time" () No => Scalar;
    Timestamp "timestamp" (Vector) No => Vector;
    TsOfFirstOverTime "ts_of_first_over_time" (Matrix) No => Vector;
    TsOfLastOverTime "ts_of_last_over_time" (Matrix) No => Vector;
    TsOfMaxOverTime "ts_of_max_over_time" (Matrix) No => Vector;
    TsOfMinOverTime "ts_of_min_over_time" (Matrix) No => Vector;
    Vector_ "vector" (Scalar) No => Vector;
    Year "year" (Vector) UpTo(1) => Vector;
}

/// Names are told from each other by case.
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.binary_search_by(|function| function.name.cmp(name)).ok().map(|at| &FUNCTIONS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_names() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
        assert!(FUNCTIONS.iter().all(|function| find(function.name) == Some(function)) && find("Rate").is_none());
    }
}
