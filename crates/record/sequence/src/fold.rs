//! Folding: one call after another goes into the loop it continues, or into the window, where new loops are found.
//!
//! Loops in progress are a stack: the outermost, the one inside it that is being gone through, and so on. The next call
//! is expected by the innermost; if it comes, that is all. Otherwise a loop inside begins, or the innermost ends:
//! its count goes to its side stream, and what had begun of another round is taken in again behind it, item by item.
//! When the outermost ends, it becomes an item of the window. An item that ends a repetition there (a piece that
//! follows itself) makes a loop of it.
//!
//! The sequence is at any moment: what was handed out, the output, the window, the open loops from the outermost inwards
//! (count times its body, then the begun part of it), and the items that wait to be taken in again.

use super::block::{Block, DEPTH, FRAMES, LOST, PENDING, PENDINGS, STACK_MOST};
use super::dictionary::{Body, Dictionary, Refused};
use super::lane::Memories;
use super::record::{NOTHING, Token, loop_of};
use super::window::Window;

/// Bits of a frame's second word that say how far in the body it is; the rest is the count of rounds.
pub(crate) const PLACE_BITS: u32 = 20;
const PLACE_MASK: u64 = (1 << PLACE_BITS) - 1;
const ONE_ROUND: u64 = 1 << PLACE_BITS;

/// A new loop must save so many items at most before it is made.
const LEAST_GAIN_MOST: usize = 256;
/// A loop that covered so many items makes it easier again for new ones.
const GOOD_LOOP: u64 = 1024;
/// Items in the bodies of loops should each cover so many of the sequence, or making loops gets harder.
const WORTH: u64 = 32;

/// A loop that covered so many items was worth looking for.
const FRUIT: u64 = 16;
/// Where loops are not found, they are looked for in one window of so many.
const REST: u32 = 5;

/// What became of an item.
enum Step {
    Taken,
    Again,
}

/// The state of folding that is not in the block, or is there as well.
pub(crate) struct Folder {
    /// What the innermost loop expects next, and where that is.
    expected: Token,
    next_at: usize,
    /// The innermost loop's body and progress.
    body: Body,
    progress: u64,
    progress_at: usize,
    depth: usize,
    pending: usize,
    window: Window,
    dictionary: Dictionary,
    /// The loop that the innermost expects was tried with the next item, and did not fit.
    tried: bool,
    /// There was no room for a new loop.
    crowded: bool,
    least_gain: usize,
    /// Items taken in since loops were forgotten.
    covered: u64,
    /// Items put into the window since a loop was of some use.
    fruitless: u32,
}

impl Folder {
    pub(crate) fn start(block: &mut Block<'_>) -> Folder {
        Folder {
            expected: NOTHING,
            next_at: 0,
            body: Body { at: 0, length: 0 },
            progress: 0,
            progress_at: 0,
            depth: 0,
            pending: 0,
            window: Window::start(block),
            dictionary: Dictionary::start(),
            tried: false,
            crowded: false,
            least_gain: 1,
            covered: 0,
            fruitless: 0,
        }
    }

    /// The symbol that is expected next; 0, which no shape has, if it is none.
    #[inline(always)]
    pub(crate) fn expected_symbol(&self) -> u32 {
        let none = self.expected & 1;
        (self.expected / 2) & none.wrapping_sub(1)
    }

    /// Takes in the next call.
    #[inline(always)]
    pub(crate) fn push(&mut self, block: &mut Block<'_>, memories: &mut Memories, symbol: u32) {
        let token = symbol * 2;
        if token != self.expected {
            return self.take_in(block, memories, token);
        }
        self.go_on();
        // One store is a change of its own: it is made, or not.
        block.put(self.progress_at, self.progress);
        self.expected = block.get(self.next_at) as u32;
    }

    #[inline(always)]
    fn go_on(&mut self) {
        self.next_at += 1;
        self.progress += 1;
        if self.next_at == self.body.at + self.body.length {
            self.next_at = self.body.at;
            self.progress += ONE_ROUND - self.body.length as u64;
        }
    }

