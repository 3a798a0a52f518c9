//! How the weights of two checkpoints differ, tensor by tensor.

use super::store::Checkpoint;
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;

/// The change of one tensor: `‖b − a‖ / ‖a‖` (Frobenius); infinite where `a` is all zero and `b` is not.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorChange {
    pub name: String,
    pub relative_norm: f64,
}

/// The tensors that both have in the same shape, the largest change first, and the names of the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightDiff {
    pub changes: Vec<TensorChange>,
    pub unmatched: Vec<String>,
}

/// Compares the weights of `b` with those of `a`. Tensors of kinds that hold no floats are unmatched.
pub fn weight_diff(a: &Checkpoint, b: &Checkpoint) -> Result<WeightDiff, String> {
    let (opened_a, opened_b) = (tensors(a)?, tensors(b)?);
    let mut diff = WeightDiff::default();
    let b_views: BTreeMap<String, TensorView<'_>> = opened_b.iter().flat_map(SafeTensors::tensors).collect();
    let mut a_names = Vec::new();
    for (name, left) in opened_a.iter().flat_map(SafeTensors::tensors) {
        let right = b_views.get(&name).filter(|right| right.shape() == left.shape());
        let values = right.and_then(|right| Some((floats(&left)?, floats(right)?)));
        match values {
            Some((left, right)) => {
                let relative_norm = relative_norm(&left, &right);
                diff.changes.push(TensorChange { name: name.clone(), relative_norm });
            }
            None => diff.unmatched.push(name.clone()),
        }
        a_names.push(name);
    }
    diff.unmatched.extend(b_views.into_keys().filter(|name| !a_names.contains(name)));
    diff.changes.sort_by(|x, y| y.relative_norm.total_cmp(&x.relative_norm).then_with(|| x.name.cmp(&y.name)));
    Ok(diff)
}

fn tensors(checkpoint: &Checkpoint) -> Result<Vec<SafeTensors<'_>>, String> {
    let read = |bytes| SafeTensors::deserialize(bytes).map_err(|e| format!("{}: {e}", checkpoint.place));
    checkpoint.weights.iter().map(|bytes| read(bytes.as_ref())).collect()
}

fn floats(view: &TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = view.data();
    match view.dtype() {
        Dtype::F32 => Some(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()),
        Dtype::F16 => Some(bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect()),
        Dtype::BF16 => Some(bytes.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect()),
        // The crate's own enum grows; what it adds holds no floats that we read.
        _ => None,
    }
}

fn relative_norm(a: &[f32], b: &[f32]) -> f64 {
    let (mut change, mut whole) = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (f64::from(*x), f64::from(*y));
        change += (y - x) * (y - x);
        whole += x * x;
    }
    // What is not a number is no small change.
    if !change.is_finite() || !whole.is_finite() {
        return f64::INFINITY;
    }
    match (whole > 0.0, change > 0.0) {
        (true, _) => (change / whole).sqrt(),
        (false, true) => f64::INFINITY,
        (false, false) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::builtin;

    #[test]
    fn a_checkpoint_does_not_differ_from_itself_and_training_changes_every_matrix() {
        let [early, .., last] = builtin() else { panic!("there are several") };
        let (early, last) = (early.open().unwrap(), last.open().unwrap());
        let same = weight_diff(&last, &last).unwrap();
        assert!(same.unmatched.is_empty() && same.changes.iter().all(|c| c.relative_norm == 0.0));
        let diff = weight_diff(&early, &last).unwrap();
        assert_eq!(diff.changes.len(), same.changes.len());
        assert!(diff.changes.iter().all(|c| c.relative_norm > 0.0 && c.relative_norm.is_finite()));
        assert!(diff.changes.windows(2).all(|pair| pair[0].relative_norm >= pair[1].relative_norm));
    }

    #[test]
    fn the_norm_is_relative_to_the_first() {
        assert_eq!(relative_norm(&[3.0, 4.0], &[3.0, 4.0]), 0.0);
        assert_eq!(relative_norm(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(relative_norm(&[0.0], &[1.0]), f64::INFINITY);
        assert_eq!(relative_norm(&[f32::NAN], &[1.0]), f64::INFINITY);
    }
}
