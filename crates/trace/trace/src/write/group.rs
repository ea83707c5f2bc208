//! Writing the columns of one row group, one after the other.
//!
//! How each is packed is declared in [`crate::schema`], and chosen by the creator of the writer.

use super::building::{CellColumn, ListColumn};
use kizami_columns::ChecksumFile;
use kizami_columns::encode::{Chunk, ChunkEncoder, Packing};
use kizami_model::{Op, function};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

/// A column and how it is packed.
pub(crate) struct PackedColumn {
    column: ColumnDescPtr,
    packing: Packing,
    /// Readers skip row groups by its range.
    skipped_by: bool,
    /// What was last written of it, if all cells were the same.
    uniform: Option<Uniform>,
}

/// An encoded column of one row group in which all cells are the same. Many columns are like that for whole
/// runs, and row groups have the same length, so encoding them again and again would be a waste.
struct Uniform {
    cell: i64,
    rows: usize,
    chunk: Chunk,
}

pub struct GroupWriter<'a, 'g> {
    rows: usize,
    group: SerializedRowGroupWriter<'g, ChecksumFile>,
    columns: std::slice::IterMut<'a, PackedColumn>,
    encoder: &'a mut ChunkEncoder,
}

impl PackedColumn {
    pub(crate) fn new(column: ColumnDescPtr, packing: Packing, skipped_by: bool) -> PackedColumn {
        PackedColumn { column, packing, skipped_by, uniform: None }
    }
}

impl<'a, 'g> GroupWriter<'a, 'g> {
    pub(crate) fn new(
        rows: usize,
        group: SerializedRowGroupWriter<'g, ChecksumFile>,
        columns: &'a mut [PackedColumn],
        encoder: &'a mut ChunkEncoder,
    ) -> GroupWriter<'a, 'g> {
        GroupWriter { rows, group, columns: columns.iter_mut(), encoder }
    }

    pub(crate) fn close(self) -> ParquetResult<()> {
        self.group.close().map(drop)
    }

    /// Writes the next column; `uniform` is the cell that all its rows have, if they have the same.
    fn column(
        &mut self,
        uniform: Option<i64>,
        encode: impl FnOnce(&mut ChunkEncoder, &PackedColumn) -> ParquetResult<Chunk>,
    ) -> ParquetResult<()> {
        let rows = self.rows;
        let packed = self.columns.next().ok_or_else(no_column)?;
        let again = packed.uniform.take().filter(|last| uniform == Some(last.cell) && last.rows == rows);
        let chunk = match again {
            Some(again) => again.chunk,
            None => encode(self.encoder, packed)?,
        };
        self.group.append_column(&chunk.bytes, chunk.close.clone())?;
        packed.uniform = uniform.map(|cell| Uniform { cell, rows, chunk });
        Ok(())
    }

    pub(crate) fn required<V>(&mut self, cells: &CellColumn<V>) -> ParquetResult<()>
    where
        V: Copy + PartialEq + Into<i64>,
    {
        let rows = self.rows;
        self.column(cells.same().map(Into::into), |encoder, packed| {
            let cells = cells.all(rows);
            if packed.skipped_by {
                encoder.with_range(&packed.column, &cells)
            } else {
                encoder.required(&packed.column, &cells, packed.packing)
            }
        })
    }

    pub(crate) fn nullable<V>(&mut self, cells: &CellColumn<V>, null: V) -> ParquetResult<()>
    where
        V: Copy + PartialEq + Into<i64>,
    {
        let rows = self.rows;
        self.column(cells.same().map(Into::into), |encoder, packed| {
            encoder.optional(&packed.column, &cells.all(rows), null, packed.packing)
        })
    }

    pub(crate) fn flags(&mut self, cells: &CellColumn<bool>) -> ParquetResult<()> {
        let rows = self.rows;
        self.column(cells.same().map(i64::from), |encoder, packed| {
            encoder.flags(&packed.column, &cells.all(rows))
        })
    }

    pub(crate) fn fractions(&mut self, cells: &CellColumn<f64>) -> ParquetResult<()> {
        let rows = self.rows;
        self.column(cells.same().map(|cell| cell.to_bits() as i64), |encoder, packed| {
            encoder.fractions(&packed.column, &cells.all(rows))
        })
    }

    pub(crate) fn names(&mut self, ops: &CellColumn<Op>) -> ParquetResult<()> {
        let (rows, known) = (self.rows, function::functions().len() as u16);
        // Functions this version does not know have one name.
        let number = |op: Op| if op.0 > known { 0 } else { i64::from(op.0) };
        self.column(ops.same().map(number), |encoder, packed| {
            let ops = ops.all(rows);
            let numbers = ops.iter().map(|op| number(*op));
            encoder.names(&packed.column, numbers, |number| Op(number as u16).name())
        })
    }

    pub(crate) fn lists(&mut self, lists: &ListColumn) -> ParquetResult<()> {
        let all_empty = lists.values.is_empty().then_some(0);
        self.column(all_empty, |encoder, packed| {
            encoder.lists(&packed.column, &lists.values, &lists.ends, packed.packing)
        })
    }
}

fn no_column() -> ParquetError {
    ParquetError::General("the schema has fewer columns than a row".to_owned())
}
