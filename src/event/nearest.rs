//! "Did you mean": the one place that judges how near two names are.

/// Longer names are not compared: the cost is quadratic and nobody mistypes that much.
const NAME_BYTES_MAX: usize = 64;

/// The candidate that `name` was probably meant to be: at most one edit in three characters away, and the nearest of them.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let wanted = name.to_lowercase();
    let edits_max = (wanted.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= NAME_BYTES_MAX)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["restart", "rollback", "scale"];
        assert_eq!(nearest("rolback", names), Some("rollback"));
        assert_eq!(nearest("SCALE", names), Some("scale"));
        assert_eq!(nearest("sclae", names), Some("scale"));
        assert_eq!(nearest("delete", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"s".repeat(1 << 20), names), None);
    }
}
