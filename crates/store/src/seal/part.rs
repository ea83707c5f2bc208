//! One part of the trace: the rows and regions of a batch of ranks, written as they come.
//!
//! A row group is one window of rows. Large ranks have row groups of their own, small ones share; as rows are
//! sorted by rank and each group says which ranks it holds, readers of one rank skip the others' groups.

use super::counted::CountedTable;
use super::events::EventsFile;
use super::rows::{KEPT, Rows};
use crate::StoreError;
use crate::columns::{Table, TableWriter, WrittenFile};
use crate::definitions::RegionSpan;
use crate::reduced::ThreadReduced;
use crate::run::FunctionTotal;
use kizami_model::{Op, function};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Stays in regions held before they are written.
const REGION_ROWS: usize = 1 << 17;
/// Completed requests held, for each row of the window.
const COMPLETES_PER_ROW: usize = 4;

/// How far all parts together are.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub done_bytes: AtomicU64,
    pub events: AtomicU64,
}

/// Sums over the calls of one function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpTotal {
    pub rows: u64,
    pub calls: u64,
    pub total_ns: i64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    pub overhead_ns: i64,
}

impl OpTotal {
    fn plus(&mut self, other: &OpTotal) {
        self.rows = self.rows.saturating_add(other.rows);
        self.calls = self.calls.saturating_add(other.calls);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.overhead_ns = self.overhead_ns.saturating_add(other.overhead_ns);
    }
}

/// Sums over all functions.
#[derive(Clone, Debug)]
pub(crate) struct OpTotals(Vec<OpTotal>);

impl Default for OpTotals {
    fn default() -> OpTotals {
        OpTotals(vec![OpTotal::default(); function::functions().len() + 1])
    }
}

impl OpTotals {
    fn add_rows(&mut self, rows: &Rows) {
        for row in 0..rows.len() {
            let Some(total) = self.0.get_mut(usize::from(rows.op[row].0)) else { continue };
            total.rows += 1;
            if rows.flags[row] & KEPT != 0 {
                continue;
            }
            total.calls += rows.calls[row] as u64;
            let time =
                if rows.calls[row] > 1 { rows.inside_ns[row] } else { rows.end_ns[row] - rows.start_ns[row] };
            total.total_ns = total.total_ns.saturating_add(time);
            // Missing bytes are negative.
            total.bytes_out = total.bytes_out.saturating_add(rows.bytes_out[row].max(0) as u64);
            total.bytes_in = total.bytes_in.saturating_add(rows.bytes_in[row].max(0) as u64);
            total.overhead_ns = total.overhead_ns.saturating_add(i64::from(rows.overhead_ns[row]));
        }
    }

    /// Adds sums that are known without rows.
    pub(crate) fn add_sums(&mut self, op: Op, sums: &OpTotal) {
        let Some(total) = self.0.get_mut(usize::from(op.0)) else { return };
        total.plus(sums);
    }

    pub(crate) fn add(&mut self, other: &OpTotals) {
        for (total, other) in self.0.iter_mut().zip(&other.0) {
            total.plus(other);
        }
    }

    /// Over all functions.
    pub(crate) fn sum(&self) -> OpTotal {
        let mut sum = OpTotal::default();
        self.0.iter().for_each(|total| sum.plus(total));
        sum
    }

    /// Functions that were called, longest total time first.
    pub(crate) fn by_function(&self) -> Vec<FunctionTotal> {
        let called = self.0.iter().zip(0..).filter(|(total, _)| total.rows > 0 || total.calls > 0);
        let mut functions: Vec<FunctionTotal> = called
            .map(|(total, number)| FunctionTotal {
                op: Op(number).name().to_owned(),
                calls: total.calls,
                total_ns: total.total_ns,
                bytes_out: total.bytes_out,
                bytes_in: total.bytes_in,
            })
            .collect();
        functions.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.op.cmp(&b.op)));
        functions
    }
}

