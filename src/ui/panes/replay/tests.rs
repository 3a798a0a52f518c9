//! The timeline's arithmetic, and words for numbers.

use super::thousands;
use super::timeline::Ruler;

#[test]
fn every_step_has_a_column_and_every_column_leads_back() {
    for width in 4..140u16 {
        for steps in 1..400usize {
            let ruler = Ruler::new(width, steps);
            for step in 0..steps {
                let column = ruler.column(step);
                assert!(ruler.steps_at(column).contains(&step), "{width} columns, step {step} of {steps}: {:?}", ruler.steps_at(column));
                assert!(column + 3 < usize::from(width).max(4), "{width}: {column}");
            }
        }
    }
}

#[test]
fn digits_stand_in_threes() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
}
