//! The columns of `events/`, declared once.
//!
//! A row is a [`Call`], column by column. [`event_columns!`] is the one list: the rows being built
//! ([`crate::write`]), the file they go to, the rows read back ([`crate::Calls`]), the header of a CSV export and the table in
//! the book are all made from it. What a column holds follows from the type of the call's field ([`InCall`]).
//!
//! Peers and roots are world ranks, -1 for `MPI_PROC_NULL`, -2 for a wildcard that was never resolved, -3 for a process that
//! cannot be named, null where the call has none. Null bytes mean that the call moved nothing in that direction.

use super::event_cell::InCall;
use super::table::Column;
use crate::write::building::List;
use kizami_columns::Field;
use kizami_model::{Call, Length, Moment, Op, Peer, Rank, ThreadIndex};

/// Calls the macro `$with` with all columns: what each means, its name, how it is held while rows are built, how it is packed,
/// and the field of a call it is.
///
/// Packing was chosen by measuring stencil and irregular traces. `differences` are bit-packed and cost almost nothing to
/// write: for times, request numbers and columns that hardly change. `repeats` go through a dictionary. Readers skip row
/// groups by the ranges of columns that are `skipped_by`.
macro_rules! event_columns {
    ($with:ident) => {
        $with! {
            /// Rank that made the call.
            rank: i32, differences skipped_by = rank: Rank;
            /// Which of its threads, numbered in the order of their first MPI call.
            thread: i32, differences = thread: ThreadIndex;
            /// When the call began.
            start_ns: i64, differences skipped_by = start: Moment;
            /// When it returned; of folded polls, when the last one returned.
            end_ns: i64, differences skipped_by = end: Moment;
            /// Full name of the function, such as `MPI_Send`; `MPI_Send_c` is another.
            op: Op, repeats = op: Op;
            /// Communicator: index in `defs/communicators`. Of a call that makes one: the parent.
            /// Null: the function has none, or it is not known.
            comm: i32, differences = comm: Option<u32>;
            /// Destination of a send; source of a receive, the real one once known; target of a one-sided access, a
            /// lock or a flush; a rank of the group of an `MPI_Win_post` or `MPI_Win_start`.
            /// Null: no peer.
            peer: i32, repeats = peer: Peer;
            /// Tag of the message; of `MPI_Win_lock` 1 if the lock is exclusive, 0 if it is shared.
            /// Null: no tag, or a wildcard that never became known.
            tag: i32, repeats = tag: Option<i32>;
            /// Bytes this rank gave.
            /// Null: nothing went out.
            bytes_out: i64, repeats = bytes_out: Option<u64>;
            /// Bytes this rank obtained.
            /// Null: nothing came in, or the receive was not completed.
            bytes_in: i64, repeats = bytes_in: Option<u64>;
            /// Root of a collective.
            /// Null: no root.
            root: i32, repeats = root: Peer;
            /// Number of the request this call started; unique within the rank.
            /// Null: starts no request.
            request: i64, differences = request: Option<u64>;
            /// Numbers of the requests this call completed.
            completes: List, differences = completes: Vec<u64>;
            /// Index in `defs/callsites`.
            /// Null: not known.
            callsite: i32, differences = callsite: Option<u32>;
            /// Source of the receiving half of a send-receive.
            /// Null: not a send-receive.
            recv_peer: i32, repeats = recv_peer: Peer;
            /// Tag of the receiving half.
            /// Null: not a send-receive.
            recv_tag: i32, repeats = recv_tag: Option<i32>;
            /// The source was given as `MPI_ANY_SOURCE`.
            any_source: bool, repeats = any_source: bool;
            /// The tag was given as `MPI_ANY_TAG`.
            any_tag: bool, repeats = any_tag: bool;
            /// Window, file or datatype: index in `defs/objects`.
            /// Null: no object, or made where it was not seen.
            object: i32, differences = object: Option<u32>;
            /// How many calls the row stands for: 1; more for failed polls that were folded; 0 for one request of
            /// an `MPI_Startall`, or one rank of the group of an `MPI_Win_post` or `MPI_Win_start`.
            calls: i32, differences = calls: u32;
            /// Time inside the folded polls; `end_ns - start_ns` also holds what lies between them.
            /// Null: not a failed poll.
            inside_ns: i64, differences = inside: Option<Length>;
            /// The call returned an error code.
            failed: bool, repeats = failed: bool;
            /// Estimate of what the tracer cost around this call.
            overhead_ns: i32, differences = overhead: Length;
            /// How long inside the call the thread could have run, but had no core.
            /// Null: not at all, or not known.
            off_core_ns: i64, differences = off_core: Option<Length>;
            /// The same between the thread's call before and this one. Where a thread loses its core very often, a part may be
            /// counted with a later call.
            /// Null: not at all, or not known.
            off_core_before_ns: i64, differences = off_core_before: Option<Length>;
            /// 1; more where a row stands for others that have none, in a [reduced](#reduced) trace.
            weight: f64, repeats = weight: f64;
        }
    };
}
pub(crate) use event_columns;

macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $name:ident: $cell:ident, $($packing:ident)+ = $field:ident: $type:ty;)+) => {
        /// The columns of `events/`, in order.
        pub const EVENTS: &[Column] = &[$(Column {
            field: Field {
                name: stringify!($name),
                kind: <$type as InCall<$cell>>::KIND,
                nullable: <$type as InCall<$cell>>::NULLABLE,
            },
            about: &[$($doc),+],
        }),+];

        /// Columns stored as bit-packed differences.
        pub(crate) const DIFFERENCES: &[(&str, bool)] =
            &[$((stringify!($name), fields!(@has differences $($packing)+))),+];

        /// Columns readers skip row groups by.
        pub(crate) const SKIPPED_BY: &[(&str, bool)] =
            &[$((stringify!($name), fields!(@has skipped_by $($packing)+))),+];

        /// Passes the name of every column and what a call has there as text, empty where it has nothing.
        pub fn fields_as_text(call: &Call, mut each: impl FnMut(&'static str, &str)) {
            let mut text = String::new();
            $(
                text.clear();
                InCall::<$cell>::show(&call.$field, &mut text);
                each(stringify!($name), &text);
            )+
        }
    };
    (@has differences differences $($rest:ident)*) => { true };
    (@has skipped_by skipped_by $($rest:ident)*) => { true };
    (@has $which:ident $other:ident $($rest:ident)*) => { fields!(@has $which $($rest)*) };
    (@has $which:ident) => { false };
}
event_columns!(fields);
