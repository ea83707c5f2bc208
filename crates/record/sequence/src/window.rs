//! The latest calls and loops that are in no loop yet, and the search for repetitions among them.
//!
//! With every item the window keeps a hash of all items up to it, so that two pieces of any length are compared in two
//! multiplications; what the hashes call equal is compared item by item before anything is folded.
//! Distances worth comparing come from a table of where an item, and where it and the two before it, were seen last.

use super::block::{Block, WINDOW_END, WINDOW_START};
use super::record::{Tag, Token};

const FACTOR: u32 = 0x9e37_79b1;

/// Where in the sequence the window begins and ends.
pub(crate) struct Window {
    start: u64,
    end: u64,
    mask: u64,
}

impl Window {
    pub(crate) fn start(block: &mut Block<'_>) -> Window {
        let size = block.at.sizes.window;
        let mut power = 1u32;
        for index in (0..size).step_by(2) {
            let low = power;
            let high = power.wrapping_mul(FACTOR);
            block.put(block.at.powers + index as usize / 2, u64::from(low) | u64::from(high) << 32);
            power = high.wrapping_mul(FACTOR);
        }
        Window { start: 0, end: 0, mask: u64::from(size) - 1 }
    }

    fn slot(&self, block: &Block<'_>, at: u64) -> usize {
        block.at.window + (at & self.mask) as usize
    }

    pub(crate) fn length(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// The item so many places from the end; 1 is the last.
    pub(crate) fn back(&self, block: &Block<'_>, back: usize) -> Token {
        block.get(self.slot(block, self.end - back as u64)) as u32
    }

    fn prefix(&self, block: &Block<'_>, back: usize) -> u32 {
        (block.get(self.slot(block, self.end.wrapping_sub(back as u64 + 1))) >> 32) as u32
    }

    fn power(&self, block: &Block<'_>, exponent: usize) -> u32 {
        (block.get(block.at.powers + exponent / 2) >> (32 * (exponent % 2))) as u32
    }

    /// The hash of the last `length` items.
    pub(crate) fn tail_hash(&self, block: &Block<'_>, length: usize) -> u32 {
        let power = self.power(block, length);
        self.prefix(block, 0).wrapping_sub(self.prefix(block, length).wrapping_mul(power))
    }

    /// Appends an item.
    ///
    /// A full window is to be shortened before. One place stays free for the hash in front of the first item.
    #[inline]
    pub(crate) fn append(&mut self, block: &mut Block<'_>, token: Token) {
        let hash = self.prefix(block, 0).wrapping_mul(FACTOR).wrapping_add(mix(token));
        let slot = self.slot(block, self.end);
        block.put(slot, u64::from(token) | u64::from(hash) << 32);
        self.end += 1;
        block.set(WINDOW_END, self.end);
    }

    /// Appends an item; gives up to two distances at which the window may repeat itself, the shorter first.
    pub(crate) fn append_and_look(&mut self, block: &mut Block<'_>, token: Token) -> [usize; 2] {
        self.append(block, token);
        let alone = self.seen_last(block, mix(token).wrapping_mul(FACTOR));
        let three = if self.length() >= 3 { self.seen_last(block, !self.tail_hash(block, 3)) } else { 0 };
        [alone, if three == alone { 0 } else { three }]
    }

    /// How far back this key was seen last, 0 if that is not known or too far; now it is seen here.
    fn seen_last(&self, block: &mut Block<'_>, key: u32) -> usize {
        let spread = key ^ key >> 15;
        let places = 2 * block.at.sizes.window - 1;
        let place = block.at.recent + (spread & places) as usize;
        let entry = block.get(place);
        let here = self.end as u32;
        block.put(place, u64::from(here) | u64::from(key) << 32);
        let distance = here.wrapping_sub(entry as u32) as usize;
        // The window may have been cut since: an entry from what is gone points nowhere good, and does no harm.
        if (entry >> 32) as u32 == key && distance <= self.length() / 2 { distance } else { 0 }
    }

    /// Whether the last `length` items are the same as those `distance` before them, by their hashes.
    pub(crate) fn may_repeat(&self, block: &Block<'_>, distance: usize, length: usize) -> bool {
        if distance + length > self.length() {
            return false;
        }
        let power = self.power(block, length);
        let hash = |back: usize| {
            self.prefix(block, back).wrapping_sub(self.prefix(block, back + length).wrapping_mul(power))
        };
        hash(0) == hash(distance)
    }

    /// The same, item by item.
    pub(crate) fn repeats(&self, block: &Block<'_>, distance: usize, length: usize) -> bool {
        distance + length <= self.length()
            && (1..=length).all(|back| self.back(block, back) == self.back(block, back + distance))
    }

    /// Takes the last items away.
    pub(crate) fn cut(&mut self, block: &mut Block<'_>, count: usize) {
        self.end -= count as u64;
        block.set(WINDOW_END, self.end);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.length() as u64 == self.mask
    }

    /// Hands the first items to the output: nothing will fold them any more.
    pub(crate) fn emit_first(&mut self, block: &mut Block<'_>, count: usize) {
        for at in self.start..self.start + count as u64 {
            let token = block.get(self.slot(block, at)) as u32;
            block.emit(Tag::Token(token).pack());
        }
        self.start += count as u64;
        block.set(WINDOW_START, self.start);
    }
}

fn mix(token: Token) -> u32 {
    token.wrapping_mul(0x85eb_ca6b).rotate_left(13) ^ token
}
