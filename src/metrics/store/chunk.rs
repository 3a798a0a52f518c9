//! Packed points. Times as differences of differences; values in whichever of three ways is shortest: as integers by differences, by
//! differences of differences, or as floats by the bits that changed (Pelkonen et al., "Gorilla", VLDB 2015, section 4.1).

use super::bits::{BitReader, BitWriter};
use super::{Point, decimal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    /// Integers of so many places, by differences.
    Delta(u8),
    /// By differences of differences.
    DeltaDelta(u8),
    Xor,
}

/// Points that rise in time.
#[derive(Debug)]
pub(super) struct Chunk {
    begin_ms: i64,
    end_ms: i64,
    count: u16,
    coding: Coding,
    data: Box<[u8]>,
}

impl Chunk {
    /// At most 65,535 points, at least one.
    pub fn pack(points: &[Point]) -> Self {
        let (coding, data) =
            [xor(points)].into_iter().chain(integers(points)).min_by_key(|(_, data)| data.len()).unwrap_or_else(|| xor(points));
        Self {
            begin_ms: points.first().map_or(0, |p| p.t_ms),
            end_ms: points.last().map_or(0, |p| p.t_ms),
            count: points.len().min(usize::from(u16::MAX)) as u16,
            coding,
            data: data.finish(),
        }
    }

    pub fn begin_ms(&self) -> i64 {
        self.begin_ms
    }

    pub fn end_ms(&self) -> i64 {
        self.end_ms
    }

    pub fn points(&self) -> usize {
        usize::from(self.count)
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.data.len()
    }

    pub fn unpack(&self) -> Unpack<'_> {
        let values = Values { coding: self.coding, first: None, delta: 0, bits: 0, leading: 0, meaning: 64 };
        Unpack { bits: BitReader::new(&self.data), left: self.count, t_ms: self.begin_ms, step_ms: 0, is_first: true, values }
    }
}

/// Writes all points; `value` writes one value.
fn written(points: &[Point], mut value: impl FnMut(&mut BitWriter, usize)) -> BitWriter {
    let mut out = BitWriter::default();
    let (mut t_ms, mut step_ms) = (0_i64, 0_i64);
    for (at, point) in points.iter().enumerate() {
        if at > 0 {
            let step = point.t_ms.wrapping_sub(t_ms);
            out.small(step.wrapping_sub(step_ms));
            step_ms = step;
        }
        t_ms = point.t_ms;
        value(&mut out, at);
    }
    out
}

fn integers(points: &[Point]) -> Vec<(Coding, BitWriter)> {
    let Some((places, whole)) = decimal::integers(points.iter().map(|p| p.value)) else { return Vec::new() };
    let (mut last, mut delta) = (0_i64, 0_i64);
    let by_delta = written(points, |out, at| {
        out.small(whole[at].wrapping_sub(last));
        last = whole[at];
    });
    last = 0;
    let by_delta_delta = written(points, |out, at| {
        let step = whole[at].wrapping_sub(last);
        // The first is no difference of anything.
        out.small(if at == 0 { step } else { step.wrapping_sub(delta) });
        delta = if at == 0 { 0 } else { step };
        last = whole[at];
    });
    vec![(Coding::Delta(places), by_delta), (Coding::DeltaDelta(places), by_delta_delta)]
}

fn xor(points: &[Point]) -> (Coding, BitWriter) {
    let (mut last, mut leading, mut meaning) = (0_u64, 65_u32, 0_u32);
    let out = written(points, |out, at| {
        let bits = points[at].value.to_bits();
        let changed = bits ^ last;
        last = bits;
        if changed == 0 {
            return out.bits(0, 1);
        }
        let zeros = changed.leading_zeros().min(31);
        let trailing = changed.trailing_zeros();
        let fits = leading <= 31 && zeros >= leading && trailing >= 64 - leading - meaning;
        // The window of before is kept while it fits and is not much too wide.
        if fits && meaning <= 64 - zeros - trailing + 11 {
            out.bits(0b10, 2);
        } else {
            (leading, meaning) = (zeros, 64 - zeros - trailing);
            out.bits(0b11, 2);
            out.bits(u64::from(leading), 5);
            out.bits(u64::from(meaning - 1), 6);
        }
        out.bits(changed >> (64 - leading - meaning), meaning);
    });
    (Coding::Xor, out)
}

/// What was read last, as the coding needs it.
#[derive(Clone, Debug)]
struct Values {
    coding: Coding,
    first: Option<i64>,
    delta: i64,
    bits: u64,
    leading: u32,
    meaning: u32,
}

impl Values {
    fn next(&mut self, bits: &mut BitReader<'_>) -> f64 {
        match self.coding {
            Coding::Delta(places) => {
                let whole = self.first.unwrap_or(0).wrapping_add(bits.small());
                self.first = Some(whole);
                decimal::back(whole, places)
            }
            Coding::DeltaDelta(places) => {
                let read = bits.small();
                let whole = match self.first {
                    None => read,
                    Some(last) => {
                        self.delta = self.delta.wrapping_add(read);
                        last.wrapping_add(self.delta)
                    }
                };
                self.first = Some(whole);
                decimal::back(whole, places)
            }
            Coding::Xor => {
                if bits.bits(1) == 1 {
                    if bits.bits(1) == 1 {
                        self.leading = bits.bits(5) as u32;
                        self.meaning = bits.bits(6) as u32 + 1;
                    }
                    self.bits ^= bits.bits(self.meaning) << 64_u32.saturating_sub(self.leading + self.meaning).min(63);
                }
                f64::from_bits(self.bits)
            }
        }
    }
}

/// The points of a chunk, in order.
pub(super) struct Unpack<'a> {
    bits: BitReader<'a>,
    left: u16,
    t_ms: i64,
    step_ms: i64,
    is_first: bool,
    values: Values,
}

impl Iterator for Unpack<'_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        self.left = self.left.checked_sub(1)?;
        if self.is_first {
            self.is_first = false;
        } else {
            self.step_ms = self.step_ms.wrapping_add(self.bits.small());
            self.t_ms = self.t_ms.wrapping_add(self.step_ms);
        }
        Some(Point { t_ms: self.t_ms, value: self.values.next(&mut self.bits) })
    }
}