/// Writes one part.
pub(crate) struct PartWriter<'w> {
    /// Rows not yet written.
    pub rows: Rows,
    /// Stays in regions not yet written.
    pub regions: Vec<RegionSpan>,
    /// What was counted with calls.
    pub counted: CountedTable,
    pub totals: OpTotals,
    window_rows: usize,
    events: EventsFile,
    regions_path: PathBuf,
    regions_file: Option<TableWriter>,
    shared: &'w Shared,
    reported_bytes: u64,
}

impl<'w> PartWriter<'w> {
    pub(crate) fn create(
        events: &Path,
        regions: &Path,
        counted: CountedTable,
        window_rows: usize,
        shared: &'w Shared,
    ) -> Result<PartWriter<'w>, StoreError> {
        Ok(PartWriter {
            rows: Rows::with_capacity(window_rows),
            regions: Vec::new(),
            counted,
            totals: OpTotals::default(),
            window_rows,
            events: EventsFile::create(events)?,
            regions_path: regions.to_path_buf(),
            regions_file: None,
            shared,
            reported_bytes: 0,
        })
    }

    pub(crate) fn window_rows(&self) -> usize {
        self.window_rows
    }

    /// Whether the window is full.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.window_rows
            || self.rows.completes.len() >= self.window_rows.saturating_mul(COMPLETES_PER_ROW)
    }

    /// A rank with about so many rows comes next.
    pub(crate) fn begin_rank(&mut self, rows: u64) -> Result<(), StoreError> {
        self.reported_bytes = 0;
        let large = rows > self.window_rows as u64 / 4;
        if large { self.flush() } else { Ok(()) }
    }

    /// The rank has no more rows.
    pub(crate) fn end_rank(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.report(bytes);
        if self.rows.len() >= self.window_rows / 2 { self.flush() } else { Ok(()) }
    }

    /// Writes what is in the window.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.rows.len() > 0 {
            self.rows.put_in_order();
            self.totals.add_rows(&self.rows);
            self.events.write_group(&self.rows)?;
            self.shared.events.fetch_add(self.rows.len() as u64, Ordering::Relaxed);
            self.rows.clear();
        }
        self.counted.flush_if_full()?;
        if self.regions.len() >= REGION_ROWS { self.flush_regions() } else { Ok(()) }
    }

    fn flush_regions(&mut self) -> Result<(), StoreError> {
        if self.regions.is_empty() {
            return Ok(());
        }
        self.regions.sort_by_key(|span| (span.rank, span.start, span.depth));
        let table = region_table(&self.regions);
        let file = match &mut self.regions_file {
            Some(file) => file,
            none => none.insert(TableWriter::create(&self.regions_path, &table)?),
        };
        file.append(&table)?;
        self.regions.clear();
        Ok(())
    }

    /// Sums of a thread of which rows were kept only in part.
    pub(crate) fn add_sums(&mut self, thread: &ThreadReduced, overhead_ns: f64) {
        thread.add_to(&mut self.totals, overhead_ns);
    }

    /// So many bytes of the rank's segments have been read.
    pub(crate) fn report(&mut self, bytes: u64) {
        let more = bytes.saturating_sub(self.reported_bytes);
        self.reported_bytes += more;
        self.shared.done_bytes.fetch_add(more, Ordering::Relaxed);
    }

    /// Writes the rest; gives the sums and the files.
    pub(crate) fn finish(mut self) -> Result<(OpTotals, Vec<WrittenFile>), StoreError> {
        self.flush()?;
        self.flush_regions()?;
        let mut files = vec![self.events.finish()?];
        if let Some(regions) = self.regions_file {
            files.push(regions.finish()?);
        }
        files.extend(self.counted.finish()?);
        Ok((self.totals, files))
    }
}

fn region_table(spans: &[RegionSpan]) -> Table {
    Table::default()
        .int32("rank", spans.iter().map(|span| Some(span.rank.0 as i32)))
        .int32("thread", spans.iter().map(|span| Some(span.thread.0 as i32)))
        .int64("start_ns", spans.iter().map(|span| Some(span.start.0)))
        .int64("end_ns", spans.iter().map(|span| Some(span.end.0)))
        .int32("region", spans.iter().map(|span| Some(span.region as i32)))
        .int32("depth", spans.iter().map(|span| Some(span.depth as i32)))
}
