//! Reading tables that may have been truncated, changed or forged.
//!
//! Whatever a file holds, the answer is values or a [`TableError`]: columns are looked up by name, their
//! types are checked before anything is read, and no length in the file is believed before data backs it.

use crate::TableError;
use crate::bounds;
use crate::source::Source;
use bytes::Bytes;
use parquet::basic::Type as Physical;
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, Length, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows read at a time where whole columns are read.
pub(crate) const BATCH_ROWS: usize = 64 << 10;

/// Bytes of text any column may have, and how many more for each byte of its file.
const MOST_TEXT: u64 = 128 << 20;
const TEXT_OF_A_BYTE: u64 = 64;

/// Checksum of a file's bytes.
pub fn checksum_of(path: &Path) -> Result<u32, TableError> {
    let mut file = File::open(path).map_err(TableError::file("open", path))?;
    let mut checksum = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(TableError::file("read", path))? {
            0 => return Ok(checksum.finalize()),
            count => checksum.update(&buffer[..count]),
        }
    }
}

/// A column that does not have as many rows as its group.
pub(crate) fn other_length(name: &str, found: usize, rows: usize) -> String {
    format!("its column {name:?} has {found} rows instead of {rows}")
}

/// An open table.
pub struct TableReader {
    path: PathBuf,
    source: Source,
    reader: SerializedFileReader<Source>,
}

/// Runs a step of the decoder, which panics on some files that are damaged in a way no checksum shows.
pub(crate) fn guarded<T>(step: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("the decoder cannot make sense of it".to_owned()),
    }
}

