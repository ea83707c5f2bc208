//! The file of one part's rows.
//!
//! Which columns there are and how each is packed is declared in [`crate::schema`]. Statistics are kept only where readers
//! skip by them.

use super::rows::Rows;
use crate::TraceError;
use crate::schema::event_cell::ListColumn;
use crate::schema::events::{DIFFERENCES, EVENTS, SKIPPED_BY};
use crate::schema::{NULL32, NULL64};
use bytes::Bytes;
use kizami_columns::{ChecksumFile, Field, WrittenFile, schema};
use kizami_model::{Op, function};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::{
    ColumnCloseResult, ColumnWriterImpl, get_column_writer, get_typed_column_writer,
};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{
    SerializedFileWriter, SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite,
};
use parquet::schema::types::{ColumnDescPtr, ColumnPath};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows whose names are looked up at a time.
const NAME_ROWS: usize = 8 << 10;

/// The open file.
pub(crate) struct EventsFile {
    path: PathBuf,
    writer: SerializedFileWriter<ChecksumFile>,
    columns: Vec<ColumnDescPtr>,
    properties: WriterPropertiesPtr,
    /// What was last written of each column in which all cells were the same.
    uniform: Vec<Option<Uniform>>,
    scratch: Scratch,
}

/// An encoded column of one row group in which all cells are the same. Many columns are like that for whole
/// runs, and row groups have the same length, so encoding them again and again would be a waste.
struct Uniform {
    cell: i64,
    rows: usize,
    encoded: Bytes,
    close: ColumnCloseResult,
}

impl EventsFile {
    pub(crate) fn create(path: &Path) -> Result<EventsFile, TraceError> {
        let failed = |error| TraceError::write(path, error);
        let file = ChecksumFile::create(path)?;
        let fields: Vec<Field> = EVENTS.iter().map(|column| column.field).collect();
        let schema = schema(&fields).map_err(failed)?;
        let properties = Arc::new(properties().map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, properties.clone()).map_err(failed)?;
        let columns = writer.schema_descr().columns().to_vec();
        let uniform = columns.iter().map(|_| None).collect();
        let (path, scratch) = (path.to_path_buf(), Scratch::default());
        Ok(EventsFile { path, writer, columns, properties, uniform, scratch })
    }

