//! Rows being built, column by column.
//!
//! One vector for each column, so that pushing a row allocates nothing, patching it is one store, and the
//! Parquet writer gets slices; a column in which all rows have the same holds that once. Missing values are
//! [`NULL32`](crate::schema::NULL32) and [`NULL64`](crate::schema::NULL64), which no value can be.

use super::building::{CellColumn, EventColumn, List};
use super::group::GroupWriter;
use crate::schema::event_cell::{EventCell, InCall};
use crate::schema::events::event_columns;
use kizami_model::{Call, Length, Moment, Op, Peer, Rank, ThreadIndex};
use parquet::errors::Result as ParquetResult;

macro_rules! rows {
    ($($(#[doc = $doc:literal])+ $name:ident: $cell:ident, $($packing:ident)+ = $field:ident: $type:ty;)+) => {
        /// One row on its way into the columns; what it completes is put into its column before it.
        #[derive(Clone, Copy, Debug)]
        pub struct Row {
            $($(#[doc = $doc])+ pub $name: $cell,)+
            /// The row was kept of a thread whose sums are known without its rows; not a column.
            pub kept: bool,
        }

        impl Row {
            /// A row of which nothing is known.
            const EMPTY: Row =
                Row { $($name: <$type as InCall<$cell>>::EMPTY,)+ kept: false };

            /// The row of a call.
            pub fn of_call(call: &Call) -> Row {
                Row { $($name: InCall::<$cell>::to_cell(&call.$field),)+ kept: false }
            }
        }

        /// The columns.
        #[derive(Debug)]
        pub struct Rows {
            $($(#[doc = $doc])+ pub $name: <$cell as EventCell>::Column,)+
            /// Rows that were kept of threads whose sums are known without them.
            pub kept: CellColumn<bool>,
            len: usize,
            /// Rank and start of the last row.
            last: (i32, i64),
            /// Whether each row's start is not before that of the row above it, within a rank.
            ordered: bool,
        }

        impl Rows {
            /// Room for so many rows.
            pub fn with_capacity(rows: usize) -> Rows {
                Rows {
                    $($name: EventColumn::with_capacity(rows),)+
                    kept: EventColumn::with_capacity(rows),
                    len: 0,
                    last: (i32::MIN, i64::MIN),
                    ordered: true,
                }
            }

            /// Adds a row; returns its index. What it completed was put into its column before.
            #[inline]
            pub fn push(&mut self, row: &Row) -> usize {
                let index = self.len;
                if index == 0 {
                    $(self.$name.begin(row.$name);)+
                    self.kept.begin(row.kept);
                } else {
                    $(self.$name.push(index, row.$name);)+
                    self.kept.push(index, row.kept);
                }
                let place = (row.rank, row.start_ns);
                self.ordered &= self.last <= place;
                (self.len, self.last) = (index + 1, place);
                index
            }

            /// Puts the rows in order of rank and start. They nearly always are: only records that lie about
            /// their time are not.
            pub(crate) fn put_in_order(&mut self) {
                if self.ordered {
                    return;
                }
                let mut order: Vec<usize> = (0..self.len()).collect();
                order.sort_by_key(|row| (self.rank.at(*row), self.start_ns.at(*row)));
                $(self.$name.put_in_order(&order);)+
                self.kept.put_in_order(&order);
                self.ordered = true;
            }

            /// Writes all columns, in their order.
            pub(crate) fn write(&self, group: &mut GroupWriter<'_, '_>) -> ParquetResult<()> {
                $(<$cell as EventCell>::write(&self.$name, <$type as InCall<$cell>>::NULLABLE, group)?;)+
                Ok(())
            }
        }
    };
}
event_columns!(rows);

impl Row {
    /// A row of one call of which only the time is known.
    pub fn new(rank: i32, thread: i32, start_ns: i64, end_ns: i64, op: Op) -> Row {
        Row { rank, thread, start_ns, end_ns, op, calls: 1, weight: 1.0, ..Row::EMPTY }
    }
}

impl Rows {
    /// Takes all rows out; columns are emptied when the first of the next ones comes.
    pub fn clear(&mut self) {
        self.completes.values.clear();
        (self.len, self.last, self.ordered) = (0, (i32::MIN, i64::MIN), true);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