impl TableReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<TableReader, TableError> {
        let source = File::open(path).and_then(Source::file).map_err(TableError::file("open", path))?;
        TableReader::over(source, path)
    }

    /// A table that is in memory; `name` is for messages.
    pub fn in_memory(bytes: Bytes, name: &Path) -> Result<TableReader, TableError> {
        TableReader::over(Source::Memory(bytes), name)
    }

    fn over(source: Source, path: &Path) -> Result<TableReader, TableError> {
        let unreadable =
            |error: String| TableError::damaged(path, format!("not a readable Parquet file ({error})"));
        bounds::check_footer(&source).map_err(unreadable)?;
        let reader = guarded(|| SerializedFileReader::new(source.clone())).map_err(unreadable)?;
        Ok(TableReader { path: path.to_path_buf(), source, reader })
    }

    /// Its row groups.
    pub fn groups(&self) -> &[RowGroupMetaData] {
        self.reader.metadata().row_groups()
    }

    /// An error that says what is wrong with it.
    pub fn damaged(&self, what: impl Into<String>) -> TableError {
        TableError::damaged(&self.path, what)
    }

    /// Whether it has a column of this name.
    pub fn has_column(&self, name: &str) -> bool {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().any(|column| column.path().parts().first().is_some_and(|first| first == name))
    }

    /// Index of the column and its highest definition level, if it is as expected.
    fn column<T: DataType>(&self, name: &str, list: bool) -> Result<(usize, i16), TableError> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let found = schema.columns().iter().position(|column| {
            let parts = column.path().parts();
            parts.first().is_some_and(|first| first == name)
        });
        let Some(index) = found else {
            return Err(self.damaged(format!("it has no column {name:?}")));
        };
        let column = schema.column(index);
        let expected: Physical = T::get_physical_type();
        let (definition, repetition) = (column.max_def_level(), column.max_rep_level());
        let levels_fit = if list {
            repetition == 1 && (1..=3).contains(&definition)
        } else {
            repetition == 0 && definition <= 1
        };
        if column.physical_type() != expected || !levels_fit {
            let kind = if list { format!("lists of {expected}") } else { expected.to_string() };
            return Err(self.damaged(format!("its column {name:?} does not hold {kind}")));
        }
        Ok((index, definition))
    }

    fn group_column<T: DataType>(
        &self,
        group: usize,
        column: usize,
    ) -> Result<ColumnReaderImpl<T>, TableError> {
        self.checked(group, column, |group| {
            Ok(get_typed_column_reader::<T>(group.get_column_reader(column)?))
        })
    }

    /// Opens something of a column within one row group, if what its pages claim makes sense.
    fn checked<V>(
        &self,
        group: usize,
        column: usize,
        open: impl FnOnce(&dyn RowGroupReader) -> parquet::errors::Result<V>,
    ) -> Result<V, TableError> {
        let failed = |error: String| self.damaged(format!("row group {group} cannot be read ({error})"));
        guarded(|| {
            let group = self.reader.get_row_group(group)?;
            bounds::check_pages(&self.source, group.metadata().column(column))
                .map_err(ParquetError::General)?;
            open(&*group)
        })
        .map_err(failed)
    }

    /// The pages of a column within one row group, and whether it may have nulls.
    pub(crate) fn pages<T: DataType>(
        &self,
        group: usize,
        name: &str,
    ) -> Result<(Box<dyn PageReader>, bool), TableError> {
        let (column, deepest) = self.column::<T>(name, false)?;
        Ok((self.checked(group, column, |group| group.get_column_page_reader(column))?, deepest > 0))
    }

    /// The cells of a column within one row group, to be read batch by batch.
    pub fn cells<T: DataType>(&self, group: usize, name: &str) -> Result<Cells<T>, TableError> {
        let (column, deepest) = self.column::<T>(name, false)?;
        let reader = self.group_column::<T>(group, column)?;
        Ok(Cells { reader, nullable: deepest > 0, levels: Vec::new(), values: Vec::new(), row: 0, value: 0 })
    }

    /// The lists of a column within one row group, to be read batch by batch.
    pub fn lists<T: DataType>(&self, group: usize, name: &str) -> Result<Lists<T>, TableError> {
        let (column, deepest) = self.column::<T>(name, true)?;
        let reader = self.group_column::<T>(group, column)?;
        let (definition, repetition, values) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Lists { reader, deepest, definition, repetition, values, level: 0, value: 0 })
    }

    /// The values of a column within one row group, one for each row: `missing` where there is none, unless that must not be.
    pub fn int64_group(
        &self,
        group: usize,
        name: &str,
        missing: Option<i64>,
    ) -> Result<Vec<i64>, TableError> {
        self.dense::<Int64Type>(group, name, missing)
    }

    /// The same of 32 bits.
    pub fn int32_group(
        &self,
        group: usize,
        name: &str,
        missing: Option<i32>,
    ) -> Result<Vec<i32>, TableError> {
        self.dense::<Int32Type>(group, name, missing)
    }

    fn dense<T: DataType<T: Copy>>(
        &self,
        group: usize,
        name: &str,
        missing: Option<T::T>,
    ) -> Result<Vec<T::T>, TableError> {
        let rows = usize::try_from(self.groups()[group].num_rows()).unwrap_or(0);
        let mut cells = self.cells::<T>(group, name)?;
        let mut dense = Vec::new();
        // So that they are not moved while they grow.
        cells.values.reserve(rows.min(BATCH_ROWS));
        cells.levels.reserve(if cells.nullable { rows.min(BATCH_ROWS) } else { 0 });
        while cells.read(BATCH_ROWS).map_err(|error| self.damaged(error))? > 0 {
            if !cells.nullable || !cells.levels.contains(&0) {
                match dense.is_empty() {
                    true => std::mem::swap(&mut dense, &mut cells.values),
                    false => dense.append(&mut cells.values),
                }
                continue;
            }
            let missing = missing.ok_or_else(|| self.damaged(format!("its column {name:?} has nulls")))?;
            let mut values = cells.values.iter();
            dense.extend(cells.levels.iter().map(|level| match level {
                0 => missing,
                _ => values.next().copied().unwrap_or(missing),
            }));
        }
        match dense.len() == rows {
            true => Ok(dense),
            false => Err(self.damaged(other_length(name, dense.len(), rows))),
        }
    }

    /// The smallest and the largest value of a column of 32-bit integers within one row group, as the file says.
    pub fn range(&self, group: usize, name: &str) -> Option<RangeInclusive<i32>> {
        match self.statistics(group, name)? {
            Statistics::Int32(statistics) => Some(*statistics.min_opt()?..=*statistics.max_opt()?),
            _ => None,
        }
    }

    /// The same of 64-bit integers.
    pub fn range64(&self, group: usize, name: &str) -> Option<RangeInclusive<i64>> {
        match self.statistics(group, name)? {
            Statistics::Int64(statistics) => Some(*statistics.min_opt()?..=*statistics.max_opt()?),
            _ => None,
        }
    }

    fn statistics(&self, group: usize, name: &str) -> Option<&Statistics> {
        let columns = self.groups().get(group)?.columns();
        columns.iter().find(|column| column.column_path().string() == name)?.statistics()
    }

    fn all_cells<T: DataType, V>(
        &self,
        name: &str,
        mut convert: impl FnMut(T::T) -> Result<V, String>,
    ) -> Result<Vec<Option<V>>, TableError> {
        let mut all = Vec::new();
        for group in 0..self.groups().len() {
            let mut cells = self.cells::<T>(group, name)?;
            loop {
                let rows = cells.read(BATCH_ROWS).map_err(|error| self.damaged(error))?;
                if rows == 0 {
                    break;
                }
                for _ in 0..rows {
                    let cell = cells.next_cell().map_err(|error| self.damaged(error))?;
                    all.push(cell.map(&mut convert).transpose().map_err(|error| self.damaged(error))?);
                }
            }
        }
        Ok(all)
    }

    fn all_lists<T: DataType, V>(
        &self,
        name: &str,
        mut convert: impl FnMut(&T::T) -> Result<V, String>,
    ) -> Result<Vec<Vec<V>>, TableError> {
        let mut all = Vec::new();
        for group in 0..self.groups().len() {
            let mut lists = self.lists::<T>(group, name)?;
            loop {
                let rows = lists.read(BATCH_ROWS).map_err(|error| self.damaged(error))?;
                if rows == 0 {
                    break;
                }
                for _ in 0..rows {
                    let list = lists.next_list().map_err(|error| self.damaged(error))?;
                    let list: Result<_, String> = list.iter().map(&mut convert).collect();
                    all.push(list.map_err(|error| self.damaged(error))?);
                }
            }
        }
        Ok(all)
    }

    /// All values of a column.
    pub fn int32(&self, name: &str) -> Result<Vec<Option<i32>>, TableError> {
        self.all_cells::<Int32Type, i32>(name, Ok)
    }

    /// All values of a column.
    pub fn int64(&self, name: &str) -> Result<Vec<Option<i64>>, TableError> {
        self.all_cells::<Int64Type, i64>(name, Ok)
    }

    /// All values of a column.
    pub fn double(&self, name: &str) -> Result<Vec<Option<f64>>, TableError> {
        self.all_cells::<DoubleType, f64>(name, Ok)
    }

    /// All values of a column.
    pub fn text(&self, name: &str) -> Result<Vec<Option<String>>, TableError> {
        let mut room = self.room_for_text(name);
        self.all_cells::<ByteArrayType, String>(name, |value| room.text(value.data()))
    }

    /// All lists of a column.
    pub fn int32_lists(&self, name: &str) -> Result<Vec<Vec<i32>>, TableError> {
        self.all_lists::<Int32Type, i32>(name, |value| Ok(*value))
    }

    /// All lists of a column.
    pub fn bool_lists(&self, name: &str) -> Result<Vec<Vec<bool>>, TableError> {
        self.all_lists::<BoolType, bool>(name, |value| Ok(*value))
    }

    /// All lists of a column.
    pub fn text_lists(&self, name: &str) -> Result<Vec<Vec<String>>, TableError> {
        let mut room = self.room_for_text(name);
        self.all_lists::<ByteArrayType, String>(name, |value| room.text(value.data()))
    }

    fn room_for_text<'a>(&self, name: &'a str) -> RoomForText<'a> {
        RoomForText {
            name,
            bytes: MOST_TEXT.saturating_add(self.source.len().saturating_mul(TEXT_OF_A_BYTE)),
        }
    }
}

