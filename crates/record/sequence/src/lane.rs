//! Side streams: one for each value of a shape and one for the counts of each loop, being written.
//!
//! A value that never changes is remembered in two words. One that does gets a small memory of its last sixteen values,
//! and is stored as runs: the same as some values ago, as much more as the value before, or simply what it is.
//! When there is no memory left, only "the same as before" is known. What is stored is exact in any case.
//!
//! ```text
//! word 0   the value so far, or the one before (without a memory)
//! word 1   kind (2 bits) | length of the run (62), or with a memory:
//!          kind (2) | memory (10) | run of (5): 0..15 same as 1..16 values ago, 16 as much more
//!          | bytes in the buffer (7) | length of the run (40)
//! memory   word 0: scale (8, 255 if there was no need for one) | values seen (56); 16 words: values; 15 words: the buffer
//! ```
//!
//! The second word is stored last and alone decides what is there, so most changes are one store.

use super::block::{Block, LANE_WORDS, MEMORY_WORDS};
use super::operation::{HISTORY, Operation, Operations, Run};
use super::record::Tag;
use std::sync::atomic::{AtomicU64, Ordering};

const KIND_SHIFT: u32 = 62;
const MEMORY_SHIFT: u32 = 52;
const RUN_SHIFT: u32 = 47;
const BUFFERED_SHIFT: u32 = 40;
const RUN_MOST: u64 = (1 << BUFFERED_SHIFT) - 1;
const CONSTANT: u64 = 1;
const DIRECT: u64 = 2;
const REMEMBERING: u64 = 3;
const SCALE_SHIFT: u32 = 56;
const NO_SCALE: u64 = 0xff;

/// Bytes of a memory's buffer.
pub(crate) const BUFFER_BYTES: usize = (MEMORY_WORDS - 1 - HISTORY) * 8;

/// A side stream's second word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No value yet.
    Empty,
    /// One value, and so many more of it.
    Constant(u64),
    /// Nothing remembered but the value before, which came so many times more.
    Direct(u64),
    /// A memory.
    Remembering(Remembering),
}

/// A side stream that has a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembering {
    pub(crate) memory: usize,
    pub(crate) run: Run,
    pub(crate) length: u64,
    pub(crate) buffered: usize,
}

impl State {
    #[inline]
    pub(crate) fn unpack(word: u64) -> State {
        let plain = word & ((1 << KIND_SHIFT) - 1);
        match word >> KIND_SHIFT {
            0 => State::Empty,
            CONSTANT => State::Constant(plain),
            DIRECT => State::Direct(plain),
            _ => State::Remembering(Remembering {
                memory: (word >> MEMORY_SHIFT & 0x3ff) as usize,
                run: Run::unpack((word >> RUN_SHIFT & 31) as u32),
                length: word & RUN_MOST,
                buffered: (word >> BUFFERED_SHIFT & 0x7f) as usize,
            }),
        }
    }
}

impl Remembering {
    #[inline]
    fn pack(self) -> u64 {
        REMEMBERING << KIND_SHIFT
            | (self.memory as u64) << MEMORY_SHIFT
            | u64::from(self.run.pack()) << RUN_SHIFT
            | (self.buffered as u64) << BUFFERED_SHIFT
            | self.length
    }
}

/// The memories that are given to side streams as they need them.
pub(crate) struct Memories {
    used: usize,
}

impl Memories {
    pub(crate) fn start() -> Memories {
        Memories { used: 0 }
    }

    /// Appends a value of a call. It may be there without its call if the process is killed right after.
    #[inline(always)]
    pub(crate) fn append_value(&mut self, block: &mut Block<'_>, lane: usize, value: u64) {
        let [first, second]: &[AtomicU64; LANE_WORDS] = block.row(lane);
        let word = second.load(Ordering::Relaxed);
        if word >> KIND_SHIFT == CONSTANT && first.load(Ordering::Relaxed) == value {
            block.put(lane + 1, word + 1);
        } else {
            self.append_changed(block, lane, value);
        }
    }

    // Out of the way of the path above, which is short.
    #[inline(never)]
    fn append_changed(&mut self, block: &mut Block<'_>, lane: usize, value: u64) {
        match State::unpack(block.get(lane + 1)) {
            State::Remembering(state) => remember(block, lane, state, value, true),
            _ => self.append(block, lane, value),
        }
        block.commit();
    }

    /// Appends a value; it holds with the next commit.
    pub(crate) fn append(&mut self, block: &mut Block<'_>, lane: usize, value: u64) {
        let word = block.get(lane + 1);
        match State::unpack(word) {
            State::Remembering(state) => remember(block, lane, state, value, false),
            State::Empty => {
                block.set(lane, value);
                block.set(lane + 1, CONSTANT << KIND_SHIFT);
            }
            State::Constant(_) | State::Direct(_) if block.get(lane) == value => {
                block.set(lane + 1, word + 1)
            }
            State::Constant(more) => {
                self.wake(block, lane, more);
                self.append(block, lane, value);
            }
            State::Direct(more) => {
                let mut operations = Operations::default();
                operations.push_run(Run::SAME, more);
                operations.push(Operation::literal(block.get(lane), value, 0));
                emit_chunk(block, lane, operations.bytes());
                block.set(lane, value);
                block.set(lane + 1, DIRECT << KIND_SHIFT);
            }
        }
    }

