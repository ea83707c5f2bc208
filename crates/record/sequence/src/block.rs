//! The one block of memory that holds everything: where what lies in it, and how it is changed.
//!
//! All changes are stores of whole words in the order of the program, so that a process killed between any two of them
//! leaves a block that can be read. Changes that belong together are made between two [`Block::commit`]s: each word's
//! old content is noted in a log first, and who finds a log that was not ended puts the old contents back.
//! What lies behind the end of a list (the window, the output, a buffer) is no content yet and needs no note.

use kizami_wire::varint;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"KZFOLD01");

/// Loops within loops within loops: deeper nests are not folded further.
pub(crate) const DEPTH_MOST: usize = 16;
/// Open loops and slices waiting to be taken in again, together.
pub(crate) const STACK_MOST: usize = 48;
/// Words changed by one step, at most.
pub(crate) const LOG_MOST: usize = 64;

/// Words of a loop in the dictionary, of a side stream, of a side stream's memory, of a shape.
pub(crate) const LOOP_WORDS: usize = 2;
pub(crate) const LANE_WORDS: usize = 2;
pub(crate) const MEMORY_WORDS: usize = 32;
pub(crate) const SHAPE_WORDS: usize = 5;

/// Bytes that may lie in the output before the caller is asked to take them.
pub(crate) const OUT_COMFORTABLE: u64 = 8192;

pub(crate) const SIZES: usize = 1;
pub(crate) const LOG_COUNT: usize = 8;
pub(crate) const WINDOW_START: usize = 9;
pub(crate) const WINDOW_END: usize = 10;
pub(crate) const DEPTH: usize = 11;
pub(crate) const PENDING: usize = 12;
pub(crate) const OUT_BASE: usize = 13;
pub(crate) const OUT_END: usize = 14;
pub(crate) const SHAPES: usize = 15;
pub(crate) const STOPPED: usize = 16;
pub(crate) const LOST: usize = 17;
pub(crate) const LOG: usize = 64;
pub(crate) const FRAMES: usize = LOG + 2 * LOG_MOST;
pub(crate) const PENDINGS: usize = FRAMES + 2 * STACK_MOST;
const REGIONS: usize = PENDINGS + 2 * STACK_MOST;

/// How much of everything there is room for. All are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Calls that are looked back at for repetitions; a loop's body may have half as many.
    pub window: u32,
    /// Calls in the bodies of all loops known at a time.
    pub bodies: u32,
    /// Loops known at a time.
    pub loops: u32,
    /// Shapes of calls; those beyond are written out each time.
    pub shapes: u32,
    /// Values of all shapes together.
    pub values: u32,
    /// Values that may change in a regular way, at most 1,024; those beyond are stored with less thrift.
    pub changing: u32,
}

impl Default for Sizes {
    /// 363 KB.
    fn default() -> Sizes {
        Sizes { window: 2048, bodies: 4096, loops: 512, shapes: 1024, values: 2048, changing: 128 }
    }
}

impl Sizes {
    /// Bytes of a block of these sizes; a multiple of 64.
    pub fn bytes(&self) -> usize {
        Layout::new(*self).map_or(0, |layout| layout.words * 8)
    }

    fn fields(&self) -> [u32; 6] {
        [self.window, self.bodies, self.loops, self.shapes, self.values, self.changing]
    }

    pub(crate) fn from_words(word: impl Fn(usize) -> u64) -> Option<Sizes> {
        let field = |index: usize| u32::try_from(word(SIZES + index)).ok();
        Some(Sizes {
            window: field(0)?,
            bodies: field(1)?,
            loops: field(2)?,
            shapes: field(3)?,
            values: field(4)?,
            changing: field(5)?,
        })
    }
}

/// Where the regions begin, in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) sizes: Sizes,
    pub(crate) window: usize,
    pub(crate) recent: usize,
    pub(crate) powers: usize,
    pub(crate) bodies: usize,
    pub(crate) loops: usize,
    pub(crate) loop_index: usize,
    pub(crate) lanes: usize,
    pub(crate) memories: usize,
    pub(crate) shapes: usize,
    pub(crate) shape_index: usize,
    pub(crate) out: usize,
    pub(crate) out_bytes: u64,
    /// So much must be free in the output before a call is taken in: no call needs more.
    pub(crate) out_reserve: u64,
    pub(crate) words: usize,
}

impl Layout {
    /// Nothing if a size is no power of two or out of all proportion.
    pub(crate) fn new(sizes: Sizes) -> Option<Layout> {
        let sane = |size: u32| size.is_power_of_two() && (16..=1 << 18).contains(&size);
        if !sizes.fields().into_iter().all(sane) || sizes.changing > 1024 {
            return None;
        }
        let mut at = REGIONS;
        let mut region = |words: u32| {
            let start = at;
            at += (words as usize).next_multiple_of(8);
            start
        };
        // A call may make every open loop's rest come back into the window and new loops be named on the way, at
        // three bytes an item, and some side streams hand out their buffers.
        let out_reserve = 3 * (u64::from(sizes.window) + 2 * u64::from(sizes.bodies)) + 6144;
        // Room for two such calls: a list of requests is several, and only the first of them can break loops.
        let out_bytes = (2 * out_reserve + 2 * OUT_COMFORTABLE).next_power_of_two();
        let lanes = sizes.loops + sizes.values;
        let mut layout = Layout {
            sizes,
            window: region(sizes.window),
            recent: region(2 * sizes.window),
            powers: region(sizes.window / 2),
            bodies: region(sizes.bodies),
            loops: region(sizes.loops * LOOP_WORDS as u32),
            loop_index: region(2 * sizes.loops),
            lanes: region(lanes * LANE_WORDS as u32),
            memories: region(sizes.changing * MEMORY_WORDS as u32),
            shapes: region(sizes.shapes * SHAPE_WORDS as u32),
            shape_index: region(2 * sizes.shapes),
            out: region((out_bytes / 8) as u32),
            out_bytes,
            out_reserve,
            words: 0,
        };
        layout.words = at;
        Some(layout)
    }
}

