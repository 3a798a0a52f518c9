//! Series and expressions at random, of what Prometheus 2.42 and 3 have in common.
//!
//! Times are chosen so that open and closed windows are the same: samples lie at 1 ms past a multiple of 10 ms, and everything else is
//! a multiple of 10 ms; steps of subqueries are whole seconds, and their windows never end on one.

use pilothouse::metrics::{Labels, stale};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub struct Series {
    pub labels: Labels,
    /// Milliseconds of Unix time and value, in order.
    pub points: Vec<(i64, f64)>,
}

pub struct Random(ChaCha8Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Quarters, so that sums are exact whatever their order.
    fn quarters(&mut self, below: usize) -> f64 {
        self.below(below * 4) as f64 / 4.0
    }
}

const LENGTH: i64 = 160;
const SPACING_MS: i64 = 15_000;

/// Some forty minutes of series.
pub fn series(random: &mut Random, base_ms: i64) -> Vec<Series> {
    let mut out = Vec::new();
    for job in ["a", "b"] {
        for inst in ["1", "2", "3"] {
            let labels = |name: &str| Labels::from_pairs([("__name__", name), ("job", job), ("inst", inst)]);
            out.push(Series { labels: labels("c_total"), points: counter(random, base_ms) });
            // No two of them are ever the same.
            let own = out.len() as f64 / 1024.0;
            out.push(Series { labels: labels("g"), points: gauge(random, base_ms, 1, |r| r.quarters(400) - 200.0 + own) });
            out.push(Series { labels: labels("gap"), points: gaps(random, base_ms) });
            out.push(Series { labels: labels("odd"), points: gauge(random, base_ms, 1, odd) });
            out.extend(buckets(random, base_ms, job, inst));
        }
    }
    for (inst, version) in [("1", "x1"), ("2", "y22"), ("3", "x1")] {
        let labels = Labels::from_pairs([("__name__", "build_info"), ("inst", inst), ("version", version)]);
        out.push(Series { labels, points: gauge(random, base_ms, 4, |_| 1.0) });
    }
    out.push(Series { labels: Labels::from_pairs([("__name__", "one")]), points: gauge(random, base_ms, 1, |r| r.quarters(50)) });
    out
}

fn odd(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => 0.0,
        _ => random.quarters(40) - 20.0,
    }
}

fn time(random: &mut Random, base_ms: i64, index: i64) -> i64 {
    base_ms + index * SPACING_MS + 10 * random.below(900) as i64 + 1
}

fn gauge(random: &mut Random, base_ms: i64, every: i64, value: impl Fn(&mut Random) -> f64) -> Vec<(i64, f64)> {
    (0..LENGTH).filter(|index| index % every == 0).map(|index| (time(random, base_ms, index), value(random))).collect()
}

/// Far from zero, also where it is reset: by a fifth at least, so that a line from zero never meets the window.
fn counter(random: &mut Random, base_ms: i64) -> Vec<(i64, f64)> {
    let mut value = 5_000.0_f64;
    let mut next = |random: &mut Random| {
        value = if random.one_in(25) { (value * 0.8).floor() } else { value + random.quarters(20) };
        value
    };
    (0..LENGTH).map(|index| (time(random, base_ms, index), next(random))).collect()
}

/// With samples missing, long silences, and ends marked as stale.
fn gaps(random: &mut Random, base_ms: i64) -> Vec<(i64, f64)> {
    let (mut points, mut silent) = (Vec::new(), 0);
    for index in 0..LENGTH {
        if silent > 0 {
            silent -= 1;
        } else if random.one_in(30) {
            silent = 1 + random.below(40);
            if random.one_in(2) {
                points.push((time(random, base_ms, index), stale()));
            }
        } else if !random.one_in(6) {
            points.push((time(random, base_ms, index), random.quarters(100)));
        }
    }
    points
}

