//! Checks of measured times, on a machine that may do something else at any moment: more than half of the attempts must
//! hold.
//!
//! One attempt that holds is not enough: what fails most times is broken. Only what a busy machine can spoil is for
//! [`majority_of`] to try again; a program that crashes or a trace of the wrong structure is no matter of time, and a check
//! panics about it, which ends the test at once. Tests of this sort stand in modules called `timing`, which run alone.

/// Makes up to so many attempts at a check, until it is decided whether more than half of them hold, and prints how many
/// that took. A check returns what it measured if that is out of its bounds.
///
/// # Panics
/// If half of the attempts or more do not hold; says what each of these measured.
pub fn majority_of(attempts: usize, what: &str, mut check: impl FnMut() -> Result<(), String>) {
    let needed = attempts / 2 + 1;
    let (mut held, mut failures) = (0, Vec::new());
    while held < needed && failures.len() + needed <= attempts {
        match check() {
            Ok(()) => held += 1,
            Err(measured) => failures.push(measured),
        }
    }
    let made = held + failures.len();
    println!("timing: {what}: {held} of {made} attempts held, {needed} of {attempts} must; {failures:#?}");
    assert!(held == needed, "{what}: {} of {made} attempts failed: {failures:#?}", failures.len());
}

/// What a check gives: nothing if it holds, else what was measured.
///
/// # Errors
/// If it does not hold.
pub fn must(hold: bool, measured: impl FnOnce() -> String) -> Result<(), String> {
    if hold { Ok(()) } else { Err(measured()) }
}

#[cfg(test)]
mod tests {
    use super::{majority_of, must};

    /// Attempts made at a check that holds as listed, and whether it passed.
    fn attempts(holds: &'static [bool]) -> (usize, bool) {
        let made = std::cell::Cell::new(0);
        let check = || {
            made.set(made.get() + 1);
            must(holds[made.get() - 1], || "too long".to_owned())
        };
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            majority_of(holds.len(), "a check", check);
        }));
        (made.get(), passed.is_ok())
    }

    #[test]
    fn more_than_half_must_hold_and_no_more_are_made_than_decide() {
        assert_eq!(attempts(&[true]), (1, true));
        assert_eq!(attempts(&[false]), (1, false));
        assert_eq!(attempts(&[true, true, false]), (2, true));
        assert_eq!(attempts(&[false, true, true]), (3, true));
        assert_eq!(attempts(&[false, true, false]), (3, false));
        assert_eq!(attempts(&[false, false, true]), (2, false));
        assert_eq!(attempts(&[true, false, false, true]), (3, false));
        assert_eq!(attempts(&[true, false, true, true]), (4, true));
    }

    #[test]
    #[should_panic(expected = "it crashed")]
    fn a_panic_is_not_tried_again() {
        let mut made = 0;
        majority_of(3, "a check", || {
            made += 1;
            assert!(made > 1, "it crashed");
            Ok(())
        });
    }
}
