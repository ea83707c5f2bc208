//! How long a thread that had slept waited for a processor before it went on.
//!
//! The kernel reports when a thread left its processor and when it came back, and adds up how long it could have run meanwhile. Of
//! a stretch in which it slept, the end is of that kind.

use crate::switches::Off;
use kizami_tracer_core::off_core;

/// Shorter sleeps are not looked at: reading takes some microseconds.
const LEAST_NS: u64 = 100_000;

/// What the thread lacked, as it was read last.
#[derive(Debug, Default)]
pub struct Lacked {
    /// None if the kernel does not count it.
    lacked_ns: Option<u64>,
    /// In stretches in which it was preempted, since then.
    preempted_ns: u64,
    /// It slept since then for a reason of the runtime: what it lacked behind that is not known apart.
    is_stale: bool,
}

impl Lacked {
    /// Begins for the calling thread.
    pub fn begin() -> Lacked {
        Lacked { lacked_ns: off_core::waited_ns(), ..Lacked::default() }
    }

    /// The thread was preempted.
    pub fn was_preempted(&mut self, off: &Off) {
        self.preempted_ns += off.to.saturating_sub(off.from);
    }

    /// The thread slept, and nobody asks how long it lacked a processor then.
    pub fn was_not_asked(&mut self) {
        self.is_stale = true;
    }

    /// How long, at the end of a stretch in which it slept, it could have run. Of several stretches since this was asked last,
    /// the first is taken for the one that ended like this.
    pub fn behind(&mut self, off: &Off) -> u64 {
        let length = off.to.saturating_sub(off.from);
        if length < LEAST_NS {
            return 0;
        }
        self.part(length, off_core::waited_ns())
    }

    fn part(&mut self, length: u64, now_ns: Option<u64>) -> u64 {
        let Some((now_ns, before_ns)) = now_ns.zip(self.lacked_ns) else { return 0 };
        let grown_ns = now_ns.saturating_sub(before_ns).saturating_sub(self.preempted_ns);
        let is_stale = self.is_stale;
        *self = Lacked { lacked_ns: Some(now_ns), ..Lacked::default() };
        if is_stale { 0 } else { grown_ns.min(length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lacked_when_it_was_preempted_is_not_laid_behind_a_sleep() {
        let mut lacked = Lacked { lacked_ns: Some(1_000_000), ..Lacked::default() };
        lacked.was_preempted(&Off { from: 5_000_000, to: 7_000_000, preempted: true });
        assert_eq!(lacked.part(4_000_000, Some(3_500_000)), 500_000);
        assert_eq!(lacked.part(4_000_000, Some(3_500_000)), 0, "it was said before");
        assert_eq!(lacked.part(4_000_000, Some(13_500_000)), 4_000_000, "no more than the stretch");
        assert_eq!(lacked.part(4_000_000, None), 0);
        lacked.was_not_asked();
        assert_eq!(lacked.part(4_000_000, Some(15_000_000)), 0, "it may have been for another sleep");
        assert_eq!(lacked.part(4_000_000, Some(16_000_000)), 1_000_000);
    }

    #[test]
    fn a_short_sleep_is_not_looked_at() {
        let off = Off { from: 0, to: LEAST_NS - 1, preempted: false };
        assert_eq!(Lacked { lacked_ns: Some(0), ..Lacked::default() }.behind(&off), 0);
    }
}
