//! Rows read back, one after the other or some at a time.
//!
//! Only one part is open at a time and only one batch of its rows is in memory. Row groups whose ranks were
//! not asked for are not read at all. Rows are put together column by column: what is null costs nothing.

use crate::StoreError;
use crate::columns::{Cells, Lists, TableReader};
use crate::trace::RankSelection;
use bytes::Bytes;
use kizami_model::{Call, Nanos, Op, Peer, Rank, ThreadIndex, function};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::statistics::Statistics;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Rows decoded at a time: few enough to stay in the cache of a core until they are used.
const BATCH_ROWS: usize = 1 << 10;

/// The rows of a trace, sorted by rank, then by start, read as they are asked for.
///
/// After an error there are no more rows.
pub struct Calls {
    parts: std::vec::IntoIter<Part>,
    ranks: RangeInclusive<i64>,
    /// The part being read, and its next row group.
    part: Option<(TableReader, usize)>,
    group: Option<Group>,
    /// Rows that were decoded, and the next of them.
    batch: Vec<Call>,
    next: usize,
    failed: bool,
}

/// Where the rows of a part lie.
enum Part {
    File(PathBuf),
    Memory(Bytes),
}

impl Calls {
    /// The rows of one part of `events/` that was read into memory, whatever it holds.
    pub fn in_memory(part: Vec<u8>) -> Calls {
        Calls::of_parts(vec![Part::Memory(part.into())], 0..=i64::MAX)
    }

    pub(crate) fn new(parts: Vec<PathBuf>, selection: &RankSelection) -> Calls {
        let ranks = match selection {
            RankSelection::All => 0..=i64::MAX,
            RankSelection::One(rank) => i64::from(rank.0)..=i64::from(rank.0),
            RankSelection::Range(ranks) => i64::from(*ranks.start())..=i64::from(*ranks.end()),
        };
        Calls::of_parts(parts.into_iter().map(Part::File).collect(), ranks)
    }

    fn of_parts(parts: Vec<Part>, ranks: RangeInclusive<i64>) -> Calls {
        let (part, group, batch) = (None, None, Vec::new());
        Calls { parts: parts.into_iter(), ranks, part, group, batch, next: 0, failed: false }
    }

    /// The next rows, as many as are decoded at a time; none at the end. Not to be mixed with asking for single rows.
    pub fn next_batch(&mut self) -> Result<&[Call], StoreError> {
        self.decode()?;
        self.next = self.batch.len();
        Ok(&self.batch)
    }

    /// The same, put into a list somebody else has; what was in it is lost.
    pub fn read_batch(&mut self, batch: &mut Vec<Call>) -> Result<(), StoreError> {
        std::mem::swap(&mut self.batch, batch);
        let decoded = self.decode();
        std::mem::swap(&mut self.batch, batch);
        self.batch.clear();
        decoded
    }

    /// Decodes the next rows into the batch; none at the end, or after an error.
    fn decode(&mut self) -> Result<(), StoreError> {
        self.next = 0;
        if self.failed {
            self.batch.clear();
            return Ok(());
        }
        let decoded = self.try_decode();
        if decoded.is_err() {
            self.failed = true;
            self.batch.clear();
        }
        decoded
    }

    fn try_decode(&mut self) -> Result<(), StoreError> {
        loop {
            if let (Some(group), Some((part, _))) = (&mut self.group, &self.part) {
                if group.read(&mut self.batch).map_err(|what| part.damaged(what))? {
                    if self.ranks != (0..=i64::MAX) {
                        self.batch.retain(|call| self.ranks.contains(&i64::from(call.rank.0)));
                    }
                    if !self.batch.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                self.group = None;
            }
            if !self.next_group()? {
                self.batch.clear();
                return Ok(());
            }
        }
    }

    /// Opens the next row group with rows that are wanted; false at the end.
    fn next_group(&mut self) -> Result<bool, StoreError> {
        loop {
            let Some((part, next)) = &mut self.part else {
                let reader = match self.parts.next() {
                    Some(Part::File(path)) => TableReader::open(&path)?,
                    Some(Part::Memory(bytes)) => TableReader::in_memory(bytes, Path::new("(in memory)"))?,
                    None => return Ok(false),
                };
                self.part = Some((reader, 0));
                continue;
            };
            let index = *next;
            *next += 1;
            if index >= part.groups().len() {
                self.part = None;
                continue;
            }
            if wanted(part, index, &self.ranks) {
                self.group = Some(Group::open(part, index)?);
                return Ok(true);
            }
        }
    }
}

impl Iterator for Calls {
    type Item = Result<Call, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.batch.len()
            && let Err(error) = self.decode()
        {
            return Some(Err(error));
        }
        let call = self.batch.get_mut(self.next)?;
        self.next += 1;
        Some(Ok(std::mem::replace(call, BLANK)))
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").field("ranks", &self.ranks).finish_non_exhaustive()
    }
}

