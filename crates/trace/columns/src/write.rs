//! Writing tables: small ones from whole columns, and the file below every table.

use crate::TableError;
use crate::{Field, Kind, schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a small table that go into one row group.
const GROUP_ROWS: usize = 1 << 18;

/// A file that knows the checksum of what was written to it.
pub struct ChecksumFile {
    file: BufWriter<File>,
    checksum: crc32fast::Hasher,
    bytes: u64,
}

/// A table that is on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// CRC-32 of its bytes.
    pub crc32: u32,
}

impl ChecksumFile {
    /// Creates the file, and the folder it is in.
    pub fn create(path: &Path) -> Result<ChecksumFile, TableError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(TableError::file("make the folder", folder))?;
        }
        let file = File::create(path).map_err(TableError::file("create", path))?;
        let file = BufWriter::with_capacity(256 << 10, file);
        Ok(ChecksumFile { file, checksum: crc32fast::Hasher::new(), bytes: 0 })
    }

    /// Empties the buffer; returns size and checksum.
    pub fn finish(mut self, path: &Path) -> Result<WrittenFile, TableError> {
        self.file.flush().map_err(|error| TableError::write(path, error))?;
        Ok(WrittenFile { path: path.to_path_buf(), bytes: self.bytes, crc32: self.checksum.finalize() })
    }
}

impl Write for ChecksumFile {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(data)?;
        self.checksum.update(&data[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// The values of a column of which any may be missing.
#[derive(Clone, Debug)]
pub struct CellValues<T> {
    /// Those that are there.
    values: Vec<T>,
    /// 1 for a cell that has a value, 0 for one without; empty where all have.
    levels: Vec<i16>,
}

impl<T> CellValues<T> {
    /// Of which none is missing.
    pub fn all(values: impl Iterator<Item = T>) -> CellValues<T> {
        CellValues { values: values.collect(), levels: Vec::new() }
    }

    fn len(&self) -> usize {
        if self.levels.is_empty() { self.values.len() } else { self.levels.len() }
    }

    fn write<D: DataType>(
        &self,
        rows: std::ops::Range<usize>,
        column: &mut SerializedColumnWriter,
        convert: impl FnMut(&T) -> D::T,
    ) -> ParquetResult<()> {
        let there = |rows: &[i16]| rows.iter().map(|level| usize::from(*level > 0)).sum::<usize>();
        let (values, levels) = match self.levels.is_empty() {
            true => (&self.values[rows.clone()], vec![1; rows.len()]),
            false => {
                let first = there(&self.levels[..rows.start]);
                let levels = self.levels[rows].to_vec();
                (&self.values[first..first + there(&levels)], levels)
            }
        };
        let values: Vec<D::T> = values.iter().map(convert).collect();
        column.typed::<D>().write_batch(&values, Some(&levels), None).map(drop)
    }
}

impl<T> FromIterator<Option<T>> for CellValues<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(cells: I) -> CellValues<T> {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        for cell in cells {
            levels.push(i16::from(cell.is_some()));
            values.extend(cell);
        }
        CellValues { values, levels }
    }
}

/// All values of one column.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Values {
    Int32(CellValues<i32>),
    Int64(CellValues<i64>),
    Double(CellValues<f64>),
    Text(CellValues<String>),
    /// Text of which there are few different ones.
    Name(CellValues<&'static str>),
    Int32List(Vec<Vec<i32>>),
    BoolList(Vec<Vec<bool>>),
    TextList(Vec<Vec<String>>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Int32(cells) => cells.len(),
            Values::Int64(cells) => cells.len(),
            Values::Double(cells) => cells.len(),
            Values::Text(cells) => cells.len(),
            Values::Name(cells) => cells.len(),
            Values::Int32List(cells) => cells.len(),
            Values::BoolList(cells) => cells.len(),
            Values::TextList(cells) => cells.len(),
        }
    }

    fn write(&self, rows: std::ops::Range<usize>, column: &mut SerializedColumnWriter) -> ParquetResult<()> {
        match self {
            Values::Int32(cells) => cells.write::<Int32Type>(rows, column, |v| *v),
            Values::Int64(cells) => cells.write::<Int64Type>(rows, column, |v| *v),
            Values::Double(cells) => cells.write::<DoubleType>(rows, column, |v| *v),
            Values::Text(cells) => {
                cells.write::<ByteArrayType>(rows, column, |v| ByteArray::from(v.as_str()))
            }
            Values::Name(cells) => cells.write::<ByteArrayType>(rows, column, shared_names()),
            Values::Int32List(cells) => write_lists::<Int32Type, _>(column, &cells[rows], |v| *v),
            Values::BoolList(cells) => write_lists::<BoolType, _>(column, &cells[rows], |v| *v),
            Values::TextList(cells) => {
                write_lists::<ByteArrayType, _>(column, &cells[rows], |v| ByteArray::from(v.as_str()))
            }
        }
    }
}

/// Returns names as values, of which equal ones that follow each other share their memory.
fn shared_names() -> impl FnMut(&&'static str) -> ByteArray {
    let mut last = ("", ByteArray::from(""));
    move |name| {
        if !std::ptr::eq(*name, last.0) {
            last = (name, ByteArray::from(*name));
        }
        last.1.clone()
    }
}

fn write_lists<T: DataType, V>(
    column: &mut SerializedColumnWriter,
    lists: &[Vec<V>],
    convert: impl Fn(&V) -> T::T,
) -> ParquetResult<()> {
    let values: Vec<T::T> = lists.iter().flatten().map(convert).collect();
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    for list in lists {
        for position in 0..list.len().max(1) {
            definition.push(i16::from(!list.is_empty()));
            repetition.push(i16::from(position > 0));
        }
    }
    column.typed::<T>().write_batch(&values, Some(&definition), Some(&repetition)).map(drop)
}

/// Rows in memory, column by column.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<Values>,
}

