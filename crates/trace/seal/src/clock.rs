//! One clock for the run: from every host's ticks to nanoseconds since the first recorded moment.
//!
//! All processes of one boot of one host share a counter, so the earliest and the latest reading of counter
//! and `CLOCK_MONOTONIC` over all their segments give its rate. Hosts that asked each other for the time are
//! brought onto the clock of the root of these questions ([`super::align`]). Others are put side by side by
//! their wall clocks, which is good to some milliseconds at best: [`RunClock::note`] says so. Everything this
//! is made from is kept in `clocks.parquet` so that it can be redone.

use super::align::{self, Links, Question};
use super::discover::Process;
use super::host::{Host, HostClock};
use super::segment_file::SegmentInfo;
use kizami_clock::TickGrid;
use kizami_segment::HeaderView;
use rayon::prelude::*;
use std::collections::BTreeMap;

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
                grid_of(&hosts[index], links, index, later_ns)
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
                    "{hosts} hosts, synchronised by measured offsets: times are accurate to {bound:.2} us"
                )
            }
            ClockMethod::WallClock if self.links.is_empty() => format!(
                "{hosts} hosts, aligned by their wall clocks only: their clocks are not synchronised, so \
                 times of ranks on different hosts may be off by milliseconds"
            ),
            ClockMethod::WallClock => format!(
                "{hosts} hosts in {} groups; within a group offsets were measured, but the groups are aligned by \
                 their wall clocks only, so times of ranks in different groups may be off by milliseconds",
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

/// The way from a host's ticks to run time along measured offsets, and how far off that may be at worst.
fn grid_of(host: &Host, links: &Links, index: usize, later_ns: i64) -> Option<(TickGrid, i64)> {
    let chain = links.chain(index);
    let (from, to) = (host.first_ticks, host.latest?.ticks);
    let straight_ticks = chain.straight_ns()? as f64 / host.own.ns_per_tick;
    let grid = TickGrid::new(from, to, straight_ticks as u64, |ticks| {
        chain.points(ticks.map(|ticks| host.own.at(ticks)))
    })?;
    let bounds = grid.all_ticks().map(|ticks| chain.at(host.own.at(ticks)).bound_ns);
    let bound_ns = bounds.max().unwrap_or(i64::MAX);
    Some((grid.later_by(later_ns), bound_ns))
}
