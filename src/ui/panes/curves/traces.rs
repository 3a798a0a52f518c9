//! The figures of one chart with their values, and how those lie along the axis.

use super::figure::{Count, Figure};
use super::options::{ChartView, XAxis};
use super::smooth::{Prepared, prepare};
use crate::state::{Bucket, DashState, LaneState, MarkKind};
use crate::ui::lang::tr;
use crate::ui::widgets::{ChartMark, Extent, Scale, Window, format};

/// Weight of the past in the mean of what is 0 or 1: about the newest fifty, as the text below the chart counts them.
const RATIO_PAST: f64 = 0.96;

/// Nanoseconds of a unit of a time axis.
const UNIT_NS: u64 = 1_000_000;

/// The values of one figure.
pub struct Trace {
    pub figure: Figure,
    pub buckets: Vec<Bucket>,
    /// Values that fell out before the first bucket.
    dropped: u64,
}

/// What a chart is of.
pub struct Traces {
    /// Those that have values, in the order in which they were chosen.
    pub traces: Vec<Trace>,
    /// Those that have none.
    pub missing: Vec<Figure>,
    /// What the axis measures: what was asked for, as far as it can be.
    pub axis: XAxis,
    /// Milliseconds since 1970 when the run began, where that is known.
    started_ms: Option<i64>,
}

impl Traces {
    pub fn of(state: &DashState, lane: Option<&LaneState>, chart: &ChartView, figures: &[Figure]) -> Self {
        let (there, missing): (Vec<Figure>, Vec<Figure>) = figures.iter().partition(|f| f.has_values(state, lane));
        let trace = |figure: &Figure| Trace { figure: *figure, buckets: figure.buckets(state, lane), dropped: figure.dropped(lane) };
        let traces: Vec<Trace> = there.iter().map(trace).collect();
        let started = state.run.as_ref().and_then(|run| run.started.parse::<jiff::Timestamp>().ok());
        let started_ms = started.map(jiff::Timestamp::as_millisecond);
        let counts_differ = traces.iter().any(|t| t.figure.count() != traces[0].figure.count());
        let axis = match chart.axis {
            // An episode and an update have only time in common.
            XAxis::Step if counts_differ => XAxis::Relative,
            XAxis::Wall if started_ms.is_none() => XAxis::Relative,
            axis @ (XAxis::Step | XAxis::Relative | XAxis::Wall) => axis,
        };
        Self { traces, missing, axis, started_ms }
    }

    /// Why the axis is not the one that was asked for.
    pub fn axis_note(&self, asked: XAxis) -> Option<String> {
        match (asked, self.axis) {
            (XAxis::Wall, XAxis::Relative) => Some(tr!("clock n/a: when the run began is not known")),
            (XAxis::Step, XAxis::Relative) => Some(tr!("by time, for they are counted differently")),
            (XAxis::Step | XAxis::Relative | XAxis::Wall, XAxis::Step | XAxis::Relative | XAxis::Wall) => None,
        }
    }

    pub fn count(&self) -> Option<Count> {
        self.traces.first().map(|t| t.figure.count())
    }

    /// Where a bucket lies along the axis.
    pub fn x(&self, bucket: &Bucket) -> (u64, u64) {
        match self.axis {
            XAxis::Step => (bucket.step_first, bucket.step_last.max(bucket.step_first)),
            XAxis::Relative | XAxis::Wall => {
                let first = bucket.t_ns_first / UNIT_NS;
                (first, (bucket.t_ns_last / UNIT_NS).max(first))
            }
        }
    }

    /// A place of the axis in words.
    pub fn x_label(&self, x: u64) -> String {
        match self.axis {
            XAxis::Step => x.to_string(),
            XAxis::Relative => format::clock(x.saturating_mul(UNIT_NS)),
            XAxis::Wall => self.clock(x).unwrap_or_else(|| format::UNSET.to_owned()),
        }
    }

    /// What the axis counts, behind its last label.
    pub fn unit(&self) -> String {
        match self.axis {
            XAxis::Step => self.count().map_or_else(String::new, Count::unit),
            XAxis::Relative => String::new(),
            XAxis::Wall => "UTC".to_owned(),
        }
    }

    fn clock(&self, x: u64) -> Option<String> {
        let ms = self.started_ms?.checked_add(i64::try_from(x).ok()?)?;
        let time = jiff::Timestamp::from_millisecond(ms).ok()?;
        let days = self.traces.iter().filter_map(|t| t.buckets.last()).any(|b| b.t_ns_last / UNIT_NS > 86_400_000);
        Some(time.strftime(if days { "%m-%d %H:%M" } else { "%H:%M:%S" }).to_string())
    }

