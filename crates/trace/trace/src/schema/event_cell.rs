//! How the fields of a call are held in columns of `events/`: while rows are built, in the file, and when they are read.
//!
//! A field's type decides how ([`InCall`]), so that a column is one line of [`super::events`].

use crate::TraceError;
use crate::write::building::{CellColumn, EventColumn, List, ListColumn, NULL32, NULL64};
use crate::write::group::GroupWriter;
use kizami_columns::{Cells, Kind, Lists, Names, TableReader};
use kizami_model::{Call, Length, Moment, Op, Peer, Rank, ThreadIndex};
use parquet::data_type::{BoolType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use std::fmt::Write;
use std::ops::Range;

/// A kind of cell.
pub trait EventCell: Copy {
    /// Cells of rows that are being built.
    type Column: EventColumn<Self>;
    /// Cells that are being read.
    type Reader;
    /// One of them.
    type Read<'a>;

    fn write(column: &Self::Column, nullable: bool, group: &mut GroupWriter<'_, '_>) -> ParquetResult<()>;

    fn open(part: &TableReader, group: usize, name: &str) -> Result<Self::Reader, TraceError>;

    /// Decodes the next cells; returns how many.
    fn decode(reader: &mut Self::Reader, rows: usize) -> Result<usize, String>;

    /// Stores the decoded cells in the calls they belong to.
    fn give<F: InCall<Self>>(
        reader: &mut Self::Reader,
        calls: &mut [Call],
        field: impl Fn(&mut Call) -> &mut F,
    ) -> Result<(), String>;
}

/// A field of a call that is held as cells of type `C`.
pub trait InCall<C: EventCell>: Sized {
    /// What its column holds.
    const KIND: Kind;
    /// Whether calls may have none.
    const NULLABLE: bool;
    /// Whether only numbers from 0 on make sense.
    const NATURAL: bool;
    /// Of a call of which nothing is known.
    const EMPTY: C;

    /// As it is held.
    fn to_cell(&self) -> C;

    /// Back from a column.
    fn load(&mut self, read: C::Read<'_>);

    /// As text; nothing for a missing value.
    fn show(&self, text: &mut String);
}

/// Numbers and flags, of which a column has one in a row.
macro_rules! plain_cells {
    ($($cell:ty: $parquet:ty, |$group:ident, $column:ident, $nullable:ident| $write:expr;)+) => { $(
        impl EventCell for $cell {
            type Column = CellColumn<$cell>;
            type Reader = Cells<$parquet>;
            type Read<'a> = $cell;

            fn write(
                $column: &CellColumn<$cell>,
                $nullable: bool,
                $group: &mut GroupWriter<'_, '_>,
            ) -> ParquetResult<()> {
                $write
            }

            fn open(part: &TableReader, group: usize, name: &str) -> Result<Cells<$parquet>, TraceError> {
                Ok(part.cells(group, name)?)
            }

            fn decode(reader: &mut Cells<$parquet>, rows: usize) -> Result<usize, String> {
                reader.read(rows)
            }

            #[inline]
            fn give<F: InCall<$cell>>(
                reader: &mut Cells<$parquet>,
                calls: &mut [Call],
                field: impl Fn(&mut Call) -> &mut F,
            ) -> Result<(), String> {
                let check = |values: &[$cell]| if F::NATURAL { natural(values) } else { Ok(()) };
                let load = |call: &mut Call, value: $cell| field(call).load(value);
                if F::NULLABLE { reader.some(calls, check, load) } else { reader.every(calls, check, load) }
            }
        }
    )+ };
}

plain_cells! {
    i32: Int32Type, |group, column, nullable|
        if nullable { group.nullable(column, NULL32) } else { group.required(column) };
    i64: Int64Type, |group, column, nullable|
        if nullable { group.nullable(column, NULL64) } else { group.required(column) };
    bool: BoolType, |group, column, _nullable| group.flags(column);
    f64: DoubleType, |group, column, _nullable| group.fractions(column);
}

/// Functions of the rows of a row group, and which of them were decoded.
pub struct Ops {
    all: Vec<Op>,
    decoded: Range<usize>,
}

impl Ops {
    pub(crate) fn open(part: &TableReader, group: usize, name: &str) -> Result<Ops, TraceError> {
        // A function this version does not know is shown as unknown.
        let op = |name: &[u8]| Ok(std::str::from_utf8(name).ok().and_then(Op::by_name).unwrap_or(Op(0)));
        let all = part.names(group, name, &Names { missing: None, meaning: op })?;
        Ok(Ops { all, decoded: 0..0 })
    }

    /// Goes on by so many rows, or as many as there are.
    pub(crate) fn read(&mut self, rows: usize) -> usize {
        let start = self.decoded.end;
        self.decoded = start..(start + rows).min(self.all.len());
        self.decoded.len()
    }

    /// Returns those of the rows that were read last.
    #[inline]
    pub(crate) fn every<R>(&self, rows: &mut [R], mut give: impl FnMut(&mut R, Op)) {
        rows.iter_mut().zip(&self.all[self.decoded.clone()]).for_each(|(row, op)| give(row, *op));
    }
}

/// Names of functions.
impl EventCell for Op {
    type Column = CellColumn<Op>;
    type Reader = Ops;
    type Read<'a> = Op;

    fn write(column: &CellColumn<Op>, _nullable: bool, group: &mut GroupWriter<'_, '_>) -> ParquetResult<()> {
        group.names(column)
    }

    fn open(part: &TableReader, group: usize, name: &str) -> Result<Ops, TraceError> {
        Ops::open(part, group, name)
    }

    fn decode(reader: &mut Ops, rows: usize) -> Result<usize, String> {
        Ok(reader.read(rows))
    }

    #[inline]
    fn give<F: InCall<Op>>(
        reader: &mut Ops,
        calls: &mut [Call],
        field: impl Fn(&mut Call) -> &mut F,
    ) -> Result<(), String> {
        reader.every(calls, |call, op| field(call).load(op));
        Ok(())
    }
}

impl EventCell for List {
    type Column = ListColumn;
    type Reader = Lists<Int64Type>;
    type Read<'a> = &'a [i64];

    fn write(column: &ListColumn, _nullable: bool, group: &mut GroupWriter<'_, '_>) -> ParquetResult<()> {
        group.lists(column)
    }

    fn open(part: &TableReader, group: usize, name: &str) -> Result<Lists<Int64Type>, TraceError> {
        Ok(part.lists(group, name)?)
    }

    fn decode(reader: &mut Lists<Int64Type>, rows: usize) -> Result<usize, String> {
        reader.read(rows)
    }

    #[inline]
    fn give<F: InCall<List>>(
        reader: &mut Lists<Int64Type>,
        calls: &mut [Call],
        field: impl Fn(&mut Call) -> &mut F,
    ) -> Result<(), String> {
        let check = |values: &[i64]| if F::NATURAL { natural(values) } else { Ok(()) };
        reader.every(calls, check, |call, values| field(call).load(values))
    }
}

/// Only numbers from 0 on make sense.
pub(crate) fn natural<T: Copy + Default + PartialOrd + std::fmt::Display>(
    values: &[T],
) -> Result<(), String> {
    match values.iter().find(|value| **value < T::default()) {
        None => Ok(()),
        Some(value) => Err(format!("{value} where only numbers from 0 on make sense")),
    }
}

macro_rules! in_call {
    ($(
        $type:ty as $cell:ty: $kind:ident $(or $null:expr)?, $range:ident,
        |$value:ident| $store:expr, |$stored:ident| $load:expr, $shown:expr;
    )+) => { $(
        impl InCall<$cell> for $type {
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = in_call!(@nullable $($null)?);
            const NATURAL: bool = in_call!(@natural $range);
            const EMPTY: $cell = in_call!(@empty $kind $($null)?);

            #[inline(always)]
            fn to_cell(&self) -> $cell {
                let $value = self;
                $store
            }

            #[inline(always)]
            fn load(&mut self, $stored: $cell) {
                *self = $load;
            }

            fn show(&self, text: &mut String) {
                let shown: fn(&$type) -> Option<_> = $shown;
                if let Some(shown) = shown(self) {
                    write!(text, "{shown}").expect("writing to a string cannot fail");
                }
            }
        }
    )+ };
    (@nullable) => { false };
    (@nullable $null:expr) => { true };
    (@natural natural) => { true };
    (@natural anything) => { false };
    (@empty Int32) => { 0 };
    (@empty Int64) => { 0 };
    (@empty Bool) => { false };
    (@empty Double) => { 0.0 };
    (@empty Text) => { Op(0) };
    (@empty $kind:ident $null:expr) => { $null };
}

// Numbers in tables are signed. What is held unsigned came from a table, or fits one.
in_call! {
    Rank as i32: Int32, natural, |rank| rank.0 as i32, |stored| Rank(stored as u32), |rank| Some(*rank);
    ThreadIndex as i32: Int32, natural, |thread| thread.0 as i32, |stored| ThreadIndex(stored as u32),
        |thread| Some(*thread);
    Moment as i64: Int64, anything, |moment| moment.0, |stored| Moment(stored), |moment| Some(moment.0);
    Length as i32: Int32, anything, |length| length.0 as i32, |stored| Length(i64::from(stored)),
        |length| Some(length.0);
    Option<Length> as i64: Int64 or NULL64, anything, |length| length.map_or(NULL64, |length| length.0),
        |stored| Some(Length(stored)), |length| length.map(|length| length.0);
    u32 as i32: Int32, natural, |number| *number as i32, |stored| stored as u32, |number| Some(*number);
    Option<u32> as i32: Int32 or NULL32, natural, |number| number.map_or(NULL32, |number| number as i32),
        |stored| Some(stored as u32), |number| *number;
    Option<u64> as i64: Int64 or NULL64, natural, |number| number.map_or(NULL64, |number| number as i64),
        |stored| Some(stored as u64), |number| *number;
    Option<i32> as i32: Int32 or NULL32, anything, |number| number.unwrap_or(NULL32), |stored| Some(stored),
        |number| *number;
    Peer as i32: Int32 or NULL32, anything, |peer| peer.to_table().unwrap_or(NULL32),
        |stored| Peer::from_table(Some(stored)), |peer| peer.to_table();
    bool as bool: Bool, anything, |flag| *flag, |stored| stored, |flag| Some(*flag);
    f64 as f64: Double, anything, |number| *number, |stored| stored, |number| Some(*number);
    Op as Op: Text, anything, |op| *op, |stored| stored, |op| Some(op.name());
}

impl InCall<List> for Vec<u64> {
    const KIND: Kind = Kind::Int64List;
    const NULLABLE: bool = false;
    const NATURAL: bool = true;
    const EMPTY: List = List;

    fn to_cell(&self) -> List {
        List
    }

    #[inline(always)]
    fn load(&mut self, read: &[i64]) {
        self.extend(read.iter().map(|value| *value as u64));
    }

    fn show(&self, text: &mut String) {
        for (index, value) in self.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            write!(text, "{space}{value}").expect("writing to a string cannot fail");
        }
    }
}
