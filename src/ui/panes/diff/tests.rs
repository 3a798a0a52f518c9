//! The diff screen's own arithmetic; its keys are tried in `diff_tests.rs`.

use super::*;

#[test]
fn what_is_the_same_is_folded_and_the_cursor_is_in_the_fold() {
    let fold = Shown::Fold(2, 6);
    assert!(fold.holds(2) && fold.holds(5) && !fold.holds(6) && fold.first() == 2);
    assert!(Shown::Item(3).holds(3) && !Shown::Item(3).holds(4));
}

#[test]
fn a_run_that_is_not_recorded_says_so_and_one_that_is_has_its_file() {
    use crate::ui::diff::resolved;
    let side = |address: &str| DiffSide { file: None, address: address.parse().ok() };
    let ask = DiffAsk { a: side("1"), b: Some(side("1:1")) };
    assert!(resolved(&ask, None).unwrap_err().contains("not recorded"));
    let (file, a, b) = resolved(&ask, Some(Path::new("own.jsonl"))).unwrap();
    assert_eq!((file.path, file.asked, a.address), (PathBuf::from("own.jsonl"), None, "1".parse().ok()));
    assert_eq!(b.unwrap().1.file, PathBuf::from("own.jsonl"));
}
