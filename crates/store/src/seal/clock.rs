//! One clock for the run: from every host's ticks to nanoseconds since the first recorded moment.
//!
//! All processes of one boot of one host share a counter, so the earliest and the latest reading of counter
//! and `CLOCK_MONOTONIC` over all their segments give its rate. Hosts that asked each other for the time are
//! brought onto the clock of the root of these questions ([`super::align`]). Others are put side by side by
//! their wall clocks, which is good to some milliseconds at best: [`RunClock::note`] says so. Everything this
//! is made from is kept in `clocks.parquet` so that it can be redone.

use super::align::{self, Links, Question};
use super::causality::{Shift, shifted};
use super::discover::{Process, SegmentInfo};
use super::grid::TickGrid;
use kizami_segment::{ClockReading, HeaderView};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Rates outside of this are damaged readings: no counter runs at 20 GHz or 20 MHz.
const BELIEVABLE_NS_PER_TICK: std::ops::RangeInclusive<f64> = 0.05..=50.0;

/// How the clocks of a run's hosts were brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClockMethod {
    /// There is only one.
    OneClock,
    /// By offsets that were measured during the run.
    Measured,
    /// By wall clocks, at least in part.
    WallClock,
}

impl ClockMethod {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ClockMethod::OneClock => "one-clock",
            ClockMethod::Measured => "measured",
            ClockMethod::WallClock => "wall-clock",
        }
    }
}

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
    /// To run time, as well as a straight line can.
    clock: HostClock,
    /// To run time by the wall clock alone.
    wall: HostClock,
    /// To run time along the measured offsets; none for a host that needs only a line.
    grid: Option<TickGrid>,
    /// Its times are no further from its root's than this, if they were measured.
    pub bound_ns: Option<i64>,
    /// To the host's own `CLOCK_MONOTONIC`.
    own: HostClock,
    /// Wall clock minus `CLOCK_MONOTONIC`.
    realtime_offset_ns: i64,
    earliest: Option<ClockReading>,
    latest: Option<ClockReading>,
    first_ticks: u64,
}

/// From ticks to nanoseconds by a straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostClock {
    origin_ticks: u64,
    origin_ns: i64,
    pub ns_per_tick: f64,
}

/// From ticks to run time, for the ranks of one host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankClock<'a> {
    line: HostClock,
    /// Whether the line is all there is.
    straight: bool,
    grid: Option<&'a TickGrid>,
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
    const UNSET: HostClock = HostClock { origin_ticks: 0, origin_ns: 0, ns_per_tick: 1.0 };

    fn later_by(self, ns: i64) -> HostClock {
        HostClock { origin_ns: self.origin_ns.saturating_add(ns), ..self }
    }

    /// Time at which the counter stood at `ticks`.
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
    /// Which host's clock was measured against which.
    pub links: Links,
    /// Readings that could not be used.
    pub problems: Vec<String>,
}

impl RunClock {
    /// Makes the clocks from all segments of the run and from what hosts asked each other.
    pub(crate) fn measure(ranks: &[Option<Process>], questions: &[Question]) -> RunClock {
        let mut run = RunClock::default();
        for segment in ranks.iter().flatten().flat_map(Process::segments) {
            run.take(segment);
        }
        for host in &mut run.hosts {
            host.set_rate(&mut run.problems);
        }
        if run.hosts.len() > 1 {
            let host_of = |rank: u32| run.host_of_process(ranks.get(rank as usize)?.as_ref()?);
            run.links = align::link(&run.hosts, questions, host_of);
        }
        run.place();
        run
    }

    /// Gives every host its place in run time.
    fn place(&mut self) {
        let (hosts, links) = (&self.hosts, &self.links);
        let offsets: Vec<i64> =
            (0..hosts.len()).map(|index| hosts[links.root_of(index)].realtime_offset_ns).collect();
        let begins = hosts.iter().enumerate().map(|(index, host)| {
            let own_ns = host.own.at(host.first_ticks);
            let root_ns = own_ns.saturating_add(links.chain(index).at(own_ns).offset_ns);
            root_ns.saturating_add(offsets[index])
        });
        let start = begins.min().unwrap_or(0);
        self.started_unix_ns = u64::try_from(start).unwrap_or(0);
        let grids: Vec<Option<(TickGrid, i64)>> = (0..hosts.len())
            .into_par_iter()
            .map(|index| {
                let later_ns = offsets[index].saturating_sub(start);
                hosts[index].grid(links, index, later_ns)
            })
            .collect();
        for ((host, grid), offset_ns) in self.hosts.iter_mut().zip(grids).zip(offsets) {
            host.clock = host.own.later_by(offset_ns.saturating_sub(start));
            host.wall = host.own.later_by(host.realtime_offset_ns.saturating_sub(start));
            (host.grid, host.bound_ns) = grid.unzip();
        }
    }

