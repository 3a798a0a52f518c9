//! Numbers in as few bits as they need.

/// Bits of the classes of small numbers. Class n is told by n ones and a zero, the last by ones alone.
const CLASS_BITS: [u32; 7] = [0, 3, 6, 12, 20, 32, 64];

#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last byte that are used.
    used: u32,
}

impl BitWriter {
    /// The lowest `count` bits, highest first.
    pub fn bits(&mut self, value: u64, count: u32) {
        let mut left = count;
        while left > 0 {
            if self.used == 0 || self.used == 8 {
                self.bytes.push(0);
                self.used = 0;
            }
            let room = 8 - self.used;
            let take = room.min(left);
            let part = (value >> (left - take)) & ((1 << take) - 1);
            if let Some(last) = self.bytes.last_mut() {
                *last |= (part << (room - take)) as u8;
            }
            self.used += take;
            left -= take;
        }
    }

    /// A number that is mostly near zero.
    pub fn small(&mut self, value: i64) {
        let zigzag = ((value << 1) ^ (value >> 63)) as u64;
        let needed = 64 - zigzag.leading_zeros();
        let class = CLASS_BITS.iter().position(|bits| *bits >= needed).unwrap_or(CLASS_BITS.len() - 1);
        let is_last = class == CLASS_BITS.len() - 1;
        let ones = (1_u64 << class) - 1;
        if is_last {
            self.bits(ones, class as u32)
        } else {
            self.bits(ones << 1, class as u32 + 1)
        }
        self.bits(zigzag, CLASS_BITS[class]);
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn finish(self) -> Box<[u8]> {
        self.bytes.into_boxed_slice()
    }
}

/// Reads what a writer wrote; behind the end everything is zero.
#[derive(Clone, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// In bits.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub fn bits(&mut self, count: u32) -> u64 {
        let mut value = 0;
        let mut left = count;
        while left > 0 {
            let byte = u64::from(self.bytes.get(self.at / 8).copied().unwrap_or(0));
            let room = 8 - (self.at % 8) as u32;
            let take = room.min(left);
            value = value << take | (byte >> (room - take)) & ((1 << take) - 1);
            self.at += take as usize;
            left -= take;
        }
        value
    }

    pub fn small(&mut self) -> i64 {
        let last = CLASS_BITS.len() - 1;
        let mut class = 0;
        while class < last && self.bits(1) == 1 {
            class += 1;
        }
        let zigzag = self.bits(CLASS_BITS[class]);
        (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)
    }
}
