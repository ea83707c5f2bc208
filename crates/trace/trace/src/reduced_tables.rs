//! What a reduced trace has of calls without a row: exact sums, quantiles, computation between calls, and peers.
//!
//! A reduced trace has rows for some calls only. These tables are of all of them; with the order of calls (`order.bin`) they
//! are all that a whole run can be reconstructed from.
//!
//! [`What::Call`] are calls: counts, time inside, bytes. [`What::Part`] are rows that are part of another call, such as
//! one request of an `MPI_Startall`: they move bytes and are no calls, so their number is not to be added to that of calls.

use crate::TraceError;
use crate::schema::Record;
use kizami_columns::{TableWriter, WrittenFile};
use kizami_model::{Length, Moment, Op, Rank, ThreadIndex};
use kizami_stats::counted_quantile;
use std::path::Path;

/// What was added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Calls.
    Call,
    /// Parts of calls that have rows of their own.
    Part,
}

kizami_model::named!(What, Call => "call", Part => "part");

/// Calls of one place, function and size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindOfCall {
    /// The function; none where there were too many to distinguish.
    pub op: Option<Op>,
    /// Index in `defs/callsites`; none if it is not known, or stands for several.
    pub callsite: Option<u32>,
    /// Bits of the number of bytes (0 for none, 11 for 1,024 to 2,047); none if it stands for several.
    pub size_class: Option<u32>,
}

crate::table! {
    /// Sums over the calls of one place, function, size and duration that began in a slice of time; exact.
    #[derive(Eq)]
    SumRow in "sums.parquet", if any {
        /// Whose.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// The slice begins.
        "from_ns" from: Moment,
        /// The slice ends; the next one of the same place, function and size begins here or later.
        "to_ns" to: Moment,
        /// The function.
        /// Null: there were too many functions to distinguish.
        "op" op: Option<Op>,
        /// Index in `defs/callsites`.
        /// Null: not known, or several.
        "callsite" callsite: Option<u32>,
        /// `call`: calls. `part`: rows that are part of another call, such as one request of an `MPI_Startall`;
        /// they are no calls.
        "what" what: What,
        /// Bits of the number of bytes: 0 for none, 11 for 1,024 to 2,047.
        /// Null: stands for several.
        "size_class" size_class: Option<u32>,
        /// 0 up to 1 us, 1 up to 10 us, and so on; 7 is more than 1 s.
        "duration_class" duration_class: u32,
        /// How many.
        "calls" calls: u64,
        /// Time in all of them.
        "total_ns" total: Length,
        /// Bytes given.
        "bytes_out" bytes_out: u64,
        /// Bytes obtained.
        "bytes_in" bytes_in: u64,
    }
}

crate::table! {
    /// Calls of one place, function and size with about the same duration.
    SketchRow in "sketches.parquet", if any {
        /// Whose.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// The function; none where there were too many to distinguish.
        "op" op: Option<Op>,
        /// Index in `defs/callsites`; none if it is not known, or stands for several.
        "callsite" callsite: Option<u32>,
        /// What was added up: `call` or `part`.
        "what" what: What,
        /// Bits of the number of bytes; none if it stands for several.
        "size_class" size_class: Option<u32>,
        /// Durations from this on, in nanoseconds,
        "low_ns" low_ns: f64,
        /// to before this.
        "high_ns" high_ns: f64,
        /// How many.
        "calls" calls: u64,
    }
}

crate::table! {
    /// Computation before calls of one kind that followed calls of another, over the whole run; exact.
    #[derive(Eq)]
    GapRow in "gaps.parquet", if any {
        /// Whose.
        "rank" rank: Rank,
        /// Which of its threads.
        "thread" thread: ThreadIndex,
        /// Function of the calls behind the computation.
        "op" op: Option<Op>,
        /// Their place.
        "callsite" callsite: Option<u32>,
        /// Bits of their number of bytes.
        "size_class" size_class: Option<u32>,
        /// Function of the calls before it. This and the next two are none before the first call of a thread, or
        /// where there were too many pairs to distinguish.
        /// Null: all three: before the first call of a thread, or not known.
        "after_op" after_op: Option<Op>,
        /// Their place.
        /// Null: all three: before the first call of a thread, or not known.
        "after_callsite" after_callsite: Option<u32>,
        /// Bits of their number of bytes.
        /// Null: all three: before the first call of a thread, or not known.
        "after_size_class" after_size_class: Option<u32>,
        /// How many.
        "calls" calls: u64,
        /// Time from the ends of the calls before to the starts of these.
        "total_ns" total: Length,
    }
}

