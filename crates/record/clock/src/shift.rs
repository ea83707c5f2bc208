//! How the times of a process are moved: a controlled logical clock.
//!
//! A violated receive moves the later events of its process by what was missing. The interval that holds the receive's
//! end is stretched; nothing is cut and nothing changes its order. The move then fades a little faster than
//! clocks run apart, so that it follows what is needed: a move that outlives its need would make its own
//! messages late and push others on. No interval shrinks by more than one part in 8,192.

/// A move fades by one part in so many of the time that passes.
const FADE: i64 = 8_192;
/// Moves are multiples of this, so that not every message makes a repair while clocks run apart slowly. Far
/// less than any message takes, or processes would push each other on and on.
const STEP_NS: i64 = 64;

/// From `at_ns` on, times are later by `shift_ns`, until it fades or the next one comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// Run time before any repair.
    pub at_ns: i64,
    /// By how much.
    pub shift_ns: i64,
}

impl Shift {
    const NONE: Shift = Shift { at_ns: 0, shift_ns: 0 };

    fn at(self, ns: i64) -> i64 {
        let passed_ns = ns.saturating_sub(self.at_ns).max(0);
        (self.shift_ns - passed_ns / FADE).max(0)
    }
}

/// A moment of run time as `shifts`, which are in the order of time, move it.
pub fn shifted(shifts: &[Shift], ns: i64) -> i64 {
    let next = shifts.partition_point(|shift| shift.at_ns <= ns);
    match next.checked_sub(1).and_then(|last| shifts.get(last)) {
        Some(shift) => ns.saturating_add(shift.at(ns)),
        None => ns,
    }
}

/// The moves of one process while they are found out.
#[derive(Clone, Debug, Default)]
pub struct Mover {
    /// In the order of time.
    pub shifts: Vec<Shift>,
}

impl Mover {
    fn last(&self) -> Shift {
        self.shifts.last().copied().unwrap_or(Shift::NONE)
    }

    /// Where a moment lies now. Moments must not go back behind the last repair.
    pub fn moved(&self, ns: i64) -> i64 {
        ns.saturating_add(self.last().at(ns))
    }

    /// A receive ended at `ns`, and its message was sent at `sent_ns` (moved already). If that takes a repair,
    /// is called with how far the process is moved.
    pub fn receive(&mut self, ns: i64, sent_ns: i64) -> Option<i64> {
        let needed = sent_ns.saturating_sub(ns);
        if needed <= self.last().at(ns) {
            return None;
        }
        let shift_ns = needed.saturating_add(STEP_NS - 1) / STEP_NS * STEP_NS;
        let shift = Shift { at_ns: ns, shift_ns };
        match self.shifts.last_mut() {
            Some(last) if last.at_ns == ns => *last = shift,
            _ => self.shifts.push(shift),
        }
        Some(shift_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_moves_what_follows_and_fades() {
        let mut mover = Mover::default();
        assert_eq!(mover.receive(1_000, 900), None);
        assert_eq!(mover.receive(2_000, 2_100), Some(128));
        let shifts = mover.shifts;
        assert_eq!(shifted(&shifts, 1_999), 1_999);
        assert_eq!(shifted(&shifts, 2_000), 2_128);
        assert_eq!(shifted(&shifts, 2_000 + 28 * FADE), 2_000 + 28 * FADE + 100);
        assert_eq!(shifted(&shifts, 2_000 + 200 * FADE), 2_000 + 200 * FADE);
    }

    #[test]
    fn order_is_kept_and_intervals_hardly_shrink() {
        let mut mover = Mover::default();
        mover.receive(0, 1_000_000);
        mover.receive(500_000_000, 500_990_000);
        let moved = |ns| shifted(&mover.shifts, ns);
        for k in 0..40_000 {
            let step = moved((k + 1) * 25_000) - moved(k * 25_000);
            assert!(step >= 25_000 - 25_000 / FADE - 1, "{step} at {k}");
        }
    }

    #[test]
    fn a_move_follows_a_need_that_goes_away() {
        let mut mover = Mover::default();
        for k in 0..100i64 {
            // The need shrinks by 20 ppm.
            let (ns, needed) = (k * 10_000_000, 1_000_000 - k * 200);
            mover.receive(ns, ns + needed);
            let over = mover.moved(ns) - ns - needed;
            assert!((0..STEP_NS).contains(&over), "{over}");
        }
    }
}
