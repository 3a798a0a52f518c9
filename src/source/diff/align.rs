//! Which of two rows belong together.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::cmp::Ordering;

/// Places in two rows that belong together; one is unset where only the other row has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub a: Option<usize>,
    pub b: Option<usize>,
}

/// Longer rows are laid side by side by their numbers: what is better takes time in the square of what differs.
pub const ROWS_MAX: usize = 20_000;

/// Pairs rows that have the same key, and no others. The rows keep their order.
pub fn by_keys<K: Ord + std::hash::Hash + Eq>(a: &[K], b: &[K]) -> Vec<Pair> {
    let both = |n: usize| Pair { a: Some(n), b: Some(n) };
    let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<Pair> = (0..head).map(both).collect();
    pairs.extend(behind(&a[head..], &b[head..]).into_iter().map(|p| Pair { a: p.a.map(|n| n + head), b: p.b.map(|n| n + head) }));
    pairs
}

/// The same whichever of the two comes first, but for which is which: the lesser row is taken first.
fn behind<K: Ord + std::hash::Hash + Eq>(a: &[K], b: &[K]) -> Vec<Pair> {
    if a.len().max(b.len()) > ROWS_MAX {
        return by_number(a.len(), b.len(), |n| a[n] == b[n]);
    }
    match a.cmp(b) {
        Ordering::Less | Ordering::Equal => in_order(ordered(a, b)),
        Ordering::Greater => in_order(ordered(b, a).into_iter().map(|p| Pair { a: p.b, b: p.a }).collect()),
    }
}

/// Of what is repeated, the first ones belong together, and what one row has more of stands behind them: a decision meets the one that was
/// made at about the same time.
fn early<K: Eq>(pairs: &mut [Pair], a: &[K], b: &[K]) {
    let mut from = 0;
    while from < pairs.len() {
        let alone = pairs[from];
        let is_of_kind = |p: &Pair| !is_both(p) && p.a.is_some() == alone.a.is_some();
        let mut upto = from + pairs[from..].iter().take_while(|p| is_of_kind(p)).count();
        // What follows is drawn before the gap while that begins with the same.
        let mut begin = from;
        while upto > begin
            && let Some(Pair { a: Some(next_a), b: Some(next_b) }) = pairs.get(upto).copied()
        {
            let (same, rest) = match pairs[begin] {
                Pair { a: Some(n), b: None } if a[n] == a[next_a] => {
                    (Pair { a: Some(n), b: Some(next_b) }, Pair { a: Some(next_a), b: None })
                }
                Pair { a: None, b: Some(n) } if b[n] == b[next_b] => {
                    (Pair { a: Some(next_a), b: Some(n) }, Pair { a: None, b: Some(next_b) })
                }
                _ => break,
            };
            (pairs[begin], pairs[upto]) = (same, rest);
            (begin, upto) = (begin + 1, upto + 1);
        }
        from = upto.max(from + 1);
    }
}

fn ordered<K: Ord + std::hash::Hash + Eq>(a: &[K], b: &[K]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, a, b) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                pairs.extend((0..len).map(|n| Pair { a: Some(old_index + n), b: Some(new_index + n) }));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                pairs.extend((old_index..old_index + old_len).map(|n| Pair { a: Some(n), b: None }))
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                pairs.extend((new_index..new_index + new_len).map(|n| Pair { a: None, b: Some(n) }))
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                pairs.extend((old_index..old_index + old_len).map(|n| Pair { a: Some(n), b: None }));
                pairs.extend((new_index..new_index + new_len).map(|n| Pair { a: None, b: Some(n) }));
            }
        }
    }
    early(&mut pairs, a, b);
    pairs
}

/// What only the first row has stands before what only the second has.
fn in_order(pairs: Vec<Pair>) -> Vec<Pair> {
    let mut sorted = Vec::with_capacity(pairs.len());
    for gap in pairs.chunk_by(|x, y| !is_both(x) && !is_both(y)) {
        sorted.extend(gap.iter().filter(|p| p.b.is_none() || is_both(p)));
        sorted.extend(gap.iter().filter(|p| p.a.is_none()));
    }
    sorted
}

fn is_both(pair: &Pair) -> bool {
    pair.a.is_some() && pair.b.is_some()
}

fn by_number(a: usize, b: usize, is_same: impl Fn(usize) -> bool) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for n in 0..a.max(b) {
        let (in_a, in_b) = ((n < a).then_some(n), (n < b).then_some(n));
        if in_a.is_some() && in_b.is_some() && !is_same(n) {
            pairs.extend([Pair { a: in_a, b: None }, Pair { a: None, b: in_b }]);
        } else {
            pairs.push(Pair { a: in_a, b: in_b });
        }
    }
    pairs
}

/// What stands alone between two pairs is laid side by side as far as both have something: what was done instead.
pub fn side_by_side(pairs: Vec<Pair>) -> Vec<Pair> {
    let mut rows = Vec::with_capacity(pairs.len());
    for gap in pairs.chunk_by(|x, y| !is_both(x) && !is_both(y)) {
        if gap.first().is_some_and(is_both) {
            rows.extend_from_slice(gap);
            continue;
        }
        let mut a = gap.iter().filter_map(|p| p.a);
        let mut b = gap.iter().filter_map(|p| p.b);
        loop {
            match (a.next(), b.next()) {
                (None, None) => break,
                (a, b) => rows.push(Pair { a, b }),
            }
        }
    }
    rows
}
