//! One host's clock: from ticks of its counter to nanoseconds, its own and the run's.
//!
//! A host is one boot of one machine, and one kind of counter. Its own time is a straight line through its readings; run time
//! is that line moved, or a grid along measured offsets, and what repairs of the order of messages move a rank by.
//! How hosts are brought together is not known here: that is [`super::clock`].

use kizami_clock::{Shift, TickGrid, shifted};
use kizami_segment::ClockReading;

/// Rates outside of this are damaged readings: no counter runs at 20 GHz or 20 MHz.
const BELIEVABLE_NS_PER_TICK: std::ops::RangeInclusive<f64> = 0.05..=50.0;

/// One host and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub name: String,
    pub boot_id: String,
    pub tsc: bool,
    /// To run time, as well as a straight line can.
    pub clock: HostClock,
    /// To run time by the wall clock alone.
    pub wall: HostClock,
    /// To run time along the measured offsets; none for a host that needs only a line.
    pub grid: Option<TickGrid>,
    /// Its times are no further from its root's than this, if they were measured.
    pub bound_ns: Option<i64>,
    /// To the host's own `CLOCK_MONOTONIC`.
    pub own: HostClock,
    /// Wall clock minus `CLOCK_MONOTONIC`.
    pub realtime_offset_ns: i64,
    pub earliest: Option<ClockReading>,
    pub latest: Option<ClockReading>,
    pub first_ticks: u64,
}

/// From ticks to nanoseconds by a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostClock {
    pub origin_ticks: u64,
    pub origin_ns: i64,
    pub ns_per_tick: f64,
}

/// From ticks to run time, for the ranks of one host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankClock<'a> {
    line: HostClock,
    /// Whether the line is all there is.
    straight: bool,
    pub grid: Option<&'a TickGrid>,
    shifts: &'a [Shift],
}

impl RankClock<'_> {
    /// Run time at which the counter stood at `ticks`.
    #[inline]
    pub(crate) fn at(&self, ticks: u64) -> i64 {
        if self.straight { self.line.at(ticks) } else { self.at_bent(ticks) }
    }

    fn at_bent(&self, ticks: u64) -> i64 {
        let ns = self.grid.map_or_else(|| self.line.at(ticks), |grid| grid.at(ticks));
        shifted(self.shifts, ns)
    }

    /// Nanoseconds in a tick; good for lengths, not for moments.
    pub(crate) fn ns_per_tick(&self) -> f64 {
        self.line.ns_per_tick
    }
}

impl HostClock {
    pub const UNSET: HostClock = HostClock { origin_ticks: 0, origin_ns: 0, ns_per_tick: 1.0 };

    pub(crate) fn later_by(self, ns: i64) -> HostClock {
        HostClock { origin_ns: self.origin_ns.saturating_add(ns), ..self }
    }

    /// Time at which the counter stood at `ticks`.
    #[inline]
    pub(crate) fn at(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.origin_ticks) as i64;
        self.origin_ns.saturating_add(whole(since as f64 * self.ns_per_tick))
    }
}

/// Rounded half away from zero; casts from floating point saturate, so nonsense stays finite. `round` would be a call for
/// every row.
#[inline]
pub(crate) fn whole(ns: f64) -> i64 {
    (ns + 0.5f64.copysign(ns)) as i64
}

impl Host {
    pub(crate) fn set_rate(&mut self, problems: &mut Vec<String>) {
        let Some((earliest, latest)) = self.earliest.zip(self.latest) else {
            self.first_ticks = if self.first_ticks == u64::MAX { 0 } else { self.first_ticks };
            problems.push(format!("host {} left no clock reading; its times are guesses", self.name));
            return;
        };
        self.own.origin_ticks = earliest.ticks;
        self.own.origin_ns = i64::try_from(earliest.monotonic_ns).unwrap_or(0);
        if !self.tsc {
            return;
        }
        let ns = latest.monotonic_ns.saturating_sub(earliest.monotonic_ns) as f64;
        let rate = ns / (latest.ticks - earliest.ticks) as f64;
        if BELIEVABLE_NS_PER_TICK.contains(&rate) {
            self.own.ns_per_tick = rate;
        } else {
            problems.push(format!(
                "host {}: the rate of its counter cannot be derived from its clock readings; its times are in \
                 ticks instead of nanoseconds",
                self.name
            ));
        }
    }

    /// Time of its own `CLOCK_MONOTONIC` when its counter stood at `ticks`.
    pub(crate) fn own_ns(&self, ticks: u64) -> i64 {
        self.own.at(ticks)
    }

    /// The clock of a rank whose times are moved like this.
    pub(crate) fn rank_clock<'a>(&'a self, shifts: &'a [Shift]) -> RankClock<'a> {
        let straight = self.grid.is_none() && shifts.is_empty();
        RankClock { line: self.clock, straight, grid: self.grid.as_ref(), shifts }
    }

    /// Run time at a moment of its own `CLOCK_MONOTONIC`.
    pub(crate) fn run_ns(&self, own_ns: i64) -> i64 {
        self.rank_clock(&[]).at(self.own_ticks(own_ns))
    }

    /// Where its counter stood at a moment of its own `CLOCK_MONOTONIC`.
    pub(crate) fn own_ticks(&self, own_ns: i64) -> u64 {
        let since_ns = own_ns.saturating_sub(self.own.origin_ns) as f64;
        let since_ticks = (since_ns / self.own.ns_per_tick).round() as i64;
        self.own.origin_ticks.wrapping_add(since_ticks as u64)
    }

    /// Run time as its wall clock alone would have it, at a moment of run time.
    pub(crate) fn wall_ns(&self, run_ns: i64) -> i64 {
        match &self.grid {
            None => run_ns.saturating_sub(self.clock.origin_ns).saturating_add(self.wall.origin_ns),
            Some(grid) => self.wall.at(grid.ticks(run_ns)),
        }
    }

    /// Difference between the clock model and a reading, in nanoseconds.
    pub(crate) fn residual(&self, reading: ClockReading) -> Option<i64> {
        let earliest = self.earliest?;
        let by_monotonic = i128::from(reading.monotonic_ns) - i128::from(earliest.monotonic_ns);
        let by_ticks = i128::from(self.own.at(reading.ticks)) - i128::from(self.own.at(earliest.ticks));
        i64::try_from(by_ticks - by_monotonic).ok()
    }

    /// What its processes' clocks count.
    pub(crate) fn clock_name(&self) -> &'static str {
        if self.tsc { "tsc" } else { "monotonic" }
    }

    /// Offset of its wall clock from that of `reference`, as used to put the two side by side.
    pub(crate) fn offset_from(&self, reference: &Host) -> i64 {
        self.realtime_offset_ns.saturating_sub(reference.realtime_offset_ns)
    }
}