    /// A value changed for the first time: from now on it needs more than two words.
    #[cold]
    fn wake(&mut self, block: &mut Block<'_>, lane: usize, more: u64) {
        let value = block.get(lane);
        let mut operations = Operations::default();
        operations.push(Operation::literal(0, value, 0));
        operations.push_run(Run::SAME, more);
        if self.used == block.at.sizes.changing as usize {
            emit_chunk(block, lane, operations.bytes());
            block.set(lane + 1, DIRECT << KIND_SHIFT);
            return;
        }
        let memory = self.used;
        self.used += 1;
        let at = block.at.memories + memory * MEMORY_WORDS;
        let seen = (more + 1).min(HISTORY as u64);
        for index in 0..HISTORY {
            block.put(at + 1 + index, if (index as u64) < seen { value } else { 0 });
        }
        block.put(at, seen | NO_SCALE << SCALE_SHIFT);
        let mut state = Remembering { memory, run: Run::SAME, length: 0, buffered: 0 };
        buffer(block, lane, &mut state, operations.bytes());
        block.set(lane + 1, state.pack());
    }
}

/// Takes a value into a side stream with a memory; `alone` if nothing else belongs to this change.
fn remember(block: &mut Block<'_>, lane: usize, mut state: Remembering, value: u64, alone: bool) {
    let at = block.at.memories + state.memory * MEMORY_WORDS;
    let words: &[AtomicU64; MEMORY_WORDS] = block.row(at);
    let counts = words[0].load(Ordering::Relaxed);
    let (mut scale, seen) = (counts >> SCALE_SHIFT, counts as usize & ((1 << SCALE_SHIFT) - 1));
    let ago = |values: usize| words[1 + seen.wrapping_sub(values) % HISTORY].load(Ordering::Relaxed);
    let mut flushed = false;
    if state.length > 0 && state.length < RUN_MOST && state.run.next(&ago) == Some(value) {
        state.length += 1;
    } else {
        let mut operations = Operations::default();
        match Operation::small(ago(2), ago(1), scale).filter(|_| state.length == 1) {
            Some(small) => operations.push(small),
            None => operations.push_run(state.run, state.length),
        }
        match Run::that_gives(value, &ago) {
            Some(found) => (state.run, state.length) = (found, 1),
            None => {
                let zeros = u64::from(value.wrapping_sub(ago(1)).trailing_zeros());
                if zeros < scale {
                    // Sizes are multiples of something; what their differences have in common is not stored.
                    operations.push(Operation::Scale(zeros as u32));
                    scale = zeros;
                }
                operations.push(Operation::literal(ago(1), value, scale as u32));
                (state.run, state.length) = (Run::SAME, 0);
            }
        }
        flushed = buffer(block, lane, &mut state, operations.bytes());
    }
    // What is behind the end of the buffer counts with this word: one store, unless more changed.
    if alone && !flushed {
        block.put(lane + 1, state.pack());
    } else {
        block.set(lane + 1, state.pack());
    }
    // Only the writer looks at the history: it needs no note in the log.
    block.put(at + 1 + seen % HISTORY, value);
    block.put(at, (seen as u64 + 1) | scale << SCALE_SHIFT);
}

/// Puts bytes into a side stream's buffer. A full one goes to the output first; returns whether it did.
fn buffer(block: &mut Block<'_>, lane: usize, state: &mut Remembering, bytes: &[u8]) -> bool {
    let at = block.at.memories + state.memory * MEMORY_WORDS + 1 + HISTORY;
    let flush = state.buffered + bytes.len() > BUFFER_BYTES;
    if flush {
        let words: &[AtomicU64; MEMORY_WORDS - 1 - HISTORY] = block.row(at);
        let mut content = [0; BUFFER_BYTES];
        for (bytes, word) in content.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        emit_chunk(block, lane, &content[..state.buffered]);
        state.buffered = 0;
    }
    let mut bytes = bytes.iter().peekable();
    while bytes.peek().is_some() {
        let word_at = at + state.buffered / 8;
        let mut shift = 8 * (state.buffered % 8);
        let mut word = block.get(word_at) & !(u64::MAX << shift);
        while shift < 64
            && let Some(&byte) = bytes.next()
        {
            word |= u64::from(byte) << shift;
            shift += 8;
            state.buffered += 1;
        }
        // Behind the end nothing is written over; a buffer that was just handed out is still good until the commit.
        if flush { block.set(word_at, word) } else { block.put(word_at, word) }
    }
    flush
}

/// Hands a piece of a side stream to the output.
fn emit_chunk(block: &mut Block<'_>, lane: usize, bytes: &[u8]) {
    let number = (lane - block.at.lanes) / LANE_WORDS;
    let loops = block.at.sizes.loops as usize;
    let tag = if number < loops { Tag::LoopLane(number) } else { Tag::ValueLane(number - loops) };
    block.emit(tag.pack());
    block.emit(bytes.len() as u64);
    bytes.iter().for_each(|&byte| block.emit_byte(byte));
}
