//! Making an index: rows are packed and written group by group, then each rank's shares are added up from them.

use super::block::{BLOCK_ROWS, BlockHead, Row, SLACK_BYTES, pack, unpack};
use super::file::{Head, Mapped, Room, Sections, Unfinished};
use super::kind::{Kind, RankRow};
use super::pyramid::{Division, Sums};
use super::time::{RankTime, stops_of};
use kizami_model::Rank;
use kizami_trace::{Span, Spans, Stop, Trace, TraceError};
use kizami_wire::wire_struct;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Of the time an index takes, about this part is for reading rows.
pub(super) const READING: f64 = 0.9;

/// Where rows come from: groups that can be read by several threads at once.
pub trait Source: Sync {
    /// How many groups there are.
    fn groups(&self) -> usize;
    /// Tells the rows of a group, by rank, then by start. Ranks rise from group to group.
    fn read(&self, group: usize, each: impl FnMut(Span)) -> Result<(), TraceError>;
}

impl Source for Spans {
    fn groups(&self) -> usize {
        Spans::groups(self)
    }

    fn read(&self, group: usize, each: impl FnMut(Span)) -> Result<(), TraceError> {
        Spans::read(self, group, each)
    }
}

/// Which ranks have a place in an index.
#[derive(Clone, Copy)]
pub(super) enum Ranks<'a> {
    /// All below this one.
    Below(u32),
    /// One of each kind.
    OfClasses(&'a kizami_rank_classes::RankClasses),
}

impl Ranks<'_> {
    pub(super) fn of(ranks: u32, alike: Option<&kizami_rank_classes::RankClasses>) -> Ranks<'_> {
        alike.map_or(Ranks::Below(ranks), Ranks::OfClasses)
    }

    pub(super) fn count(self) -> u32 {
        match self {
            Ranks::Below(ranks) => ranks,
            Ranks::OfClasses(classes) => classes.count() as u32,
        }
    }

    /// The place of a rank, if it has one.
    #[inline]
    pub(super) fn place(self, rank: u32) -> Option<u32> {
        match self {
            Ranks::Below(ranks) => (rank < ranks).then_some(rank),
            Ranks::OfClasses(classes) => (rank < classes.ranks()).then(|| classes.number(Rank(rank))),
        }
    }
}

