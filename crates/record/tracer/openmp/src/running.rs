//! What runs on a thread, as far as it must be known while it is recorded.
//!
//! Tasks that are only counted leave no records. Where they run inside a task that is recorded and runs, their time is
//! within its time. Where they run while a recorded task waits, their time would look like waiting, so it is measured:
//! from where the first begins to where that one ends, whatever runs inside it.

/// What runs on a thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running {
    /// It has made tasks: one that has not, waits for none.
    pub has_made: bool,
    /// It waits for others, which may run meanwhile.
    pub waits: bool,
    /// It is a task that is only counted.
    pub is_counted: bool,
    /// The time of such tasks is measured.
    pub is_timed: bool,
}

/// What is known of tasks that are only counted, until it is recorded.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were made.
    pub tasks: u64,
    /// How long they ran while a recorded task waited, in ticks.
    pub ticks: u64,
    /// Since when one runs whose time is measured.
    since: u64,
}

impl Tally {
    /// A recorded task begins now, above what runs; returns what is to run then.
    #[inline(always)]
    pub fn begin_recorded(&mut self, below: Running, now: u64) -> Running {
        if below.is_timed {
            self.ticks += now.saturating_sub(self.since);
        }
        Running::default()
    }

    /// It ends, and what was below goes on.
    #[inline(always)]
    pub fn end_recorded(&mut self, below: Running, now: u64) {
        if below.is_timed {
            self.since = now;
        }
    }

    /// A counted task begins above what runs. `now` is asked only if need be.
    pub fn begin_counted(&mut self, below: Running, now: impl FnOnce() -> u64) -> Running {
        let begins = below.waits && !below.is_counted && !below.is_timed;
        if begins {
            self.since = now();
        }
        Running { is_counted: true, is_timed: below.is_timed || begins, ..Running::default() }
    }

    /// It ends, and what was below goes on.
    pub fn end_counted(&mut self, ended: Running, below: Running, now: impl FnOnce() -> u64) {
        if ended.is_timed && !below.is_timed {
            self.ticks += now().saturating_sub(self.since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_while_others_wait_is_measured_once() {
        let mut tally = Tally::default();
        let waiting = Running { waits: true, ..Running::default() };
        let outer = tally.begin_counted(waiting, || 100);
        let inner = tally.begin_counted(outer, || unreachable!("inside one that is measured"));
        // A recorded task runs inside, from 130 to 150: that is in its own records.
        let recorded = tally.begin_recorded(inner, 130);
        assert!(!recorded.is_counted && !recorded.waits);
        tally.end_recorded(inner, 150);
        tally.end_counted(inner, outer, || unreachable!("the outer one goes on"));
        tally.end_counted(outer, waiting, || 160);
        assert_eq!(tally.ticks, 30 + 10);
        // Whoever runs has the time of what runs inside.
        let inside = tally.begin_counted(Running::default(), || unreachable!("nobody waits"));
        tally.end_counted(inside, Running::default(), || unreachable!("nobody waits"));
        assert_eq!(tally.ticks, 40);
    }
}
