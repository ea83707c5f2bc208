//! Side streams: one for each value of a shape and one for the counts of each loop, being written.
//!
//! A value that never changes is remembered in two words. One that does gets a small memory of its last sixteen values,
//! and is stored as runs: the same as some values ago, as much more as the value before, or simply what it is.
//! When there is no memory left, only "the same as before" is known. What is stored is exact in any case.
//!
//! ```text
//! word 0   the value so far, or the one before (without a memory)
//! word 1   kind (2 bits) | memory (12) | run of (5): 0..15 same as 1..16 values ago, 16 as much more | length of the run (45)
//! memory   word 0: values seen (32) | bytes in the buffer (32); 16 words: values; 15 words: the buffer
//! ```

use super::block::{Block, LANE_WORDS, MEMORY_WORDS};
use super::operation::{HISTORY, Operation, Operations, Run};
use super::record::Tag;

const KIND_SHIFT: u32 = 62;
const MEMORY_SHIFT: u32 = 50;
const RUN_SHIFT: u32 = 45;
const LENGTH_MASK: u64 = (1 << RUN_SHIFT) - 1;
const CONSTANT: u64 = 1;

/// Bytes of a memory's buffer.
pub(crate) const BUFFER_BYTES: usize = (MEMORY_WORDS - 1 - HISTORY) * 8;

/// What a side stream's second word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No value yet.
    Empty,
    /// One value, and so many more of it.
    Constant,
    /// Nothing remembered but the value before.
    Direct,
    /// A memory.
    Remembering,
}

/// The second word, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) kind: Kind,
    pub(crate) memory: usize,
    pub(crate) run: Run,
    pub(crate) length: u64,
}

impl State {
    pub(crate) fn unpack(word: u64) -> State {
        let kind = match word >> KIND_SHIFT {
            0 => Kind::Empty,
            CONSTANT => Kind::Constant,
            2 => Kind::Direct,
            _ => Kind::Remembering,
        };
        State {
            kind,
            memory: (word >> MEMORY_SHIFT & 0xfff) as usize,
            run: Run::unpack((word >> RUN_SHIFT & 31) as u32),
            length: word & LENGTH_MASK,
        }
    }

    fn pack(self) -> u64 {
        let kind = match self.kind {
            Kind::Empty => 0,
            Kind::Constant => CONSTANT,
            Kind::Direct => 2,
            Kind::Remembering => 3,
        };
        kind << KIND_SHIFT
            | (self.memory as u64) << MEMORY_SHIFT
            | u64::from(self.run.pack()) << RUN_SHIFT
            | self.length & LENGTH_MASK
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
        let word = block.get(lane + 1);
        if word >> KIND_SHIFT == CONSTANT && block.get(lane) == value {
            block.put(lane + 1, word + 1);
        } else {
            self.append(block, lane, value);
            block.commit();
        }
    }

    /// Appends a value; it holds with the next commit.
    pub(crate) fn append(&mut self, block: &mut Block<'_>, lane: usize, value: u64) {
        let word = block.get(lane + 1);
        let state = State::unpack(word);
        match state.kind {
            Kind::Empty => {
                block.set(lane, value);
                block.set(lane + 1, State { kind: Kind::Constant, ..state }.pack());
            }
            Kind::Constant | Kind::Direct if block.get(lane) == value => block.set(lane + 1, word + 1),
            Kind::Constant => {
                self.wake(block, lane, state);
                self.append(block, lane, value);
            }
            Kind::Direct => {
                let before = block.get(lane);
                let mut operations = Operations::default();
                operations.push_run(Run::SAME, state.length);
                operations.push(Operation::literal(before, value));
                emit_chunk(block, lane, operations.bytes().iter().copied());
                block.set(lane, value);
                block.set(lane + 1, State { length: 0, ..state }.pack());
            }
            Kind::Remembering => remember(block, lane, state, value),
        }
    }