    /// Writes the rows as one row group.
    pub(crate) fn write_group(&mut self, rows: &Rows) -> Result<(), TraceError> {
        let written = self.writer.next_row_group().and_then(|group| {
            let mut group = GroupWriter {
                group,
                columns: &self.columns,
                properties: &self.properties,
                uniform: self.uniform.iter_mut(),
                scratch: &mut self.scratch,
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

fn properties() -> ParquetResult<WriterProperties> {
    let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_write_batch_size(8 << 10)
        .set_data_page_row_count_limit(64 << 10)
        .set_sorting_columns(Some(vec![sorted(0), sorted(2)]));
    let chosen =
        |list: &'static [(&'static str, bool)]| list.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
    for name in chosen(DIFFERENCES) {
        let path = match name {
            "completes" => ColumnPath::from(vec!["completes".into(), "list".into(), "element".into()]),
            name => ColumnPath::from(name),
        };
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    for name in chosen(SKIPPED_BY) {
        builder = builder.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
    }
    Ok(builder.build())
}

/// Buffers used for every column anew.
#[derive(Default)]
struct Scratch {
    definition: Vec<i16>,
    repetition: Vec<i16>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    names: Vec<ByteArray>,
    op_names: Vec<ByteArray>,
}

pub struct GroupWriter<'a, 'g> {
    group: SerializedRowGroupWriter<'g, ChecksumFile>,
    columns: &'a [ColumnDescPtr],
    properties: &'a WriterPropertiesPtr,
    uniform: std::slice::IterMut<'a, Option<Uniform>>,
    scratch: &'a mut Scratch,
}

impl GroupWriter<'_, '_> {
    /// Writes the next column; `uniform` is the cell that all its rows have, if they have the same.
    fn column<T: DataType>(
        &mut self,
        rows: usize,
        uniform: Option<i64>,
        write: impl FnOnce(&mut Scratch, &mut ColumnWriterImpl<'_, T>) -> ParquetResult<()>,
    ) -> ParquetResult<()> {
        let index = self.columns.len() - self.uniform.len();
        let last = self.uniform.next().ok_or_else(no_column)?;
        let Some(cell) = uniform else {
            let mut column = self.group.next_column()?.ok_or_else(no_column)?;
            write(self.scratch, column.typed::<T>())?;
            return column.close();
        };
        let again = last.take().filter(|last| (last.cell, last.rows) == (cell, rows));
        let encoded = match again {
            Some(again) => again,
            None => {
                let mut sink = TrackedWrite::new(Vec::new());
                let pages = Box::new(SerializedPageWriter::new(&mut sink));
                let column = get_column_writer(self.columns[index].clone(), self.properties.clone(), pages);
                let mut column = get_typed_column_writer::<T>(column);
                write(self.scratch, &mut column)?;
                let close = column.close()?;
                Uniform { cell, rows, encoded: sink.into_inner()?.into(), close }
            }
        };
        self.group.append_column(&encoded.encoded, encoded.close.clone())?;
        *last = Some(encoded);
        Ok(())
    }

    pub(crate) fn plain<T: DataType>(&mut self, cells: &[T::T]) -> ParquetResult<()>
    where
        T::T: Copy + Into<i64>,
    {
        self.column::<T>(cells.len(), uniform(cells).map(Into::into), |_, column| {
            column.write_batch(cells, None, None).map(drop)
        })
    }

    pub(crate) fn nullable32(&mut self, cells: &[i32]) -> ParquetResult<()> {
        self.column::<Int32Type>(cells.len(), uniform(cells).map(i64::from), |scratch, column| {
            split(cells, NULL32, &mut scratch.int32, &mut scratch.definition);
            column.write_batch(&scratch.int32, Some(&scratch.definition), None).map(drop)
        })
    }

    pub(crate) fn nullable64(&mut self, cells: &[i64]) -> ParquetResult<()> {
        self.column::<Int64Type>(cells.len(), uniform(cells), |scratch, column| {
            split(cells, NULL64, &mut scratch.int64, &mut scratch.definition);
            column.write_batch(&scratch.int64, Some(&scratch.definition), None).map(drop)
        })
    }

    pub(crate) fn names(&mut self, ops: &[Op]) -> ParquetResult<()> {
        self.column::<ByteArrayType>(ops.len(), None, |scratch, column| {
            let Scratch { names, op_names, .. } = scratch;
            if op_names.is_empty() {
                // Static bytes are passed on without counting references.
                let name = |number| ByteArray::from(Bytes::from_static(Op(number).name().as_bytes()));
                op_names.extend((0..=function::functions().len() as u16).map(name));
            }
            for ops in ops.chunks(NAME_ROWS) {
                names.clear();
                let name = |op: &Op| op_names.get(usize::from(op.0)).unwrap_or(&op_names[0]).clone();
                names.extend(ops.iter().map(name));
                column.write_batch(names, None, None)?;
            }
            Ok(())
        })
    }

    pub(crate) fn lists(&mut self, lists: &ListColumn) -> ParquetResult<()> {
        let all_empty = lists.values.is_empty().then_some(0);
        self.column::<Int64Type>(lists.ends.len(), all_empty, |scratch, column| {
            let Scratch { definition, repetition, .. } = scratch;
            definition.clear();
            repetition.clear();
            let mut start = 0;
            for end in &lists.ends {
                let length = end - start;
                start = *end;
                definition.push(i16::from(length > 0));
                repetition.push(0);
                for _ in 1..length {
                    definition.push(1);
                    repetition.push(1);
                }
            }
            column.write_batch(&lists.values, Some(definition), Some(repetition)).map(drop)
        })
    }

    pub(crate) fn doubles(&mut self, cells: &[f64]) -> ParquetResult<()> {
        let uniform = uniform(cells).map(|cell| cell.to_bits() as i64);
        self.column::<DoubleType>(cells.len(), uniform, |_, column| {
            column.write_batch(cells, None, None).map(drop)
        })
    }
}

fn no_column() -> ParquetError {
    ParquetError::General("the schema has fewer columns than a row".to_owned())
}

/// The cell all rows have, if they have the same.
fn uniform<V: Copy + PartialEq>(cells: &[V]) -> Option<V> {
    let first = *cells.first()?;
    // In steps, because a loop that may end at any cell cannot be vectorised.
    let same = cells.chunks(256).all(|cells| cells.iter().fold(true, |same, cell| same & (*cell == first)));
    same.then_some(first)
}

/// Separates the values that are there from the levels that say where.
fn split<V: Copy + PartialEq>(cells: &[V], null: V, values: &mut Vec<V>, definition: &mut Vec<i16>) {
    definition.clear();
    definition.extend(cells.iter().map(|cell| i16::from(*cell != null)));
    values.clear();
    values.extend(cells.iter().filter(|cell| **cell != null));
}
