//! The same numbers in every run.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One time in so many.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }

    /// A whole number in the range, both ends included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as usize) as i64
    }
}

#[test]
fn the_same_seed_gives_the_same() {
    let numbers = |seed| (0..5).map(|_| Random::new(seed).below(100)).collect::<Vec<_>>();
    assert_eq!(numbers(7), numbers(7));
}
