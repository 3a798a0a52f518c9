//! Numbers that are whole multiples of a power of ten: counts, percentages with two places, prices. As integers they need far fewer bits
//! than as floats.

/// Places behind the point that are tried.
const PLACES_MAX: u8 = 6;
const POWERS: [f64; PLACES_MAX as usize + 1] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
/// Below it every integer is a double of its own.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The integer that comes out as exactly this number again.
fn scaled(value: f64, places: u8) -> Option<i64> {
    let whole = (value * POWERS[places as usize]).round();
    (whole.abs() < EXACT_MAX && back(whole as i64, places).to_bits() == value.to_bits()).then_some(whole as i64)
}

/// The number of an integer.
pub(super) fn back(whole: i64, places: u8) -> f64 {
    whole as f64 / POWERS[places.min(PLACES_MAX) as usize]
}

/// All numbers as integers with the fewest places that do.
pub(super) fn integers(values: impl Iterator<Item = f64> + Clone) -> Option<(u8, Vec<i64>)> {
    let mut places = 0;
    for value in values.clone() {
        while scaled(value, places).is_none() {
            places += 1;
            if places > PLACES_MAX {
                return None;
            }
        }
    }
    // A number that needs fewer places may not be one with more.
    values.map(|value| scaled(value, places)).collect::<Option<Vec<i64>>>().map(|integers| (places, integers))
}
