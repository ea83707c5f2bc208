//! Columns of few different names, read as one value a row: no text is made of any of them twice.
//!
//! Writers keep such names in a dictionary and rows as numbers in it. These are read as they are; a column with a page that
//! is not held that way is left to the decoder.

use crate::read::{BATCH_ROWS, guarded, other_length};
use crate::{Cells, TableError, TableReader};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::data_type::ByteArrayType;

/// What the names of a column mean.
pub struct Names<C, F> {
    /// What a row without a name has; none if each must have one.
    pub missing: Option<C>,
    /// What a name means.
    pub meaning: F,
}

/// Why a column was not read.
enum Failed {
    /// It is held in a way that is not known here.
    OtherWay,
    /// The decoder says so.
    Unreadable(String),
    /// It has something that it should not have.
    Has(String),
}

impl From<&str> for Failed {
    fn from(what: &str) -> Failed {
        Failed::Has(what.to_owned())
    }
}

const NULLS: &str = "nulls";
const SHORT: &str = "a page that ends early";

impl TableReader {
    /// What the names of a column mean, row by row, within one row group.
    pub fn names<C: Copy, F: Fn(&[u8]) -> Result<C, String>>(
        &self,
        group: usize,
        name: &str,
        names: &Names<C, F>,
    ) -> Result<Vec<C>, TableError> {
        let (pages, nullable) = self.pages::<ByteArrayType>(group, name)?;
        let rows = usize::try_from(self.groups()[group].num_rows()).unwrap_or(0);
        let values = match names.of_dictionary(pages, nullable, rows) {
            Err(Failed::OtherWay) => names.one_by_one(self.cells::<ByteArrayType>(group, name)?),
            read => read,
        };
        let what = match values {
            Ok(values) if values.len() == rows => return Ok(values),
            Ok(values) => other_length(name, values.len(), rows),
            Err(Failed::Has(what)) => format!("its column {name:?} has {what}"),
            Err(Failed::Unreadable(what)) => format!("its column {name:?} cannot be read ({what})"),
            Err(Failed::OtherWay) => format!("its column {name:?} cannot be read"),
        };
        Err(self.damaged(what))
    }
}

impl<C: Copy, F: Fn(&[u8]) -> Result<C, String>> Names<C, F> {
    fn of_dictionary(
        &self,
        mut pages: Box<dyn PageReader>,
        nullable: bool,
        most: usize,
    ) -> Result<Vec<C>, Failed> {
        let (mut dictionary, mut values) = (Dictionary::default(), Vec::new());
        let (mut there, mut numbers): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        while let Some(page) = guarded(|| pages.get_next_page()).map_err(Failed::Unreadable)? {
            let (bytes, rows) = (page.buffer().clone(), page.num_values() as usize);
            if let Page::DictionaryPage { encoding, .. } = page {
                if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return Err(Failed::OtherWay);
                }
                dictionary = self.dictionary(&bytes, rows)?;
                continue;
            }
            if rows > most - values.len() {
                return Err("more rows than its neighbours".into());
            }
            let (levels, packed) = levels_and_numbers(&page, &bytes, nullable)?;
            there.clear();
            numbers.clear();
            if nullable {
                hybrid(levels, 1, rows, &mut there)?;
            }
            let missing = there.iter().filter(|there| **there == 0).count();
            let (bits, packed) = packed.split_first().map_or((0, packed), |(bits, rest)| (*bits, rest));
            hybrid(packed, bits, rows - missing, &mut numbers)?;
            let mut named = dictionary.of(&numbers)?;
            if missing == 0 {
                values.extend(named);
                continue;
            }
            let missing = self.missing.ok_or(NULLS)?;
            let value = |there: &u32| if *there == 0 { missing } else { named.next().unwrap_or(missing) };
            values.extend(there.iter().map(value));
        }
        Ok(values)
    }

    fn dictionary(&self, mut bytes: &[u8], names: usize) -> Result<Dictionary<C>, Failed> {
        let mut dictionary = Dictionary::default();
        for _ in 0..names {
            let (name, rest) = counted(bytes)?;
            let meaning = (self.meaning)(name);
            dictionary.meanings.push(meaning.as_ref().ok().copied());
            // One that no row has does no harm.
            dictionary.unknown = dictionary.unknown.take().or(meaning.err());
            bytes = rest;
        }
        Ok(dictionary)
    }

    /// The same by the decoder.
    fn one_by_one(&self, mut cells: Cells<ByteArrayType>) -> Result<Vec<C>, Failed> {
        let mut values = Vec::new();
        loop {
            let rows = cells.read(BATCH_ROWS).map_err(Failed::Unreadable)?;
            if rows == 0 {
                return Ok(values);
            }
            for _ in 0..rows {
                values.push(match cells.next_cell().map_err(Failed::Unreadable)? {
                    Some(text) => (self.meaning)(text.data()).map_err(Failed::Has)?,
                    None => self.missing.ok_or(NULLS)?,
                });
            }
        }
    }
}

