//! Reduced traces: rows for some calls only, and the order of all of them.
//!
//! What is known of calls without a row is in four tables ([`kizami_trace::reduced_tables`]) and in one file of its own:
//!
//! ```text
//! order.bin   the sequence of calls of every thread, with loops folded; exact but for its times
//! ```
//!
//! [`reduce`] makes such a trace from a whole one; sealing does while it seals a recording that was reduced as it ran.
//! [`sequences_of`] reads the order back, call by call. Reading takes whatever the file holds and gives calls or a [`TraceError`].

mod calls;
mod make;
mod of_state;
mod paper;
mod recorded;
mod sample_keys;
mod sequences;
mod signature;
mod thread;

pub use calls::SequenceCalls;
pub use kizami_summary::paper::{Importance as PaperImportance, Scheme as PaperScheme};
pub use make::{ALL_BELOW, Importance, Keep, ReduceOptions, reduce, write_sequences};
pub use of_state::{Meaning, missing, rows_of, sum_missing, sums_by_function};
pub use sequences::{Sequence, SequenceWriter, Sequences};
pub use signature::{Neighbourhood, SequenceCall};

use kizami_model::Op;
use kizami_trace::definitions::Definitions;
use kizami_trace::reduced_tables::What;
use kizami_trace::schema::ORDER;
use kizami_trace::{Trace, TraceError};
use std::path::Path;

/// The order of all calls of a reduced trace; none if it has a row for every call.
pub fn sequences_of(trace: &Trace) -> Result<Option<Sequences>, TraceError> {
    let Some((path, bytes)) = trace.bytes_of(ORDER)? else { return Ok(None) };
    parse_sequences(&path, bytes, &trace.definitions()?).map(Some)
}

/// The order of calls in the bytes of an `order.bin`; `path` is for messages.
pub fn parse_sequences(
    path: &Path,
    bytes: Vec<u8>,
    definitions: &Definitions,
) -> Result<Sequences, TraceError> {
    Sequences::parse(path, bytes, Neighbourhood::of(definitions))
}

/// Bit of a function's number in a reducer: a row that is a part of another call.
pub const PART: u16 = 0x4000;

/// What a reducer means by a function's number.
fn op_of(number: u16) -> (Op, What) {
    (Op(number & !PART), if number & PART != 0 { What::Part } else { What::Call })
}
