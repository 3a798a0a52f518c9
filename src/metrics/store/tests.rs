//! The store against plain lists, and how much it takes.

use super::*;
use crate::metrics::MatchOp;
use proptest::prelude::*;

fn labels(n: u8) -> Labels {
    let value = n.to_string();
    Labels::from_pairs([("__name__", if n.is_multiple_of(2) { "even" } else { "odd" }), ("n", value.as_str())])
}

#[derive(Clone, Debug)]
enum Step {
    Append {
        series: u8,
        later_ms: i64,
        value: f64,
    },
    /// The same time again, or before.
    Late {
        series: u8,
        earlier_ms: i64,
    },
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => (0_i32..1000).prop_map(|n| f64::from(n) / 100.0),
        3 => Just(1.0),
        2 => (0_u32..1_000_000).prop_map(f64::from),
        1 => any::<f64>(),
        1 => Just(stale()),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), Just(f64::MIN_POSITIVE), Just(0.1 + 0.2)],
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let later = prop_oneof![8 => Just(1000_i64), 4 => 1_i64..3000, 1 => 60_000_i64..400_000];
    prop_oneof![
        30 => (0_u8..6, later, value()).prop_map(|(series, later_ms, value)| Step::Append { series, later_ms, value }),
        1 => (0_u8..6, 0_i64..5000).prop_map(|(series, earlier_ms)| Step::Late { series, earlier_ms }),
    ]
}

const RETENTION_MS: i64 = 900_000;

/// All points of each series, and the newest time.
#[derive(Default)]
struct Model {
    series: std::collections::BTreeMap<u8, Vec<Point>>,
    newest_ms: i64,
}

impl Model {
    fn within(&self, series: u8, after_ms: i64, until_ms: i64) -> Vec<Point> {
        let horizon_ms = self.newest_ms - RETENTION_MS;
        let points = self.series.get(&series).map(Vec::as_slice).unwrap_or_default();
        points.iter().filter(|p| p.t_ms > after_ms && p.t_ms <= until_ms && p.t_ms >= horizon_ms).copied().collect()
    }
}