/// The block while it is being written.
pub(crate) struct Block<'a> {
    words: &'a [AtomicU64],
    pub(crate) at: Layout,
    logged: usize,
    out_base: u64,
    /// Up to this end of the output, another call can be taken in.
    room_until: u64,
    /// From this end of the output on, the caller is to take it.
    ask_from: u64,
    /// End of the output, with what is not committed yet.
    out_end: u64,
    out_committed: u64,
    stopped: bool,
    /// Every store there was, for tests that cut them off somewhere.
    #[cfg(test)]
    pub(crate) journal: Option<Vec<(usize, u64)>>,
}

impl<'a> Block<'a> {
    /// Takes the first words of zeroed memory; nothing if it is too small or the sizes are no good.
    pub(crate) fn start(words: &'a [AtomicU64], sizes: Sizes) -> Option<Block<'a>> {
        let at = Layout::new(sizes)?;
        let words = words.get(..at.words)?;
        let mut block = Block {
            words,
            at,
            logged: 0,
            out_base: 0,
            room_until: at.out_bytes - at.out_reserve,
            ask_from: OUT_COMFORTABLE,
            out_end: 0,
            out_committed: 0,
            stopped: false,
            #[cfg(test)]
            journal: None,
        };
        for (index, size) in sizes.fields().into_iter().enumerate() {
            block.put(SIZES + index, u64::from(size));
        }
        Some(block)
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.words[index].load(Ordering::Relaxed)
    }

    /// Some words in a row.
    #[inline(always)]
    pub(crate) fn row<const WORDS: usize>(&self, index: usize) -> &'a [AtomicU64; WORDS] {
        self.words[index..][..WORDS].try_into().expect("as many as asked for")
    }

    /// Stores a word that is not read yet, or that is a change of its own.
    #[inline(always)]
    pub(crate) fn put(&mut self, index: usize, value: u64) {
        // Release keeps the order of stores as written; on x86-64 it costs nothing.
        self.words[index].store(value, Ordering::Release);
        #[cfg(test)]
        if let Some(journal) = &mut self.journal {
            journal.push((index, value));
        }
    }

    /// Stores a word as part of a change that holds with the next [`Block::commit`].
    #[inline]
    pub(crate) fn set(&mut self, index: usize, value: u64) {
        assert!(!cfg!(test) || self.logged < LOG_MOST, "a step changes few words");
        let old = self.get(index);
        let note = LOG + 2 * (self.logged % LOG_MOST);
        self.put(note, index as u64);
        self.put(note + 1, old);
        self.logged += 1;
        self.put(LOG_COUNT, self.logged as u64);
        self.put(index, value);
    }

    /// What was changed since the last time holds from now on.
    #[inline]
    pub(crate) fn commit(&mut self) {
        if self.out_end != self.out_committed {
            self.set(OUT_END, self.out_end);
            self.out_committed = self.out_end;
        }
        if self.logged != 0 {
            self.put(LOG_COUNT, 0);
            self.logged = 0;
        }
    }

    /// Appends a byte to the output; it counts with the next commit.
    #[inline]
    pub(crate) fn emit_byte(&mut self, byte: u8) {
        let place = self.out_end & (self.at.out_bytes - 1);
        let index = self.at.out + (place / 8) as usize;
        let shift = 8 * (place % 8);
        let word = self.get(index) & !(0xff << shift) | u64::from(byte) << shift;
        self.put(index, word);
        self.out_end += 1;
    }

    /// Appends a number to the output.
    #[inline]
    pub(crate) fn emit(&mut self, value: u64) {
        if value < 0x80 {
            self.emit_byte(value as u8);
        } else if value < 0x4000 {
            self.emit_byte(value as u8 | 0x80);
            self.emit_byte((value >> 7) as u8);
        } else {
            varint::each_byte(value, |byte| self.emit_byte(byte));
        }
    }

    /// Whether there is much output that was not taken.
    #[inline(always)]
    pub(crate) fn wants_taking(&self) -> bool {
        self.out_end >= self.ask_from
    }

    /// Whether another call can be taken in.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.out_end <= self.room_until
    }

    /// No call can be taken in any more: the sequence must not go on behind a gap.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.room_until = 0;
        self.put(STOPPED, 1);
    }

    /// Copies what waits into `buffer`, as far as it fits; returns how many bytes.
    pub(crate) fn copy_out(&self, buffer: &mut [u8]) -> usize {
        let count = (self.out_committed - self.out_base).min(buffer.len() as u64);
        for (offset, byte) in buffer.iter_mut().enumerate().take(count as usize) {
            let place = (self.out_base + offset as u64) & (self.at.out_bytes - 1);
            *byte = (self.get(self.at.out + (place / 8) as usize) >> (8 * (place % 8))) as u8;
        }
        count as usize
    }

    /// The first `count` bytes that waited are safe elsewhere.
    pub(crate) fn handed_out(&mut self, count: usize) {
        self.out_base += count as u64;
        self.put(OUT_BASE, self.out_base);
        if !self.stopped {
            self.room_until = self.out_base + self.at.out_bytes - self.at.out_reserve;
        }
        self.ask_from = self.out_base + OUT_COMFORTABLE;
    }
}