fn buckets(random: &mut Random, base_ms: i64, job: &str, inst: &str) -> Vec<Series> {
    let bounds = ["0.1", "0.5", "1", "5", "+Inf"];
    let mut counts = [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0];
    let mut points: Vec<Vec<(i64, f64)>> = vec![Vec::new(); bounds.len()];
    for index in 0..LENGTH {
        let t_ms = time(random, base_ms, index);
        let mut grown = 0.0;
        for (count, points) in counts.iter_mut().zip(&mut points) {
            grown += random.below(5) as f64;
            *count += grown;
            points.push((t_ms, *count));
        }
    }
    let labels = |le: &str| Labels::from_pairs([("__name__", "h_bucket"), ("job", job), ("inst", inst), ("le", le)]);
    bounds.iter().zip(points).map(|(le, points)| Series { labels: labels(le), points }).collect()
}

const METRICS: [&str; 7] = ["c_total", "g", "gap", "odd", "h_bucket", "build_info", "one"];
const MATCHERS: [&str; 10] = [
    "job=\"a\"",
    "job!=\"a\"",
    "inst=~\"1|2\"",
    "inst!~\"[12]\"",
    "inst=~\"\"",
    "le=\"\"",
    "nothing=\"\"",
    "job=~\".*\"",
    "inst=~\".+\"",
    "version=~\"x.*\"",
];
const RANGES: [&str; 7] = ["20s", "45s", "1m", "2m30s", "5m", "10m", "1h"];
const OF_A_VALUE: [&str; 21] = [
    "abs", "ceil", "floor", "exp", "ln", "log2", "log10", "sqrt", "sgn", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "deg", "rad", "round",
];
const OF_A_DATE: [&str; 8] = ["minute", "hour", "day_of_month", "day_of_week", "day_of_year", "days_in_month", "month", "year"];
const OF_A_RANGE: [&str; 15] = [
    "delta",
    "irate",
    "idelta",
    "changes",
    "resets",
    "sum_over_time",
    "avg_over_time",
    "count_over_time",
    "min_over_time",
    "max_over_time",
    "last_over_time",
    "present_over_time",
    "stddev_over_time",
    "stdvar_over_time",
    "absent_over_time",
];
const REDUCING: [&str; 6] = ["sum", "avg", "count", "min", "max", "group"];
const GROUPINGS: [&str; 8] =
    ["", "by (job) ", "by (inst) ", "by (job, inst) ", "by () ", "without (inst) ", "without (job, le) ", "by (nothing, le) "];
const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "^"];
const COMPARING: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
const MATCHINGS: [&str; 12] = [
    "",
    "",
    "on (job, inst) ",
    "ignoring (le) ",
    "on (inst) ",
    "on () ",
    "on (inst) group_left ",
    "on (inst) group_left (version) ",
    "on (inst) group_right ",
    "ignoring (le) group_left ",
    "on (job, inst) group_right (version) ",
    "ignoring (job, version) group_left (nothing) ",
];

/// Makes one expression.
pub struct Grammar<'r> {
    random: &'r mut Random,
    base_ms: i64,
    /// Subqueries around what is made.
    subqueries: usize,
}

impl<'r> Grammar<'r> {
    pub fn new(random: &'r mut Random, base_ms: i64) -> Self {
        Self { random, base_ms, subqueries: 0 }
    }

    pub fn expression(&mut self) -> String {
        let depth = 1 + self.random.below(4);
        if self.random.one_in(12) { self.scalar(depth) } else { self.vector(depth) }
    }

