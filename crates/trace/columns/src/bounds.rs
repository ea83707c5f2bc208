//! What a damaged or forged table claims to hold, compared with what it can hold.
//!
//! The Parquet decoder makes buffers as large as the file says its columns and pages are: some bytes that were
//! changed on purpose would have it ask for gigabytes. So the few numbers it trusts are read here first, and a
//! table whose numbers make no sense is refused. Nothing is decoded: this walks over Thrift's compact
//! encoding, in which Parquet keeps its footer and page headers, and skips what it need not know.

use crate::source::Source;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};

/// A page may not say it is larger than this once decompressed. Writers cut pages at about 1 MiB.
const PAGE_BYTES: i64 = 64 << 20;
/// A column of one row group may not say it has more values than this.
const GROUP_VALUES: i64 = 32 << 20;
/// Bytes read to see a page's header, which is seldom longer.
const HEADER_BYTES: u64 = 256;
/// Structures within structures. Parquet's own are less deep.
const DEEPEST: u32 = 16;

/// Bytes at the end of a file: the footer's length and four characters.
const TAIL_BYTES: u64 = 8;

/// Encodings of texts that carry a count of their own within the page, which cannot be checked from outside.
const COUNTED_WITHIN: [i64; 2] = [6, 7];

/// Checks the footer's schema. A file without a footer is left for the decoder to refuse.
pub(crate) fn check_footer(source: &Source) -> Result<(), String> {
    let Some(footer) = footer(source) else { return Ok(()) };
    let mut schema = Schema::default();
    let mut thrift = Thrift { rest: &footer, lists: true };
    let walked = thrift.fields(DEEPEST, &FOOTER, &mut |thrift, field, kind, depth| match field {
        2 => thrift.elements(depth, &mut |thrift, kind, depth| schema.element(thrift, kind, depth)),
        _ => thrift.skip(kind, depth),
    });
    if walked.is_none() {
        return Err("its footer makes no sense".to_owned());
    }
    if schema.most_children > schema.elements {
        return Err(format!(
            "a group of {} columns in a schema of {}",
            schema.most_children, schema.elements
        ));
    }
    Ok(())
}

fn footer(source: &Source) -> Option<bytes::Bytes> {
    let tail = source.len().checked_sub(TAIL_BYTES)?;
    let length: [u8; 4] = source.get_bytes(tail, 4).ok()?.as_ref().try_into().ok()?;
    let length = u32::from_le_bytes(length);
    source.get_bytes(tail.checked_sub(length.into())?, length as usize).ok()
}

#[derive(Default)]
struct Schema {
    elements: i64,
    most_children: i64,
}

impl Schema {
    fn element(&mut self, thrift: &mut Thrift<'_>, kind: u8, depth: u32) -> Option<()> {
        self.elements += 1;
        if kind != STRUCT {
            return None;
        }
        thrift.fields(depth, &SCHEMA_ELEMENT, &mut |thrift, field, kind, depth| match field {
            5 => {
                self.most_children = self.most_children.max(thrift.number()?);
                Some(())
            }
            _ => thrift.skip(kind, depth),
        })
    }
}

/// Checks the headers of all pages of a column of one row group.
pub(crate) fn check_pages(source: &Source, column: &ColumnChunkMetaData) -> Result<(), String> {
    let (mut position, length) = column.byte_range();
    let end = position.checked_add(length).filter(|end| *end <= source.len());
    let end = end.ok_or("a column lies beyond the end of the file")?;
    let mut values = 0i64;
    while position < end {
        let (page, header_bytes) = page_header(source, position, end)?;
        page.check()?;
        values += page.values;
        if values > GROUP_VALUES {
            return Err(format!("more than {GROUP_VALUES} values in a column of one row group"));
        }
        position += header_bytes as u64 + page.compressed_bytes as u64;
    }
    if position > end { Err("a page lies beyond its column".to_owned()) } else { Ok(()) }
}

