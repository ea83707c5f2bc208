//! The one block of memory that holds all of a reducer's state, as it lies there.
//!
//! Everything in it is a plain integer, so any bytes are some block; who reads one that another process wrote
//! trusts no index in it. Zeros are an empty block. Words are in the byte order of the machine, which the
//! magic number shows.

use super::bins::{BINS, OCTAVES};

/// Classes by duration: up to 1 us, 10 us, 100 us, 1 ms, 10 ms, 100 ms, 1 s, and longer.
pub const DECADES: usize = 8;
/// The first class that holds only calls of more than 10 ms.
pub const LONG_DECADE: usize = 5;
/// Words of what is kept of a row.
pub const PAYLOAD_WORDS: usize = 8;

pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"kzsample");
pub(super) const VERSION: u32 = 2;

pub(super) const KINDS: usize = 512;
/// Kinds of which all of (site, op, size) is known; what comes later goes to one kind per op.
pub(super) const KINDS_KNOWN: usize = 400;
/// Kinds with those that stand for a function; the rest of the table stays empty, so that searches are short.
pub(super) const KINDS_MOST: usize = 448;
/// The kind of everything that found no other.
pub(super) const KIND_ANY: usize = KINDS - 1;
pub(super) const CLASSES: usize = 1024;
/// Classes given on request; the rest is for first classes of kinds per op, and for long calls.
pub(super) const CLASSES_KNOWN: usize = 880;
pub(super) const PAGES: usize = 704;
/// Bins of a page, with some room so that pages begin at multiples of 32 bytes.
pub(super) const PAGE_BINS: usize = BINS.next_multiple_of(8);
/// Pairs of kinds that follow each other; the rest of the table stays empty.
pub(super) const GAPS: usize = 512;
pub(super) const GAPS_KNOWN: usize = 448;
pub(super) const PEERS: usize = 512;
pub(super) const PEERS_KNOWN: usize = 448;
/// Rows; the first is none.
pub(super) const SLOTS: usize = 1536;
/// The slowest calls of a kind that are always kept.
pub const SLOWEST: usize = 4;
pub(super) const LOG_BYTES: usize = 16 << 10;

/// Key of a kind: what marks it as used, and as standing for all without a kind of their own.
pub(super) const KEY_USED: u64 = 1 << 63;
pub(super) const KEY_OTHER: u64 = 1 << 62;

/// No page was left.
pub(super) const NO_PAGE: u16 = u16::MAX;
/// The threshold that lets everything through: numbers are as good as never that large.
pub(super) const ALL: u64 = u64::MAX;

pub(super) const LIVE: u16 = 1;
pub(super) const SAMPLED: u16 = 2;
pub(super) const SLOW: u16 = 4;

/// All state of one thread's reducer.
#[repr(C, align(64))]
pub struct Block {
    pub(super) magic: u64,
    pub(super) version: u32,
    pub(super) bytes: u32,
    /// Touched by every call.
    pub(super) ticks: u64,
    pub(super) last_start: u64,
    pub(super) mark_left: u32,
    /// The kind of the call before, one more than its place; 0 if there was none.
    pub(super) last_kind: u32,
    // From here on only by some.
    /// Rows with a number below this are kept on all ranks.
    pub(super) base: u64,
    pub(super) ticks_per_second: u64,
    /// Rows wished for in 2^32 calls.
    pub(super) rows_wish: u64,
    /// Bytes for marks, and for slices of kinds, in 2^32 calls.
    pub(super) marks_bytes_wish: u64,
    pub(super) slices_bytes_wish: u64,
    /// 2^32 times the bytes wished for in a second; 0 if they were wished for by call.
    pub(super) bytes_rate_wish: u64,
    pub(super) first_start: u64,
    /// Marks: calls at the last one, how long they are, sums as of the last one.
    pub(super) marked_calls: u64,
    pub(super) marked_ticks: u64,
    pub(super) marked_end: u64,
    pub(super) mark_length: u64,
    pub(super) mark_length_recorded: u64,
    /// Number of the first entry in the log << 16 | bytes in the log.
    pub(super) log: u64,
    pub(super) log_entries: u32,
    pub(super) pending_entries: u32,
    pub(super) pending_log: u64,
    pub(super) epoch: u64,
    pub(super) epoch_calls: u64,
    pub(super) epoch_length: u64,
    pub(super) rows_lost: u64,
    pub(super) calls_without_kind: u64,
    pub(super) calls_without_bins: u64,
    pub(super) calls_of_wrong_class: u64,
    pub(super) messages_without_peer: u64,
    pub(super) limit: u32,
    pub(super) limit_long: u32,
    pub(super) kinds_used: u32,
    pub(super) classes_used: u32,
    pub(super) pages_used: u32,
    pub(super) peers_used: u32,
    pub(super) slots_used: u32,
    pub(super) slots_free: u32,
    pub(super) free_head: u32,
    pub(super) due: u32,
    pub(super) draining: u32,
    pub(super) drain_next: u32,
    pub(super) drain_part: u32,
    pub(super) gaps_used: u32,
    /// In which class a duration of an octave falls, and from where on in the next.
    pub(super) decade_edge: [u64; OCTAVES],
    pub(super) decade_base: [u8; 64],
    pub(super) other_peers: Peer,
    pub(super) kinds: [Kind; KINDS],
    pub(super) classes: [Class; CLASSES],
    pub(super) recorded: [Sums; CLASSES],
    pub(super) peers: [Peer; PEERS],
    pub(super) gaps: [Gap; GAPS],
    pub(super) bins: [u32; PAGES * PAGE_BINS],
    pub(super) slots: [Slot; SLOTS],
    pub(super) log_bytes: [u8; LOG_BYTES],
}

