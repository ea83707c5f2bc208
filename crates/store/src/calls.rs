//! Rows read back, one after the other.
//!
//! Only one part is open at a time and only one batch of its rows is in memory. Row groups whose ranks were
//! not asked for are not read at all.

use crate::StoreError;
use crate::columns::{Cells, Lists, TableReader};
use crate::trace::RankSelection;
use bytes::Bytes;
use kizami_model::{Call, Nanos, Op, Peer, Rank, ThreadIndex, function};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::statistics::Statistics;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8 << 10;

/// The rows of a trace, sorted by rank, then by start, read as they are asked for.
///
/// After an error there are no more rows.
pub struct Calls {
    parts: std::vec::IntoIter<Part>,
    ranks: RangeInclusive<i64>,
    /// The part being read, and its next row group.
    part: Option<(TableReader, usize)>,
    group: Option<Group>,
    ops: RecentNames,
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
        let (part, group, ops) = (None, None, RecentNames::default());
        Calls { parts: parts.into_iter(), ranks, part, group, ops, failed: false }
    }

    fn next_call(&mut self) -> Result<Option<Call>, StoreError> {
        loop {
            if let (Some(group), Some((part, _))) = (&mut self.group, &self.part) {
                match group.next(&mut self.ops).map_err(|what| part.damaged(what))? {
                    Some(call) if self.ranks.contains(&i64::from(call.rank.0)) => return Ok(Some(call)),
                    Some(_) => continue,
                    None => self.group = None,
                }
            }
            if !self.next_group()? {
                return Ok(None);
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
        if self.failed {
            return None;
        }
        let next = self.next_call();
        self.failed = next.is_err();
        next.transpose()
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
struct RecentNames([(usize, usize, Op); 64]);

impl Default for RecentNames {
    fn default() -> RecentNames {
        RecentNames([(0, 0, Op(0)); 64])
    }
}

impl RecentNames {
    #[inline]
    fn find(&mut self, name: &ByteArray) -> Op {
        let bytes = name.data();
        let place = bytes.as_ptr() as usize;
        let slot = &mut self.0[(place ^ place >> 6) % 64];
        if (slot.0, slot.1) != (place, bytes.len()) {
            *slot = (place, bytes.len(), op_named(bytes));
        }
        slot.2
    }
}

/// The columns of one row group.
struct Group {
    left: usize,
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
            left: 0,
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
    fn read(&mut self) -> Result<usize, String> {
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

    fn next(&mut self, ops: &mut RecentNames) -> Result<Option<Call>, String> {
        if self.left == 0 {
            // They are about to move.
            *ops = RecentNames::default();
            self.left = self.read()?;
            if self.left == 0 {
                return Ok(None);
            }
        }
        self.left -= 1;
        Ok(Some(Call {
            rank: Rank(number(required(&mut self.rank)?)?),
            thread: ThreadIndex(number(required(&mut self.thread)?)?),
            start: Nanos(required(&mut self.start)?),
            end: Nanos(required(&mut self.end)?),
            op: ops.find(&required(&mut self.op)?),
            calls: number(required(&mut self.calls)?)?,
            inside: self.inside.next()?.map(Nanos),
            comm: self.comm.next()?.map(number).transpose()?,
            peer: Peer::from_table(self.peer.next()?),
            tag: self.tag.next()?,
            recv_peer: Peer::from_table(self.recv_peer.next()?),
            recv_tag: self.recv_tag.next()?,
            any_source: required(&mut self.any_source)?,
            any_tag: required(&mut self.any_tag)?,
            bytes_out: self.bytes_out.next()?.map(amount).transpose()?,
            bytes_in: self.bytes_in.next()?.map(amount).transpose()?,
            root: Peer::from_table(self.root.next()?),
            request: self.request.next()?.map(amount).transpose()?,
            completes: self.completes.next()?.iter().map(|n| amount(*n)).collect::<Result<_, _>>()?,
            object: self.object.next()?.map(number).transpose()?,
            callsite: self.callsite.next()?.map(number).transpose()?,
            failed: required(&mut self.failed)?,
            overhead: Nanos(i64::from(required(&mut self.overhead)?)),
            weight: required(&mut self.weight)?,
        }))
    }
}

fn required<T: DataType>(cells: &mut Cells<T>) -> Result<T::T, String> {
    cells.next()?.ok_or_else(|| "a column that must have a value in every row has a null".to_owned())
}

fn number(value: i32) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("{value} where only numbers from 0 on make sense"))
}

fn amount(value: i64) -> Result<u64, String> {
    u64::try_from(value).map_err(|_| format!("{value} where only numbers from 0 on make sense"))
}
