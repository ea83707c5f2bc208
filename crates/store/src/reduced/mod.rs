//! What a reduced trace has beside its rows: exact sums, quantiles, peers, and the order of all calls.
//!
//! A reduced trace has rows for some calls only. What is told of all of them is in these files:
//!
//! ```text
//! sums.parquet       calls, time and bytes by place, function, size and duration, in slices of time; exact
//! sketches.parquet   durations in bins of 1 %, by place, function and size
//! gaps.parquet       computation between calls, by which two calls it lay between; exact
//! peers.parquet      messages and bytes by rank, communicator and peer; exact
//! order.bin          the sequence of calls of every thread, with loops folded; exact but for its times
//! ```
//!
//! They are written when a recording that was reduced while it ran is sealed, and when a full trace is reduced
//! afterwards ([`reduce`]). Reading takes whatever the files hold and gives rows or a [`StoreError`].
//!
//! # What sums are of
//!
//! [`What::Call`] are calls: counts, time inside, bytes. [`What::Part`] are rows that are part of another call, such as
//! one request of an `MPI_Startall`: they move bytes and are no calls, so their number is not to be added to that of calls.

mod calls;
mod expand;
mod make;
mod numbers;
mod of_state;
mod order;
mod paper;
mod recorded;
mod shape;
mod tables;
mod thread;

pub use calls::OrderedCalls;
pub use expand::expand;
pub use kizami_reduce::sample::paper::{Importance as PaperImportance, Scheme as PaperScheme};
pub use make::{Importance, Keep, ReduceOptions, reduce};
pub use order::{Order, Sequence};
pub use shape::OrderedCall;
pub use tables::quantile;

pub(crate) use make::write_order;
pub(crate) use of_state::{Meaning, ThreadReduced, missing, sum_missing};
pub(crate) use order::OrderWriter;
pub(crate) use shape::Neighbourhood;
pub(crate) use tables::{ReducedTables, gaps, peers, sketches, sums};

use crate::StoreError;
use crate::definitions::Definitions;
use kizami_model::{Nanos, Op, Rank, ThreadIndex};
use std::path::Path;

/// The order of calls in the bytes of an `order.bin`; `path` is for messages.
pub fn order(path: &Path, bytes: Vec<u8>, definitions: &Definitions) -> Result<Order, StoreError> {
    Order::parse(path, bytes, Neighbourhood::of(definitions))
}

/// Bit of a function's number in a reducer: a row that is a part of another call.
pub(crate) const PART: u16 = 0x4000;

/// What was added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Calls.
    Call,
    /// Parts of calls that have rows of their own.
    Part,
}

impl What {
    /// As tables have it.
    pub fn name(self) -> &'static str {
        match self {
            What::Call => "call",
            What::Part => "part",
        }
    }

    fn named(name: &str) -> Option<What> {
        [What::Call, What::Part].into_iter().find(|what| what.name() == name)
    }

    /// What a reducer means by a function's number.
    fn of(op: u16) -> (Op, What) {
        (Op(op & !PART), if op & PART != 0 { What::Part } else { What::Call })
    }
}

/// Sums over the calls of one place, function, size and duration that began in a slice of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumRow {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// The slice begins.
    pub from: Nanos,
    /// The slice ends; the next one of the same place, function and size begins here or later.
    pub to: Nanos,
    /// The function; none where there were too many to tell apart.
    pub op: Option<Op>,
    /// Index in `defs/callsites`; none if it is not known, or stands for several.
    pub callsite: Option<u32>,
    /// What was added up.
    pub what: What,
    /// Bits of the number of bytes (0 for none, 11 for 1,024 to 2,047); none if it stands for several.
    pub size_class: Option<u32>,
    /// Class of the duration of calls: 0 up to 1 us, 1 up to 10 us, and so on to 7, more than 1 s.
    pub duration_class: u32,
    /// How many.
    pub calls: u64,
    /// Time in all of them.
    pub total: Nanos,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
}

/// Calls of one place, function and size with about the same duration.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchRow {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// The function; none where there were too many to tell apart.
    pub op: Option<Op>,
    /// Index in `defs/callsites`; none if it is not known, or stands for several.
    pub callsite: Option<u32>,
    /// What was added up.
    pub what: What,
    /// Bits of the number of bytes; none if it stands for several.
    pub size_class: Option<u32>,
    /// Durations from this on, in nanoseconds,
    pub low_ns: f64,
    /// to before this.
    pub high_ns: f64,
    /// How many.
    pub calls: u64,
}

/// Calls of one place, function and size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindOfCall {
    /// The function; none where there were too many to tell apart.
    pub op: Option<Op>,
    /// Index in `defs/callsites`; none if it is not known, or stands for several.
    pub callsite: Option<u32>,
    /// Bits of the number of bytes (0 for none, 11 for 1,024 to 2,047); none if it stands for several.
    pub size_class: Option<u32>,
}

/// Computation before calls of one kind that followed calls of another, over the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapRow {
    /// Whose.
    pub rank: Rank,
    /// Which of its threads.
    pub thread: ThreadIndex,
    /// The calls behind the computation.
    pub kind: KindOfCall,
    /// The calls before it; none before the first call of a thread, or where there were too many pairs to tell apart.
    pub after: Option<KindOfCall>,
    /// How many.
    pub calls: u64,
    /// Time from the ends of the calls before to the starts of these.
    pub total: Nanos,
}

/// Messages of one rank with one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerRow {
    /// Whose.
    pub rank: Rank,
    /// Index of the communicator; none together with `peer`.
    pub comm: Option<u32>,
    /// World rank of the peer; none for all peers together that found no place of their own.
    pub peer: Option<Rank>,
    /// Messages to it.
    pub messages_out: u64,
    /// Bytes to it.
    pub bytes_out: u64,
    /// Messages from it.
    pub messages_in: u64,
    /// Bytes from it.
    pub bytes_in: u64,
}