/// How much text a column may still have. A name that is stored once can be that of any number of rows, and each of them
/// gets a copy.
struct RoomForText<'a> {
    name: &'a str,
    bytes: u64,
}

impl RoomForText<'_> {
    fn text(&mut self, bytes: &[u8]) -> Result<String, String> {
        let left = self.bytes.checked_sub(bytes.len() as u64);
        self.bytes =
            left.ok_or_else(|| format!("its column {:?} has more text than its file can hold", self.name))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// The cells of one column of one row group.
pub struct Cells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    nullable: bool,
    levels: Vec<i16>,
    values: Vec<T::T>,
    row: usize,
    value: usize,
}

impl<T: DataType> Cells<T> {
    /// Reads the next rows, at most so many; returns how many, 0 at the end. What was left over is dropped.
    pub fn read(&mut self, rows: usize) -> Result<usize, String> {
        self.levels.clear();
        self.values.clear();
        (self.row, self.value) = (0, 0);
        let levels = self.nullable.then_some(&mut self.levels);
        let (records, _, _) = guarded(|| self.reader.read_records(rows, levels, None, &mut self.values))?;
        Ok(records)
    }

    /// The cell of the next row of what was read.
    #[inline]
    pub fn next_cell(&mut self) -> Result<Option<T::T>, String> {
        let row = self.row;
        self.row += 1;
        if self.nullable && self.levels.get(row) != Some(&1) {
            return Ok(None);
        }
        let value = self.values.get_mut(self.value).ok_or(SHORTER)?;
        self.value += 1;
        Ok(Some(std::mem::take(value)))
    }
}

