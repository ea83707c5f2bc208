//! When which call was made, and from where: the few columns of `events/` that pictures of a run are made of.
//!
//! A row of all columns costs ten times as much to read. Row groups can be read in any order and by several threads
//! at once; only one batch of each is in memory. Whatever a file holds, the answer is rows or a [`TraceError`].

use crate::TraceError;
use crate::ranks_of_run::RanksOfRun;
use crate::schema::event_cell::{Ops, natural};
use kizami_columns::{Cells, TableReader};
use kizami_model::{Op, Rank};
use parquet::data_type::{Int32Type, Int64Type};
use std::path::PathBuf;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 8 << 10;
/// No call site.
pub const NO_SITE: u32 = u32::MAX;

/// The row groups of a trace.
pub struct Spans {
    parts: Vec<TableReader>,
    groups: Vec<GroupPlace>,
    ranks: RanksOfRun,
}

#[derive(Clone, Copy)]
struct GroupPlace {
    part: usize,
    group: usize,
    rows: u64,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Who called.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// When the call began.
    pub start_ns: i64,
    /// When it returned.
    pub end_ns: i64,
    /// Which function.
    pub op: Op,
    /// Index of the place it was called from, or [`NO_SITE`].
    pub site: u32,
    /// Whether it is a part of the row before it and no call of its own.
    pub part: bool,
}

/// A row of which nothing is known.
const BLANK: Span =
    Span { rank: 0, thread: 0, start_ns: 0, end_ns: 0, op: Op(0), site: NO_SITE, part: false };

impl Spans {
    pub(crate) fn open(parts: &[PathBuf], ranks: RanksOfRun) -> Result<Spans, TraceError> {
        let parts: Vec<TableReader> =
            parts.iter().map(|path| TableReader::open(path)).collect::<Result<_, _>>()?;
        let mut groups = Vec::new();
        for (part, reader) in parts.iter().enumerate() {
            let of_part = reader.groups().iter().enumerate();
            groups.extend(of_part.map(|(group, meta)| GroupPlace {
                part,
                group,
                rows: u64::try_from(meta.num_rows()).unwrap_or(0),
            }));
        }
        Ok(Spans { parts, groups, ranks })
    }

    /// How many row groups there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many rows a row group has.
    pub fn rows_of(&self, group: usize) -> u64 {
        self.groups[group].rows
    }

    /// Reads a row group; `each` sees its rows in order: by rank, then by start.
    pub fn read(&self, group: usize, mut each: impl FnMut(Span)) -> Result<(), TraceError> {
        let place = self.groups[group];
        let part = &self.parts[place.part];
        let mut columns = Columns::open(part, place.group)?;
        let mut rows = Vec::new();
        loop {
            columns.batch(&mut rows).map_err(|what| part.damaged(what))?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                self.ranks.check(Rank(row.rank)).map_err(|what| part.damaged(what))?;
                each(*row);
            }
        }
    }
}

impl std::fmt::Debug for Spans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spans").field("groups", &self.groups.len()).finish_non_exhaustive()
    }
}

struct Columns {
    rank: Cells<Int32Type>,
    thread: Cells<Int32Type>,
    start: Cells<Int64Type>,
    end: Cells<Int64Type>,
    op: Ops,
    callsite: Cells<Int32Type>,
    calls: Cells<Int32Type>,
}

impl Columns {
    fn open(part: &TableReader, group: usize) -> Result<Columns, TraceError> {
        Ok(Columns {
            rank: part.cells(group, "rank")?,
            thread: part.cells(group, "thread")?,
            start: part.cells(group, "start_ns")?,
            end: part.cells(group, "end_ns")?,
            op: Ops::open(part, group, "op")?,
            callsite: part.cells(group, "callsite")?,
            calls: part.cells(group, "calls")?,
        })
    }

    /// The next rows instead of those that were there.
    fn batch(&mut self, rows: &mut Vec<Span>) -> Result<(), String> {
        let count = self.rank.read(BATCH_ROWS)?;
        let others = [
            self.thread.read(BATCH_ROWS)?,
            self.start.read(BATCH_ROWS)?,
            self.end.read(BATCH_ROWS)?,
            self.op.read(BATCH_ROWS),
            self.callsite.read(BATCH_ROWS)?,
            self.calls.read(BATCH_ROWS)?,
        ];
        if others != [count; 6] {
            return Err("its columns have different lengths".to_owned());
        }
        rows.clear();
        rows.resize(count, BLANK);
        self.rank.every(rows, natural, |row, value| row.rank = value as u32)?;
        self.thread.every(rows, natural, |row, value| row.thread = value as u32)?;
        self.start.every(rows, |_| Ok(()), |row, value| row.start_ns = value)?;
        self.end.every(rows, |_| Ok(()), |row, value| row.end_ns = value)?;
        self.op.every(rows, |row, op| row.op = op);
        self.callsite.some(rows, natural, |row, value| row.site = value as u32)?;
        self.calls.every(rows, |_| Ok(()), |row, value| row.part = value == 0)
    }
}