/// Bytes of a [`Block`]: what a reducer takes of memory, however long the run.
pub const BLOCK_BYTES: usize = size_of::<Block>();

/// Calls from one place in the program, of one function, with about as many bytes.
#[repr(C, align(64))]
pub(super) struct Kind {
    pub(super) key: u64,
    pub(super) slow_min: u64,
    pub(super) left: u32,
    pub(super) length: u32,
    /// Class by decade, 0 if there is none yet.
    pub(super) classes: [u16; DECADES],
    pub(super) slow_slots: [u16; SLOWEST],
    /// Index of the first bin of a page by octave, 0 if there is none yet.
    pub(super) pages: [u16; OCTAVES],
    pub(super) slow: [u64; SLOWEST],
    pub(super) first_start: u64,
    pub(super) recorded_end: u64,
    pub(super) bytes_out: u64,
    pub(super) bytes_in: u64,
}

/// What is added up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Calls.
    pub calls: u64,
    /// Time inside them, in ticks.
    pub ticks: u64,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
}

impl Sums {
    /// Both together.
    pub fn plus(self, other: Sums) -> Sums {
        Sums {
            calls: self.calls.wrapping_add(other.calls),
            ticks: self.ticks.wrapping_add(other.ticks),
            bytes_out: self.bytes_out.wrapping_add(other.bytes_out),
            bytes_in: self.bytes_in.wrapping_add(other.bytes_in),
        }
    }

    /// What is left without `other`.
    pub fn minus(self, other: Sums) -> Sums {
        Sums {
            calls: self.calls.saturating_sub(other.calls),
            ticks: self.ticks.saturating_sub(other.ticks),
            bytes_out: self.bytes_out.saturating_sub(other.bytes_out),
            bytes_in: self.bytes_in.saturating_sub(other.bytes_in),
        }
    }
}

/// Calls of one kind with durations of one decade.
#[repr(C, align(64))]
pub(super) struct Class {
    pub(super) sums: Sums,
    /// Rows with a number below this are kept.
    pub(super) threshold: u64,
    pub(super) head: u16,
    pub(super) kept: u16,
    pub(super) kind: u16,
    pub(super) decade: u16,
    pub(super) epoch_calls: u64,
    /// Time between the calls before and those of these that are in no gap, in ticks.
    pub(super) before_ticks: u64,
}

/// Computation between calls of two kinds that follow each other.
#[repr(C)]
pub(super) struct Gap {
    /// Both kinds by their places; 0 is none.
    pub(super) key: u64,
    pub(super) calls: u64,
    pub(super) ticks: u64,
    pub(super) spare: u64,
}

/// Messages with one peer in one communicator.
#[repr(C, align(64))]
pub(super) struct Peer {
    /// The complement of communicator << 32 | peer; 0 is none.
    pub(super) key: u64,
    pub(super) messages_out: u64,
    pub(super) bytes_out: u64,
    pub(super) messages_in: u64,
    pub(super) bytes_in: u64,
    pub(super) spare: [u64; 3],
}

/// A kept row.
#[repr(C)]
pub(super) struct Slot {
    pub(super) payload: [u64; PAYLOAD_WORDS],
    pub(super) start: u64,
    pub(super) duration: u64,
    pub(super) number: u64,
    pub(super) class: u16,
    pub(super) next: u16,
    pub(super) state: u16,
    /// The lower bits of the epoch it was kept in: rows of others are remains.
    pub(super) epoch: u16,
}

impl Block {
    /// An empty block on the heap, for work on traces and for tests.
    pub fn boxed() -> Box<Block> {
        let layout = std::alloc::Layout::new::<Block>();
        // SAFETY: the layout is not empty; zeros are a Block, because it is made of integers alone.
        unsafe {
            let memory = std::alloc::alloc_zeroed(layout).cast::<Block>();
            if memory.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            Box::from_raw(memory)
        }
    }

    /// The block at an address, such as the beginning of a mapped file.
    ///
    /// # Safety
    ///
    /// From `address`, a multiple of 64, on there are [`BLOCK_BYTES`] bytes to read and write; nothing else in this
    /// process uses them while the block does.
    pub unsafe fn at<'a>(address: *mut u8) -> &'a mut Block {
        // SAFETY: as the caller promises; any bytes are a Block.
        unsafe { &mut *address.cast::<Block>() }
    }

    /// The bytes, as they would lie in a file.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: integers without gaps between them (checked below), seen as bytes.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), BLOCK_BYTES) }
    }

    /// A copy of what lies in `bytes`; of too few, the rest is zero.
    pub(super) fn copied(bytes: &[u8]) -> Box<Block> {
        let mut block = Block::boxed();
        let length = bytes.len().min(BLOCK_BYTES);
        // SAFETY: both are that long, the block is new, and any bytes are a Block.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), std::ptr::from_mut(&mut *block).cast(), length);
        }
        block
    }
}

// No gaps: every struct is exactly as long as its fields.
const _: () = assert!(size_of::<Kind>() == 192);
const _: () = assert!(size_of::<Class>() == 64 && size_of::<Peer>() == 64 && size_of::<Slot>() == 96);
const _: () = assert!(BLOCK_BYTES <= 512 << 10);
// Bins are found by 16 bits.
const _: () = assert!(PAGES * PAGE_BINS < NO_PAGE as usize);
