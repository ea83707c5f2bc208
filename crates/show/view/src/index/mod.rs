//! The index of a run: all its rows packed by rank and time, and the shares of time of every rank on many levels.
//!
//! It is made in one pass over the few columns it needs, in parallel over row groups, and kept as `view.bin` in the
//! trace's `derived/` folder, from where the next viewer maps it. Memory for making it does not grow with the number
//! of rows. Whatever goes wrong with a kept one leaves things as they were without it: all of it is checked when it is
//! mapped, by several threads.
//!
//! Of a run told by kinds of rank it has the rows of one rank of each kind, and says for any rank what its kind's rows say.
//!
//! It knows when calls were made, which and from where. Messages and waiting are for those who follow them.

mod block;
mod build;
pub mod category;
mod check;
mod distributed;
mod file;
mod kind;
mod pyramid;
mod time;

pub use block::Row;
pub use build::Source;
pub use kind::Kind;
pub use pyramid::{Cell, Division};

use crate::index::category::Category;
use block::{BlockHead, unpack};
use build::Ranks;
use file::{Mapped, Room};
use kind::RankRow;
use kizami_model::Rank;
use kizami_process_group::ProcessGroup;
use kizami_rank_classes::RankClasses;
use kizami_trace::{Stop, Trace, TraceError};
use std::borrow::Cow;
use time::{RankTime, stops_of};

/// The index of one run.
#[derive(Debug)]
pub struct Index {
    mapped: Mapped,
    /// By rank.
    stops: Vec<Stop>,
    /// Which ranks are alike, in a run told by kinds of rank.
    alike: Option<RankClasses>,
}

impl Index {
    /// The index that was kept for a trace, if it can be believed.
    pub fn kept(trace: &Trace) -> Option<Index> {
        let mapped = Mapped::load(trace)?;
        let alike = alike(trace).ok()?;
        let (run, ranks) = (trace.run(), Ranks::of(trace.run().ranks, alike.as_ref()));
        let holds = check::holds(&mapped, u64::from(ranks.count()), run.totals.events);
        holds.then_some(Index { mapped, stops: stops(trace).ok()?, alike })
    }

    /// Makes the index of a trace and keeps it; `progress` hears which part is done.
    pub fn build(trace: &Trace, progress: &(dyn Fn(f64) + Sync)) -> Result<Index, TraceError> {
        let _phase = tracing::info_span!("index", rows = trace.run().totals.events).entered();
        let alike = alike(trace)?;
        let ranks = Ranks::of(trace.run().ranks, alike.as_ref());
        let stops = stops(trace)?;
        let mapped = build::build(&trace.spans()?, trace, Room::Kept, ranks, &stops, progress)?;
        Ok(Index { mapped, stops, alike })
    }

    /// Makes and keeps it together with other processes that have opened the same trace; all of them must call it. Whoever
    /// uses it finds it [kept](Index::kept), if there was room.
    pub fn build_together(
        trace: &Trace,
        group: &dyn ProcessGroup,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<(), TraceError> {
        let alike = alike(trace)?;
        let ranks = Ranks::of(trace.run().ranks, alike.as_ref());
        distributed::build(&trace.spans()?, trace, ranks, &stops(trace)?, group, progress)
    }

    /// The same from rows that are not those of the trace; it is not kept.
    pub fn of_source(
        source: &impl Source,
        trace: &Trace,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Index, TraceError> {
        let alike = alike(trace)?;
        let ranks = Ranks::of(trace.run().ranks, alike.as_ref());
        let mapped = build::build(source, trace, Room::Beside, ranks, &[], progress)?;
        Ok(Index { mapped, stops: Vec::new(), alike })
    }

    /// Which ranks are alike, in a run told by kinds of rank.
    pub fn alike(&self) -> Option<&RankClasses> {
        self.alike.as_ref()
    }

    /// These ranks, or those with rows that they are like, each with how many it stands for.
    pub fn weighed(&self, ranks: &[u32]) -> Vec<(u32, u64)> {
        match &self.alike {
            Some(classes) => classes.weighed(ranks),
            None => ranks.iter().map(|rank| (*rank, 1)).collect(),
        }
    }

    /// Those of these ranks that matter where only the first `most` of equal ones are told.
    pub fn first_of_each<'a>(&self, ranks: &'a [u32], most: usize) -> Cow<'a, [u32]> {
        match &self.alike {
            Some(classes) => Cow::Owned(classes.first_of_each(ranks, most)),
            None => Cow::Borrowed(ranks),
        }
    }

    /// How many ranks the run has.
    pub fn ranks(&self) -> u32 {
        self.alike.as_ref().map_or(self.mapped.ranks().len() as u32, RankClasses::ranks)
    }

    /// What is known of a rank's rows; nothing if there is no such rank.
    fn of_rank(&self, rank: u32) -> Option<&RankRow> {
        self.mapped.ranks().get(self.place(rank))
    }