/// Whether a row group may hold rows of these ranks. Without statistics it may.
fn wanted(part: &TableReader, group: usize, ranks: &RangeInclusive<i64>) -> bool {
    let Some(group) = part.groups().get(group) else { return false };
    let column = group.columns().iter().find(|column| column.column_path().string() == "rank");
    match column.and_then(|column| column.statistics()) {
        Some(Statistics::Int32(statistics)) => match (statistics.min_opt(), statistics.max_opt()) {
            (Some(lowest), Some(highest)) => {
                i64::from(*lowest) <= *ranks.end() && i64::from(*highest) >= *ranks.start()
            }
            _ => true,
        },
        _ => true,
    }
}

/// Names of functions back to numbers.
fn op_named(name: &[u8]) -> Op {
    static BY_NAME: LazyLock<HashMap<&'static [u8], Op>> =
        LazyLock::new(|| function::functions().iter().map(|f| (f.name.as_bytes(), f.op)).collect());
    // A function this version does not know is shown as unknown.
    BY_NAME.get(name).copied().unwrap_or(Op(0))
}

/// Where the last few names lie in memory, with their numbers: values of a dictionary share their bytes.
pub(crate) struct RecentNames([(usize, usize, Op); 64]);

impl Default for RecentNames {
    fn default() -> RecentNames {
        RecentNames([(0, 0, Op(0)); 64])
    }
}

impl RecentNames {
    #[inline]
    pub(crate) fn find(&mut self, name: &ByteArray) -> Op {
        let bytes = name.data();
        let place = bytes.as_ptr() as usize;
        let slot = &mut self.0[(place ^ place >> 6) % 64];
        if (slot.0, slot.1) != (place, bytes.len()) {
            *slot = (place, bytes.len(), op_named(bytes));
        }
        slot.2
    }
}

/// A row of which nothing is known.
const BLANK: Call = Call {
    rank: Rank(0),
    thread: ThreadIndex(0),
    start: Nanos(0),
    end: Nanos(0),
    op: Op(0),
    calls: 0,
    inside: None,
    comm: None,
    peer: Peer::None,
    tag: None,
    recv_peer: Peer::None,
    recv_tag: None,
    any_source: false,
    any_tag: false,
    bytes_out: None,
    bytes_in: None,
    root: Peer::None,
    request: None,
    completes: Vec::new(),
    object: None,
    callsite: None,
    failed: false,
    overhead: Nanos(0),
    weight: 0.0,
};

/// The columns of one row group.
struct Group {
    ops: RecentNames,
    rank: Cells<Int32Type>,
    thread: Cells<Int32Type>,
    start: Cells<Int64Type>,
    end: Cells<Int64Type>,
    op: Cells<ByteArrayType>,
    comm: Cells<Int32Type>,
    peer: Cells<Int32Type>,
    tag: Cells<Int32Type>,
    bytes_out: Cells<Int64Type>,
    bytes_in: Cells<Int64Type>,
    root: Cells<Int32Type>,
    request: Cells<Int64Type>,
    completes: Lists<Int64Type>,
    callsite: Cells<Int32Type>,
    recv_peer: Cells<Int32Type>,
    recv_tag: Cells<Int32Type>,
    any_source: Cells<BoolType>,
    any_tag: Cells<BoolType>,
    object: Cells<Int32Type>,
    calls: Cells<Int32Type>,
    inside: Cells<Int64Type>,
    failed: Cells<BoolType>,
    overhead: Cells<Int32Type>,
    weight: Cells<DoubleType>,
}

impl Group {
    fn open(part: &TableReader, group: usize) -> Result<Group, StoreError> {
        Ok(Group {
            ops: RecentNames::default(),
            rank: part.cells(group, "rank")?,
            thread: part.cells(group, "thread")?,
            start: part.cells(group, "start_ns")?,
            end: part.cells(group, "end_ns")?,
            op: part.cells(group, "op")?,
            comm: part.cells(group, "comm")?,
            peer: part.cells(group, "peer")?,
            tag: part.cells(group, "tag")?,
            bytes_out: part.cells(group, "bytes_out")?,
            bytes_in: part.cells(group, "bytes_in")?,
            root: part.cells(group, "root")?,
            request: part.cells(group, "request")?,
            completes: part.lists(group, "completes")?,
            callsite: part.cells(group, "callsite")?,
            recv_peer: part.cells(group, "recv_peer")?,
            recv_tag: part.cells(group, "recv_tag")?,
            any_source: part.cells(group, "any_source")?,
            any_tag: part.cells(group, "any_tag")?,
            object: part.cells(group, "object")?,
            calls: part.cells(group, "calls")?,
            inside: part.cells(group, "inside_ns")?,
            failed: part.cells(group, "failed")?,
            overhead: part.cells(group, "overhead_ns")?,
            weight: part.cells(group, "weight")?,
        })
    }

