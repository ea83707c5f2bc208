//! Columns of few different names, read as one value a row: no text is made of any of them twice.
//!
//! Writers keep such names in a dictionary and rows as numbers in it. These are read as they are; a page that is not held
//! that way is left to the decoder.

use crate::{TableError, TableReader};
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
    Damaged(String),
}

impl From<&str> for Failed {
    fn from(what: &str) -> Failed {
        Failed::Damaged(what.to_owned())
    }
}

impl TableReader {
    /// What the names of a column mean, row by row, within one row group.
    pub fn names<C: Copy, F: Fn(&[u8]) -> Result<C, String>>(
        &self,
        group: usize,
        name: &str,
        names: &Names<C, F>,
    ) -> Result<Vec<C>, TableError> {
        let (pages, nullable) = self.pages::<ByteArrayType>(group, name)?;
        let damaged = |what: String| self.damaged(format!("its column {name:?} has {what}"));
        match names.of_dictionary(pages, nullable) {
            Ok(values) => Ok(values),
            Err(Failed::Damaged(what)) => Err(damaged(what)),
            Err(Failed::OtherWay) => {
                let mut cells = self.cells::<ByteArrayType>(group, name)?;
                let mut values = Vec::new();
                loop {
                    let rows = cells.read(crate::read::BATCH_ROWS).map_err(damaged)?;
                    if rows == 0 {
                        return Ok(values);
                    }
                    for _ in 0..rows {
                        let cell = cells.next().map_err(damaged)?;
                        let value = match cell {
                            Some(text) => (names.meaning)(text.data()),
                            None => names.missing.ok_or_else(|| NULLS.to_owned()),
                        };
                        values.push(value.map_err(damaged)?);
                    }
                }
            }
        }
    }
}

const NULLS: &str = "nulls";
const SHORT: &str = "a page that ends early";

impl<C: Copy, F: Fn(&[u8]) -> Result<C, String>> Names<C, F> {
    fn of_dictionary(&self, mut pages: Box<dyn PageReader>, nullable: bool) -> Result<Vec<C>, Failed> {
        let (mut dictionary, mut values) = (Vec::new(), Vec::new());
        let (mut there, mut numbers_of): (Vec<bool>, Vec<u32>) = (Vec::new(), Vec::new());
        while let Some(page) = crate::read::guarded(|| pages.get_next_page()).map_err(Failed::Damaged)? {
            let bytes = page.buffer().clone();
            let rows = page.num_values() as usize;
            let (encoding, levels, numbers): (Encoding, &[u8], &[u8]) = match page {
                Page::DictionaryPage { encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY, .. } => {
                    dictionary = self.dictionary(&bytes, rows)?;
                    continue;
                }
                Page::DictionaryPage { .. } => return Err(Failed::OtherWay),
                Page::DataPage { encoding, .. } if !nullable => (encoding, &[], &bytes),
                Page::DataPage { encoding, def_level_encoding: Encoding::RLE, .. } => {
                    let (length, rest) = bytes.split_at_checked(4).ok_or(SHORT)?;
                    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
                    let (levels, numbers) = rest.split_at_checked(length as usize).ok_or(SHORT)?;
                    (encoding, levels, numbers)
                }
                Page::DataPage { .. } => return Err(Failed::OtherWay),
                Page::DataPageV2 { encoding, def_levels_byte_len, rep_levels_byte_len: 0, .. } => {
                    let cut = bytes.split_at_checked(def_levels_byte_len as usize).ok_or(SHORT)?;
                    (encoding, cut.0, cut.1)
                }
                Page::DataPageV2 { .. } => return Err(Failed::OtherWay),
            };
            if !matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) {
                return Err(Failed::OtherWay);
            }
            numbers_of.clear();
            if nullable {
                hybrid(levels, 1, rows, &mut numbers_of)?;
            }
            there.clear();
            there.extend(numbers_of.iter().map(|level| *level > 0));
            let all = !there.contains(&false);
            let named = if all { rows } else { there.iter().filter(|there| **there).count() };
            let (bits, numbers) = numbers.split_first().map_or((0, numbers), |(bits, rest)| (*bits, rest));
            numbers_of.clear();
            hybrid(numbers, bits, named, &mut numbers_of)?;
            if numbers_of.iter().any(|number| *number as usize >= dictionary.len()) {
                return Err("a name that is not in its dictionary".into());
            }
            let mut named = numbers_of.iter().map(|number| dictionary[*number as usize]);
            if all {
                values.extend(named);
                continue;
            }
            let missing = self.missing.ok_or(NULLS)?;
            values.extend(there.iter().map(|there| match there {
                true => named.next().unwrap_or(missing),
                false => missing,
            }));
        }
        Ok(values)
    }

    fn dictionary(&self, mut bytes: &[u8], names: usize) -> Result<Vec<C>, Failed> {
        let mut meanings = Vec::new();
        for _ in 0..names {
            let (length, rest) = bytes.split_at_checked(4).ok_or(SHORT)?;
            let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
            let (name, rest) = rest.split_at_checked(length as usize).ok_or(SHORT)?;
            meanings.push((self.meaning)(name).map_err(Failed::Damaged)?);
            bytes = rest;
        }
        Ok(meanings)
    }
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
