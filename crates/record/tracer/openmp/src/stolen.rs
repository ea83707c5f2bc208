//! Time that was taken from the thread although the system left it on its processor: by a hypervisor, or for interrupts.
//!
//! The system counts how long a thread ran. What is missing from that, apart from the stretches in which it reported the thread
//! as off its processor, was taken. It lies in the stretch without records that has just ended: whatever takes long makes such
//! a stretch by itself.

use crate::clock as ticks;
use kizami_tracer_core::clock;

/// Stretches off the processor that are remembered: what was taken lies between the last ones.
const STRETCHES: usize = 8;
/// Less than this, or than this part of the time, is no more than the two clocks differ.
const LEAST_NS: u64 = 20_000;
const LEAST_PART: u64 = 1_000;

/// Both clocks when they were read last, and what is known since.
pub struct Stolen {
    ticks: u64,
    wall_ns: u64,
    ran_ns: u64,
    off_ns: u64,
    stretches: [(u64, u64); STRETCHES],
    next: usize,
}

impl Stolen {
    /// Begins for the calling thread.
    pub fn begin() -> Stolen {
        let (ticks, wall_ns, ran_ns) = (ticks::now(), clock::monotonic_ns(), clock::thread_cpu_ns());
        Stolen { ticks, wall_ns, ran_ns, off_ns: 0, stretches: [(0, 0); STRETCHES], next: 0 }
    }

    /// The thread was off its processor from, to. Stretches come in their order.
    pub fn was_off(&mut self, from: u64, to: u64) {
        // What was before the clocks were read is in their difference already.
        self.off_ns += to.saturating_sub(from.max(self.wall_ns));
        self.stretches[self.next % STRETCHES] = (from, to);
        self.next += 1;
    }

    /// Calls back with each stretch that was taken since this was asked last, and in the last so many ticks: from, to.
    pub fn each(&mut self, last_ticks: u64, mut taken: impl FnMut(u64, u64)) {
        let now = Stolen::begin();
        let wall_ns = now.wall_ns.saturating_sub(self.wall_ns);
        let part = last_ticks as f64 / now.ticks.saturating_sub(self.ticks).max(1) as f64;
        let first_ns = now.wall_ns - (wall_ns as f64 * part.min(1.0)) as u64;
        let known_ns = now.ran_ns.saturating_sub(self.ran_ns) + self.off_ns;
        let mut missing_ns = wall_ns.saturating_sub(known_ns);
        if missing_ns >= LEAST_NS.max(wall_ns / LEAST_PART) {
            let mut to = now.wall_ns;
            for back in 1..=self.next.min(STRETCHES) + 1 {
                let off = (back <= self.next.min(STRETCHES))
                    .then(|| self.stretches[(self.next - back) % STRETCHES]);
                let (begin, end) = off.unwrap_or((first_ns, first_ns));
                let length = missing_ns.min(to.saturating_sub(end.max(first_ns)));
                if length > 0 {
                    taken(to - length, to);
                }
                missing_ns -= length;
                to = to.min(begin);
            }
        }
        *self = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(wall_ns: u64, ran_ns: u64) -> Stolen {
        let mut stolen = Stolen::begin();
        (stolen.wall_ns, stolen.ran_ns) = (stolen.wall_ns - wall_ns, stolen.ran_ns.saturating_sub(ran_ns));
        stolen.ticks -= wall_ns;
        stolen
    }

    fn all(mut stolen: Stolen) -> Vec<u64> {
        let mut lengths = Vec::new();
        stolen.each(u64::MAX, |from, to| lengths.push(to - from));
        lengths
    }

    #[test]
    fn a_thread_that_ran_all_the_time_lost_nothing() {
        let mut stolen = Stolen::begin();
        stolen.each(u64::MAX, |_, _| {});
        assert_eq!(all(since(1_000, 1_000)), Vec::<u64>::new());
        // So did one that was off its processor otherwise.
        let mut stolen = since(1_000_000, 0);
        stolen.was_off(stolen.wall_ns, stolen.wall_ns + 1_000_000);
        assert_eq!(all(stolen), Vec::<u64>::new());
    }

    #[test]
    fn what_was_taken_before_the_last_record_is_not_laid_behind_it() {
        let mut stolen = since(10_000_000, 0);
        let mut lengths = Vec::new();
        stolen.each(1_000_000, |from, to| lengths.push(to - from));
        assert_eq!(lengths.len(), 1, "{lengths:?}");
        assert!(lengths[0] <= 1_100_000, "{lengths:?}");
    }

    #[test]
    fn what_was_taken_lies_between_the_stretches_off_the_processor() {
        let mut stolen = since(10_000_000, 0);
        let begin = stolen.wall_ns;
        stolen.was_off(begin + 4_000_000, begin + 9_000_000);
        let lengths = all(stolen);
        // A little more than a millisecond behind it, and what is left before it.
        assert_eq!(lengths.len(), 2, "{lengths:?}");
        assert!((1_000_000..2_000_000).contains(&lengths[0]), "{lengths:?}");
        assert!((3_500_000..=4_000_000).contains(&lengths[1]), "{lengths:?}");
    }
}
