//! The write half: how a trace comes to be.
//!
//! [`TraceWriter`] is all that most need: give it definitions and calls, and it leaves a valid trace. Those who write a
//! trace from many threads, or keep some tables of another trace, put it together from the parts below it:
//! [`StagingDir`] is where a trace is put together and appears all at once, [`PartWriter`] writes the rows and regions of a
//! batch of ranks, [`Record::write`](crate::schema::Record::write) a small table, [`summary`] what follows from them.

pub(crate) mod building;
mod counted;
mod events_file;
pub(crate) mod group;
mod part;
mod rows;
mod sharing;
mod staging;
pub mod summary;
mod tasks;
mod totals;
mod writer;

pub use counted::CountedTable;
pub use part::{PartWriter, Shared, WINDOW_ROWS};
pub use rows::{Row, Rows};
pub use sharing::{share, shared_with};
pub use staging::{StagingDir, make_directory};
pub use tasks::TaskTables;
pub use totals::{OpTotal, OpTotals};
pub use writer::{About, TraceWriter, write_definitions};
