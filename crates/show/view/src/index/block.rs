//! Rows of one rank, packed: 128 of them in as many bits as the longest needs.
//!
//! A block holds three lists one behind the other: from each start to the next, lengths, and kinds. Each has one width
//! for all its values. Rows of ordinary runs take 4 to 6 bytes. Any bytes can be unpacked: what does not fit is no rows.

use bytemuck::{Pod, Zeroable};
use kizami_wire::wire_struct;

/// Rows of a block, at most.
pub(crate) const BLOCK_ROWS: usize = 128;
/// Bytes that must be behind the last block, because values are read in larger pieces.
pub(crate) const SLACK_BYTES: usize = 16;

/// What is known of a block without unpacking it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BlockHead {
    /// When its first row begins.
    pub start_ns: i64,
    /// When the last of its rows and of all rows of the rank before it ends.
    pub end_ns: i64,
    /// Where it lies.
    pub offset: u64,
    pub rows: u16,
    start_bits: u8,
    length_bits: u8,
    kind_bits: u8,
    zero: [u8; 3],
}

wire_struct!(BlockHead { start_ns, end_ns, offset, rows, start_bits, length_bits, kind_bits, zero });

impl BlockHead {
    /// Whether it has rows, and they lie within so many bytes.
    pub(crate) fn is_within(&self, bytes: usize) -> bool {
        let rows = usize::from(self.rows);
        let widths = [self.start_bits, self.length_bits, self.kind_bits].map(usize::from);
        let packed: usize = widths.iter().map(|bits| (rows * bits).div_ceil(8)).sum();
        let end = usize::try_from(self.offset).ok().and_then(|at| at.checked_add(packed + SLACK_BYTES));
        let is_packed = (1..=BLOCK_ROWS).contains(&rows) && widths.iter().all(|bits| *bits <= 64);
        is_packed && end.is_some_and(|end| end <= bytes)
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When the call began.
    pub start_ns: i64,
    /// When it returned.
    pub end_ns: i64,
    /// What kind of row it is: an index into the kinds of the index.
    pub kind: u32,
}

/// Packs rows, at most [`BLOCK_ROWS`], behind what is there already. The offset is that within `bytes`.
pub(crate) fn pack(rows: &[Row], bytes: &mut Vec<u8>) -> BlockHead {
    debug_assert!(!rows.is_empty() && rows.len() <= BLOCK_ROWS);
    let first_ns = rows.first().map_or(0, |row| row.start_ns);
    let mut before_ns = first_ns;
    let mut values = [[0u64; BLOCK_ROWS]; 3];
    for (place, row) in rows.iter().enumerate() {
        values[0][place] = row.start_ns.wrapping_sub(before_ns) as u64;
        values[1][place] = row.end_ns.saturating_sub(row.start_ns).max(0) as u64;
        values[2][place] = u64::from(row.kind);
        before_ns = row.start_ns;
    }
    let offset = bytes.len() as u64;
    let bits = values.map(|list| {
        let all = list[..rows.len()].iter().fold(0, |all, value| all | value);
        let bits = u64::BITS - all.leading_zeros();
        put(&list[..rows.len()], bits, bytes);
        bits as u8
    });
    BlockHead {
        start_ns: first_ns,
        end_ns: rows.iter().map(|row| row.end_ns).max().unwrap_or(first_ns),
        offset,
        rows: rows.len() as u16,
        start_bits: bits[0],
        length_bits: bits[1],
        kind_bits: bits[2],
        zero: [0; 3],
    }
}

fn put(values: &[u64], bits: u32, bytes: &mut Vec<u8>) {
    let (mut pending, mut held) = (0u128, 0);
    for value in values {
        pending |= u128::from(*value) << held;
        held += bits;
        while held >= 8 {
            bytes.push(pending as u8);
            pending >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        bytes.push(pending as u8);
    }
}

/// Tells the rows of a block in order.
#[inline]
pub(crate) fn unpack(head: &BlockHead, bytes: &[u8], mut each: impl FnMut(Row)) {
    let rows = usize::from(head.rows).min(BLOCK_ROWS);
    let mut values = [[0u64; BLOCK_ROWS]; 3];
    let mut at = head.offset as usize;
    for (list, bits) in values.iter_mut().zip([head.start_bits, head.length_bits, head.kind_bits]) {
        let bits = usize::from(bits).min(64);
        let length = (rows * bits).div_ceil(8);
        let Some(packed) = at.checked_add(length + SLACK_BYTES).and_then(|end| bytes.get(at..end)) else {
            return;
        };
        take(packed, bits, &mut list[..rows]);
        at += length;
    }
    let mut start_ns = head.start_ns;
    let [steps, lengths, kinds] = &values;
    for ((step, length), kind) in steps.iter().zip(lengths).zip(kinds).take(rows) {
        start_ns = start_ns.wrapping_add(*step as i64);
        let end_ns = start_ns.saturating_add((*length).min(i64::MAX as u64) as i64);
        each(Row { start_ns, end_ns, kind: *kind as u32 });
    }
}

fn take(packed: &[u8], bits: usize, list: &mut [u64]) {
    if bits == 0 {
        return list.fill(0);
    }
    let mask = u64::MAX >> (64 - bits);
    for (place, value) in list.iter_mut().enumerate() {
        let bit = place * bits;
        let at = bit / 8;
        // A value and the bits before it in its first byte fit into eight bytes up to this width.
        *value = if bits <= 56 {
            let piece: [u8; 8] = packed[at..at + 8].try_into().unwrap_or_default();
            u64::from_le_bytes(piece) >> (bit % 8) & mask
        } else {
            let piece: [u8; 16] = packed[at..at + 16].try_into().unwrap_or_default();
            (u128::from_le_bytes(piece) >> (bit % 8)) as u64 & mask
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(rows: &[Row]) {
        let mut bytes = vec![7; 3];
        let head = pack(rows, &mut bytes);
        bytes.extend([0; SLACK_BYTES]);
        let mut back = Vec::new();
        unpack(&head, &bytes, |row| back.push(row));
        assert_eq!(back, rows);
        // Whatever is cut off, nothing but rows comes of it.
        for length in 0..bytes.len() {
            unpack(&head, &bytes[..length], |_| {});
        }
    }

    #[test]
    fn rows_survive_a_round_trip() {
        let row = |start_ns, end_ns, kind| Row { start_ns, end_ns, kind };
        round_trip(&[row(5, 5, 0)]);
        round_trip(&[row(-9, 1 << 60, 3), row(-9, -9, u32::MAX), row(1 << 61, 1 << 62, 0)]);
        let many: Vec<Row> = (0..128).map(|n| row(n * 1_000, n * 1_000 + n * n, n as u32 % 5)).collect();
        round_trip(&many);
        // Out of order, as no trace should be.
        round_trip(&[row(100, 200, 1), row(50, 60, 2)]);
    }
}
