//! Parallel regions of all ranks that lie in no other, and what is lost in each.

use crate::loss::LossKind;
use kizami_model::{Length, Moment};
use kizami_trace::{ParallelRow, Trace, TraceError};
use std::collections::BTreeMap;

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
        let inside = wanted.map(|(kind, part)| {
            let part = part.min(left);
            left -= part;
            (kind, part)
        });
        let missing = length * (i64::from(widest) - has);
        Losses { capacity, running, inside, missing }
    }
}

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

/// Regions that lie in no other, each with what those inside it ran.
fn outermost(rows: &[ParallelRow]) -> Vec<Region> {
    let within: BTreeMap<u64, u64> = rows.iter().filter_map(|row| Some((row.region, row.within?))).collect();
    let mut running: BTreeMap<u64, Length> = BTreeMap::new();
    for row in rows {
        let mut region = row.region;
        // Whoever is around has a smaller number, so this ends.
        while let Some(around) = within.get(&region).filter(|around| **around < region) {
            region = *around;
        }
        *running.entry(region).or_default() += row.running;
    }
    let outer = rows.iter().filter(|row| row.within.is_none());
    outer.map(|row| Region { row: row.clone(), running: running[&row.region] }).collect()
}
