//! Runs of one number and stretches of packed ones, Parquet's RLE: for levels and for numbers of a dictionary.
//!
//! What is decided, is decided for 64 numbers at a time.

use super::pack::pack;
use std::ops::{BitOr, BitXor};

/// Numbers of which it is decided together how they are stored.
pub(super) const BLOCK: usize = 64;

/// The stretch that is open.
enum Stretch {
    Run { number: u64, count: usize },
    Packed { first: usize, blocks: usize },
}

/// Appends `count` numbers of so many bits. `same` gives the number a block consists of, if it is one; `packed` appends
/// those of a block, up to a multiple of eight.
fn encode(
    count: usize,
    width: usize,
    out: &mut Vec<u8>,
    same: impl Fn(usize) -> Option<u64>,
    packed: impl Fn(usize, &mut Vec<u8>),
) {
    let close = |stretch: Stretch, out: &mut Vec<u8>| match stretch {
        Stretch::Run { count: 0, .. } => {}
        Stretch::Run { number, count } => {
            varint(count as u64 * 2, out);
            out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8)]);
        }
        Stretch::Packed { first, blocks } => {
            let numbers = (blocks * BLOCK).min(count - first * BLOCK);
            varint(numbers.div_ceil(8) as u64 * 2 + 1, out);
            (first..first + blocks).for_each(|block| packed(block, out));
        }
    };
    let mut open = Stretch::Run { number: 0, count: 0 };
    for block in 0..count.div_ceil(BLOCK) {
        let numbers = BLOCK.min(count - block * BLOCK);
        let next = match (same(block), &mut open) {
            (Some(number), Stretch::Run { number: before, count }) if *before == number || *count == 0 => {
                (*before, *count) = (number, *count + numbers);
                continue;
            }
            (None, Stretch::Packed { blocks, .. }) => {
                *blocks += 1;
                continue;
            }
            (Some(number), _) => Stretch::Run { number, count: numbers },
            (None, _) => Stretch::Packed { first: block, blocks: 1 },
        };
        close(std::mem::replace(&mut open, next), out);
    }
    close(open, out);
}

/// Numbers of a dictionary.
pub(super) fn numbers(numbers: &[u32], width: usize, out: &mut Vec<u8>) {
    let block = |block: usize| &numbers[block * BLOCK..numbers.len().min((block + 1) * BLOCK)];
    let same = |index: usize| same(block(index)).map(u64::from);
    let packed = |index: usize, out: &mut Vec<u8>| {
        let numbers = block(index);
        let mut wide = [0; BLOCK];
        wide.iter_mut().zip(numbers).for_each(|(wide, number)| *wide = u64::from(*number));
        pack(&mut wide[..numbers.len().next_multiple_of(8)], width, out);
    };
    encode(numbers.len(), width, out, same, packed);
}

/// Levels that are 0 or 1, as the bits of words, with their length before them.
pub(super) fn levels(words: &[u64], count: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let all = |block: usize| u64::MAX >> (BLOCK - BLOCK.min(count - block * BLOCK));
    let same = |block: usize| match words[block] {
        0 => Some(0),
        word if word == all(block) => Some(1),
        _ => None,
    };
    let packed = |block: usize, out: &mut Vec<u8>| {
        let bytes = BLOCK.min(count - block * BLOCK).div_ceil(8);
        out.extend_from_slice(&words[block].to_le_bytes()[..bytes]);
    };
    encode(count, 1, out, same, packed);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// The number all of these are, if they are the same.
#[inline]
pub(super) fn same<N>(numbers: &[N]) -> Option<N>
where
    N: Copy + Default + PartialEq + BitXor<Output = N> + BitOr<Output = N>,
{
    let first = *numbers.first()?;
    // All of them, because a loop that may end anywhere cannot be vectorised.
    let differs = numbers.iter().fold(N::default(), |differs, number| differs | (*number ^ first));
    (differs == N::default()).then_some(first)
}

/// A number in as many bytes as it needs, seven bits each.
pub(super) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