/// Makes an index of the rows of some ranks; elsewhere if there is no room in the trace.
pub(super) fn build(
    source: &impl Source,
    trace: &Trace,
    room: Room,
    ranks: Ranks<'_>,
    stops: &[Stop],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Mapped, TraceError> {
    match build_in(source, trace, room, ranks, stops, progress) {
        Err(TraceError::Write { .. }) => build_in(source, trace, Room::Elsewhere, ranks, stops, progress),
        made => made,
    }
}

fn build_in(
    source: &impl Source,
    trace: &Trace,
    room: Room,
    ranks: Ranks<'_>,
    stops: &[Stop],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Mapped, TraceError> {
    let file = Unfinished::create(trace, room)?;
    let kinds = Kinds::default();
    let at = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let groups = source.groups();
    let packed: Vec<Vec<RankBlocks>> = (0..groups)
        .into_par_iter()
        .map(|group| {
            let mut packer = Packer::new(&kinds, ranks);
            source.read(group, |span| packer.row(&span))?;
            let blocks = packer.write(&file, &at)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(READING * done as f64 / groups as f64);
            Ok(blocks)
        })
        .collect::<Result<_, TraceError>>()?;
    let packed =
        Packed { pieces: packed.into_iter().flatten().collect(), kinds: kinds.all(), bytes: at.into_inner() };
    finish(file, packed, ranks, stops, progress)
}

/// All rows of a run, packed.
pub(super) struct Packed {
    /// Those of a rank in the order of groups.
    pub pieces: Vec<RankBlocks>,
    pub kinds: Vec<Kind>,
    /// How long they are, one behind the other.
    pub bytes: u64,
}

/// Writes what stands behind packed rows, and adds up the shares of all ranks.
pub(super) fn finish(
    file: Unfinished,
    packed: Packed,
    ranks: Ranks<'_>,
    stops: &[Stop],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Mapped, TraceError> {
    let Packed { pieces, kinds, bytes } = packed;
    let (rank_rows, blocks) = in_order(pieces, ranks.count());
    let data_bytes = bytes.next_multiple_of(8) + SLACK_BYTES as u64;
    file.write(data_bytes - SLACK_BYTES as u64, &[0; SLACK_BYTES])?;
    let times = rank_rows.iter().filter(|row| row.blocks > 0);
    let begin_ns = times.clone().map(|row| row.begin_ns).min().unwrap_or(0).min(0);
    let end_ns = times.map(|row| row.end_ns).max().unwrap_or(0).max(begin_ns);
    let rows = blocks.iter().map(|block| u64::from(block.rows)).sum();
    let division = Division::of(begin_ns, end_ns, u64::from(ranks.count()), rows);
    let head = Head::new(division, end_ns, rows, data_bytes);
    let sections = Sections { ranks: &rank_rows, blocks: &blocks, kinds: &kinds };
    let head = file.write_tables(head, &sections)?;
    shares(&file, head, &sections, stops, progress)?;
    progress(1.0);
    file.finish(head)
}

/// Adds up the shares of all ranks.
fn shares(
    file: &Unfinished,
    head: Head,
    sections: &Sections<'_>,
    stops: &[Stop],
    progress: &(dyn Fn(f64) + Sync),
) -> Result<(), TraceError> {
    let map = file.map_data()?;
    let division = head.division();
    let ranks = sections.ranks.len() as u64;
    let done = AtomicU64::new(0);
    (0..sections.ranks.len()).into_par_iter().try_for_each(|rank| {
        let row = &sections.ranks[rank];
        let mut sums = Sums::new(division);
        let mut time = RankTime::new(
            row,
            division.begin_ns..division.end_ns(),
            stops_of(stops, rank as u32),
            |from_ns, to_ns, category| {
                sums.add(from_ns, to_ns, category);
            },
        );
        let blocks = &sections.blocks[row.first_block as usize..(row.first_block + row.blocks) as usize];
        for block in blocks {
            unpack(block, &map, |row| time.call(&row, sections.kinds));
        }
        time.finish();
        let mut failed = Ok(());
        sums.levels(|level, cells| {
            let first = division.cells_before(level, ranks) + rank as u64 * division.bins_of(level);
            if failed.is_ok() {
                failed = file.write_cells(head, first, cells);
            }
        });
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(64) {
            progress(READING + (1.0 - READING) * done as f64 / ranks as f64);
        }
        failed
    })
}

/// What rows have in common, numbered as it comes.
#[derive(Default)]
pub(super) struct Kinds(Mutex<(FxHashMap<Kind, u32>, Vec<Kind>)>);

impl Kinds {
    pub(super) fn number(&self, kind: Kind) -> u32 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (numbers, list) = &mut *known;
        let next = list.len() as u32;
        let number = *numbers.entry(kind).or_insert(next);
        if number == next {
            list.push(kind);
        }
        number
    }

    /// Those from this number on.
    pub(super) fn since(&self, first: usize) -> Vec<Kind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1[first..].to_vec()
    }

    pub(super) fn all(self) -> Vec<Kind> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// The blocks of one rank in one group, and the thread of its first row there.
pub(super) struct RankBlocks {
    pub rank: u32,
    pub thread: u32,
    pub blocks: Vec<BlockHead>,
}

wire_struct!(RankBlocks { rank, thread, blocks });

/// Packs the rows of one group.
struct Packer<'a> {
    kinds: &'a Kinds,
    ranks: Ranks<'a>,
    numbers: FxHashMap<(u16, u32, u32, bool), u32>,
    rows: Vec<Row>,
    bytes: Vec<u8>,
    done: Vec<RankBlocks>,
}

impl<'a> Packer<'a> {
    fn new(kinds: &'a Kinds, ranks: Ranks<'a>) -> Packer<'a> {
        let (numbers, rows) = (FxHashMap::default(), Vec::with_capacity(BLOCK_ROWS));
        Packer { kinds, ranks, numbers, rows, bytes: Vec::new(), done: Vec::new() }
    }

    #[inline]
    fn row(&mut self, span: &Span) {
        let Some(rank) = self.ranks.place(span.rank) else { return };
        if self.rows.len() == BLOCK_ROWS || self.done.last().is_none_or(|last| last.rank != rank) {
            self.end_block();
            if self.done.last().is_none_or(|last| last.rank != rank) {
                let thread = span.thread;
                self.done.push(RankBlocks { rank, thread, blocks: Vec::new() });
            }
        }
        let key = (span.op.0, span.site, span.thread, span.part);
        let kinds = self.kinds;
        let kind = *self
            .numbers
            .entry(key)
            .or_insert_with(|| kinds.number(Kind::new(span.op, span.site, span.thread, span.part)));
        self.rows.push(Row { start_ns: span.start_ns, end_ns: span.end_ns.max(span.start_ns), kind });
    }

    fn end_block(&mut self) {
        if let (false, Some(last)) = (self.rows.is_empty(), self.done.last_mut()) {
            last.blocks.push(pack(&self.rows, &mut self.bytes));
            self.rows.clear();
        }
    }

    /// Writes what was packed behind what others have written.
    fn write(mut self, file: &Unfinished, at: &AtomicU64) -> Result<Vec<RankBlocks>, TraceError> {
        self.end_block();
        let offset = at.fetch_add(self.bytes.len() as u64, Ordering::Relaxed);
        file.write(offset, &self.bytes)?;
        for block in self.done.iter_mut().flat_map(|rank| &mut rank.blocks) {
            block.offset += offset;
        }
        Ok(self.done)
    }
}

/// The blocks of all ranks, each in the order of time.
fn in_order(mut pieces: Vec<RankBlocks>, ranks: u32) -> (Vec<RankRow>, Vec<BlockHead>) {
    pieces.sort_by_key(|piece| piece.rank);
    let mut rows = vec![RankRow::default(); ranks as usize];
    let mut all: Vec<BlockHead> = Vec::new();
    for of_rank in pieces.chunk_by(|a, b| a.rank == b.rank) {
        let first = all.len();
        all.extend(of_rank.iter().flat_map(|piece| &piece.blocks));
        let blocks = &mut all[first..];
        // Already so, unless somebody else wrote the trace.
        blocks.sort_by_key(|block| block.start_ns);
        let mut end_ns = i64::MIN;
        for block in blocks.iter_mut() {
            end_ns = end_ns.max(block.end_ns);
            block.end_ns = end_ns;
        }
        rows[of_rank[0].rank as usize] = RankRow {
            first_block: first as u64,
            blocks: blocks.len() as u64,
            begin_ns: blocks.first().map_or(0, |block| block.start_ns),
            end_ns,
            thread: u64::from(of_rank[0].thread),
        };
    }
    (rows, all)
}