fn page_header(source: &Source, position: u64, end: u64) -> Result<(PageClaims, usize), String> {
    let mut length = HEADER_BYTES;
    loop {
        let available = length.min(end - position);
        let bytes = source.get_bytes(position, available as usize).map_err(|error| error.to_string())?;
        let mut thrift = Thrift { rest: &bytes, lists: false };
        if let Some(page) = PageClaims::read(&mut thrift) {
            return Ok((page, bytes.len() - thrift.rest.len()));
        }
        if available == end - position {
            return Err("a page's header cannot be read".to_owned());
        }
        length *= 16;
    }
}

/// What a page's header says about the page.
#[derive(Default)]
struct PageClaims {
    bytes: i64,
    compressed_bytes: i64,
    values: i64,
    encoding: i64,
    dictionary: bool,
    /// How many headers of contents it has: a page with two could say one thing here and another to the decoder.
    contents: u32,
}

impl PageClaims {
    fn read(thrift: &mut Thrift<'_>) -> Option<PageClaims> {
        let mut page = PageClaims::default();
        thrift.fields(DEEPEST, &PAGE, &mut |thrift, field, kind, depth| {
            match field {
                2 => page.bytes = thrift.number()?,
                3 => page.compressed_bytes = thrift.number()?,
                // The encoding is the second field of all kinds of pages but data pages of version 2.
                5 => page.contents(thrift, &DATA_PAGE, 2, depth)?,
                7 => {
                    page.dictionary = true;
                    page.contents(thrift, &DICTIONARY_PAGE, 2, depth)?;
                }
                8 => page.contents(thrift, &DATA_PAGE_2, 4, depth)?,
                _ => thrift.skip(kind, depth)?,
            }
            Some(())
        })?;
        Some(page)
    }

    fn contents(
        &mut self,
        thrift: &mut Thrift<'_>,
        kinds: &[u8],
        encoding_field: i64,
        depth: u32,
    ) -> Option<()> {
        self.contents += 1;
        thrift.fields(depth, kinds, &mut |thrift, field, kind, depth| {
            match field {
                1 => self.values = thrift.number()?,
                _ if field == encoding_field => self.encoding = thrift.number()?,
                _ => thrift.skip(kind, depth)?,
            }
            Some(())
        })
    }

    fn check(&self) -> Result<(), String> {
        if self.contents > 1 {
            return Err("a page with two headers".to_owned());
        }
        if !(0..=PAGE_BYTES).contains(&self.bytes) || self.compressed_bytes < 0 {
            return Err(format!("a page of {} bytes", self.bytes));
        }
        // Every entry of a dictionary has at least a byte of its own.
        if !(0..=GROUP_VALUES).contains(&self.values) || self.dictionary && self.values > self.bytes {
            return Err(format!("{} values in a page of {} bytes", self.values, self.bytes));
        }
        if COUNTED_WITHIN.contains(&self.encoding) {
            return Err("a page of texts stored as differences, which this reader does not take".to_owned());
        }
        Ok(())
    }
}

// Kinds of values in the compact encoding.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

// Kinds of the fields of Parquet's structures, from the first field on.
const FOOTER: [u8; 9] = [I32, LIST, I64, LIST, LIST, BINARY, LIST, STRUCT, BINARY];
const SCHEMA_ELEMENT: [u8; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, STRUCT];
const PAGE: [u8; 8] = [I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT];
const DATA_PAGE: [u8; 5] = [I32, I32, I32, I32, STRUCT];
const DICTIONARY_PAGE: [u8; 3] = [I32, I32, TRUE];
const DATA_PAGE_2: [u8; 8] = [I32, I32, I32, I32, I32, I32, TRUE, STRUCT];

/// A walk over compact Thrift. `None` from any step: the bytes end, or make no sense.
struct Thrift<'a> {
    rest: &'a [u8],
    /// Whether lists make sense. No page header has any, and a decoder may take long to skip one that lies.
    lists: bool,
}