    /// Decodes the next batch of all columns; gives how many rows it has.
    fn decode(&mut self) -> Result<usize, String> {
        let rows = self.rank.read(BATCH_ROWS)?;
        let mut even = true;
        macro_rules! read {
            ($($column:ident),+) => { $(even &= self.$column.read(BATCH_ROWS)? == rows;)+ };
        }
        read!(thread, start, end, op, comm, peer, tag, bytes_out, bytes_in, root, request, completes);
        read!(callsite, recv_peer, recv_tag, any_source, any_tag, object, calls, inside, failed, overhead);
        read!(weight);
        if even { Ok(rows) } else { Err("its columns have different lengths".to_owned()) }
    }

    /// The next rows instead of those that were there; false if there are none.
    fn read(&mut self, rows: &mut Vec<Call>) -> Result<bool, String> {
        let count = self.decode()?;
        rows.resize(count, BLANK);
        for row in rows.iter_mut() {
            let mut completes = std::mem::take(&mut row.completes);
            completes.clear();
            *row = Call { completes, ..BLANK };
        }
        self.rank.every(rows, natural, |row, value| row.rank = Rank(value as u32))?;
        self.thread.every(rows, natural, |row, value| row.thread = ThreadIndex(value as u32))?;
        self.start.every(rows, anything, |row, value| row.start = Nanos(value))?;
        self.end.every(rows, anything, |row, value| row.end = Nanos(value))?;
        // Names may lie elsewhere than those of the batch before.
        self.ops = RecentNames::default();
        self.op.every(rows, anything, |row, name| row.op = self.ops.find(&name))?;
        self.calls.every(rows, natural, |row, value| row.calls = value as u32)?;
        self.inside.some(rows, anything, |row, value| row.inside = Some(Nanos(value)))?;
        self.comm.some(rows, natural, |row, value| row.comm = Some(value as u32))?;
        self.peer.some(rows, anything, |row, value| row.peer = Peer::from_table(Some(value)))?;
        self.tag.some(rows, anything, |row, value| row.tag = Some(value))?;
        self.recv_peer.some(rows, anything, |row, value| row.recv_peer = Peer::from_table(Some(value)))?;
        self.recv_tag.some(rows, anything, |row, value| row.recv_tag = Some(value))?;
        self.any_source.every(rows, anything, |row, value| row.any_source = value)?;
        self.any_tag.every(rows, anything, |row, value| row.any_tag = value)?;
        self.bytes_out.some(rows, natural, |row, value| row.bytes_out = Some(value as u64))?;
        self.bytes_in.some(rows, natural, |row, value| row.bytes_in = Some(value as u64))?;
        self.root.some(rows, anything, |row, value| row.root = Peer::from_table(Some(value)))?;
        self.request.some(rows, natural, |row, value| row.request = Some(value as u64))?;
        self.completes.every(rows, natural, |row, values| {
            row.completes.extend(values.iter().map(|value| *value as u64));
        })?;
        self.object.some(rows, natural, |row, value| row.object = Some(value as u32))?;
        self.callsite.some(rows, natural, |row, value| row.callsite = Some(value as u32))?;
        self.failed.every(rows, anything, |row, value| row.failed = value)?;
        self.overhead.every(rows, anything, |row, value| row.overhead = Nanos(i64::from(value)))?;
        self.weight.every(rows, anything, |row, value| row.weight = value)?;
        Ok(count > 0)
    }
}

/// All values of a column make sense.
pub(crate) fn anything<T>(_values: &[T]) -> Result<(), String> {
    Ok(())
}

/// Only numbers from 0 on make sense.
pub(crate) fn natural<T: Copy + Default + PartialOrd + std::fmt::Display>(
    values: &[T],
) -> Result<(), String> {
    match values.iter().find(|value| **value < T::default()) {
        None => Ok(()),
        Some(value) => Err(format!("{value} where only numbers from 0 on make sense")),
    }
}
