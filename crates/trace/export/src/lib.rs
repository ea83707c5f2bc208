//! Traces for other tools: CSV for anything, OTF2 for Vampir, Scalasca and Pipit, Perfetto for the browser.
//!
//! Each exporter reads a sealed trace once, rank by rank, and writes as it reads: memory does not grow with
//! the number of rows. Rows become pairs of entry and exit nested in the program's own regions (`unfold`),
//! and messages and collectives are written where those formats expect them (by the `kizami-traffic` crate).
//!
//! An export never changes the trace, and it is not a way back: what the other format cannot say is left out
//! and said so in the exporter's own text. Folded polls stay one row, and so one entry and exit; sampled rows
//! keep their weight where the format has room for it, but nothing is made up for the rows they stand for.

pub mod csv;
pub mod otf2;
pub mod perfetto;

mod call_site;
mod error;
#[cfg(test)]
mod made_up;
mod output;
mod source;
mod unfold;

pub use error::ExportError;

/// What an export did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows read from the trace.
    pub rows: u64,
    /// Lines, records or packets written, definitions not counted.
    pub written: u64,
    /// Messages sent, as far as they were written.
    pub sends: u64,
    /// Messages received, as far as they were written.
    pub receives: u64,
    /// Halves of messages that could not be written because the other side or the communicator is not known.
    pub left_out: u64,
}

/// Told how many rows are done, and how many there are.
pub type ExportProgress<'a> = &'a dyn Fn(u64, u64);