crate::table! {
    /// Messages of one rank with one peer; exact.
    #[derive(Eq)]
    PeerRow in "peers.parquet", if any {
        /// Whose.
        "rank" rank: Rank,
        /// Index of the communicator; none together with `peer`.
        "comm" comm: Option<u32>,
        /// World rank of the peer; none for all peers together that found no place of their own.
        "peer" peer: Option<Rank>,
        /// Messages to it.
        "messages_out" messages_out: u64,
        /// Bytes to it.
        "bytes_out" bytes_out: u64,
        /// Messages from it.
        "messages_in" messages_in: u64,
        /// Bytes from it.
        "bytes_in" bytes_in: u64,
    }
}

impl SumRow {
    /// Of which calls it is.
    pub fn kind(&self) -> KindOfCall {
        KindOfCall { op: self.op, callsite: self.callsite, size_class: self.size_class }
    }
}

impl SketchRow {
    /// Of which calls it is.
    pub fn kind(&self) -> KindOfCall {
        KindOfCall { op: self.op, callsite: self.callsite, size_class: self.size_class }
    }
}

impl GapRow {
    /// The calls behind the computation.
    pub fn kind(&self) -> KindOfCall {
        KindOfCall { op: self.op, callsite: self.callsite, size_class: self.size_class }
    }

    /// The calls before it; none before the first call of a thread, or where there were too many pairs to distinguish.
    pub fn after(&self) -> Option<KindOfCall> {
        let (op, callsite, size_class) = (self.after_op, self.after_callsite, self.after_size_class);
        Some(KindOfCall { op, callsite, size_class }).filter(|after| *after != KindOfCall::default())
    }
}

/// Rows of the first three tables.
#[derive(Clone, Debug, Default)]
pub struct ReducedRows {
    /// Exact sums.
    pub sums: Vec<SumRow>,
    /// Durations.
    pub sketches: Vec<SketchRow>,
    /// Computation between calls.
    pub gaps: Vec<GapRow>,
}

impl ReducedRows {
    /// Adds the rows of another.
    pub fn append(&mut self, mut other: ReducedRows) {
        self.sums.append(&mut other.sums);
        self.sketches.append(&mut other.sketches);
        self.gaps.append(&mut other.gaps);
    }
}

/// The open files of a trace that is being written.
pub struct ReducedTables {
    sums: TableWriter,
    sketches: TableWriter,
    gaps: TableWriter,
    peers: TableWriter,
}

impl ReducedTables {
    /// Makes the files below `folder`, with nothing in them.
    pub fn create(folder: &Path) -> Result<ReducedTables, TraceError> {
        Ok(ReducedTables {
            sums: SumRow::create(&folder.join(SumRow::PATH))?,
            sketches: SketchRow::create(&folder.join(SketchRow::PATH))?,
            gaps: GapRow::create(&folder.join(GapRow::PATH))?,
            peers: PeerRow::create(&folder.join(PeerRow::PATH))?,
        })
    }

    /// Appends rows, which are put in order.
    pub fn append(&mut self, rows: ReducedRows, peers: &[PeerRow]) -> Result<(), TraceError> {
        let ReducedRows { mut sums, mut sketches, mut gaps } = rows;
        sums.sort_by_key(|row| {
            (row.rank, row.thread, row.op, row.callsite, row.what, row.size_class, row.from)
        });
        sketches.sort_by_key(|row| (row.rank, row.thread, row.op, row.callsite, row.what, row.size_class));
        gaps.sort_by_key(|row| (row.rank, row.thread, row.kind(), row.after()));
        self.sums.append(&SumRow::table(&sums))?;
        self.sketches.append(&SketchRow::table(&sketches))?;
        self.gaps.append(&GapRow::table(&gaps))?;
        Ok(self.peers.append(&PeerRow::table(peers))?)
    }

    /// Finishes the files.
    pub fn finish(self) -> Result<[WrittenFile; 4], TraceError> {
        Ok([self.sums.finish()?, self.sketches.finish()?, self.gaps.finish()?, self.peers.finish()?])
    }
}

/// The duration, in nanoseconds, that `share` of the calls of these rows are not longer than: off by at most 1 %.
/// Nothing if there are none.
pub fn quantile<'a>(rows: impl IntoIterator<Item = &'a SketchRow>, share: f64) -> Option<f64> {
    let mut rows: Vec<&SketchRow> = rows.into_iter().collect();
    rows.sort_by(|one, other| one.low_ns.total_cmp(&other.low_ns));
    let bin = counted_quantile(rows.iter().map(|row| (row, row.calls)), share)?;
    Some(2.0 * bin.low_ns * bin.high_ns / (bin.low_ns + bin.high_ns))
}
