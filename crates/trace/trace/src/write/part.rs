//! One part of the trace: the rows and regions of a batch of ranks, written as they come.
//!
//! A row group is one window of rows. Large ranks have row groups of their own, small ones share; as rows are
//! sorted by rank and each group says which ranks it holds, readers of one rank skip the others' groups.

use super::counted::CountedTable;
use super::events_file::EventsFile;
use super::rows::Rows;
use super::totals::OpTotals;
use crate::TraceError;
use crate::definitions::RegionSpan;
use crate::schema::{Buffered, COUNTERS_FOLDER, EVENTS_FOLDER, REGIONS_FOLDER, part_name};
use kizami_columns::WrittenFile;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of a row group, unless another number is set.
pub const WINDOW_ROWS: usize = 256 << 10;
/// Completed requests held, for each row of the window.
const COMPLETES_PER_ROW: usize = 4;

/// How far all parts together are.
#[derive(Debug, Default)]
pub struct Shared {
    /// Bytes of what parts are made from.
    pub done_bytes: AtomicU64,
    /// Rows written.
    pub events: AtomicU64,
}

/// Writes one part.
pub struct PartWriter {
    /// Rows not yet written.
    pub rows: Rows,
    /// What was counted with calls.
    pub counted: CountedTable,
    /// Sums over the rows written so far, and what was added without rows.
    pub totals: OpTotals,
    window_rows: usize,
    events: EventsFile,
    regions: Buffered<RegionSpan>,
    shared: Arc<Shared>,
    reported_bytes: u64,
}

impl PartWriter {
    /// Begins the part with this number of the trace that is put together in `folder`; `counters` are the numbers of those that
    /// have columns.
    pub fn create(
        folder: &Path,
        number: usize,
        counters: Vec<usize>,
        window_rows: usize,
        shared: Arc<Shared>,
    ) -> Result<PartWriter, TraceError> {
        let path = |name: &str| folder.join(name).join(part_name(number));
        Ok(PartWriter {
            rows: Rows::with_capacity(window_rows),
            counted: CountedTable::new(&path(COUNTERS_FOLDER), counters),
            totals: OpTotals::default(),
            window_rows,
            events: EventsFile::create(&path(EVENTS_FOLDER))?,
            regions: Buffered::new(&path(REGIONS_FOLDER)),
            shared,
            reported_bytes: 0,
        })
    }

    /// Rows of a full window.
    pub fn window_rows(&self) -> usize {
        self.window_rows
    }

    /// Whether the window is full.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.window_rows
            || self.rows.completes.values.len() >= self.window_rows.saturating_mul(COMPLETES_PER_ROW)
    }

    /// A rank with about so many rows comes next.
    pub fn begin_rank(&mut self, rows: u64) -> Result<(), TraceError> {
        self.reported_bytes = 0;
        let large = rows > self.window_rows as u64 / 4;
        if large { self.flush() } else { Ok(()) }
    }

    /// The rank has no more rows.
    pub fn end_rank(&mut self, bytes: u64) -> Result<(), TraceError> {
        self.report(bytes);
        if self.rows.len() >= self.window_rows / 2 { self.flush() } else { Ok(()) }
    }

    /// Writes what is in the window.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        if !self.rows.is_empty() {
            self.rows.put_in_order();
            self.totals.add_rows(&self.rows);
            self.events.write_group(&self.rows)?;
            self.shared.events.fetch_add(self.rows.len() as u64, Ordering::Relaxed);
            self.rows.clear();
        }
        self.counted.flush_if_full()?;
        if self.regions.is_full() { self.flush_regions() } else { Ok(()) }
    }

    /// Stays in regions not yet written.
    pub fn regions(&mut self) -> &mut Vec<RegionSpan> {
        &mut self.regions.rows
    }

    fn flush_regions(&mut self) -> Result<(), TraceError> {
        self.regions.rows.sort_by_key(|span| (span.rank, span.start, span.depth));
        self.regions.flush()
    }

    /// So many bytes of the rank's segments have been read.
    pub fn report(&mut self, bytes: u64) {
        let more = bytes.saturating_sub(self.reported_bytes);
        self.reported_bytes += more;
        self.shared.done_bytes.fetch_add(more, Ordering::Relaxed);
    }

    /// Writes the rest; returns the sums and the files.
    pub fn finish(mut self) -> Result<(OpTotals, Vec<WrittenFile>), TraceError> {
        self.flush()?;
        self.flush_regions()?;
        let mut files = vec![self.events.finish()?];
        files.extend(self.regions.finish()?);
        files.extend(self.counted.finish()?);
        Ok((self.totals, files))
    }
}