/// What the names of a dictionary mean.
struct Dictionary<C> {
    meanings: Vec<Option<C>>,
    /// Why one of them is not known.
    unknown: Option<String>,
}

impl<C> Default for Dictionary<C> {
    fn default() -> Dictionary<C> {
        Dictionary { meanings: Vec::new(), unknown: None }
    }
}

impl<C: Copy> Dictionary<C> {
    /// What the names with these numbers mean.
    fn of<'a>(&'a self, numbers: &'a [u32]) -> Result<impl Iterator<Item = C> + 'a, Failed> {
        if numbers.iter().any(|number| *number as usize >= self.meanings.len()) {
            return Err("a name that is not in its dictionary".into());
        }
        let meaning = |number: &u32| self.meanings[*number as usize];
        if let Some(unknown) = &self.unknown
            && numbers.iter().any(|number| meaning(number).is_none())
        {
            return Err(Failed::Has(unknown.clone()));
        }
        Ok(numbers.iter().filter_map(meaning))
    }
}

/// Which rows of a page have a name, and the numbers of these names, both as they are packed.
fn levels_and_numbers<'a>(
    page: &Page,
    bytes: &'a Bytes,
    nullable: bool,
) -> Result<(&'a [u8], &'a [u8]), Failed> {
    let by_number = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];
    if !by_number.contains(&page.encoding()) {
        return Err(Failed::OtherWay);
    }
    match page {
        Page::DataPage { .. } if !nullable => Ok((&[], bytes)),
        Page::DataPage { def_level_encoding: Encoding::RLE, .. } => counted(bytes),
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len: 0, .. } => {
            Ok(bytes.split_at_checked(*def_levels_byte_len as usize).ok_or(SHORT)?)
        }
        _ => Err(Failed::OtherWay),
    }
}

/// Bytes that begin with their count, and what is behind them.
fn counted(bytes: &[u8]) -> Result<(&[u8], &[u8]), Failed> {
    let (count, rest) = bytes.split_first_chunk().ok_or(SHORT)?;
    Ok(rest.split_at_checked(u32::from_le_bytes(*count) as usize).ok_or(SHORT)?)
}

