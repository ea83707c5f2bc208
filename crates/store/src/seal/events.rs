//! The file of one part's rows.
//!
//! Encodings were chosen by measuring stencil and irregular traces: times, request numbers and columns that
//! hardly change are stored as bit-packed differences, which cost almost nothing to write; names and values
//! that repeat go through dictionaries. Statistics are kept only where readers skip by them.

use super::communicators::{NULL32, NULL64};
use super::rows::{ANY_SOURCE, ANY_TAG, FAILED, Rows};
use crate::StoreError;
use crate::columns::{ChecksumFile, WrittenFile, schema};
use crate::schema::EVENTS;
use kizami_model::{Op, function};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnPath;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns stored as bit-packed differences.
const DIFFERENCES: [&str; 12] = [
    "rank",
    "thread",
    "start_ns",
    "end_ns",
    "comm",
    "request",
    "completes",
    "object",
    "calls",
    "inside_ns",
    "overhead_ns",
    "callsite",
];
/// Columns readers skip row groups by.
const SKIPPED_BY: [&str; 3] = ["rank", "start_ns", "end_ns"];
/// Rows whose names are looked up at a time.
const NAME_ROWS: usize = 8 << 10;

/// The open file.
pub(crate) struct EventsFile {
    path: PathBuf,
    writer: SerializedFileWriter<ChecksumFile>,
    scratch: Scratch,
}