    /// Where a rank's rows are among those of all ranks that have some.
    fn place(&self, rank: u32) -> usize {
        self.alike.as_ref().map_or(rank, |classes| classes.number(Rank(rank))) as usize
    }

    /// When its first row begins.
    pub fn begin_ns(&self) -> i64 {
        self.mapped.head().begin_ns
    }

    /// When its last row ends.
    pub fn end_ns(&self) -> i64 {
        self.mapped.head().end_ns
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.mapped.head().rows
    }

    /// What rows can be.
    pub fn kinds(&self) -> &[Kind] {
        self.mapped.kinds()
    }

    /// When a rank made its first call and ended its last one, and the thread of the first; nothing if it made none.
    pub fn seen(&self, rank: u32) -> Option<(i64, i64, u32)> {
        let row = self.of_rank(rank).filter(|row| row.blocks > 0)?;
        Some((row.begin_ns, row.end_ns, row.thread as u32))
    }

    /// How many rows of a rank may be under way between two moments; a few more than there are.
    pub fn rows_within(&self, rank: u32, from_ns: i64, to_ns: i64) -> u64 {
        self.blocks(rank, from_ns, to_ns).iter().map(|block| u64::from(block.rows)).sum()
    }

    /// Tells the rows of a rank that are under way between two moments, in the order of their start.
    #[inline]
    pub fn each(&self, rank: u32, from_ns: i64, to_ns: i64, mut each: impl FnMut(Row)) {
        let data = self.mapped.data();
        for head in self.blocks(rank, from_ns, to_ns) {
            unpack(head, data, |row| {
                if row.start_ns < to_ns && (row.end_ns > from_ns || row.start_ns >= from_ns) {
                    each(row);
                }
            });
        }
    }

    /// Tells the rows around a rank's first and last one: those that begin and end its part in the run are among them.
    pub fn outermost(&self, rank: u32, mut each: impl FnMut(Row)) {
        let blocks = self.blocks(rank, i64::MIN, i64::MAX);
        let last = blocks.len().saturating_sub(1).max(1);
        for head in blocks.iter().take(1).chain(blocks.iter().skip(last)) {
            unpack(head, self.mapped.data(), &mut each);
        }
    }

    /// When the last row or stop ends.
    pub fn known_until_ns(&self) -> i64 {
        self.stops.iter().map(|stop| stop.end.0).fold(self.end_ns(), i64::max)
    }

    /// The tracer's stops on a rank, in the order of their start.
    pub fn stops(&self, rank: u32) -> &[Stop] {
        stops_of(&self.stops, self.alike.as_ref().map_or(rank, |classes| classes.like(Rank(rank)).0))
    }

    /// Tells what the first thread of a rank did between two moments, but for computation: from when, to when, what.
    pub fn time(&self, rank: u32, from_ns: i64, to_ns: i64, mut visit: impl FnMut(i64, i64, Category)) {
        let Some(row) = self.of_rank(rank) else { return };
        let inside = |from: i64, to: i64, category| {
            let (from, to) = (from.max(from_ns), to.min(to_ns));
            if to > from {
                visit(from, to, category);
            }
        };
        let mut time = RankTime::new(row, self.mapped.head().run(), self.stops(rank), inside);
        let data = self.mapped.data();
        for head in self.blocks(rank, from_ns, to_ns) {
            unpack(head, data, |row| time.call(&row, self.kinds()));
        }
        time.finish();
    }

    /// How time is divided into cells.
    pub fn division(&self) -> Division {
        self.mapped.head().division()
    }

    /// The cells of a rank on a level.
    pub fn cells(&self, level: u32, rank: u32) -> &[Cell] {
        let division = self.division();
        let bins = division.bins_of(level);
        let first =
            division.cells_before(level, self.mapped.ranks().len() as u64) + self.place(rank) as u64 * bins;
        self.mapped.cells().get(first as usize..(first + bins) as usize).unwrap_or_default()
    }

    fn blocks(&self, rank: u32, from_ns: i64, to_ns: i64) -> &[BlockHead] {
        let Some(row) = self.of_rank(rank) else { return &[] };
        let all = self.mapped.blocks();
        let range = row.first_block as usize..row.first_block.saturating_add(row.blocks) as usize;
        let blocks = all.get(range).unwrap_or_default();
        let first = blocks.partition_point(|block| block.end_ns < from_ns);
        let count = blocks[first..].partition_point(|block| block.start_ns < to_ns);
        &blocks[first..first + count]
    }
}

/// Which ranks are alike; none if each has its rows.
fn alike(trace: &Trace) -> Result<Option<RankClasses>, TraceError> {
    match trace.run().is_stored_by_rank_class() {
        true => Ok(RankClasses::of(&trace.definitions()?)),
        false => Ok(None),
    }
}

fn stops(trace: &Trace) -> Result<Vec<Stop>, TraceError> {
    let mut stops = trace.stops()?;
    stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
    Ok(stops)
}