const SHORTER: &str = "a column is shorter than its neighbours";

impl<T: DataType> Cells<T> {
    /// Stores what was read in the rows it belongs to, of which each must have a value. `check` sees all values first.
    pub fn every<R>(
        &mut self,
        rows: &mut [R],
        check: impl Fn(&[T::T]) -> Result<(), String>,
        mut give: impl FnMut(&mut R, T::T),
    ) -> Result<(), String> {
        check(&self.values)?;
        if self.values.len() != rows.len() {
            return Err("a column that must have a value in every row has a null".to_owned());
        }
        rows.iter_mut().zip(self.values.drain(..)).for_each(|(row, value)| give(row, value));
        Ok(())
    }

    /// The same where rows may have no value: those are left as they are.
    pub fn some<R>(
        &mut self,
        rows: &mut [R],
        check: impl Fn(&[T::T]) -> Result<(), String>,
        mut give: impl FnMut(&mut R, T::T),
    ) -> Result<(), String> {
        if self.values.is_empty() {
            return Ok(());
        }
        if self.values.len() == rows.len() {
            return self.every(rows, check, give);
        }
        check(&self.values)?;
        let with_value = rows.iter_mut().zip(&self.levels).filter(|(_, level)| **level == 1);
        with_value.zip(self.values.drain(..)).for_each(|((row, _), value)| give(row, value));
        Ok(())
    }
}

/// The lists of one column of one row group.
pub struct Lists<T: DataType> {
    reader: ColumnReaderImpl<T>,
    deepest: i16,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    values: Vec<T::T>,
    level: usize,
    value: usize,
}

impl<T: DataType> Lists<T> {
    /// Reads the lists of the next rows, at most so many; returns how many.
    pub fn read(&mut self, rows: usize) -> Result<usize, String> {
        self.definition.clear();
        self.repetition.clear();
        self.values.clear();
        (self.level, self.value) = (0, 0);
        let (definition, repetition) = (Some(&mut self.definition), Some(&mut self.repetition));
        let (records, _, _) =
            guarded(|| self.reader.read_records(rows, definition, repetition, &mut self.values))?;
        Ok(records)
    }

    /// Stores what was read in the rows it belongs to. `check` sees all values first.
    pub fn every<R>(
        &mut self,
        rows: &mut [R],
        check: impl Fn(&[T::T]) -> Result<(), String>,
        mut give: impl FnMut(&mut R, &[T::T]),
    ) -> Result<(), String> {
        check(&self.values)?;
        if self.values.is_empty() {
            return Ok(());
        }
        rows.iter_mut().try_for_each(|row| self.next_list().map(|list| give(row, list)))
    }

    /// The list of the next row of what was read.
    #[inline]
    pub fn next_list(&mut self) -> Result<&[T::T], String> {
        let start = self.value;
        loop {
            let definition = self.definition.get(self.level).ok_or(SHORTER)?;
            self.value += usize::from(*definition == self.deepest);
            self.level += 1;
            if self.repetition.get(self.level).is_none_or(|repetition| *repetition == 0) {
                break;
            }
        }
        self.values.get(start..self.value).ok_or_else(|| "a list has fewer values than it says".to_owned())
    }
}