    #[inline(never)]
    fn take_in(&mut self, block: &mut Block<'_>, memories: &mut Memories, token: Token) {
        self.tried = false;
        loop {
            let waiting = self.first_pending(block);
            let step = self.step(block, memories, waiting.unwrap_or(token));
            if let Step::Taken = step {
                self.tried = false;
                if waiting.is_some() {
                    self.drop_pending(block);
                }
            }
            block.commit();
            if waiting.is_none() && matches!(step, Step::Taken) {
                break;
            }
        }
        if self.crowded && self.depth == 0 {
            self.forget(block);
        }
    }

    /// The caller did not take the output in time: the sequence ends here, and what follows is counted.
    #[cold]
    pub(crate) fn lose(&mut self, block: &mut Block<'_>) {
        block.stop();
        block.put(LOST, block.get(LOST) + 1);
    }

    pub(crate) fn lost(&self, block: &Block<'_>) -> u64 {
        block.get(LOST)
    }

    fn step(&mut self, block: &mut Block<'_>, memories: &mut Memories, next: Token) -> Step {
        if self.depth == 0 {
            self.add(block, next);
            return Step::Taken;
        }
        if self.expected == next {
            self.advance(block);
            return Step::Taken;
        }
        if let Some(inner) = loop_of(self.expected)
            && !self.tried
            && !self.is_pending(block, inner)
        {
            if self.pending + self.depth < STACK_MOST && self.dictionary.begins(block, self.expected, next) {
                self.open(block, inner, 0);
                return Step::Again;
            }
            if loop_of(next).is_none() && self.dictionary.begins(block, self.follower(block), next) {
                // This time the loop inside is not gone through at all.
                memories.append(block, Dictionary::counts(block, inner), 0);
                self.advance(block);
                return Step::Again;
            }
        }
        self.close(block, memories);
        Step::Again
    }

    /// What comes after the expected item.
    fn follower(&self, block: &Block<'_>) -> Token {
        let place = (self.progress & PLACE_MASK) as usize + 1;
        self.body.item(block, if place == self.body.length { 0 } else { place })
    }

    fn advance(&mut self, block: &mut Block<'_>) {
        self.go_on();
        block.set(self.progress_at, self.progress);
        self.expected = block.get(self.next_at) as u32;
    }

    /// A loop inside the innermost begins, or the outermost after so many rounds.
    fn open(&mut self, block: &mut Block<'_>, number: usize, rounds: u64) {
        let frame = FRAMES + 2 * self.depth;
        block.set(frame, number as u64);
        block.set(frame + 1, rounds << PLACE_BITS);
        self.set_depth(block, self.depth + 1);
    }

    /// The innermost loop ends; what had begun of another round is to be taken in again.
    fn close(&mut self, block: &mut Block<'_>, memories: &mut Memories) {
        let number = block.get(FRAMES + 2 * (self.depth - 1)) as usize;
        let rounds = self.progress >> PLACE_BITS;
        let begun = self.progress & PLACE_MASK;
        let covered = rounds * self.body.length as u64;
        self.set_depth(block, self.depth - 1);
        self.tried = rounds == 0;
        if begun > 0 {
            let entry = PENDINGS + 2 * self.pending;
            block.set(entry, number as u64);
            block.set(entry + 1, begun << 32);
            self.pending += 1;
            block.set(PENDING, self.pending as u64);
        }
        if rounds == 0 {
            return;
        }
        memories.append(block, Dictionary::counts(block, number), rounds);
        if self.depth > 0 {
            return self.advance(block);
        }
        self.covered += covered;
        if covered >= FRUIT {
            self.fruitless = 0;
        }
        if covered >= GOOD_LOOP {
            self.least_gain = (self.least_gain / 2).max(1);
        }
        self.add(block, number as u32 * 2 + 1);
    }

    fn set_depth(&mut self, block: &mut Block<'_>, depth: usize) {
        self.depth = depth;
        block.set(DEPTH, depth as u64);
        if depth == 0 {
            self.expected = NOTHING;
            return;
        }
        let frame = FRAMES + 2 * (depth - 1);
        self.body = self.dictionary.body(block, block.get(frame) as usize);
        self.progress_at = frame + 1;
        self.progress = block.get(frame + 1);
        self.next_at = self.body.at + (self.progress & PLACE_MASK) as usize;
        self.expected = block.get(self.next_at) as u32;
    }

