//! Differences to the number before, packed: `DELTA_BINARY_PACKED`.

use super::pack::{pack, width};
use super::runs::{same, varint};

/// Parts of a block, each of which has a width of its own.
const PARTS: usize = 4;

/// Appends numbers of 64 bits.
pub(super) fn wide(numbers: &[i64], out: &mut Vec<u8>) {
    encode::<64>(numbers, out, |number, before| number.wrapping_sub(before));
}

/// Appends numbers of 32 bits.
pub(super) fn narrow(numbers: &[i64], out: &mut Vec<u8>) {
    // Whoever reads them adds with 32 bits.
    encode::<32>(numbers, out, |number, before| i64::from((number as i32).wrapping_sub(before as i32)));
}

#[inline(always)]
fn encode<const PART: usize>(
    numbers: &[i64],
    out: &mut Vec<u8>,
    difference: impl Fn(i64, i64) -> i64 + Copy,
) {
    varint((PART * PARTS) as u64, out);
    varint(PARTS as u64, out);
    varint(numbers.len() as u64, out);
    zigzag(numbers.first().copied().unwrap_or(0), out);
    let mut at = 1;
    while at < numbers.len() {
        let end = numbers.len().min(at + PART * PARTS);
        block::<PART>(&numbers[at - 1..end], out, difference);
        at = end;
    }
}

/// Appends the differences between neighbours of these numbers.
#[inline(always)]
fn block<const PART: usize>(numbers: &[i64], out: &mut Vec<u8>, difference: impl Fn(i64, i64) -> i64) {
    if same(numbers).is_some() {
        // No differences: the least is zero, and so are all widths.
        out.extend_from_slice(&[0; 1 + PARTS]);
        return;
    }
    let mut differences = [[0; PART]; PARTS];
    let mut least = i64::MAX;
    let neighbours = numbers.iter().zip(&numbers[1..]);
    for ((before, number), cell) in neighbours.zip(differences.as_flattened_mut()) {
        *cell = difference(*number, *before);
        least = least.min(*cell);
    }
    zigzag(least, out);
    let widths = out.len();
    out.extend_from_slice(&[0; PARTS]);
    let mut left = numbers.len() - 1;
    for (index, part) in differences.iter().enumerate() {
        let filled = left.min(PART);
        left -= filled;
        let mut above = [0; PART];
        let mut all = 0;
        for (above, difference) in above[..filled].iter_mut().zip(part) {
            *above = difference.wrapping_sub(least) as u64;
            all |= *above;
        }
        let width = width(all);
        out[widths + index] = width as u8;
        pack(&mut above, width, out);
    }
}

/// A number with a sign, in few bytes if it is near zero.
fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63) as u64, out);
}
