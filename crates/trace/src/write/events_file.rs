//! The file of one part's rows.
//!
//! Which columns there are and how each is packed is declared in [`crate::schema`]. Statistics are kept only where readers
//! skip by them.

use super::rows::Rows;
use crate::TraceError;
use crate::schema::event_cell::{CellColumn, ListColumn};
use crate::schema::events::{DIFFERENCES, EVENTS, SKIPPED_BY};
use kizami_columns::encode::{Chunk, ChunkEncoder, Packing};
use kizami_columns::{ChecksumFile, Field, WrittenFile, schema};
use kizami_model::{Op, function};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescPtr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The open file.
pub(crate) struct EventsFile {
    path: PathBuf,
    writer: SerializedFileWriter<ChecksumFile>,
    columns: Vec<ColumnDescPtr>,
    /// What was last written of each column in which all cells were the same.
    uniform: Vec<Option<Uniform>>,
    encoder: ChunkEncoder,
}

/// An encoded column of one row group in which all cells are the same. Many columns are like that for whole
/// runs, and row groups have the same length, so encoding them again and again would be a waste.
struct Uniform {
    cell: i64,
    rows: usize,
    chunk: Chunk,
}

impl EventsFile {
    pub(crate) fn create(path: &Path) -> Result<EventsFile, TraceError> {
        let failed = |error| TraceError::write(path, error);
        let file = ChecksumFile::create(path)?;
        let fields: Vec<Field> = EVENTS.iter().map(|column| column.field).collect();
        let schema = schema(&fields).map_err(failed)?;
        let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
        let properties =
            WriterProperties::builder().set_sorting_columns(Some(vec![sorted(0), sorted(2)])).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
        let columns = writer.schema_descr().columns().to_vec();
        let uniform = columns.iter().map(|_| None).collect();
        let encoder = ChunkEncoder::new().map_err(failed)?;
        Ok(EventsFile { path: path.to_path_buf(), writer, columns, uniform, encoder })
    }

    /// Writes the rows as one row group.
    pub(crate) fn write_group(&mut self, rows: &Rows) -> Result<(), TraceError> {
        let written = self.writer.next_row_group().and_then(|group| {
            let mut group = GroupWriter {
                rows: rows.len(),
                group,
                columns: &self.columns,
                uniform: self.uniform.iter_mut(),
                encoder: &mut self.encoder,
            };
            rows.write(&mut group)?;
            group.group.close()
        });
        written.map(drop).map_err(|error| TraceError::write(&self.path, error))
    }

    pub(crate) fn finish(self) -> Result<WrittenFile, TraceError> {
        let failed = |error| TraceError::write(&self.path, error);
        Ok(self.writer.into_inner().map_err(failed)?.finish(&self.path)?)
    }
}

pub struct GroupWriter<'a, 'g> {
    rows: usize,
    group: SerializedRowGroupWriter<'g, ChecksumFile>,
    columns: &'a [ColumnDescPtr],
    uniform: std::slice::IterMut<'a, Option<Uniform>>,
    encoder: &'a mut ChunkEncoder,
}

impl GroupWriter<'_, '_> {
    /// Writes the next column; `uniform` is the cell that all its rows have, if they have the same.
    fn column(
        &mut self,
        uniform: Option<i64>,
        encode: impl FnOnce(&mut ChunkEncoder, &ColumnDescPtr, Packing, bool) -> ParquetResult<Chunk>,
    ) -> ParquetResult<()> {
        let (rows, index) = (self.rows, self.columns.len() - self.uniform.len());
        let last = self.uniform.next().ok_or_else(no_column)?;
        let again = last.take().filter(|last| uniform == Some(last.cell) && last.rows == rows);
        let chunk = match again {
            Some(again) => again.chunk,
            None => {
                let packing = if DIFFERENCES[index].1 { Packing::Differences } else { Packing::Repeats };
                encode(self.encoder, &self.columns[index], packing, SKIPPED_BY[index].1)?
            }
        };
        self.group.append_column(&chunk.bytes, chunk.close.clone())?;
        *last = uniform.map(|cell| Uniform { cell, rows, chunk });
        Ok(())
    }

    pub(crate) fn required<V>(&mut self, cells: &CellColumn<V>) -> ParquetResult<()>
    where
        V: Copy + PartialEq + Into<i64>,
    {
        let rows = self.rows;
        self.column(cells.same().map(Into::into), |encoder, column, packing, skipped_by| {
            let cells = cells.all(rows);
            if skipped_by {
                encoder.with_range(column, &cells)
            } else {
                encoder.required(column, &cells, packing)
            }
        })
    }

    pub(crate) fn nullable<V>(&mut self, cells: &CellColumn<V>, null: V) -> ParquetResult<()>
    where
        V: Copy + PartialEq + Into<i64>,
    {
        let rows = self.rows;
        self.column(cells.same().map(Into::into), |encoder, column, packing, _| {
            encoder.optional(column, &cells.all(rows), null, packing)
        })
    }

    pub(crate) fn flags(&mut self, cells: &CellColumn<bool>) -> ParquetResult<()> {
        let rows = self.rows;
        self.column(cells.same().map(i64::from), |encoder, column, _, _| {
            encoder.flags(column, &cells.all(rows))
        })
    }

    pub(crate) fn fractions(&mut self, cells: &CellColumn<f64>) -> ParquetResult<()> {
        let rows = self.rows;
        self.column(cells.same().map(|cell| cell.to_bits() as i64), |encoder, column, _, _| {
            encoder.fractions(column, &cells.all(rows))
        })
    }

    pub(crate) fn names(&mut self, ops: &CellColumn<Op>) -> ParquetResult<()> {
        let (rows, known) = (self.rows, function::functions().len() as u16);
        // Functions this version does not know have one name.
        let number = |op: Op| if op.0 > known { 0 } else { i64::from(op.0) };
        self.column(ops.same().map(number), |encoder, column, _, _| {
            let ops = ops.all(rows);
            let numbers = ops.iter().map(|op| number(*op));
            encoder.names(column, numbers, |number| Op(number as u16).name())
        })
    }

    pub(crate) fn lists(&mut self, lists: &ListColumn) -> ParquetResult<()> {
        let all_empty = lists.values.is_empty().then_some(0);
        self.column(all_empty, |encoder, column, packing, _| {
            encoder.lists(column, &lists.values, &lists.ends, packing)
        })
    }
}

fn no_column() -> ParquetError {
    ParquetError::General("the schema has fewer columns than a row".to_owned())
}
