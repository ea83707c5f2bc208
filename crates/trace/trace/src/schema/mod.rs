//! The schema of a trace: every table and its columns, each declared once.
//!
//! - `events` has the columns of `events/`; the writer, the reader and the CSV header are derived from them.
//! - `table` declares the other tables, `cell` how their values are stored.
//! - [`TABLES`] lists all tables, so that code that processes a whole trace covers each of them.

mod cell;
pub(crate) mod event_cell;
pub(crate) mod events;
mod table;

pub use crate::write::building::{ListColumn, NULL32, NULL64};
pub use cell::{Cell, field};
pub use events::{EVENTS, fields_as_text};
pub(crate) use table::Buffered;
pub use table::{Column, Record, column};

use crate::definitions::{
    CallSite, ClockRow, Communicator, Function, HostInfo, Neighbours, Object, RankClassRun, RankInfo, Region,
    RegionSpan, Repair, Stop, UnderWay, WorkCount,
};
use crate::link_table::LinkLoad;
use crate::reduced_tables::{GapRow, PeerRow, SketchRow, SumRow};
use crate::task_tables::{NeedRow, ParallelRow, TaskRow};

/// Folder of the rows.
pub const EVENTS_FOLDER: &str = "events";
/// Folder of stays in regions.
pub const REGIONS_FOLDER: &str = "regions";
/// Folder of what was counted with calls.
pub const COUNTERS_FOLDER: &str = "counters";
/// Folder of raw segments.
pub const RAW_FOLDER: &str = "raw";
/// Folder of what was worked out from the rest.
pub const DERIVED_FOLDER: &str = "derived";
/// The order of calls of a reduced trace.
pub const ORDER: &str = "order.bin";

/// A table, for those who go through all of them.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// The file within a trace, or the folder of its parts (then it ends in `/`).
    pub path: &'static str,
    /// Every trace has it.
    pub always: bool,
    /// What it is for, line by line.
    pub about: &'static [&'static str],
    /// Its columns.
    pub columns: &'static [Column],
}

const fn info<R: Record>() -> TableInfo {
    TableInfo { path: R::PATH, always: R::ALWAYS, about: R::ABOUT, columns: R::COLUMNS }
}

/// All tables that have fixed columns; `counters/` has those that were asked for, and `order.bin` is no table.
pub const TABLES: &[TableInfo] = &[
    TableInfo {
        path: "events/",
        always: true,
        about: &[" One row per call, sorted by rank, then by start."],
        columns: EVENTS,
    },
    info::<RegionSpan>(),
    info::<TaskRow>(),
    info::<NeedRow>(),
    info::<ParallelRow>(),
    info::<LinkLoad>(),
    info::<RankInfo>(),
    info::<RankClassRun>(),
    info::<HostInfo>(),
    info::<Communicator>(),
    info::<CallSite>(),
    info::<Object>(),
    info::<Region>(),
    info::<Neighbours>(),
    info::<UnderWay>(),
    info::<WorkCount>(),
    info::<Function>(),
    info::<ClockRow>(),
    info::<Repair>(),
    info::<Stop>(),
    info::<SumRow>(),
    info::<SketchRow>(),
    info::<GapRow>(),
    info::<PeerRow>(),
];

/// Everything a trace may have at its top beside `run.json`, `raw/` and `derived/`: files and folders, each once.
pub fn entries() -> impl Iterator<Item = &'static str> {
    let tops = TABLES.iter().map(|table| table.path.split('/').next().unwrap_or(table.path));
    let mut tops: Vec<&str> = tops.chain([COUNTERS_FOLDER, ORDER]).collect();
    tops.sort_unstable();
    tops.dedup();
    tops.into_iter()
}

/// Name of the part with this number within its folder.
pub fn part_name(number: usize) -> String {
    format!("part-{number:05}.parquet")
}