/// What to do with a field: its number, its kind, and the depth left below it. It must be read or skipped.
type OnField<'f> = dyn FnMut(&mut Thrift<'_>, i64, u8, u32) -> Option<()> + 'f;
/// What to do with an element of a list: its kind and the depth left below it.
type OnElement<'f> = dyn FnMut(&mut Thrift<'_>, u8, u32) -> Option<()> + 'f;

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn number(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Walks over the fields of a structure, whose first fields must be of these kinds: the decoder takes them to be
    /// so without a look, and would then read something else than is seen here.
    fn fields(&mut self, depth: u32, kinds: &[u8], on_field: &mut OnField<'_>) -> Option<()> {
        let below = depth.checked_sub(1)?;
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = if head >> 4 == 0 { self.number()? } else { field.checked_add(i64::from(head >> 4))? };
            let kind = head & 0x0f;
            let known = usize::try_from(field.checked_sub(1)?).ok().and_then(|index| kinds.get(index));
            // A boolean is encoded in the type itself.
            let as_known = |known: &u8| kind == *known || (*known, kind) == (TRUE, FALSE);
            if !known.is_none_or(as_known) {
                return None;
            }
            on_field(self, field, kind, below)?;
        }
    }

    fn elements(&mut self, depth: u32, on_element: &mut OnElement<'_>) -> Option<()> {
        let below = depth.checked_sub(1)?;
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        for _ in 0..count {
            on_element(self, head & 0x0f, below)?;
        }
        Some(())
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.pass(1),
            I16 | I32 | I64 => self.unsigned().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let count = self.unsigned()?;
                self.pass(count)
            }
            // Readers do not agree how long lists of truths are, and no Parquet footer has one.
            LIST if self.lists => self.elements(depth, &mut |thrift, kind, depth| match kind {
                TRUE | FALSE => None,
                _ => thrift.skip(kind, depth),
            }),
            STRUCT => self.fields(depth, &[], &mut |thrift, _, kind, depth| thrift.skip(kind, depth)),
            // Parquet has no sets and no maps in what is walked here.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page's header: its sizes, and (field 5 or 7) how many values it has, in which encoding.
    fn page(bytes: i64, contents: u8, values: i64, encoding: i64) -> Result<(), String> {
        let zigzag = |value: i64| ((value << 1) ^ (value >> 63)) as u64;
        let mut header = vec![0x25];
        let number = |header: &mut Vec<u8>, value: i64| {
            let mut value = zigzag(value);
            while value >= 0x80 {
                header.push(value as u8 | 0x80);
                value >>= 7;
            }
            header.push(value as u8);
        };
        number(&mut header, bytes);
        header.push(0x15);
        number(&mut header, 10);
        header.extend([(contents - 3) << 4 | STRUCT, 0x15]);
        number(&mut header, values);
        header.push(0x15);
        number(&mut header, encoding);
        header.extend([0, 0]);
        let mut thrift = Thrift { rest: &header, lists: false };
        let page = PageClaims::read(&mut thrift).expect("a header");
        assert!(thrift.rest.is_empty());
        page.check()
    }

    #[test]
    fn pages_that_claim_more_than_they_can_hold_are_refused() {
        assert!(page(1 << 20, 5, 1 << 20, 0).is_ok());
        assert!(page(1 << 40, 5, 1, 0).is_err());
        assert!(page(-1, 5, 1, 0).is_err());
        assert!(page(100, 7, 100, 0).is_ok());
        assert!(page(100, 7, 101, 0).is_err());
        assert!(page(100, 5, 10, 7).is_err());
    }

    #[test]
    fn fields_of_any_number_are_passed() {
        // The smallest number there is, and nothing behind it.
        let field = [&[I32][..], &[0xff; 9], &[0x01, 0x00, 0x00]].concat();
        assert!(PageClaims::read(&mut Thrift { rest: &field, lists: false }).is_none());
    }

    #[test]
    fn cut_headers_are_not_read() {
        let whole = [0x25, 0x02, 0x15, 0x02, 0x2c, 0x15, 0x02, 0x00, 0x00];
        assert!(PageClaims::read(&mut Thrift { rest: &whole, lists: false }).is_some());
        for length in 0..whole.len() {
            assert!(PageClaims::read(&mut Thrift { rest: &whole[..length], lists: false }).is_none());
        }
    }
}