    fn extent(&self, columns: u64) -> Option<Extent> {
        let ends = self.traces.iter().filter_map(|t| {
            let (first, last) = (t.buckets.first()?, t.buckets.last()?);
            let back = t.buckets.len().saturating_sub(usize::try_from(columns).unwrap_or(usize::MAX));
            Some(Extent { first: self.x(first).0, last: self.x(last).1, recent: self.x(&t.buckets[back]).0 })
        });
        let union = |a: Extent, b: Extent| Extent { first: a.first.min(b.first), last: a.last.max(b.last), recent: a.recent.min(b.recent) };
        ends.reduce(union)
    }

    /// The axis in so many columns; unset where there is nothing.
    pub fn scale(&self, chart: &ChartView, columns: u64) -> Option<Scale> {
        let left = chart.left.and_then(|n| Some(self.x(self.bucket_of(n)?.1).0));
        Some(Scale::new(self.extent(columns)?, Window { range: chart.range, zoom: chart.zoom, left }, columns))
    }

    /// The first place that has a value.
    pub fn first(&self) -> u64 {
        self.traces.iter().filter_map(|t| Some(self.x(t.buckets.first()?).0)).min().unwrap_or(0)
    }

    /// The bucket of the `n`th value of the first figure, or the nearest there is.
    pub fn bucket_of(&self, n: u64) -> Option<(usize, &Bucket)> {
        let trace = self.traces.first()?;
        let mut end = trace.dropped;
        let found = trace.buckets.iter().position(|bucket| {
            end = end.saturating_add(bucket.len());
            n < end
        });
        let index = found.or(trace.buckets.len().checked_sub(1))?;
        Some((index, trace.buckets.get(index)?))
    }

    /// The number of the first value of a bucket of the first figure.
    pub fn number_of(&self, index: usize) -> u64 {
        self.traces.first().map_or(0, |t| t.buckets.iter().take(index).fold(t.dropped, |sum, b| sum.saturating_add(b.len())))
    }

    /// Pauses, swaps and alerts, at the newest value that was there then.
    pub fn marks(&self, state: &DashState) -> Vec<ChartMark> {
        let Some(trace) = self.traces.first() else { return Vec::new() };
        let letter = |kind| match kind {
            MarkKind::Paused => 'P',
            // S is success everywhere.
            MarkKind::Swapped => 'C',
            MarkKind::Alert => 'A',
            MarkKind::Branched => 'B',
        };
        let place = |t_ns: u64| match self.axis {
            XAxis::Step => {
                let before = trace.buckets.partition_point(|b| b.t_ns_first <= t_ns);
                trace.buckets.get(before.saturating_sub(1)).map_or(0, |b| if b.t_ns_last <= t_ns { b.step_last } else { b.step_first })
            }
            XAxis::Relative | XAxis::Wall => t_ns / UNIT_NS,
        };
        // What came before this episode is no place of its steps.
        let begun = trace.buckets.first().filter(|_| trace.figure.count() == Count::Step).map_or(0, |b| b.t_ns_first);
        state
            .marks
            .iter()
            .filter(|mark| mark.t_ns >= begun)
            .map(|mark| ChartMark { x: place(mark.t_ns), letter: letter(mark.kind) })
            .collect()
    }
}

/// The weight of the past for a figure.
pub fn past(figure: Figure, chart: &ChartView) -> f64 {
    let chosen = f64::from(chart.smoothing_tenths.min(9)) / 10.0;
    if figure.is_ratio() { RATIO_PAST.max(chosen) } else { chosen }
}

impl Trace {
    /// Smoothed, and ready to be drawn.
    pub fn prepare(&self, traces: &Traces, chart: &ChartView) -> Prepared {
        prepare(&self.buckets, past(self.figure, chart), chart.log, |bucket| traces.x(bucket))
    }

    /// The buckets in a column, as one, and the last one's index; where there is none, the newest one before it.
    pub fn under(&self, traces: &Traces, scale: Scale, x: u64) -> Option<(usize, Bucket)> {
        let column = scale.column(x);
        let upto = self.buckets.partition_point(|b| scale.column(traces.x(b).0) <= column);
        let last = upto.checked_sub(1)?;
        let from = self.buckets.partition_point(|b| scale.column(traces.x(b).0) < column).min(last);
        let joined = self.buckets[from + 1..=last].iter().fold(self.buckets[from], |sum, next| sum.joined(next));
        Some((last, joined))
    }
}