    fn vector(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.selector();
        }
        let below = depth - 1;
        match self.random.below(22) {
            0 | 1 => self.selector(),
            2..=5 => self.over_time(below),
            6..=8 => self.aggregation(below),
            9..=11 => self.binary(below),
            12 => format!("{} {} {}", self.operand(below), self.operator(true), self.scalar(below)),
            13 => format!("{} {} {}", self.scalar(below), self.operator(true), self.operand(below)),
            // Waves and remainders make much of a last bit: of samples alone.
            14 if self.random.one_in(6) => format!("{}({})", self.random.pick(&["sin", "cos", "tan"]), self.selector()),
            14 if self.random.one_in(5) => format!("{} % {}", self.selector(), self.random.pick(&["7", "-2.5", "0", "Inf", "g", "one"])),
            14 => format!("{}({})", self.random.pick(&OF_A_VALUE), self.vector(below)),
            15 => format!("{}({})", self.random.pick(&OF_A_DATE), self.date()),
            16 => format!("-{}", self.operand(below)),
            17 => self.labels(below),
            18 => self.with_scalars(below),
            19 => format!("{}({})", self.random.pick(&["sort", "sort_desc", "timestamp", "absent"]), self.vector(below)),
            20 => format!("vector({})", self.scalar(below)),
            _ => self.histogram(),
        }
    }

    /// Finite: what a date of infinity is depends on the processor.
    fn date(&mut self) -> String {
        match self.random.below(4) {
            0 => String::new(),
            1 => format!("vector(time() * {})", self.random.below(50)),
            2 => "c_total * 1e5".into(),
            _ => "timestamp(g) - 1e9".into(),
        }
    }

    /// In parentheses, so that precedence is not all that is tried.
    fn operand(&mut self, depth: usize) -> String {
        let vector = self.vector(depth);
        if self.random.one_in(3) { vector } else { format!("({vector})") }
    }

    fn scalar(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(2) {
            return match self.random.below(6) {
                0 => "time()".into(),
                1 => "pi()".into(),
                2 => self.random.pick(&["NaN", "Inf", "-Inf", "0", "1e3", "0x1f"]).into(),
                _ => format!("{}", self.random.quarters(60) - 20.0),
            };
        }
        let below = depth - 1;
        match self.random.below(4) {
            0 => format!("scalar({})", self.vector(below)),
            1 if self.random.one_in(6) => format!("({} atan2 {})", self.scalar(below), self.scalar(below)),
            1 => format!("({} {} {})", self.scalar(below), self.random.pick(&ARITHMETIC), self.scalar(below)),
            2 => format!("({} {} bool {})", self.scalar(below), self.random.pick(&COMPARING), self.scalar(below)),
            _ => format!("-({})", self.scalar(below)),
        }
    }

    fn bare_selector(&mut self) -> String {
        let name = self.random.pick(&METRICS);
        let matchers = match self.random.below(3) {
            0 => String::new(),
            1 => format!("{{{}}}", self.random.pick(&MATCHERS)),
            _ => format!("{{{}, {}}}", self.random.pick(&MATCHERS), self.random.pick(&MATCHERS)),
        };
        if self.random.one_in(15) { "{__name__=~\"g|gap\", inst!=\"3\"}".into() } else { format!("{name}{matchers}") }
    }

    fn counter(&mut self) -> &'static str {
        self.random.pick(&["c_total", "c_total{job=\"a\"}", "h_bucket", "h_bucket{le=~\"1|5\"}", "{__name__=~\"c_total|h_bucket\"}"])
    }

    fn selector(&mut self) -> String {
        format!("{}{}", self.bare_selector(), self.moment())
    }

    fn moment(&mut self) -> String {
        let seconds = self.base_ms / 1000 + self.random.below(2_400) as i64;
        match self.random.below(12) {
            0 => format!(" offset {}", self.random.pick(&RANGES)),
            1 => " offset -1m10s".into(),
            2 => format!(" @ {seconds}.3"),
            3 => format!(" @ {seconds}.3 offset 40s"),
            4 => self.random.pick(&[" @ start()", " @ end()", " offset 30s @ end()"]).into(),
            _ => String::new(),
        }
    }

    fn range(&mut self, depth: usize) -> String {
        if depth == 0 || self.subqueries == 2 || !self.random.one_in(4) {
            return format!("{}[{}]{}", self.bare_selector(), self.random.pick(&RANGES), self.moment());
        }
        self.subqueries += 1;
        let inner = self.operand(depth - 1);
        self.subqueries -= 1;
        let inner = if inner.ends_with(')') { inner } else { format!("({inner})") };
        let (range, step) = (self.random.pick(&["1m", "3m", "10m"]), self.random.pick(&["", "7s", "20s", "1m"]));
        // Within another subquery the time is a whole second, on which a step may lie.
        let moment = if self.subqueries > 0 || self.random.one_in(2) { " offset 130ms".into() } else { self.moment() };
        format!("{inner}[{range}:{step}]{moment}")
    }

    fn over_time(&mut self, depth: usize) -> String {
        if self.random.one_in(5) {
            let range = self.random.pick(&RANGES);
            return format!("{}({}[{range}]{})", self.random.pick(&["rate", "increase"]), self.counter(), self.moment());
        }
        let range = self.range(depth);
        match self.random.below(12) {
            0 => format!("quantile_over_time({}, {range})", self.random.pick(&["0", "0.3", "0.5", "0.99", "1", "-1", "2", "NaN"])),
            // With `@`, 2.42 moves the window of a range query from step to step.
            1 if !range.contains(['@', '(']) && !range.contains("odd") => {
                format!("predict_linear({range}, {})", self.random.pick(&["60", "3600", "-30"]))
            }
            3 if !range.contains('(') && !range.contains("odd") => format!("deriv({range})"),
            2 => format!("holt_winters({range}, {}, 0.3)", self.random.pick(&["0.1", "0.5", "0.9"])),
            _ => format!("{}({range})", self.random.pick(&OF_A_RANGE)),
        }
    }

    fn aggregation(&mut self, depth: usize) -> String {
        let grouping = self.random.pick(&GROUPINGS);
        match self.random.below(10) {
            0 => format!("quantile {grouping}({}, {})", self.random.pick(&["0", "0.4", "0.9", "1", "1.5"]), self.vector(depth)),
            // Of values that were not computed: a last bit would make another label.
            1 => format!("count_values {grouping}(\"{}\", {})", self.random.pick(&["value", "job"]), self.selector()),
            // Of values that are never the same: which of equals is taken is left open.
            2 => format!(
                "{} {grouping}({}, {})",
                self.random.pick(&["topk", "bottomk"]),
                self.random.below(5),
                self.random.pick(&["g", "g * 2", "sum by (inst) (g)"])
            ),
            3 => format!("{} {grouping}({{__name__=~\"g|c_total|one\"}})", self.random.pick(&["stddev", "stdvar"])),
            _ => format!("{} {grouping}({})", self.random.pick(&REDUCING), self.vector(depth)),
        }
    }

    fn operator(&mut self, with_scalar: bool) -> String {
        match self.random.below(if with_scalar { 3 } else { 4 }) {
            0 => self.random.pick(&COMPARING).into(),
            1 => format!("{} bool", self.random.pick(&COMPARING)),
            2 => self.random.pick(&ARITHMETIC).into(),
            _ => self.random.pick(&["and", "or", "unless"]).into(),
        }
    }

    fn binary(&mut self, depth: usize) -> String {
        let (operator, matching) = (self.operator(false), self.random.pick(&MATCHINGS));
        format!("{} {operator} {matching}{}", self.operand(depth), self.operand(depth))
    }

    fn labels(&mut self, depth: usize) -> String {
        let vector = self.vector(depth);
        let (from, to) =
            (self.random.pick(&["job", "inst", "le", "nothing", "version"]), self.random.pick(&["job", "inst", "made", "__name__"]));
        if self.random.one_in(3) {
            return format!("label_join({vector}, \"{to}\", \"-\", \"{from}\", \"inst\")");
        }
        let pattern = self.random.pick(&["(.*)", "([a-z])(\\\\d*)", "", "a|b", "(?P<one>.)"]);
        let replacement = self.random.pick(&["$1", "x$1y", "${one}", "", "$2$1$3", "$$1"]);
        format!("label_replace({vector}, \"{to}\", \"{replacement}\", \"{from}\", \"{pattern}\")")
    }

    fn with_scalars(&mut self, depth: usize) -> String {
        let vector = self.vector(depth);
        match self.random.below(4) {
            0 => format!("clamp({vector}, {}, {})", self.scalar(depth), self.scalar(depth)),
            1 => format!("clamp_min({vector}, {})", self.scalar(depth)),
            2 => format!("clamp_max({vector}, {})", self.scalar(depth)),
            _ => format!("round({vector}, {})", self.random.pick(&["1", "0.1", "5", "-2", "0"])),
        }
    }

    fn histogram(&mut self) -> String {
        let q = self.random.pick(&["0", "0.1", "0.5", "0.95", "1", "-0.5", "1.5", "NaN"]);
        let grouping = self.random.pick(&["by (le) ", "by (le, job) ", "by (job) ", "without (inst) "]);
        let window = self.random.pick(&["2m", "5m"]);
        match self.random.below(3) {
            0 => format!("histogram_quantile({q}, h_bucket{})", self.moment()),
            1 => format!("histogram_quantile({q}, rate(h_bucket[{window}]))"),
            _ => format!("histogram_quantile({q}, sum {grouping}(rate(h_bucket[{window}])))"),
        }
    }
}
