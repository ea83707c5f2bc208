//! One column of a row group, from its cells to its pages.

use super::dictionary::Dictionary;
use super::levels::{Levels, bits};
use super::pages::{Chunk, Pages};
use super::{differences, runs};
use parquet::basic::{Encoding, Type as Physical};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

/// Bytes of a dictionary, at most; a column with more different values is better stored plainly.
const LARGEST_DICTIONARY: usize = 1 << 20;

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As differences to the one before.
    Differences,
    /// As numbers of a dictionary, if not too many are different.
    Repeats,
}

/// Encodes columns, one at a time, with the same buffers.
pub struct ChunkEncoder {
    pages: Pages,
    levels: Levels,
    /// Those that are there.
    values: Vec<i64>,
    dictionary: Dictionary,
}

impl ChunkEncoder {
    /// One that has encoded nothing yet.
    pub fn new() -> Result<ChunkEncoder> {
        let (levels, dictionary) = (Levels::default(), Dictionary::default());
        Ok(ChunkEncoder { pages: Pages::new()?, levels, values: Vec::new(), dictionary })
    }

    /// Numbers, of which every row has one.
    pub fn required<V: Copy + Into<i64>>(
        &mut self,
        column: &ColumnDescPtr,
        cells: &[V],
        packing: Packing,
    ) -> Result<Chunk> {
        self.values.clear();
        self.values.extend(cells.iter().map(|cell| (*cell).into()));
        self.levels.required(cells.len());
        self.numbers(column, packing)
    }

    /// The same as differences, with their range, because readers skip by it.
    pub fn with_range<V: Copy + Into<i64>>(&mut self, column: &ColumnDescPtr, cells: &[V]) -> Result<Chunk> {
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        let encode = differences_of(column);
        self.levels.required(cells.len());
        let ChunkEncoder { pages, levels, values, .. } = self;
        let chunk = pages.write(column, levels, Encoding::DELTA_BINARY_PACKED, None, |range, out| {
            // Page by page, so that they are read from memory but once.
            values.clear();
            values.extend(cells[range].iter().map(|cell| (*cell).into()));
            for value in &*values {
                (least, most) = (least.min(*value), most.max(*value));
            }
            encode(values, out);
        })?;
        if cells.is_empty() { Ok(chunk) } else { chunk.with_range(least, most) }
    }

    /// Numbers, where `null` stands for none.
    pub fn optional<V: Copy + PartialEq + Into<i64>>(
        &mut self,
        column: &ColumnDescPtr,
        cells: &[V],
        null: V,
        packing: Packing,
    ) -> Result<Chunk> {
        self.levels.optional(cells, null, &mut self.values);
        self.numbers(column, packing)
    }

    /// Lists of numbers, which end there among the values.
    pub fn lists(
        &mut self,
        column: &ColumnDescPtr,
        values: &[i64],
        ends: &[usize],
        packing: Packing,
    ) -> Result<Chunk> {
        self.values.clear();
        self.values.extend_from_slice(values);
        self.levels.lists(ends);
        self.numbers(column, packing)
    }

    /// Fractions, of which every row has one.
    pub fn fractions(&mut self, column: &ColumnDescPtr, cells: &[f64]) -> Result<Chunk> {
        self.values.clear();
        self.values.extend(cells.iter().map(|cell| cell.to_bits() as i64));
        self.levels.required(cells.len());
        self.numbers(column, Packing::Repeats)
    }

    /// Flags, of which every row has one.
    pub fn flags(&mut self, column: &ColumnDescPtr, cells: &[bool]) -> Result<Chunk> {
        self.levels.required(cells.len());
        self.pages.write(column, &self.levels, Encoding::PLAIN, None, |range, out| {
            for block in cells[range].chunks(64) {
                let bytes = bits(block, |flag| *flag).to_le_bytes();
                out.extend_from_slice(&bytes[..block.len().div_ceil(8)]);
            }
        })
    }

    /// Names, of which every row has one, by numbers; there are few of them.
    pub fn names(
        &mut self,
        column: &ColumnDescPtr,
        numbers: impl Iterator<Item = i64>,
        name: impl Fn(i64) -> &'static str,
    ) -> Result<Chunk> {
        self.values.clear();
        self.values.extend(numbers);
        self.levels.required(self.values.len());
        let numbered = self.dictionary.take(&self.values, usize::MAX);
        debug_assert!(numbered, "names are few");
        let mut names = Vec::new();
        for number in &self.dictionary.values {
            let name = name(*number).as_bytes();
            names.extend_from_slice(&(name.len() as u32).to_le_bytes());
            names.extend_from_slice(name);
        }
        self.by_dictionary(column, names)
    }

    fn numbers(&mut self, column: &ColumnDescPtr, packing: Packing) -> Result<Chunk> {
        let ChunkEncoder { pages, levels, values, dictionary } = self;
        if packing == Packing::Differences {
            let encode = differences_of(column);
            return pages.write(column, levels, Encoding::DELTA_BINARY_PACKED, None, |range, out| {
                encode(&values[range], out);
            });
        }
        let bytes = if is_narrow(column) { 4 } else { 8 };
        let plain = |values: &[i64], out: &mut Vec<u8>| {
            out.reserve(values.len() * bytes);
            values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()[..bytes]));
        };
        if dictionary.take(values, LARGEST_DICTIONARY / bytes) {
            let mut different = Vec::new();
            plain(&dictionary.values, &mut different);
            return self.by_dictionary(column, different);
        }
        pages.write(column, levels, Encoding::PLAIN, None, |range, out| plain(&values[range], out))
    }

    /// Values that have numbers in the dictionary, whose page is `different`.
    fn by_dictionary(&mut self, column: &ColumnDescPtr, different: Vec<u8>) -> Result<Chunk> {
        let Dictionary { values, numbers, .. } = &self.dictionary;
        let width = super::pack::width(values.len().saturating_sub(1) as u64);
        let first = Some((different, values.len()));
        self.pages.write(column, &self.levels, Encoding::RLE_DICTIONARY, first, |range, out| {
            out.push(width as u8);
            runs::numbers(&numbers[range], width, out);
        })
    }
}

fn is_narrow(column: &ColumnDescPtr) -> bool {
    column.physical_type() == Physical::INT32
}

/// What encodes numbers of the column as differences.
fn differences_of(column: &ColumnDescPtr) -> fn(&[i64], &mut Vec<u8>) {
    if is_narrow(column) { differences::narrow } else { differences::wide }
}
