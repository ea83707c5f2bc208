//! One clock for the run: from every host's ticks to nanoseconds since the first recorded moment.
//!
//! All processes of one boot of one host share a counter, so the earliest and the latest reading of counter
//! and `CLOCK_MONOTONIC` over all their segments give its rate. Hosts are put side by side by their wall
//! clocks, which is good to some milliseconds at best: [`RunClock::note`] says so. Nothing here measures
//! offsets; the readings are kept in `clocks.parquet` so that it can be redone.

use super::discover::SegmentInfo;
use kizami_segment::{ClockReading, HeaderView};
use std::collections::BTreeMap;

/// Rates outside of this are damaged readings: no counter runs at 20 GHz or 20 MHz.
const BELIEVABLE_NS_PER_TICK: std::ops::RangeInclusive<f64> = 0.05..=50.0;

/// Where processes share a clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HostKey {
    boot_id: String,
    name: String,
    tsc: bool,
}

impl HostKey {
    fn of(header: &HeaderView) -> HostKey {
        HostKey { boot_id: header.boot_id.clone(), name: header.host.clone(), tsc: header.clock_is_tsc }
    }
}

/// One host and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub name: String,
    pub boot_id: String,
    pub tsc: bool,
    pub clock: HostClock,
    /// Wall clock minus `CLOCK_MONOTONIC`.
    realtime_offset_ns: i64,
    earliest: Option<ClockReading>,
    latest: Option<ClockReading>,
    first_ticks: u64,
}

/// From ticks to run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostClock {
    origin_ticks: u64,
    origin_ns: i64,
    pub ns_per_tick: f64,
}

impl HostClock {
    /// Run time at which the counter stood at `ticks`.
    #[inline]
    pub(crate) fn at(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.origin_ticks) as i64;
        // Rounded half away from zero; casts from floating point saturate, so nonsense stays finite.
        let ns = since as f64 * self.ns_per_tick;
        self.origin_ns.saturating_add((ns + 0.5f64.copysign(ns)) as i64)
    }
}

/// The clocks of all hosts.
#[derive(Debug, Default)]
pub(crate) struct RunClock {
    pub hosts: Vec<Host>,
    keys: BTreeMap<HostKey, usize>,
    /// Wall-clock time of the run's first moment.
    pub started_unix_ns: u64,
    /// Readings that could not be used.
    pub problems: Vec<String>,
}

impl RunClock {
    /// Makes the clocks from all segments of the run.
    pub(crate) fn measure<'a>(segments: impl Iterator<Item = &'a SegmentInfo>) -> RunClock {
        let mut run = RunClock::default();
        for segment in segments {
            run.take(segment);
        }
        for host in &mut run.hosts {
            host.set_rate(&mut run.problems);
        }
        let beginnings = run.hosts.iter().map(|host| host.unix_ns(host.first_ticks));
        let start = beginnings.min().unwrap_or(0);
        for host in &mut run.hosts {
            host.clock.origin_ns =
                host.clock.origin_ns.saturating_add(host.realtime_offset_ns).saturating_sub(start);
        }
        run.started_unix_ns = u64::try_from(start).unwrap_or(0);
        run
    }

    /// Index of the host a segment was written on.
    pub(crate) fn host_of(&self, header: &HeaderView) -> Option<usize> {
        self.keys.get(&HostKey::of(header)).copied()
    }

    /// Whether times of different hosts may be compared, and why.
    pub(crate) fn note(&self) -> (bool, String) {
        let mut boots: Vec<_> = self.hosts.iter().map(|host| (&host.boot_id, &host.name)).collect();
        boots.dedup();
        if boots.len() <= 1 {
            return (true, "all ranks ran on one host and share its clock".to_owned());
        }
        let note = format!(
            "{} hosts, put side by side by their wall clocks only: their clocks are not yet aligned, so times \
             of ranks on different hosts may be off by milliseconds",
            boots.len()
        );
        (false, note)
    }

    fn take(&mut self, segment: &SegmentInfo) {
        let header = &segment.header;
        let index = *self.keys.entry(HostKey::of(header)).or_insert_with(|| {
            self.hosts.push(Host {
                name: header.host.clone(),
                boot_id: header.boot_id.clone(),
                tsc: header.clock_is_tsc,
                clock: HostClock { origin_ticks: 0, origin_ns: 0, ns_per_tick: 1.0 },
                realtime_offset_ns: 0,
                earliest: None,
                latest: None,
                first_ticks: u64::MAX,
            });
            self.hosts.len() - 1
        });
        let host = &mut self.hosts[index];
        for reading in [header.first_reading, header.last_reading] {
            // A header that was never filled in has zeros.
            if reading.ticks == 0 || reading.monotonic_ns == 0 {
                continue;
            }
            host.first_ticks = host.first_ticks.min(reading.ticks);
            if host.earliest.is_none_or(|earliest| reading.ticks < earliest.ticks) {
                host.earliest = Some(reading);
                let offset = i128::from(header.realtime_ns) - i128::from(header.first_reading.monotonic_ns);
                host.realtime_offset_ns = i64::try_from(offset).unwrap_or(0);
            }
            if host.latest.is_none_or(|latest| reading.ticks > latest.ticks) {
                host.latest = Some(reading);
            }
        }
        if let Some(ticks) = segment.first_record_ticks {
            host.first_ticks = host.first_ticks.min(header.base_ticks.wrapping_add(ticks));
        }
    }
}

impl Host {
    fn set_rate(&mut self, problems: &mut Vec<String>) {
        let Some((earliest, latest)) = self.earliest.zip(self.latest) else {
            self.first_ticks = if self.first_ticks == u64::MAX { 0 } else { self.first_ticks };
            problems.push(format!("host {} left no clock reading; its times are guesses", self.name));
            return;
        };
        self.clock.origin_ticks = earliest.ticks;
        self.clock.origin_ns = i64::try_from(earliest.monotonic_ns).unwrap_or(0);
        if !self.tsc {
            return;
        }
        let ns = latest.monotonic_ns.saturating_sub(earliest.monotonic_ns) as f64;
        let rate = ns / (latest.ticks - earliest.ticks) as f64;
        if BELIEVABLE_NS_PER_TICK.contains(&rate) {
            self.clock.ns_per_tick = rate;
        } else {
            problems.push(format!(
                "host {}: the rate of its counter cannot be told from its clock readings; its times are in \
                 ticks instead of nanoseconds",
                self.name
            ));
        }
    }

    fn unix_ns(&self, ticks: u64) -> i64 {
        self.clock.at(ticks).saturating_add(self.realtime_offset_ns)
    }

    /// Difference between the clock model and a reading, in nanoseconds.
    pub(crate) fn residual(&self, reading: ClockReading) -> Option<i64> {
        let earliest = self.earliest?;
        let by_monotonic = i128::from(reading.monotonic_ns) - i128::from(earliest.monotonic_ns);
        let by_ticks = i128::from(self.clock.at(reading.ticks)) - i128::from(self.clock.at(earliest.ticks));
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
