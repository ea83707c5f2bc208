//! What was counted with each call: the table beside the rows, for runs that had counters.
//!
//! One line for each call, found by rank, thread and start; two columns for each counter, what it counted
//! inside the call and between the call before and this one. A rank whose kernel refused a counter has nulls.

use crate::TraceError;
use kizami_columns::{CellValues, Field, Kind, Table, TableWriter, Values, WrittenFile};
use kizami_model::counter::COUNTERS;
use std::path::{Path, PathBuf};

/// Lines held before they are written.
const LINES: usize = 1 << 17;

/// The table of one part.
pub struct CountedTable {
    path: PathBuf,
    /// Numbers of the counters that have columns.
    counters: Vec<usize>,
    rank: Vec<i32>,
    thread: Vec<i32>,
    start_ns: Vec<i64>,
    /// For each counter, before and inside.
    values: Vec<[Vec<Option<i64>>; 2]>,
    file: Option<TableWriter>,
}

impl CountedTable {
    /// A table with these counters; the file is made when there is something to write.
    pub fn new(path: &Path, counters: Vec<usize>) -> CountedTable {
        let values = counters.iter().map(|_| [Vec::new(), Vec::new()]).collect();
        let (rank, thread, start_ns) = (Vec::new(), Vec::new(), Vec::new());
        CountedTable { path: path.to_path_buf(), counters, rank, thread, start_ns, values, file: None }
    }

    /// Adds the line of one call; `counted` goes with the numbers of the process's own counters.
    pub fn push(&mut self, (rank, thread): (i32, i32), start_ns: i64, own: &[usize], counted: &[[u64; 2]]) {
        if self.counters.is_empty() {
            return;
        }
        self.rank.push(rank);
        self.thread.push(thread);
        self.start_ns.push(start_ns);
        for (counter, [before, inside]) in self.counters.iter().zip(&mut self.values) {
            let pair = own.iter().position(|number| number == counter).and_then(|index| counted.get(index));
            let cell = |word: usize| pair.map(|pair| i64::try_from(pair[word]).unwrap_or(i64::MAX));
            before.push(cell(0));
            inside.push(cell(1));
        }
    }

    /// Writes what is held, if it is much.
    pub fn flush_if_full(&mut self) -> Result<(), TraceError> {
        if self.rank.len() >= LINES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), TraceError> {
        if self.rank.is_empty() {
            return Ok(());
        }
        let number = |cells: &mut Vec<i32>| Values::Int32(CellValues::all(cells.drain(..)));
        let mut table = Table::default()
            .with(number(&mut self.rank))
            .with(number(&mut self.thread))
            .with(Values::Int64(CellValues::all(self.start_ns.drain(..))));
        for [before, inside] in &mut self.values {
            let [inside, before] = [inside, before].map(|cells| Values::Int64(cells.drain(..).collect()));
            table = table.with(inside).with(before);
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(TableWriter::create(&self.path, &fields(&self.counters))?),
        };
        Ok(file.append(&table)?)
    }

    /// Writes the rest; returns the file, if there is one.
    pub fn finish(mut self) -> Result<Option<WrittenFile>, TraceError> {
        self.flush()?;
        Ok(self.file.map(TableWriter::finish).transpose()?)
    }
}

fn fields(counters: &[usize]) -> Vec<Field> {
    let field = |name, kind| Field { name, kind, nullable: true };
    let of_calls = [("rank", Kind::Int32), ("thread", Kind::Int32), ("start_ns", Kind::Int64)];
    let counters = counters.iter().filter_map(|number| COUNTERS.get(*number));
    let counted = counters.flat_map(|counter| [counter.column, counter.before_column]);
    let of_calls = of_calls.into_iter().map(|(name, kind)| field(name, kind));
    of_calls.chain(counted.map(|name| field(name, Kind::Int64))).collect()
}
