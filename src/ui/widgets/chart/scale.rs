//! How the horizontal axis maps to columns of dots: by powers of two, so that a live curve only appends.

/// First index of a window of `columns` values: all while they fit; then it moves by half a window.
pub fn recent_start(first: u64, len: u64, columns: u64) -> u64 {
    let end = first.saturating_add(len);
    if len <= columns || columns == 0 {
        return first;
    }
    let half = (columns / 2).max(1);
    ((end - 1) / half).saturating_sub(1).saturating_mul(half).max(first).max(end.saturating_sub(columns))
}

/// Which part of the values is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Range {
    /// All of it, older values in buckets.
    #[default]
    Whole,
    /// The newest in full resolution.
    Recent,
}

/// Where values are along the axis, in its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub first: u64,
    pub last: u64,
    /// Where as many of the newest values begin as there are columns of dots.
    pub recent: u64,
}

/// What the operator chose to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub range: Range,
    /// Powers of two by which more (negative: less) is seen of each value than the range says.
    pub zoom: i8,
    /// Left edge of what was panned to; unset follows the newest value.
    pub left: Option<u64>,
}

/// How the axis maps to columns of dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    pub start: u64,
    /// A column stands for 2^exponent units; below 0, a unit takes 2^-exponent columns.
    pub exponent: i32,
    pub columns: u64,
    /// All of the values are in view.
    pub is_whole: bool,
    /// Where the window would begin that follows the newest value.
    pub follow: u64,
}

/// A unit takes at most 2^10 columns.
const EXPONENT_MIN: i32 = -10;
const EXPONENT_MAX: i32 = 63;

/// The smallest exponent with which `first..=last` fits.
fn fitting(first: u64, last: u64, columns: u64) -> i32 {
    let len = u128::from(last.saturating_sub(first)) + 1;
    let columns = u128::from(columns.max(1));
    if len <= columns {
        let stretches = |s: i32| (len - 1) << (s + 1) < columns;
        return -(0..-EXPONENT_MIN).take_while(|s| len > 1 && stretches(*s)).count().try_into().unwrap_or(0);
    }
    let fits = |e: i32| u128::from(last >> e) - u128::from(first >> e) < columns;
    (1..EXPONENT_MAX).find(|e| fits(*e)).unwrap_or(EXPONENT_MAX)
}

impl Scale {
    pub fn new(extent: Extent, window: Window, columns: u64) -> Self {
        let columns = columns.max(1);
        let whole = fitting(extent.first, extent.last, columns);
        let home = match window.range {
            Range::Whole => whole,
            Range::Recent => fitting(extent.recent.clamp(extent.first, extent.last), extent.last, columns).min(whole),
        };
        // At least one unit is seen.
        let least = EXPONENT_MIN.max(-(columns.ilog2() as i32)).min(whole);
        let exponent = (home - i32::from(window.zoom)).clamp(least, whole);
        let mut scale = Self { start: 0, exponent, columns, is_whole: exponent == whole, follow: 0 };
        scale.follow = scale.following(extent);
        scale.start = match window.left {
            Some(left) if !scale.is_whole => scale.aligned(left.max(extent.first)).min(scale.follow),
            Some(_) | None => scale.follow,
        };
        scale
    }

    fn following(&self, extent: Extent) -> u64 {
        let (first, last) = (extent.first, extent.last.max(extent.first));
        if self.is_whole {
            return self.aligned(first);
        }
        if self.exponent < 0 {
            return recent_start(first, (last - first).saturating_add(1), self.window());
        }
        let (first, last) = (first >> self.exponent, last >> self.exponent);
        recent_start(first, (last - first).saturating_add(1), self.columns) << self.exponent
    }

    /// The beginning of the column that holds `x`.
    fn aligned(&self, x: u64) -> u64 {
        if self.exponent > 0 { x >> self.exponent << self.exponent } else { x }
    }

    /// Units a column stands for.
    pub fn bucket(&self) -> u64 {
        1 << self.exponent.max(0)
    }

    /// Units of the whole window.
    pub fn window(&self) -> u64 {
        if self.exponent < 0 { (self.columns >> -self.exponent).max(1) } else { self.columns.saturating_mul(self.bucket()) }
    }

    /// The column of `x`; what lies outside the window has one outside of 0..columns.
    pub fn column(&self, x: u64) -> i64 {
        let away = i128::from(x) - i128::from(self.start);
        let column = if self.exponent < 0 { away << -self.exponent } else { away >> self.exponent };
        const FAR: i128 = 1 << 40;
        column.clamp(-FAR, FAR) as i64
    }

    /// The first `x` of a column.
    pub fn x(&self, column: u64) -> u64 {
        let away = if self.exponent < 0 { column >> -self.exponent } else { column.saturating_mul(self.bucket()) };
        self.start.saturating_add(away)
    }

    pub fn holds(&self, x: u64) -> bool {
        (0..self.columns as i64).contains(&self.column(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_window_holds_the_newest_value() {
        for len in 1..300 {
            for columns in [1, 2, 3, 7, 40] {
                let start = recent_start(5, len, columns);
                assert!(start >= 5 && 5 + len > start && 5 + len - start <= columns, "{len} in {columns}: {start}");
            }
        }
    }

    fn extents() -> impl Strategy<Value = Extent> {
        let any = prop_oneof![0..3000u64, any::<u64>()];
        (any.clone(), any.clone(), any).prop_map(|(a, b, c)| {
            let mut x = [a, b, c];
            x.sort_unstable();
            Extent { first: x[0], recent: x[1], last: x[2] }
        })
    }

    proptest! {
        #[test]
        fn what_follows_sees_the_newest_and_what_is_whole_sees_all(
            extent in extents(), recent in any::<bool>(), zoom in any::<i8>(), left in any::<Option<u64>>(), columns in 2..900u64
        ) {
            let range = if recent { Range::Recent } else { Range::Whole };
            let following = Scale::new(extent, Window { range, zoom, left: None }, columns);
            prop_assert!(following.holds(extent.last), "{:?}", following);
            if following.is_whole {
                prop_assert!(following.holds(extent.first), "{:?}", following);
            }
            let panned = Scale::new(extent, Window { range, zoom, left }, columns);
            prop_assert!(panned.start <= panned.follow);
            prop_assert!(panned.start >= extent.first || panned.column(extent.first) == 0);
            prop_assert!(panned.holds(panned.x(columns / 2)) || panned.x(columns / 2) < panned.start.saturating_add(1));
            // The way back.
            let home = Scale::new(extent, Window::default(), columns);
            prop_assert!(home.is_whole && home.holds(extent.first) && home.holds(extent.last));
        }
    }
}
