//! What makes two calls the same in the sequence, and the table that gives each such shape a small number.
//!
//! The table never forgets and never moves: a number stays good, and numbers are given in the order in which shapes are
//! first seen, so ranks that run the same code number alike. The last quarter of the table is kept for shapes whose peers
//! and tags vary: a loop over thousands of peers is one of those in the end. When that is full too, a call gets no
//! number and is written out as a whole by the caller of the table.

use super::block::{Block, LANE_WORDS, SHAPE_WORDS, SHAPES};
use std::sync::atomic::Ordering;

/// Most values of a call.
pub const VALUES_MOST: usize = 4;
/// Side streams of a shape, at most: peers and tags may be values too.
pub(crate) const LANES_MOST: usize = VALUES_MOST + VARYING;
/// Peer, tag and those of the receiving half.
pub(crate) const VARYING: usize = 4;
/// In a shape's last word: peers and tags are values.
const VARIES: u64 = 1 << 8;

/// The shape of a call: all that is known of it but its time and what is given as values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
// In this order and so aligned, packing it into words is four loads.
#[repr(C, align(8))]
pub struct Signature {
    /// The function.
    pub op: u16,
    /// Other properties that distinguish calls: wildcards, failure.
    pub flags: u16,
    /// Number of the call site.
    pub site: u32,
    /// Number of the communicator.
    pub comm: u32,
    /// Number of a window, file or datatype.
    pub object: u32,
    /// Peer or root by its rank in the communicator; negative for null peers.
    pub peer: i32,
    /// Source of the receiving half of a send-receive.
    pub recv_peer: i32,
    /// Tag.
    pub tag: i32,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: i32,
}

impl Signature {
    #[inline(always)]
    pub(crate) fn words(&self) -> [u64; 4] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [
            pair(u32::from(self.op) | u32::from(self.flags) << 16, self.site),
            pair(self.comm, self.object),
            pair(self.peer as u32, self.recv_peer as u32),
            pair(self.tag as u32, self.recv_tag as u32),
        ]
    }

    pub(crate) fn from_words(words: [u64; 4]) -> Signature {
        let high = |word: u64| (word >> 32) as u32;
        Signature {
            op: words[0] as u16,
            flags: (words[0] >> 16) as u16,
            site: high(words[0]),
            comm: words[1] as u32,
            object: high(words[1]),
            peer: words[2] as i32,
            recv_peer: high(words[2]) as i32,
            tag: words[3] as i32,
            recv_tag: high(words[3]) as i32,
        }
    }
}

/// A number and where the shape's values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) symbol: u32,
    /// Word of the first value's side stream.
    pub(crate) lanes: usize,
}

/// How many values a shape has, and whether peers and tags are values too, as one number.
pub(crate) fn pack_values(values: usize, varies: bool) -> u64 {
    values as u64 | if varies { VARIES } else { 0 }
}

/// The first side stream of a shape, how many values it has, and whether peers and tags are values too.
pub(crate) fn unpack_tail(tail: u64) -> (usize, usize, bool) {
    let values = tail >> 32;
    (tail as u32 as usize, (values & !VARIES) as usize, values & VARIES != 0)
}

/// The table. Number 0 is kept for calls that have none.
pub(crate) struct Signatures {
    count: u32,
    lanes_used: u32,
}

impl Signatures {
    pub(crate) fn start(block: &mut Block<'_>) -> Signatures {
        // No call has so many values: what is asked whether it is symbol 0 never is.
        block.put(block.at.shapes + SHAPE_WORDS - 1, u64::MAX);
        block.put(SHAPES, 1);
        Signatures { count: 1, lanes_used: 0 }
    }

    /// Whether `symbol` is the number of this shape with so many values; a look that saves the search.
    #[inline(always)]
    pub(crate) fn is(block: &Block<'_>, symbol: u32, words: &[u64; 4], values: u64) -> Option<Numbered> {
        let entry: &[_; SHAPE_WORDS] = block.row(block.at.shapes + symbol as usize * SHAPE_WORDS);
        let word = |index: usize| entry[index].load(Ordering::Relaxed);
        let different =
            (word(0) ^ words[0]) | (word(1) ^ words[1]) | (word(2) ^ words[2]) | (word(3) ^ words[3]);
        let tail = word(4);
        if different != 0 || tail >> 32 != values {
            return None;
        }
        let first = block.at.sizes.loops as usize + tail as u32 as usize;
        Some(Numbered { symbol, lanes: block.at.lanes + first * LANE_WORDS })
    }

    /// The number of a shape, a new one if need be; nothing if the table is full.
    #[inline(never)]
    pub(crate) fn find(&mut self, block: &mut Block<'_>, words: [u64; 4], values: u64) -> Option<Numbered> {
        let mask = 2 * block.at.sizes.shapes as usize - 1;
        let mut place = hash(&words, values) as usize & mask;
        // The index is twice as large as the table, so there is always an empty place.
        loop {
            let symbol = block.get(block.at.shape_index + place) as u32;
            if symbol == 0 {
                return self.add(block, &words, values, place);
            }
            if let Some(known) = Signatures::is(block, symbol, &words, values) {
                return Some(known);
            }
            place = (place + 1) & mask;
        }
    }

    #[cold]
    fn add(
        &mut self,
        block: &mut Block<'_>,
        words: &[u64; 4],
        values: u64,
        place: usize,
    ) -> Option<Numbered> {
        let sizes = block.at.sizes;
        let varies = values & VARIES != 0;
        let lanes = (values & !VARIES) as u32 + if varies { VARYING as u32 } else { 0 };
        let part = |whole: u32| if varies { whole } else { whole / 4 * 3 };
        if self.count >= part(sizes.shapes) || self.lanes_used + lanes > part(sizes.values) {
            return None;
        }
        let symbol = self.count;
        let entry = block.at.shapes + symbol as usize * SHAPE_WORDS;
        for (offset, word) in words.iter().enumerate() {
            block.put(entry + offset, *word);
        }
        block.put(entry + 4, values << 32 | u64::from(self.lanes_used));
        self.count += 1;
        self.lanes_used += lanes;
        block.put(SHAPES, u64::from(self.count));
        block.put(block.at.shape_index + place, u64::from(symbol));
        Signatures::is(block, symbol, words, values)
    }
}

#[inline]
fn hash(words: &[u64; 4], values: u64) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xd6e8_feb8_6659_fd93;
    let low = (words[0] ^ A).wrapping_mul(B) ^ (words[1] ^ B).wrapping_mul(A).rotate_left(32);
    let high = (words[2] ^ low).wrapping_mul(A) ^ (words[3] ^ values).wrapping_mul(B).rotate_left(32);
    let mixed = (low ^ high.rotate_left(17)).wrapping_mul(A);
    mixed ^ mixed >> 29
}
