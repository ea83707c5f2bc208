//! What the cores of a host did: how much of their time a hypervisor gave to other machines.
//!
//! The kernel adds that up since the host was started (`steal` in `/proc/stat`), if the hypervisor tells it. It is known of all
//! cores together, not of a thread.

/// Time of all cores together since some moment, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreTime {
    stolen: u64,
    all: u64,
}

impl CoreTime {
    /// Since the host was started; none if the kernel does not say.
    pub fn now() -> Option<CoreTime> {
        CoreTime::of(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn of(stat: &str) -> Option<CoreTime> {
        /// Users, with and without priority, system, idle, waiting for disks, interrupts twice, and stolen. What follows is part of
        /// the first two.
        const KINDS: usize = 8;
        let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let kinds = all.split_ascii_whitespace().take(KINDS).map(|ticks| ticks.parse().ok());
        let kinds = kinds.collect::<Option<Vec<u64>>>().filter(|kinds| kinds.len() == KINDS)?;
        let all = kinds.iter().fold(0u64, |sum, ticks| sum.saturating_add(*ticks));
        Some(CoreTime { stolen: kinds[KINDS - 1], all })
    }

    /// From one moment to this one.
    #[must_use]
    pub fn since(self, before: CoreTime) -> CoreTime {
        CoreTime {
            stolen: self.stolen.saturating_sub(before.stolen),
            all: self.all.saturating_sub(before.all),
        }
    }

    /// The part that was stolen; none of no time.
    pub fn stolen_share(self) -> Option<f64> {
        (self.all > 0).then(|| self.stolen as f64 / self.all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stolen_is_a_part_of_the_time_of_all_cores() {
        let before = CoreTime::of("cpu  100 0 50 800 0 0 10 40 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n").unwrap();
        assert_eq!(before, CoreTime { stolen: 40, all: 1_000 });
        let now = CoreTime::of("cpu  180 0 60 810 0 0 10 140 7 0\n").unwrap();
        assert_eq!(now.since(before).stolen_share(), Some(0.5));
        assert_eq!(before.since(before).stolen_share(), None);
        assert_eq!(CoreTime::of("cpu  1 2 3 4\n"), None, "a kernel that does not count it");
        assert_eq!(CoreTime::of("intr 1\n"), None);
    }
}
