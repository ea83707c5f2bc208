//! Pages: compressed, with their headers, one behind the other, and what a file says of all of them.

use super::levels::Levels;
use super::runs;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, Type as Physical, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::ops::Range;
use zstd::bulk::Compressor;

/// Higher levels hardly make packed numbers smaller, and take much longer.
const ZSTD_LEVEL: i32 = 1;

/// An encoded column of a row group: both are for `append_column`.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its pages.
    pub bytes: Bytes,
    /// What the file is to say of them.
    pub close: ColumnCloseResult,
}

/// Writes pages.
pub(super) struct Pages {
    compressor: Compressor<'static>,
    /// The page that is being made, and what remains of it.
    page: Vec<u8>,
    compressed: Vec<u8>,
}

impl Pages {
    pub(super) fn new() -> Result<Pages> {
        Ok(Pages { compressor: Compressor::new(ZSTD_LEVEL)?, page: Vec::new(), compressed: Vec::new() })
    }

    fn compress(&mut self) -> Result<Bytes> {
        self.compressed.clear();
        self.compressed.reserve(zstd::zstd_safe::compress_bound(self.page.len()));
        self.compressor.compress_to_buffer(&self.page, &mut self.compressed)?;
        Ok(Bytes::copy_from_slice(&self.compressed))
    }

    /// Writes all pages of a column: a dictionary of so many values, if there is one, then the levels of each page and
    /// what `encode` appends for its values.
    pub(super) fn write(
        &mut self,
        column: &ColumnDescPtr,
        levels: &Levels,
        encoding: Encoding,
        dictionary: Option<(Vec<u8>, usize)>,
        mut encode: impl FnMut(Range<usize>, &mut Vec<u8>),
    ) -> Result<Chunk> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let mut encodings = vec![encoding, Encoding::RLE];
        let (mut cells, mut plain_bytes, mut data_offset) = (0, 0, 0);
        let dictionary_offset = dictionary.is_some().then_some(0);
        if let Some((page, values)) = dictionary {
            self.page = page;
            let (buf, num_values, encoding) = (self.compress()?, values as u32, Encoding::PLAIN);
            encodings.push(encoding);
            let written = Page::DictionaryPage { buf, num_values, encoding, is_sorted: false };
            let written = writer.write_page(CompressedPage::new(written, self.page.len()))?;
            plain_bytes += written.uncompressed_size;
            data_offset = written.bytes_written;
        }
        for page in &levels.pages {
            self.page.clear();
            if column.max_rep_level() > 0 {
                runs::levels(&levels.repetition[page.words.clone()], page.cells, &mut self.page);
            }
            if column.max_def_level() > 0 {
                runs::levels(&levels.definition[page.words.clone()], page.cells, &mut self.page);
            }
            encode(page.values.clone(), &mut self.page);
            let data = Page::DataPage {
                buf: self.compress()?,
                num_values: page.cells as u32,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            cells += page.cells;
            plain_bytes += writer.write_page(CompressedPage::new(data, self.page.len()))?.uncompressed_size;
        }
        let bytes: Bytes = sink.into_inner()?.into();
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(plain_bytes as i64)
            .set_num_values(cells as i64)
            .set_data_page_offset(data_offset as i64)
            .set_dictionary_page_offset(dictionary_offset)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: levels.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Chunk { bytes, close })
    }
}

impl Chunk {
    /// Also returns the least and the greatest of its values.
    pub(super) fn with_range(mut self, least: i64, most: i64) -> Result<Chunk> {
        // Signed numbers are compared in the same way by old readers.
        let range = match self.close.metadata.column_type() {
            Physical::INT32 => {
                let range = ValueStatistics::new(Some(least as i32), Some(most as i32), None, Some(0), false);
                Statistics::Int32(range.with_backwards_compatible_min_max(true))
            }
            _ => {
                let range = ValueStatistics::new(Some(least), Some(most), None, Some(0), false);
                Statistics::Int64(range.with_backwards_compatible_min_max(true))
            }
        };
        self.close.metadata = self.close.metadata.into_builder().set_statistics(range).build()?;
        Ok(self)
    }
}
