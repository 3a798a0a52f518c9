//! The diff screen's own arithmetic; its keys are tried in `diff_tests.rs`.

use super::*;

#[test]
fn what_is_the_same_is_folded_and_the_cursor_is_in_the_fold() {
    let fold = Shown::Fold(2, 6);
    assert!(fold.holds(2) && fold.holds(5) && !fold.holds(6) && fold.first() == 2);
    assert!(Shown::Item(3).holds(3) && !Shown::Item(3).holds(4));
}
