//! Two kinds of time that must never be mixed: what a clock counts, and what a run shows.

use std::ops::{Add, Sub};

/// A reading of a process's own clock, in that clock's unit (TSC ticks, or nanoseconds where there is no
/// usable TSC). Comparable only with readings of the same host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ticks(pub u64);

/// Time on the run-wide clock, in nanoseconds since the run's first recorded moment; also a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub i64);

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Nanos {
    /// The same length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}
