//! Parallel regions of all ranks that lie in no other, and what is lost in each.

use crate::loss::LossKind;
use kizami_model::{Length, Moment};
use kizami_trace::{ParallelRow, Trace, TraceError};
use kizami_whatif::sum_error_ns;
use std::collections::BTreeMap;

/// Runs of a region from which on it is known how far they differ.
const LEAST_REPEATED: usize = 5;

/// Those of all ranks.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// By rank; ranks beyond the end have none.
    pub(crate) ranks: Vec<RankRegions>,
    /// How many were run, with those inside others.
    pub(crate) run: u64,
}

/// Those of one rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct RankRegions {
    /// Threads of the widest; none if it has no region.
    pub widest: u32,
    /// By start.
    pub outer: Vec<Region>,
}

/// A region that lies in no other.
#[derive(Clone, Debug)]
pub struct Region {
    pub(crate) row: ParallelRow,
    /// How long its threads ran, with those of regions inside it.
    pub(crate) running: Length,
    /// How much of that they slept; none if that is not known.
    pub(crate) asleep: Option<Length>,
}

impl Regions {
    /// Of a trace; none if it has none.
    pub fn of(trace: &Trace) -> Result<Option<Regions>, TraceError> {
        let rows: Vec<ParallelRow> =
            trace.parts_of::<ParallelRow>()?.collect::<Result<Vec<_>, _>>()?.concat();
        if rows.is_empty() {
            return Ok(None);
        }
        let mut ranks = Vec::new();
        // They are sorted by rank.
        for of_rank in rows.chunk_by(|one, other| one.rank == other.rank) {
            ranks.resize_with(of_rank[0].rank.0 as usize, RankRegions::default);
            let widest = of_rank.iter().map(|row| row.threads).max().unwrap_or(1).max(1);
            ranks.push(RankRegions { widest, outer: outermost(of_rank) });
        }
        Ok(Some(Regions { ranks, run: rows.len() as u64 }))
    }

    /// Whether a region begins at one of these places.
    pub fn begin_at(&self, sites: &[u32]) -> bool {
        let mut all = self.ranks.iter().flat_map(|rank| &rank.outer);
        all.any(|region| region.row.callsite.is_some_and(|site| sites.contains(&site)))
    }

    /// Whether tasks were made in one of them.
    pub fn have_tasks(&self) -> bool {
        self.ranks.iter().flat_map(|rank| &rank.outer).any(|region| region.row.tasks > 0)
    }

    /// Whether some rank has had only one thread: how evenly more of them share its work is not known.
    pub fn of_one_thread(&self) -> bool {
        self.ranks.iter().any(|rank| rank.widest == 1)
    }

    /// How far two runs differ, judged by regions of one place that ran several times; none if those that did take less than half
    /// of the time of all regions.
    pub fn noise(&self) -> Option<Length> {
        let mut by_place: BTreeMap<(u32, Option<u32>), Vec<Length>> = BTreeMap::new();
        for region in self.ranks.iter().flat_map(|rank| &rank.outer) {
            let length = region.row.end - region.row.start;
            by_place.entry((region.row.rank.0, region.row.callsite)).or_default().push(length);
        }
        let sum = |lengths: &[Length]| lengths.iter().copied().sum::<Length>();
        let all: Length = by_place.values().map(|lengths| sum(lengths)).sum();
        let repeated = || by_place.values().filter(|lengths| lengths.len() >= LEAST_REPEATED);
        let known: Length = repeated().map(|lengths| sum(lengths)).sum();
        if known.0.saturating_mul(2) < all.0 || known == Length::ZERO {
            return None;
        }
        // The run is as long as one of its ranks.
        let mut square_ns: BTreeMap<u32, f64> = BTreeMap::new();
        for ((rank, _), lengths) in by_place.iter().filter(|(_, lengths)| lengths.len() >= LEAST_REPEATED) {
            *square_ns.entry(*rank).or_default() += sum_error_ns(lengths.iter().copied()).powi(2);
        }
        let largest_ns = square_ns.into_values().fold(0.0, f64::max);
        // Others vary as much as these do.
        Some(Length::from_nanos_f64(largest_ns.sqrt() * (all.0 as f64 / known.0 as f64).sqrt()))
    }

