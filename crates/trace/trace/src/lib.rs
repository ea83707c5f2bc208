//! The trace directory: how a run is kept, written and read.
//!
//! `NAME.kz/` is a folder of open tables. DuckDB, Polars, pandas and Spark read them as they are; this crate
//! writes them ([`TraceWriter`]) and reads them back ([`Trace`]). Each table is declared once ([`schema`]).
//!
//! ```text
//! run.json                   what ran, where, totals, health, and the list of files with their checksums
//! events/part-00000.parquet  one row per call, sorted by rank and start
//! regions/part-...           one row per stay in a named region, if the program named any
//! tasks/part-...             one row per task, if the program has any; with it needs/ and parallel/
//! defs/ranks.parquet         how each rank ended, what it lost, how much it called
//! defs/kinds.parquet         which rank's rows are those of others as well, in runs stored by rank class
//! defs/hosts.parquet         hosts and their clocks
//! defs/communicators.parquet members in order, as world ranks; -3 for a member that left no definition
//! defs/callsites.parquet     function, file and line of each place calls were made from
//! defs/paths.parquet         the calls that led there, if they are known
//! defs/objects.parquet       windows, files and datatypes
//! defs/regions.parquet       names of regions
//! defs/ops.parquet           the MPI functions and their families
//! defs/neighbours.parquet    neighbours in graph topologies, if there are any
//! defs/under_way.parquet     calls that were being made when their rank ended, if there are any
//! defs/counts.parquet        work that the program counted, by rank, place and name, if any
//! counters/part-...          what was counted with each call, if anything was
//! clocks.parquet             every clock reading the run-wide time was made from
//! repairs.parquet            where ranks were moved because a message seemed to arrive before it was sent
//! sums.parquet               exact sums of a reduced trace; with it sketches.parquet, gaps.parquet, peers.parquet and order.bin
//! stops.parquet              every stretch in which the tracer held up, paused or lost calls
//! derived/                   what was worked out from the rest; may be deleted at any time
//! raw/                       segments; removed once sealed, unless asked for or not readable in whole
//! ```
//!
//! # Rows
//!
//! A row is a [`kizami_model::Call`], column by column. A posted receive shows what really came, because
//! sealing brings its completion back to it; one that never completed keeps what it was posted with and has
//! no bytes. Starting several persistent requests at once is one row for the call and one row with `calls` 0
//! for each request. Failed polls are one row with their number in `calls`. Null bytes mean that nothing
//! moved. All `MPI_COMM_SELF` share one communicator, of kind `self` and without listed members.
//!
//! # What it does not do
//!
//! It keeps no table of messages and no waiting times: that is for the crates that read traces. Those that work out
//! other times write them by [`rewrite`]. Clocks of hosts that did not ask each other for the time are put side by
//! side by wall clocks; `run.json` says so where it matters.

mod calling_context;
mod calls;
pub mod definitions;
pub mod derived;
pub mod disturbance;
mod error;
pub mod function_name;
mod link_table;
pub mod provenance;
mod ranks_of_run;
pub mod reduced_tables;
pub mod rewrite;
pub mod run;
pub mod schema;
mod source_line;
mod spans;
pub mod task_tables;
mod trace;
pub mod write;

pub use kizami_columns as columns;

pub use calling_context::Contexts;
pub use calls::{Calls, RankSelection};
pub use definitions::{
    CallSite, ClockKind, ClockRow, CommIdentity, Communicator, Counted, Definitions, HostInfo, Neighbours,
    Object, PathFrame, Pid, RankClassRun, RankInfo, Region, RegionSpan, Repair, Stop, UnderWay, WorkCount,
};
pub use error::TraceError;
pub use link_table::LinkLoad;
pub use provenance::Provenance;
pub use run::RunInfo;
pub use source_line::{CALLED_FROM, SourceLine};
pub use spans::{NO_SITE, Span, Spans};
pub use task_tables::{NeedRow, ParallelRow, Runtime, TaskKind, TaskRow, Waited};
pub use trace::Trace;
pub use write::TraceWriter;
