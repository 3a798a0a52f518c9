//! XXH64 of a label set, as `labels.Hash` of Prometheus' standard build (`stringlabels`) makes it: `limit_ratio` picks by it.
//! The function is that of the xxHash specification, with seed 0.

use super::vector::Tags;

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// The hash of name, value, name, value …, each behind its length.
pub fn hash_of(tags: &Tags<'_>) -> u64 {
    let mut bytes = Vec::with_capacity(128);
    for (name, value) in tags.iter() {
        push(&mut bytes, name);
        push(&mut bytes, value);
    }
    xxh64(&bytes)
}

/// A length is one byte, or 255 and three bytes from the lowest.
fn push(bytes: &mut Vec<u8>, text: &str) {
    match u8::try_from(text.len()) {
        Ok(length) if length < u8::MAX => bytes.push(length),
        Ok(_) | Err(_) => {
            let [first, second, third, ..] = text.len().to_le_bytes();
            bytes.extend_from_slice(&[u8::MAX, first, second, third]);
        }
    }
    bytes.extend_from_slice(text.as_bytes());
}

fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, rest) = bytes.as_chunks::<32>();
    let mut hash = if stripes.is_empty() { PRIME_5 } else { striped(stripes) };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash = (hash ^ round(0, u64::from_le_bytes(*word))).rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let half = u64::from(u32::from_le_bytes(*half));
        hash = (hash ^ half.wrapping_mul(PRIME_1)).rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
    }
    for byte in rest {
        hash = (hash ^ u64::from(*byte).wrapping_mul(PRIME_5)).rotate_left(11).wrapping_mul(PRIME_1);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 32)
}

fn striped(stripes: &[[u8; 32]]) -> u64 {
    let mut lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0u64.wrapping_sub(PRIME_1)];
    for stripe in stripes {
        for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
            *lane = round(*lane, u64::from_le_bytes(*word));
        }
    }
    let turns = [1, 7, 12, 18];
    let sum = lanes.iter().zip(turns).fold(0u64, |sum, (lane, turn)| sum.wrapping_add(lane.rotate_left(turn)));
    lanes.iter().fold(sum, |hash, lane| (hash ^ round(0, *lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Labels;

    #[test]
    fn hashes_are_those_of_the_reference() {
        let cases: [(&str, u64); 4] = [
            ("", 0xef46_db37_51d8_e999),
            ("a", 0xd24e_c4f1_a98c_6e5b),
            ("abc", 0x44bc_2cf5_ad77_0999),
            ("Nobody inspects the spammish repetition", 0xfbce_a83c_8a37_8bf1),
        ];
        for (text, hash) in cases {
            assert_eq!(xxh64(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn a_label_set_is_hashed_with_its_lengths() {
        let labels = Labels::from_pairs([("__name__", "up"), ("a", &"x".repeat(300))]);
        let bytes = [&b"\x08__name__\x02up\x01a\xff\x2c\x01\x00"[..], &[b'x'; 300]].concat();
        assert_eq!(hash_of(&Tags::own(labels)), xxh64(&bytes));
    }
}
