//! Time that was taken from the thread although the system left it on its processor: by a hypervisor, or for interrupts.
//!
//! The system counts how long a thread ran. What is missing from that, apart from the stretches in which it reported the thread
//! as off its processor, was taken. It lies in the stretch without records that has just ended: whatever takes long makes such
//! a stretch by itself.

use kizami_tracer_core::clock;

/// Stretches off the processor that are remembered: what was taken lies between the last ones.
const STRETCHES: usize = 8;
/// Less than this, or than this part of the time, is no more than the two clocks differ.
const LEAST_NS: u64 = 20_000;
const LEAST_PART: u64 = 1_000;

/// Both clocks when they were read last, and what is known since.
pub struct Stolen {
    wall_ns: u64,
    ran_ns: u64,
    off_ns: u64,
    stretches: [(u64, u64); STRETCHES],
    next: usize,
}

impl Stolen {
    /// Begins for the calling thread.
    pub fn begin() -> Stolen {
        let (wall_ns, ran_ns) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        Stolen { wall_ns, ran_ns, off_ns: 0, stretches: [(0, 0); STRETCHES], next: 0 }
    }

    /// The thread was off its processor from, to. Stretches come in their order.
    pub fn was_off(&mut self, from: u64, to: u64) {
        // What was before the clocks were read is in their difference already.
        self.off_ns += to.saturating_sub(from.max(self.wall_ns));
        self.stretches[self.next % STRETCHES] = (from, to);
        self.next += 1;
    }

    /// Calls back with each stretch that was taken since this was asked last: from, to.
    pub fn each(&mut self, mut taken: impl FnMut(u64, u64)) {
        let now = Stolen::begin();
        let wall_ns = now.wall_ns.saturating_sub(self.wall_ns);
        let known_ns = now.ran_ns.saturating_sub(self.ran_ns) + self.off_ns;
        let mut missing_ns = wall_ns.saturating_sub(known_ns);
        if missing_ns >= LEAST_NS.max(wall_ns / LEAST_PART) {
            let mut to = now.wall_ns;
            for back in 1..=self.next.min(STRETCHES) + 1 {
                let off = (back <= self.next.min(STRETCHES))
                    .then(|| self.stretches[(self.next - back) % STRETCHES]);
                let (begin, end) = off.unwrap_or((self.wall_ns, self.wall_ns));
                let length = missing_ns.min(to.saturating_sub(end));
                if length > 0 {
                    taken(to - length, to);
                }
                missing_ns -= length;
                to = begin;
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
        stolen
    }

    fn all(mut stolen: Stolen) -> Vec<u64> {
        let mut lengths = Vec::new();
        stolen.each(|from, to| lengths.push(to - from));
        lengths
    }

    #[test]
    fn a_thread_that_ran_all_the_time_lost_nothing() {
        let mut stolen = Stolen::begin();
        stolen.each(|_, _| {});
        assert_eq!(all(since(1_000, 1_000)), Vec::<u64>::new());
        // So did one that was off its processor otherwise.
        let mut stolen = since(1_000_000, 0);
        stolen.was_off(stolen.wall_ns, stolen.wall_ns + 1_000_000);
        assert_eq!(all(stolen), Vec::<u64>::new());
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