    /// A value changed for the first time: from now on it needs more than two words.
    #[cold]
    fn wake(&mut self, block: &mut Block<'_>, lane: usize, state: State) {
        let value = block.get(lane);
        let mut operations = Operations::default();
        operations.push(Operation::literal(0, value));
        operations.push_run(Run::SAME, state.length);
        if self.used == block.at.sizes.changing as usize {
            emit_chunk(block, lane, operations.bytes().iter().copied());
            block.set(lane + 1, State { kind: Kind::Direct, length: 0, ..state }.pack());
            return;
        }
        let memory = self.used;
        self.used += 1;
        let at = memory_at(block, memory);
        let seen = (state.length + 1).min(HISTORY as u64);
        for index in 0..HISTORY {
            block.put(at + 1 + index, if (index as u64) < seen { value } else { 0 });
        }
        block.put(at, seen << 32);
        let kind = Kind::Remembering;
        block.set(lane + 1, State { kind, memory, run: Run::SAME, length: 0 }.pack());
        append_buffer(block, lane, at, operations.bytes());
    }
}

/// Takes a value into a side stream with a memory.
fn remember(block: &mut Block<'_>, lane: usize, state: State, value: u64) {
    let at = memory_at(block, state.memory);
    let seen = block.get(at) >> 32;
    let ago = |values: usize| block.get(at + 1 + (seen as usize).wrapping_sub(values) % HISTORY);
    let (mut run, mut length) = (state.run, state.length);
    if length == 0 || run.next(&ago) != Some(value) {
        let mut operations = Operations::default();
        operations.push_run(run, length);
        match Run::that_gives(value, &ago) {
            Some(found) => (run, length) = (found, 1),
            None => {
                operations.push(Operation::literal(ago(1), value));
                (run, length) = (Run::SAME, 0);
            }
        }
        append_buffer(block, lane, at, operations.bytes());
    } else {
        length += 1;
    }
    block.set(lane + 1, State { run, length, ..state }.pack());
    // Only the writer looks at the history: it needs no note in the log.
    block.put(at + 1 + seen as usize % HISTORY, value);
    let buffered = block.get(at) as u32;
    // Counted so that the remainder by the history's length goes on as it is when the number wraps.
    block.put(at, u64::from((seen as u32).wrapping_add(1)) << 32 | u64::from(buffered));
}

fn append_buffer(block: &mut Block<'_>, lane: usize, at: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let buffer = at + 1 + HISTORY;
    let mut length = block.get(at) as u32 as usize;
    if length + bytes.len() > BUFFER_BYTES {
        let content: [u8; BUFFER_BYTES] =
            std::array::from_fn(|index| (block.get(buffer + index / 8) >> (8 * (index % 8))) as u8);
        emit_chunk(block, lane, content[..length].iter().copied());
        length = 0;
    }
    // Bytes in front of the old end may be written over: they are noted in the log with their word.
    let mut index = length;
    while index < length + bytes.len() {
        let word_at = buffer + index / 8;
        let mut word = block.get(word_at);
        while index < length + bytes.len() {
            let shift = 8 * (index % 8);
            word = word & !(0xff << shift) | u64::from(bytes[index - length]) << shift;
            index += 1;
            if index.is_multiple_of(8) {
                break;
            }
        }
        block.set(word_at, word);
    }
    let seen = block.get(at) >> 32;
    block.set(at, seen << 32 | (length + bytes.len()) as u64);
}

/// Hands a piece of a side stream to the output.
fn emit_chunk(block: &mut Block<'_>, lane: usize, bytes: impl ExactSizeIterator<Item = u8>) {
    let number = (lane - block.at.lanes) / LANE_WORDS;
    let loops = block.at.sizes.loops as usize;
    let tag = if number < loops { Tag::LoopLane(number) } else { Tag::ValueLane(number - loops) };
    block.emit(tag.pack());
    block.emit(bytes.len() as u64);
    for byte in bytes {
        block.emit_byte(byte);
    }
}

pub(crate) fn memory_at(block: &Block<'_>, memory: usize) -> usize {
    block.at.memories + memory * MEMORY_WORDS
}
