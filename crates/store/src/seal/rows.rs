//! Rows being built, column by column.
//!
//! One vector for each column, so that pushing a row allocates nothing, patching it is one store, and the
//! Parquet writer gets slices. Missing values are [`NULL32`] and [`NULL64`], which no value can be.

use super::communicators::{NULL32, NULL64, cell};
use kizami_model::{Call, Op};

/// The source of a receive was a wildcard.
pub(crate) const ANY_SOURCE: u8 = 1;
/// The tag of a receive was a wildcard.
pub(crate) const ANY_TAG: u8 = 2;
/// The call returned an error code.
pub(crate) const FAILED: u8 = 4;
/// The row was kept of a thread whose sums are known without its rows; not a column.
pub(crate) const KEPT: u8 = 8;

/// One row on its way into the columns; `completes` is pushed apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub rank: i32,
    pub thread: i32,
    pub start_ns: i64,
    pub end_ns: i64,
    pub op: Op,
    pub comm: i32,
    pub peer: i32,
    pub tag: i32,
    pub bytes_out: i64,
    pub bytes_in: i64,
    pub root: i32,
    pub request: i64,
    pub callsite: i32,
    pub recv_peer: i32,
    pub recv_tag: i32,
    pub object: i32,
    pub calls: i32,
    pub inside_ns: i64,
    pub overhead_ns: i32,
    pub flags: u8,
    pub weight: f64,
}

impl Row {
    /// A row of one call of which only the time is known.
    pub(crate) fn new(rank: i32, thread: i32, start_ns: i64, end_ns: i64, op: Op) -> Row {
        Row {
            rank,
            thread,
            start_ns,
            end_ns,
            op,
            comm: NULL32,
            peer: NULL32,
            tag: NULL32,
            bytes_out: NULL64,
            bytes_in: NULL64,
            root: NULL32,
            request: NULL64,
            callsite: NULL32,
            recv_peer: NULL32,
            recv_tag: NULL32,
            object: NULL32,
            calls: 1,
            inside_ns: NULL64,
            overhead_ns: 0,
            flags: 0,
            weight: 1.0,
        }
    }
}

impl Row {
    /// A row that was read from a trace.
    pub(crate) fn of_call(call: &Call) -> Row {
        let cell32 = |value: Option<u32>| value.map_or(NULL32, |value| value as i32);
        // Numbers in tables are signed, so they fit: they came from one.
        let cell64 = |value: Option<u64>| value.map_or(NULL64, |value| value as i64);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        Row {
            comm: cell32(call.comm),
            peer: cell(call.peer),
            tag: call.tag.unwrap_or(NULL32),
            bytes_out: cell64(call.bytes_out),
            bytes_in: cell64(call.bytes_in),
            root: cell(call.root),
            request: cell64(call.request),
            callsite: cell32(call.callsite),
            recv_peer: cell(call.recv_peer),
            recv_tag: call.recv_tag.unwrap_or(NULL32),
            object: cell32(call.object),
            calls: call.calls as i32,
            inside_ns: call.inside.map_or(NULL64, |inside| inside.0),
            overhead_ns: call.overhead.0 as i32,
            flags: flag(call.any_source, ANY_SOURCE)
                | flag(call.any_tag, ANY_TAG)
                | flag(call.failed, FAILED),
            weight: call.weight,
            ..Row::new(call.rank.0 as i32, call.thread.0 as i32, call.start.0, call.end.0, call.op)
        }
    }
}

macro_rules! columns {
    ($($name:ident: $kind:ty),+ $(,)?) => {
        /// The columns.
        #[derive(Debug, Default)]
        pub(crate) struct Rows {
            $(pub $name: Vec<$kind>,)+
            /// Requests completed, of all rows one behind the other.
            pub completes: Vec<i64>,
            /// Where the completed requests of each row end in `completes`.
            pub completes_end: Vec<usize>,
            /// Whether each row's start is not before that of the row above it, within a rank.
            ordered: bool,
        }

        impl Rows {
            pub(crate) fn with_capacity(rows: usize) -> Rows {
                Rows {
                    $($name: Vec::with_capacity(rows),)+
                    completes: Vec::with_capacity(rows),
                    completes_end: Vec::with_capacity(rows),
                    ordered: true,
                }
            }

            pub(crate) fn clear(&mut self) {
                $(self.$name.clear();)+
                self.completes.clear();
                self.completes_end.clear();
                self.ordered = true;
            }

            /// Adds a row; gives its index. What it completed was pushed to `completes` before.
            #[inline]
            pub(crate) fn push(&mut self, row: &Row) -> usize {
                let index = self.rank.len();
                if let (Some(rank), Some(start)) = (self.rank.last(), self.start_ns.last()) {
                    self.ordered &= (*rank, *start) <= (row.rank, row.start_ns);
                }
                $(self.$name.push(row.$name);)+
                self.completes_end.push(self.completes.len());
                index
            }

            /// Puts the rows in order of rank and start. They nearly always are: only records that lie about
            /// their time are not.
            pub(crate) fn put_in_order(&mut self) {
                if self.ordered {
                    return;
                }
                let mut order: Vec<usize> = (0..self.len()).collect();
                order.sort_by_key(|row| (self.rank[*row], self.start_ns[*row]));
                let (mut completes, mut ends) = (Vec::new(), Vec::new());
                for row in &order {
                    completes.extend_from_slice(self.completes_of(*row));
                    ends.push(completes.len());
                }
                (self.completes, self.completes_end) = (completes, ends);
                $(self.$name = order.iter().map(|row| self.$name[*row]).collect();)+
                self.ordered = true;
            }
        }
    };
}

columns! {
    rank: i32,
    thread: i32,
    start_ns: i64,
    end_ns: i64,
    op: Op,
    comm: i32,
    peer: i32,
    tag: i32,
    bytes_out: i64,
    bytes_in: i64,
    root: i32,
    request: i64,
    callsite: i32,
    recv_peer: i32,
    recv_tag: i32,
    object: i32,
    calls: i32,
    inside_ns: i64,
    overhead_ns: i32,
    flags: u8,
    weight: f64,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.rank.len()
    }

    /// Requests completed by the row with this index.
    pub(crate) fn completes_of(&self, row: usize) -> &[i64] {
        let start = row.checked_sub(1).map_or(0, |before| self.completes_end[before]);
        &self.completes[start..self.completes_end[row]]
    }
}
