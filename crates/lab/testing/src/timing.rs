//! Checks of measured times, on a machine that may do something else at any moment: more than half of the attempts must
//! hold.
//!
//! One attempt that holds is not enough: what fails most times is broken. Only what a busy machine can spoil is for
//! [`majority_of`] to try again; a program that crashes or a trace of the wrong structure is no matter of time, and a check
//! panics about it, which ends the test at once. Tests of this sort stand in modules called `timing`, which run alone.

/// An attempt that fails counts only if other programs, or other guests of the host, had at most this much of a core meanwhile.
const DISTURBED: f64 = 0.1;

/// Makes up to so many attempts at a check, until it is decided whether more than half of them hold, and prints how many
/// that took. A check returns what it measured if that is out of its bounds.
///
/// An attempt that fails while the machine does something else decides nothing and is made again; where that is so three
/// times as often as attempts are allowed, nothing can be decided here, which is printed.
///
/// # Panics
/// If half of the attempts or more do not hold; says what each of these measured.
pub fn majority_of(attempts: usize, what: &str, check: impl FnMut() -> Result<(), String>) {
    decide(attempts, what, check, CpuTime::of_others);
}

/// [`majority_of`], with the CPU time that others have had so far.
fn decide(
    attempts: usize,
    what: &str,
    mut check: impl FnMut() -> Result<(), String>,
    of_others: impl Fn() -> Option<CpuTime>,
) {
    let needed = attempts / 2 + 1;
    let (mut held, mut failures, mut disturbed) = (0, Vec::new(), Vec::new());
    while held < needed && failures.len() + needed <= attempts && disturbed.len() < 3 * attempts {
        let before = of_others();
        let result = check();
        let cores = cores_of_others(before, of_others());
        println!("timing: {what}: others had {cores:.2} cores");
        match result {
            Ok(()) => held += 1,
            Err(measured) if cores > DISTURBED => disturbed.push(measured),
            Err(measured) => failures.push(measured),
        }
    }
    let made = held + failures.len();
    println!("timing: {what}: {held} of {made} attempts held, {needed} of {attempts} must; {failures:#?}");
    if !disturbed.is_empty() {
        println!("timing: {what}: not counted, as the machine was busy: {disturbed:#?}");
    }
    let undecided = disturbed.len() == 3 * attempts;
    assert!(
        held == needed || undecided,
        "{what}: {} of {made} attempts failed: {failures:#?}",
        failures.len()
    );
}

/// CPU time that was not ours, and when that was read.
#[derive(Clone, Copy)]
struct CpuTime {
    others_s: f64,
    at: std::time::Instant,
}

impl CpuTime {
    /// CPU time of all programs but this one and the children it has waited for, and of other guests of the host. None where
    /// the kernel does not say.
    fn of_others() -> Option<Self> {
        /// Both files count in these (`USER_HZ`), on every architecture that Linux runs on today.
        const TICKS_PER_SECOND: f64 = 100.0;
        let machine = std::fs::read_to_string("/proc/stat").ok()?;
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        // user, nice, system, idle, iowait, irq, softirq, steal
        let spent: Vec<f64> =
            machine.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
        let busy = spent.get(..3)?.iter().sum::<f64>() + spent.get(5..8)?.iter().sum::<f64>();
        // Behind the name, which may contain anything: utime, stime, cutime and cstime are the 12th field and those after.
        let own = own.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
        let own: f64 = own.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
        Some(Self { others_s: (busy - own) / TICKS_PER_SECOND, at: std::time::Instant::now() })
    }
}

/// How many cores others had between two readings.
fn cores_of_others(before: Option<CpuTime>, after: Option<CpuTime>) -> f64 {
    let (Some(before), Some(after)) = (before, after) else { return 0.0 };
    (after.others_s - before.others_s) / (after.at - before.at).as_secs_f64().max(0.01)
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
    use super::{CpuTime, decide, must};
    use std::cell::Cell;
    use std::time::{Duration, Instant};

    /// Attempts made at a check that holds as listed, and whether it passed.
    fn attempts(holds: &'static [bool]) -> (usize, bool) {
        let made = Cell::new(0);
        let check = || {
            made.set(made.get() + 1);
            must(holds[made.get() - 1], || "too long".to_owned())
        };
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            decide(holds.len(), "a check", check, || None);
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
        super::majority_of(3, "a check", || {
            made += 1;
            assert!(made > 1, "it crashed");
            Ok(())
        });
    }

    /// Attempts made at a check that never holds, of three, where others have so many cores in the first `busy` of them.
    fn attempts_beside(cores: f64, busy: usize) -> (usize, bool) {
        let (made, clock, begin) = (Cell::new(0), Cell::new(0.0), Instant::now());
        let readings = || {
            let at = begin + Duration::from_secs_f64(clock.get());
            Some(CpuTime { others_s: cores * clock.get().min(busy as f64), at })
        };
        let check = || {
            made.set(made.get() + 1);
            clock.set(made.get() as f64);
            Err("too long".to_owned())
        };
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            decide(3, "a check", check, readings);
        }));
        (made.get(), passed.is_ok())
    }

    #[test]
    fn what_fails_on_a_busy_machine_decides_nothing() {
        assert_eq!(attempts_beside(0.05, 9), (2, false));
        assert_eq!(attempts_beside(0.5, 2), (4, false));
        assert_eq!(attempts_beside(0.5, 9), (9, true));
    }

    #[test]
    fn this_machine_says_what_others_had() {
        assert!(CpuTime::of_others().is_some_and(|spent| spent.others_s >= 0.0));
    }
}
