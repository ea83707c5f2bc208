//! The loops that are known: their bodies, found by their hash.
//!
//! A body is a list of calls and of loops that were known before it, so no loop contains itself. What is here is for
//! the writer alone; the reader learns bodies from the output, where each is written when it becomes known.

use super::block::{Block, DEPTH_MOST, LANE_WORDS, LOOP_WORDS};
use super::record::{Tag, Token, loop_of};
use super::window::Window;

/// A body: where it begins in the pool, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) at: usize,
    pub(crate) length: usize,
}

impl Body {
    #[inline(always)]
    pub(crate) fn item(&self, block: &Block<'_>, index: usize) -> Token {
        block.get(self.at + index) as u32
    }
}

/// Why a loop was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    TooDeep,
}

/// How many loops and items there are.
pub(crate) struct Dictionary {
    count: usize,
    items: usize,
}

impl Dictionary {
    pub(crate) fn start() -> Dictionary {
        Dictionary { count: 0, items: 0 }
    }

    pub(crate) fn items(&self) -> usize {
        self.items
    }

    #[inline]
    pub(crate) fn body(&self, block: &Block<'_>, number: usize) -> Body {
        let word = block.get(block.at.loops + number * LOOP_WORDS);
        Body { at: block.at.bodies + word as u32 as usize, length: (word >> 32) as usize }
    }

    /// The word of the side stream for a loop's counts.
    pub(crate) fn counts(block: &Block<'_>, number: usize) -> usize {
        block.at.lanes + number * LANE_WORDS
    }

    fn first_call(block: &Block<'_>, number: usize) -> Token {
        block.get(block.at.loops + number * LOOP_WORDS + 1) as u32
    }

    fn depth(block: &Block<'_>, number: usize) -> u64 {
        block.get(block.at.loops + number * LOOP_WORDS + 1) >> 32
    }

    /// Whether `next` is `item`, or what `item` begins with.
    pub(crate) fn begins(&self, block: &Block<'_>, mut item: Token, next: Token) -> bool {
        loop {
            if item == next {
                return true;
            }
            let Some(number) = loop_of(item) else { return false };
            if loop_of(next).is_none() {
                return Dictionary::first_call(block, number) == next;
            }
            item = self.body(block, number).item(block, 0);
        }
    }

    /// The loop whose body is the last items of the window; in any case the place of that body in the index.
    pub(crate) fn find(&self, block: &Block<'_>, window: &Window, length: usize) -> (Option<usize>, usize) {
        let mask = 2 * block.at.sizes.loops as usize - 1;
        let hash = window.tail_hash(block, length);
        let mut place = (hash ^ hash >> 16) as usize & mask;
        // The index is twice as large as the dictionary, so there is always an empty place.
        loop {
            let Some(number) = (block.get(block.at.loop_index + place) as usize).checked_sub(1) else {
                return (None, place);
            };
            let body = self.body(block, number);
            let same = body.length == length
                && (0..length).all(|index| body.item(block, index) == window.back(block, length - index));
            if same {
                return (Some(number), place);
            }
            place = (place + 1) & mask;
        }
    }

    /// Makes the last items of the window a loop, which [`Dictionary::find`] did not find.
    pub(crate) fn add(
        &mut self,
        block: &mut Block<'_>,
        window: &Window,
        length: usize,
        place: usize,
    ) -> Result<usize, Refused> {
        let sizes = block.at.sizes;
        if self.count == sizes.loops as usize || self.items + length > sizes.bodies as usize {
            return Err(Refused::Full);
        }
        let items = (1..=length).rev().map(|back| window.back(block, back));
        let inner = items.filter_map(loop_of).map(|number| Dictionary::depth(block, number)).max();
        let depth = inner.map_or(1, |depth| depth + 1);
        if depth > DEPTH_MOST as u64 {
            return Err(Refused::TooDeep);
        }
        let number = self.count;
        block.emit(Tag::Body(length as u64).pack());
        for index in 0..length {
            let item = window.back(block, length - index);
            block.put(block.at.bodies + self.items + index, u64::from(item));
            block.emit(u64::from(item));
        }
        let first = window.back(block, length);
        let first = loop_of(first).map_or(first, |inner| Dictionary::first_call(block, inner));
        let entry = block.at.loops + number * LOOP_WORDS;
        block.put(entry, (length as u64) << 32 | self.items as u64);
        block.put(entry + 1, depth << 32 | u64::from(first));
        block.put(block.at.loop_index + place, number as u64 + 1);
        self.count += 1;
        self.items += length;
        Ok(number)
    }

    /// Forgets all loops.
    pub(crate) fn forget(&mut self, block: &mut Block<'_>) {
        for place in 0..2 * block.at.sizes.loops as usize {
            block.put(block.at.loop_index + place, 0);
        }
        block.emit(Tag::Forget.pack());
        (self.count, self.items) = (0, 0);
    }
}
