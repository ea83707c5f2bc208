//! A record as a reader gets it.

use crate::ReducedBy;
use crate::call::CallRecord;
use crate::list::{Completion, Started};
use kizami_model::StopReason;

/// A record as the reader yields it.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// An ordinary call.
    Call(CallRecord),
    /// A wait or test and what it completed.
    Completion(CallRecord, Vec<Completion>),
    /// A start of persistent requests.
    Start(CallRecord, Vec<Started>),
    /// Failed polls: the call (of the first), how many, the time inside all of them.
    Fold {
        /// First start to last end.
        call: CallRecord,
        /// How many polls.
        count: u64,
        /// Ticks inside them.
        inside_ticks: u64,
    },
    /// What each counter counted before and inside the call that follows.
    Counted(Vec<[u64; 2]>),
    /// How long the thread had no core around the call that follows.
    OffCore {
        /// Between the call before and that one.
        before_ns: u64,
        /// Inside it.
        inside_ns: u64,
        /// What finding that out took.
        cost_ticks: u64,
    },
    /// A definition's bytes, to be given to [`crate::Definition::decode`].
    Definition(&'a [u8]),
    /// For how many calls the call that follows stands, because others were not kept.
    Weight(f64),
    /// A piece of what a reducer handed over.
    Reduced {
        /// Which reducer, if this version knows it.
        by: Option<ReducedBy>,
        /// What it handed over.
        bytes: &'a [u8],
    },
    /// A region begins or ends.
    Region {
        /// When.
        at_ticks: u64,
        /// Which.
        region: u32,
        /// Begins, or ends.
        begins: bool,
    },
    /// The program counted its work.
    Count {
        /// When.
        at_ticks: u64,
        /// The number of its name.
        name: u32,
        /// How much.
        amount: u64,
        /// The call site of the count.
        site: u32,
    },
    /// The tracer held the program up or looked away.
    Stop {
        /// Since when.
        start_ticks: u64,
        /// How long.
        duration_ticks: u64,
        /// Why, if this version knows the reason.
        reason: StopReason,
        /// For a suspension: how many ticks after the agreed moment this thread went on. For a rehearsal: what
        /// recording a call costs from here on, in the units of the header's `call_cost`.
        detail: u64,
    },
}