/// Numbers of so many bits in runs of equal ones and in groups of eight, as Parquet writes them.
fn hybrid(mut bytes: &[u8], bits: u8, count: usize, numbers: &mut Vec<u32>) -> Result<(), Failed> {
    if bits > 32 {
        return Err("numbers of more than 32 bits".into());
    }
    let width = usize::from(bits).div_ceil(8);
    while numbers.len() < count {
        let left = count - numbers.len();
        if bits == 0 && bytes.is_empty() {
            numbers.resize(count, 0);
            break;
        }
        let head = head(&mut bytes)?;
        let length = usize::try_from(head >> 1).unwrap_or(usize::MAX);
        if length == 0 {
            return Err("an empty run".into());
        }
        if head & 1 == 0 {
            let (value, rest) = bytes.split_at_checked(width).ok_or(SHORT)?;
            let value = value.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
            numbers.resize(numbers.len() + length.min(left), value);
            bytes = rest;
            continue;
        }
        for _ in 0..length.min(left.div_ceil(8)) {
            // The last group may be cut off behind its last number.
            let (group, rest) = bytes.split_at(bytes.len().min(usize::from(bits)));
            let has = (group.len() * 8).checked_div(usize::from(bits)).unwrap_or(8);
            let wanted = (count - numbers.len()).min(8);
            if has < wanted {
                return Err(SHORT.into());
            }
            numbers.extend_from_slice(&unpacked(group, bits)[..wanted]);
            bytes = rest;
        }
    }
    Ok(())
}

/// The eight numbers of a group.
#[inline]
fn unpacked(group: &[u8], bits: u8) -> [u32; 8] {
    let mask = (1u64 << bits) - 1;
    let mut wide = [0; 40];
    wide[..group.len()].copy_from_slice(group);
    let eight = |from: usize| u64::from_le_bytes(std::array::from_fn(|place| wide[from + place]));
    if bits <= 8 {
        let word = eight(0);
        return std::array::from_fn(|place| (word >> (place * usize::from(bits)) & mask) as u32);
    }
    std::array::from_fn(|place| {
        let first = place * usize::from(bits);
        (eight(first / 8) >> (first % 8) & mask) as u32
    })
}

/// The number before a run.
fn head(bytes: &mut &[u8]) -> Result<u64, Failed> {
    let mut head = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(SHORT)?;
        *bytes = rest;
        head |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Ok(head);
        }
    }
    Err("a run whose length makes no sense".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of eight, packed bit by bit.
    fn packed(numbers: &[u32], bits: u8) -> Vec<u8> {
        let mut bytes = vec![(numbers.len().div_ceil(8) as u8) << 1 | 1];
        let bit = |number: u32, place: u8| (number >> place & 1) as u8;
        let all: Vec<u8> =
            numbers.iter().flat_map(|number| (0..bits).map(move |place| bit(*number, place))).collect();
        bytes.extend(all.chunks(8).map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | bit)));
        bytes
    }

    #[test]
    fn runs_and_groups_of_any_width_are_read() {
        for bits in 1..=32u8 {
            let mask = u32::MAX >> (32 - bits);
            let numbers: Vec<u32> =
                (1..=48u32).map(|number| number.wrapping_mul(0x9E37_79B9) & mask).collect();
            let mut bytes = packed(&numbers, bits);
            // Seven times the last one.
            bytes.push(7 << 1);
            bytes.extend(&numbers[47].to_le_bytes()[..usize::from(bits).div_ceil(8)]);
            let mut read = Vec::new();
            assert!(hybrid(&bytes, bits, 55, &mut read).is_ok(), "{bits} bits");
            assert_eq!(read[..48], numbers, "{bits} bits");
            assert_eq!(read[48..], [numbers[47]; 7], "{bits} bits");
        }
    }

    #[test]
    fn what_ends_early_or_makes_no_sense_is_refused() {
        let mut read = Vec::new();
        let bytes = packed(&[1, 2, 3, 1, 2, 3, 1, 2], 2);
        assert!(hybrid(&bytes[..2], 2, 8, &mut read).is_err());
        assert!(hybrid(&[0, 1], 2, 8, &mut read).is_err(), "an empty run");
        assert!(hybrid(&[0xff; 12], 2, 8, &mut read).is_err(), "a run without an end");
        assert!(hybrid(&bytes, 33, 8, &mut read).is_err(), "too wide");
        read.clear();
        assert!(hybrid(&[], 0, 3, &mut read).is_ok(), "one name only");
        assert_eq!(read, [0, 0, 0]);
    }
}