fn bits(points: &[Point]) -> Vec<(i64, u64)> {
    points.iter().map(|p| (p.t_ms, p.value.to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_lists_of_points(steps in prop::collection::vec(step(), 1..3000), windows in prop::collection::vec((0_i64..1_200_000, 1_i64..600_000), 8)) {
        let mut store = Store::new(Caps { retention_ms: RETENTION_MS, ..Caps::default() });
        let mut model = Model::default();
        let mut now_ms = 1_700_000_000_000_i64;
        for step in steps {
            match step {
                Step::Append { series, later_ms, value } => {
                    now_ms += later_ms;
                    prop_assert_eq!(store.append(&labels(series), now_ms, value), Ok(()));
                    model.series.entry(series).or_default().push(Point { t_ms: now_ms, value });
                    model.newest_ms = now_ms;
                }
                Step::Late { series, earlier_ms } => {
                    let last = model.series.get(&series).and_then(|points| points.last()).copied();
                    if let Some(last) = last.filter(|l| l.t_ms >= now_ms - RETENTION_MS) {
                        let other = if last.value == 7.5 { 8.5 } else { 7.5 };
                        prop_assert_eq!(store.append(&labels(series), last.t_ms - earlier_ms, other), Err(AppendError::OutOfOrder));
                        prop_assert_eq!(store.append(&labels(series), last.t_ms, last.value), Ok(()));
                    }
                }
            }
        }
        for series in 0..6 {
            let matcher = Matcher::new("n", MatchOp::Equal, &series.to_string()).unwrap();
            let found = store.select(&[matcher]);
            let all = model.within(series, i64::MIN, i64::MAX);
            prop_assert_eq!(found.len(), usize::from(!all.is_empty()));
            for (back_ms, width_ms) in windows.iter().copied().chain([(0, 300_000), (0, i64::MAX / 2)]) {
                let (after_ms, until_ms) = (now_ms - back_ms - width_ms, now_ms - back_ms);
                let expected = model.within(series, after_ms, until_ms);
                let mut points = Vec::new();
                found.iter().for_each(|s| s.points(after_ms, until_ms, &mut points));
                prop_assert_eq!(bits(&points), bits(&expected));
                let latest: Vec<Point> = found.iter().filter_map(|s| s.latest(after_ms, until_ms)).collect();
                prop_assert_eq!(bits(&latest), bits(&expected.last().copied().into_iter().collect::<Vec<_>>()));
            }
        }
    }

    #[test]
    fn whatever_is_packed_comes_out_again(values in prop::collection::vec((1_i64..100_000, value()), 1..200), base in any::<i32>()) {
        let mut t_ms = i64::from(base);
        let points: Vec<Point> = values.into_iter().map(|(later, value)| { t_ms += later; Point { t_ms, value } }).collect();
        let chunk = chunk::Chunk::pack(&points);
        prop_assert_eq!(bits(&chunk.unpack().collect::<Vec<_>>()), bits(&points));
    }
}

#[test]
fn matchers_find_what_a_look_at_all_series_finds() {
    let mut store = Store::default();
    let mut all = Vec::new();
    for n in 0..60_u32 {
        let job = ["a", "b", ""][n as usize % 3];
        let labels = Labels::from_pairs([("__name__", format!("m{}", n % 5)), ("job", job.to_owned()), ("n", n.to_string())]);
        store.append(&labels, 1000, f64::from(n)).unwrap();
        all.push(labels);
    }
    let matcher = |name: &str, op, value: &str| Matcher::new(name, op, value).unwrap();
    let cases = [
        vec![],
        vec![matcher("__name__", MatchOp::Equal, "m1")],
        vec![matcher("__name__", MatchOp::Equal, "m1"), matcher("job", MatchOp::Equal, "a")],
        vec![matcher("job", MatchOp::Equal, "")],
        vec![matcher("job", MatchOp::NotEqual, "")],
        vec![matcher("job", MatchOp::NotEqual, "a"), matcher("__name__", MatchOp::Regex, "m[12]")],
        vec![matcher("job", MatchOp::Regex, ".*")],
        vec![matcher("job", MatchOp::Regex, ".+"), matcher("n", MatchOp::NotRegex, "1.*")],
        vec![matcher("job", MatchOp::Regex, "a|")],
        vec![matcher("job", MatchOp::NotRegex, "a|")],
        vec![matcher("none", MatchOp::Equal, "x")],
        vec![matcher("none", MatchOp::Regex, "x?")],
        vec![matcher("n", MatchOp::Equal, "7"), matcher("n", MatchOp::NotEqual, "7")],
    ];
    for matchers in cases {
        let holds = |labels: &&Labels| matchers.iter().all(|m| m.matches(labels.get(&m.name).unwrap_or_default()));
        let expected: Vec<&Labels> = all.iter().filter(holds).collect();
        let found: Vec<&Labels> = store.select(&matchers).iter().map(SeriesRef::labels).collect();
        assert_eq!(found, expected, "{matchers:?}");
    }
}

#[test]
fn a_series_that_is_gone_gives_its_place_to_another_and_its_id_to_none() {
    let mut store = Store::new(Caps { series_max: 2, retention_ms: 1000, ..Caps::default() });
    let old = store.id(&labels(0)).unwrap();
    store.append_at(old, 0, 1.0).unwrap();
    store.append(&labels(1), 5000, 1.0).unwrap();
    assert_eq!(store.series_count(), 1, "the old one has no points left");
    assert_eq!(store.append_at(old, 6000, 2.0), Err(AppendError::Gone));
    let new = store.id(&labels(2)).unwrap();
    assert_eq!((new.slot, store.id(&labels(0))), (old.slot, Err(AppendError::SeriesCap)));
    store.append_at(new, 6000, 3.0).unwrap();
    let found = store.select(&[Matcher::new("n", MatchOp::Equal, "2").unwrap()]);
    assert_eq!(found.iter().map(|s| s.latest(0, 9000)).collect::<Vec<_>>(), [Some(Point { t_ms: 6000, value: 3.0 })]);
    assert!(store.select(&[Matcher::new("n", MatchOp::Equal, "0").unwrap()]).is_empty());
    assert_eq!(store.stats().refused_series, 1);
}

#[test]
fn the_oldest_points_make_room() {
    let caps = Caps { bytes_max: 40_000, ..Caps::default() };
    let mut store = Store::new(caps);
    for n in 0..20_000_i64 {
        store.append(&labels((n % 4) as u8), n * 500, n as f64 * 0.7).unwrap();
        assert!(store.stats().bytes <= caps.bytes_max);
    }
    let stats = store.stats();
    assert!(stats.evicted > 1000 && stats.points > 500, "{stats:?}");
    let mut kept = 0;
    for series in store.select(&[]) {
        let mut points = Vec::new();
        series.points(i64::MIN, i64::MAX, &mut points);
        kept += points.len();
        assert!(points.windows(2).all(|pair| pair[1].t_ms - pair[0].t_ms == 2000), "what is left has no hole");
        assert!(points.last().is_some_and(|p| p.t_ms >= 19_996 * 500));
    }
    assert_eq!(kept, stats.points);
}

#[test]
fn many_series_without_packed_points_stay_within_memory_too() {
    let caps = Caps { bytes_max: 64_000, ..Caps::default() };
    let mut store = Store::new(caps);
    for t in 0..50_i64 {
        for n in 0..200_u8 {
            store.append(&labels(n), t * 1000, 1.0).unwrap();
            assert!(store.stats().bytes <= caps.bytes_max + 1024, "{:?}", store.stats());
        }
    }
}

/// SplitMix64.
fn noise(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Bytes a sample of a packed chunk, with what the chunk itself takes.
fn packed_bytes(value: impl Fn(u64) -> f64) -> f64 {
    let points: Vec<Point> =
        (0..120).map(|n| Point { t_ms: 1_700_000_000_000 + n * 5000 + (noise(n as u64) * 5.0) as i64, value: value(n as u64) }).collect();
    chunk::Chunk::pack(&points).bytes() as f64 / 120.0
}

#[test]
fn slowly_changing_series_take_at_most_three_bytes_a_sample() {
    type Course = (&'static str, fn(u64) -> f64);
    let slow: [Course; 6] = [
        ("constant", |_| 1.0),
        ("a counter of steady steps", |n| (n * 50) as f64),
        ("a counter of irregular steps", |n| (n * 50) as f64 + (noise(n) * 20.0).floor()),
        ("bytes that change now and then", |n| 8_123_456_789.0 + (n / 20 * 4096) as f64),
        ("a share with two places", |n| ((0.5 + noise(n) * 0.1) * 100.0).round() / 100.0),
        ("a temperature", |n| (60.0 + noise(n) * 3.0).round()),
    ];
    for (name, value) in slow {
        let bytes = packed_bytes(value);
        println!("{name}: {bytes:.2} bytes a sample");
        assert!(bytes <= 3.0, "{name}: {bytes}");
    }
    // Where every bit of the fraction is new there is nothing to leave out.
    println!("a float whose every bit changes: {:.2} bytes a sample", packed_bytes(noise));
    println!("a sum of random seconds: {:.2} bytes a sample", packed_bytes(|n| (0..n).map(noise).sum()));
}

#[test]
fn what_went_for_its_age_leaves_nothing_that_takes_newer_points_along() {
    let caps = Caps { bytes_max: 60_000, retention_ms: 600_000, ..Caps::default() };
    let mut store = Store::new(caps);
    // A quick series beside slow ones: its chunks are many, and old ones go with the retention.
    for n in 0..40_000_i64 {
        store.append(&labels(0), n * 500, n as f64 * 0.7).unwrap();
        if n % 60 == 0 {
            (1..8).for_each(|i| store.append(&labels(i), n * 500, f64::from(i) + n as f64 * 0.3).unwrap());
        }
    }
    // The retention holds 1,200 points of the quick one and 20 of each slow one.
    assert!(store.chunks.len() <= 40, "{}", store.chunks.len());
    let mut oldest = Vec::new();
    for series in store.select(&[]) {
        let mut points = Vec::new();
        series.points(i64::MIN, i64::MAX, &mut points);
        oldest.push(points.first().map(|p| p.t_ms));
    }
    assert!(oldest.iter().all(Option::is_some));
}