    /// Index of the host a segment was written on.
    pub(crate) fn host_of(&self, header: &HeaderView) -> Option<usize> {
        self.keys.get(&HostKey::of(header)).copied()
    }

    /// Index of the host a process ran on.
    pub(crate) fn host_of_process(&self, process: &Process) -> Option<usize> {
        process.segments().find_map(|segment| self.host_of(&segment.header))
    }

    /// Hosts whose times can only be compared by wall clocks: one for each group that can be compared.
    fn groups(&self) -> Vec<usize> {
        // Processes of one boot that read different counters were still put on one clock by their readings.
        let boot = |root: &usize| (&self.hosts[*root].boot_id, &self.hosts[*root].name);
        let mut roots = self.links.roots(self.hosts.len());
        roots.sort_by(|a, b| boot(a).cmp(&boot(b)));
        roots.dedup_by(|a, b| boot(a) == boot(b));
        roots
    }

    /// No time is further from the root's clock than this, if all hosts were measured.
    pub(crate) fn bound_ns(&self) -> Option<i64> {
        let worst = self.hosts.iter().filter_map(|host| host.bound_ns).max();
        worst.filter(|_| self.method() == ClockMethod::Measured)
    }

    /// How the clocks of hosts were brought together.
    pub(crate) fn method(&self) -> ClockMethod {
        match (self.groups().len(), self.links.is_empty()) {
            (0 | 1, true) => ClockMethod::OneClock,
            (0 | 1, false) => ClockMethod::Measured,
            _ => ClockMethod::WallClock,
        }
    }

    /// Whether times of different hosts may be compared, and why.
    pub(crate) fn note(&self) -> String {
        let hosts = self.hosts.len();
        match self.method() {
            ClockMethod::OneClock => "all ranks ran on one host and share its clock".to_owned(),
            ClockMethod::Measured => {
                let bound = self.bound_ns().unwrap_or(0) as f64 / 1e3;
                format!(
                    "{hosts} hosts, put on one clock by measured offsets: times are right to {bound:.2} us"
                )
            }
            ClockMethod::WallClock if self.links.is_empty() => format!(
                "{hosts} hosts, put side by side by their wall clocks only: their clocks are not aligned, so \
                 times of ranks on different hosts may be off by milliseconds"
            ),
            ClockMethod::WallClock => format!(
                "{hosts} hosts in {} groups; within a group offsets were measured, but the groups are put side by \
                 side by their wall clocks only, so times of ranks in different groups may be off by milliseconds",
                self.groups().len()
            ),
        }
    }

    fn take(&mut self, segment: &SegmentInfo) {
        let header = &segment.header;
        let index = *self.keys.entry(HostKey::of(header)).or_insert_with(|| {
            self.hosts.push(Host {
                name: header.host.clone(),
                boot_id: header.boot_id.clone(),
                tsc: header.clock_is_tsc,
                clock: HostClock::UNSET,
                wall: HostClock::UNSET,
                own: HostClock::UNSET,
                grid: None,
                bound_ns: None,
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
                "host {}: the rate of its counter cannot be told from its clock readings; its times are in \
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
        let since_ns = own_ns.saturating_sub(self.own.origin_ns) as f64;
        let since_ticks = (since_ns / self.own.ns_per_tick).round() as i64;
        self.rank_clock(&[]).at(self.own.origin_ticks.wrapping_add(since_ticks as u64))
    }

    /// Run time as its wall clock alone would have it, at a moment of run time.
    pub(crate) fn wall_ns(&self, run_ns: i64) -> i64 {
        match &self.grid {
            None => run_ns.saturating_sub(self.clock.origin_ns).saturating_add(self.wall.origin_ns),
            Some(grid) => self.wall.at(grid.ticks(run_ns)),
        }
    }

    /// The way from its ticks to run time along measured offsets, and how far off that may be at worst.
    fn grid(&self, links: &Links, index: usize, later_ns: i64) -> Option<(TickGrid, i64)> {
        let chain = links.chain(index);
        let (from, to) = (self.first_ticks, self.latest?.ticks);
        let straight_ticks = chain.straight_ns()? as f64 / self.own.ns_per_tick;
        let grid = TickGrid::new(from, to, straight_ticks as u64, |ticks| {
            chain.points(ticks.map(|ticks| self.own.at(ticks)))
        })?;
        let bounds = grid.all_ticks().map(|ticks| chain.at(self.own.at(ticks)).bound_ns);
        let bound_ns = bounds.max().unwrap_or(i64::MAX);
        Some((grid.later_by(later_ns), bound_ns))
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