impl Table {
    /// With one column more.
    #[must_use]
    pub fn with(mut self, values: Values) -> Table {
        self.columns.push(values);
        self
    }
}

fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
}

/// A file to which rows are appended.
pub struct TableWriter {
    path: PathBuf,
    writer: SerializedFileWriter<ChecksumFile>,
}

impl TableWriter {
    /// Creates the file, with these columns, and nothing in it yet. Values may be missing anywhere but in lists.
    pub fn create(path: &Path, fields: &[Field]) -> Result<TableWriter, TableError> {
        TableWriter::with(path, fields, properties())
    }

    /// The same for tables in which whole numbers differ little from row to row.
    pub fn of_differences(path: &Path, fields: &[Field]) -> Result<TableWriter, TableError> {
        let numbers = fields.iter().filter(|field| matches!(field.kind, Kind::Int32 | Kind::Int64));
        let properties = numbers.fold(properties(), |properties, field| {
            let column = ColumnPath::from(field.name);
            properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
        });
        TableWriter::with(path, fields, properties)
    }

    fn with(
        path: &Path,
        fields: &[Field],
        properties: WriterPropertiesBuilder,
    ) -> Result<TableWriter, TableError> {
        let file = ChecksumFile::create(path)?;
        let failed = |error| TableError::write(path, error);
        let fields: Vec<Field> =
            fields.iter().map(|field| Field { nullable: !field.kind.is_list(), ..*field }).collect();
        let schema = schema(&fields).map_err(failed)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(failed)?;
        Ok(TableWriter { path: path.to_path_buf(), writer })
    }

    /// Appends rows, whose columns are in the order of the file's.
    pub fn append(&mut self, table: &Table) -> Result<(), TableError> {
        self.append_groups(table).map_err(|error| TableError::write(&self.path, error))
    }

    fn append_groups(&mut self, table: &Table) -> ParquetResult<()> {
        let rows = table.columns.first().map_or(0, Values::len);
        for start in (0..rows).step_by(GROUP_ROWS) {
            let mut group = self.writer.next_row_group()?;
            for values in &table.columns {
                let Some(mut column) = group.next_column()? else { break };
                values.write(start..(start + GROUP_ROWS).min(rows), &mut column)?;
                column.close()?;
            }
            group.close()?;
        }
        Ok(())
    }

    /// Returns the finished file.
    pub fn finish(self) -> Result<WrittenFile, TableError> {
        let failed = |error| TableError::write(&self.path, error);
        self.writer.into_inner().map_err(failed)?.finish(&self.path)
    }
}