    /// Puts an item into the window and folds what it ends. There is no open loop.
    fn add(&mut self, block: &mut Block<'_>, item: Token) {
        if self.window.is_full() {
            let quarter = block.at.sizes.window as usize / 4;
            self.window.emit_first(block, quarter);
        }
        self.covered += 1;
        self.fruitless += 1;
        let size = block.at.sizes.window;
        if self.fruitless > size {
            // Nothing for a whole window: what is just passed on for a while costs little.
            if self.fruitless > REST * size {
                self.fruitless = 0;
            }
            return self.window.append(block, item);
        }
        let distances = self.window.append_and_look(block, item);
        for distance in distances {
            if distance > 0 && self.window.may_repeat(block, distance, distance) && self.fold(block, distance)
            {
                return;
            }
        }
    }

    /// Makes the repetition with this period at the end of the window a loop, if it is one and worth it.
    fn fold(&mut self, block: &mut Block<'_>, period: usize) -> bool {
        if self.pending + 1 >= STACK_MOST {
            return false;
        }
        let (known, place) = self.dictionary.find(block, &self.window, period);
        // What is no loop yet must have saved something already, more so where loops were of little use so far.
        let gain =
            if known.is_some() { period } else { self.least_gain.next_multiple_of(period).max(period) };
        if gain > period && !self.window.may_repeat(block, period, gain) {
            return false;
        }
        if !self.window.repeats(block, period, gain) {
            return false;
        }
        let number = match known {
            Some(number) if self.is_pending(block, number) => return false,
            Some(number) => number,
            None => match self.dictionary.add(block, &self.window, period, place) {
                Ok(number) => number,
                Err(refused) => {
                    self.crowded |= refused == Refused::Full;
                    return false;
                }
            },
        };
        self.window.cut(block, gain + period);
        self.open(block, number, (gain / period + 1) as u64);
        true
    }

    fn first_pending(&self, block: &Block<'_>) -> Option<Token> {
        let entry = PENDINGS + 2 * self.pending.checked_sub(1)?;
        let body = self.dictionary.body(block, block.get(entry) as usize);
        Some(body.item(block, block.get(entry + 1) as u32 as usize))
    }

    /// The first item that waited was taken in.
    fn drop_pending(&mut self, block: &mut Block<'_>) {
        let entry = PENDINGS + 2 * (self.pending - 1);
        let range = block.get(entry + 1) + 1;
        if range as u32 == (range >> 32) as u32 {
            self.pending -= 1;
            block.set(PENDING, self.pending as u64);
        } else {
            block.set(entry + 1, range);
        }
    }

    /// Whether an occurrence of this loop may be in what waits to be taken in again: itself, or in a loop that was made
    /// after it. Its count is in the side stream already, so no other occurrence may come before it.
    fn is_pending(&self, block: &Block<'_>, number: usize) -> bool {
        (0..self.pending).any(|index| {
            let entry = PENDINGS + 2 * index;
            let body = self.dictionary.body(block, block.get(entry) as usize);
            let range = block.get(entry + 1);
            let mut items = range as u32 as usize..(range >> 32) as usize;
            items.any(|item| loop_of(body.item(block, item)).is_some_and(|waiting| waiting >= number))
        })
    }

    /// Loops that are of no use fill the dictionary: begin again, and be choosier if they covered little.
    #[cold]
    fn forget(&mut self, block: &mut Block<'_>) {
        let worth = self.covered / (self.dictionary.items() as u64).max(1);
        self.least_gain = if worth < WORTH {
            (self.least_gain * 2).min(LEAST_GAIN_MOST)
        } else {
            (self.least_gain / 2).max(1)
        };
        self.window.emit_first(block, self.window.length());
        self.dictionary.forget(block);
        block.commit();
        (self.crowded, self.covered) = (false, 0);
    }
}