    /// The most threads of one rank.
    pub(crate) fn widest(&self) -> u32 {
        self.ranks.iter().map(|rank| rank.widest).max().unwrap_or(1)
    }
}

impl RankRegions {
    /// Whether a thread that makes these calls is one of those that run regions. Whoever begins them is. Others call only
    /// inside of regions: a thread that also calls elsewhere was started for something else, such as communication.
    pub(crate) fn has_thread(&self, thread: u32, mut calls: impl Iterator<Item = (Moment, Moment)>) -> bool {
        self.outer.iter().any(|region| region.row.thread.0 == thread)
            || calls.all(|(start, end)| self.holds(start, end))
    }

    /// Whether all of a stretch lies in one region.
    fn holds(&self, start: Moment, end: Moment) -> bool {
        let before = self.outer.partition_point(|region| region.row.start <= start).checked_sub(1);
        before.is_some_and(|place| end <= self.outer[place].row.end)
    }
}

impl Region {
    /// How many of a rank's threads run it.
    pub(crate) fn threads(&self, widest: u32) -> u32 {
        self.row.threads.min(widest).max(1)
    }

    /// What its threads lost, if it lasts so long and they were in calls for so long together: all but what they ran.
    pub(crate) fn losses(&self, widest: u32, length: Length, in_calls: Length) -> Losses {
        let row = &self.row;
        let has = i64::from(self.threads(widest));
        let capacity = length * has;
        let running = (self.running - in_calls).at_least_zero().min(capacity);
        let mut left = capacity - running - in_calls.min(capacity - running);
        let imbalance = (row.longest * has - self.running).at_least_zero();
        let wanted = [
            (LossKind::Tracer, row.tracer),
            (LossKind::Away, row.away),
            (LossKind::Locks, row.locked),
            (LossKind::Imbalance, imbalance),
            (LossKind::InRegion, Length(i64::MAX)),
        ];
        let mut inside = wanted.map(|(kind, part)| {
            let part = part.min(left);
            left -= part;
            (kind, part)
        });
        // While a thread is preempted, the others may have to wait for it: that is the machine's doing as well.
        let waited = (inside[AWAY].1 * (has - 1)).min(inside[IN_REGION].1);
        inside[AWAY].1 += waited;
        inside[IN_REGION].1 -= waited;
        let missing = length * (i64::from(widest) - has);
        Losses { capacity, running, inside, missing }
    }
}

/// Places among the losses inside a region.
const AWAY: usize = 1;
const IN_REGION: usize = 4;

/// What became of the time of a region's threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Losses {
    /// All there was.
    pub capacity: Length,
    /// In which they computed.
    pub running: Length,
    /// What its threads lost.
    pub inside: [(LossKind, Length); 5],
    /// What threads of the rank lost that it does not have.
    pub missing: Length,
}

impl Losses {
    /// What its threads lost like this.
    pub fn of(&self, kind: LossKind) -> Length {
        self.inside.iter().filter(|(own, _)| *own == kind).map(|(_, part)| *part).sum()
    }
}

/// Regions that lie in no other, each with what those inside it ran.
fn outermost(rows: &[ParallelRow]) -> Vec<Region> {
    let within: BTreeMap<u64, u64> = rows.iter().filter_map(|row| Some((row.region, row.within?))).collect();
    let mut running: BTreeMap<u64, (Length, Option<Length>)> = BTreeMap::new();
    for row in rows {
        let mut region = row.region;
        // Whoever is around has a smaller number, so this ends.
        while let Some(around) = within.get(&region).filter(|around| **around < region) {
            region = *around;
        }
        let (running, asleep) = running.entry(region).or_default();
        *running += row.running;
        *asleep = row.asleep.map(|more| more + asleep.unwrap_or(Length::ZERO)).or(*asleep);
    }
    let outer = rows.iter().filter(|row| row.within.is_none());
    let region = |row: &ParallelRow| {
        let (running, asleep) = running[&row.region];
        Region { row: row.clone(), running, asleep }
    };
    outer.map(region).collect()
}