impl EventsFile {
    pub(crate) fn create(path: &Path) -> Result<EventsFile, StoreError> {
        let failed = |error| StoreError::write(path, error);
        let file = ChecksumFile::create(path)?;
        let schema = schema(&EVENTS).map_err(failed)?;
        let properties = Arc::new(properties().map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(failed)?;
        Ok(EventsFile { path: path.to_path_buf(), writer, scratch: Scratch::default() })
    }

    /// Writes the rows as one row group.
    pub(crate) fn write_group(&mut self, rows: &Rows) -> Result<(), StoreError> {
        let written = self.writer.next_row_group().and_then(|group| {
            let mut group = GroupWriter { group, scratch: &mut self.scratch };
            group.write(rows)?;
            group.group.close()
        });
        written.map(drop).map_err(|error| StoreError::write(&self.path, error))
    }

    pub(crate) fn finish(self) -> Result<WrittenFile, StoreError> {
        let failed = |error| StoreError::write(&self.path, error);
        self.writer.into_inner().map_err(failed)?.finish(&self.path)
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
    for name in DIFFERENCES {
        let path = match name {
            "completes" => ColumnPath::from(vec!["completes".into(), "list".into(), "element".into()]),
            name => ColumnPath::from(name),
        };
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    for name in SKIPPED_BY {
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
    bools: Vec<bool>,
    names: Vec<ByteArray>,
    op_names: Vec<ByteArray>,
}

struct GroupWriter<'a, 'g> {
    group: SerializedRowGroupWriter<'g, ChecksumFile>,
    scratch: &'a mut Scratch,
}

impl GroupWriter<'_, '_> {
    /// Writes all columns, in the order of [`EVENTS`].
    fn write(&mut self, rows: &Rows) -> ParquetResult<()> {
        self.plain::<Int32Type>(&rows.rank)?;
        self.plain::<Int32Type>(&rows.thread)?;
        self.plain::<Int64Type>(&rows.start_ns)?;
        self.plain::<Int64Type>(&rows.end_ns)?;
        self.names(&rows.op)?;
        self.nullable32(&rows.comm)?;
        self.nullable32(&rows.peer)?;
        self.nullable32(&rows.tag)?;
        self.nullable64(&rows.bytes_out)?;
        self.nullable64(&rows.bytes_in)?;
        self.nullable32(&rows.root)?;
        self.nullable64(&rows.request)?;
        self.lists(rows)?;
        self.nullable32(&rows.callsite)?;
        self.nullable32(&rows.recv_peer)?;
        self.nullable32(&rows.recv_tag)?;
        self.flag(&rows.flags, ANY_SOURCE)?;
        self.flag(&rows.flags, ANY_TAG)?;
        self.nullable32(&rows.object)?;
        self.plain::<Int32Type>(&rows.calls)?;
        self.nullable64(&rows.inside_ns)?;
        self.flag(&rows.flags, FAILED)?;
        self.plain::<Int32Type>(&rows.overhead_ns)?;
        self.weights(rows.len())
    }

    /// Writes the next column in one or more batches.
    fn column<T: DataType>(
        &mut self,
        batches: impl Iterator<Item = usize>,
        mut batch: impl FnMut(
            &mut Scratch,
            usize,
            &mut dyn FnMut(Batch<'_, T>) -> ParquetResult<()>,
        ) -> ParquetResult<()>,
    ) -> ParquetResult<()> {
        let mut column = self.group.next_column()?.ok_or_else(no_column)?;
        let writer = column.typed::<T>();
        let mut write = |batch: Batch<'_, T>| {
            writer.write_batch(batch.values, batch.definition, batch.repetition).map(drop)
        };
        for start in batches {
            batch(self.scratch, start, &mut write)?;
        }
        column.close()
    }

    fn plain<T: DataType>(&mut self, values: &[T::T]) -> ParquetResult<()> {
        self.column::<T>(once(), |_, _, write| write(Batch::required(values)))
    }

    fn nullable32(&mut self, cells: &[i32]) -> ParquetResult<()> {
        self.column::<Int32Type>(once(), |scratch, _, write| {
            split(cells, NULL32, &mut scratch.int32, &mut scratch.definition);
            write(Batch::nullable(&scratch.int32, &scratch.definition))
        })
    }

    fn nullable64(&mut self, cells: &[i64]) -> ParquetResult<()> {
        self.column::<Int64Type>(once(), |scratch, _, write| {
            split(cells, NULL64, &mut scratch.int64, &mut scratch.definition);
            write(Batch::nullable(&scratch.int64, &scratch.definition))
        })
    }

    fn names(&mut self, ops: &[Op]) -> ParquetResult<()> {
        if self.scratch.op_names.is_empty() {
            let name = |number| ByteArray::from(Op(number).name().as_bytes().to_vec());
            self.scratch.op_names = (0..=function::functions().len() as u16).map(name).collect();
        }
        self.column::<ByteArrayType>((0..ops.len()).step_by(NAME_ROWS), |scratch, start, write| {
            let Scratch { names, op_names, .. } = scratch;
            names.clear();
            let ops = &ops[start..(start + NAME_ROWS).min(ops.len())];
            names
                .extend(ops.iter().map(|op| op_names.get(usize::from(op.0)).unwrap_or(&op_names[0]).clone()));
            write(Batch::required(names))
        })
    }

    fn lists(&mut self, rows: &Rows) -> ParquetResult<()> {
        self.column::<Int64Type>(once(), |scratch, _, write| {
            let Scratch { definition, repetition, .. } = scratch;
            definition.clear();
            repetition.clear();
            let mut start = 0;
            for end in &rows.completes_end {
                let length = end - start;
                start = *end;
                definition.push(i16::from(length > 0));
                repetition.push(0);
                for _ in 1..length {
                    definition.push(1);
                    repetition.push(1);
                }
            }
            let (values, definition) = (&rows.completes, Some(definition.as_slice()));
            write(Batch { values, definition, repetition: Some(repetition.as_slice()) })
        })
    }

    fn flag(&mut self, flags: &[u8], flag: u8) -> ParquetResult<()> {
        self.column::<BoolType>(once(), |scratch, _, write| {
            scratch.bools.clear();
            scratch.bools.extend(flags.iter().map(|flags| flags & flag != 0));
            write(Batch::required(&scratch.bools))
        })
    }

    /// Nothing samples yet: every row stands for itself.
    fn weights(&mut self, rows: usize) -> ParquetResult<()> {
        let ones = [1.0; NAME_ROWS];
        self.column::<DoubleType>((0..rows).step_by(NAME_ROWS), |_, start, write| {
            write(Batch::required(&ones[..NAME_ROWS.min(rows - start)]))
        })
    }
}

/// What goes to a column writer at once.
struct Batch<'a, T: DataType> {
    values: &'a [T::T],
    definition: Option<&'a [i16]>,
    repetition: Option<&'a [i16]>,
}

impl<'a, T: DataType> Batch<'a, T> {
    fn required(values: &'a [T::T]) -> Batch<'a, T> {
        Batch { values, definition: None, repetition: None }
    }

    fn nullable(values: &'a [T::T], definition: &'a [i16]) -> Batch<'a, T> {
        Batch { values, definition: Some(definition), repetition: None }
    }
}

fn once() -> std::iter::Once<usize> {
    std::iter::once(0)
}

fn no_column() -> ParquetError {
    ParquetError::General("the schema has fewer columns than a row".to_owned())
}

/// Separates the values that are there from the levels that say where.
fn split<V: Copy + PartialEq>(cells: &[V], null: V, values: &mut Vec<V>, definition: &mut Vec<i16>) {
    definition.clear();
    definition.extend(cells.iter().map(|cell| i16::from(*cell != null)));
    values.clear();
    values.extend(cells.iter().filter(|cell| **cell != null));
}
