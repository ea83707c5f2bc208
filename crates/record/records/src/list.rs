//! Waits, tests and starts: calls with a list of the requests that they completed or started.

use crate::call::{CallRecord, DURATION_MAX, NO_SITE, SITE_MAX};
use crate::words::{pair, slots_behind, unpair, word};
use kizami_model::Op;
use kizami_segment::{SLOT_BYTES, head, ticks_of};

/// The unit in which a wait that is too long for its bits is kept.
const COARSE_TICKS: u64 = 4096;

/// One entry of what a wait or test completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// `count` requests with consecutive numbers ended as they were posted: sends, receives of the posted
    /// source, tag and full size, and everything that is not a message.
    AsPosted {
        /// Number of the first.
        request: u32,
        /// How many.
        count: u32,
    },
    /// A receive ended, with what really came.
    Received {
        /// Number of the request.
        request: u32,
        /// Source, by rank in the communicator, or `PEER_NULL`.
        peer: i32,
        /// Tag.
        tag: i32,
        /// Bytes, as far as 32 bits go; the rest follows in a [`Completion::MoreBytes`].
        bytes: u32,
    },
    /// The operation was cancelled: nothing was moved.
    Cancelled {
        /// Number of the request.
        request: u32,
    },
    /// The receive before this one had so many bytes more.
    MoreBytes {
        /// Number of the request.
        request: u32,
        /// Bytes to add.
        bytes: u64,
    },
}

impl Completion {
    const AS_POSTED: u64 = 1;
    const RECEIVED: u64 = 2;
    const MORE_BYTES: u64 = 3;
    const CANCELLED: u64 = 4;

    /// As the two words of half a slot.
    #[inline(always)]
    pub fn pack(self) -> [u64; 2] {
        match self {
            Completion::AsPosted { request, count } => {
                [u64::from(request) << 32 | Self::AS_POSTED << 24, u64::from(count)]
            }
            Completion::Received { request, peer, tag, bytes } => [
                u64::from(request) << 32 | Self::RECEIVED << 24 | (peer as u64 & 0xff_ffff),
                pair(tag as u32, bytes),
            ],
            Completion::Cancelled { request } => [u64::from(request) << 32 | Self::CANCELLED << 24, 0],
            Completion::MoreBytes { request, bytes } => {
                [u64::from(request) << 32 | Self::MORE_BYTES << 24, bytes]
            }
        }
    }

    fn unpack(words: [u64; 2]) -> Option<Completion> {
        let request = (words[0] >> 32) as u32;
        let peer = ((words[0] as u32) << 8) as i32 >> 8;
        let (tag, bytes) = unpair(words[1]);
        match words[0] >> 24 & 0xff {
            Self::AS_POSTED => Some(Completion::AsPosted { request, count: words[1] as u32 }),
            Self::RECEIVED => Some(Completion::Received { request, peer, tag: tag as i32, bytes }),
            Self::CANCELLED => Some(Completion::Cancelled { request }),
            Self::MORE_BYTES => Some(Completion::MoreBytes { request, bytes: words[1] }),
            _ => None,
        }
    }
}

/// The first slot of a completion or start record. With one item (`listed` false) the two words are the item
/// itself; with more, word 2 is how many follow.
#[inline(always)]
pub fn pack_list_head(
    op: Op,
    start_ticks: u64,
    duration_ticks: u64,
    site: u32,
    failed: bool,
    items: ListItems,
) -> [u64; 4] {
    let (mode, words) = match items {
        ListItems::None => (0, [0, 0]),
        ListItems::One(words) => (1, words),
        ListItems::Listed(count) => (2, [count as u64, 0]),
    };
    // A wait of more than half a minute is kept in coarse units: a few microseconds in as many seconds.
    let coarse = duration_ticks > DURATION_MAX;
    let duration = if coarse { (duration_ticks / COARSE_TICKS) & DURATION_MAX } else { duration_ticks };
    let mode = mode | u64::from(failed) << 11 | u64::from(coarse) << 10;
    let site = if u64::from(site) > SITE_MAX { NO_SITE } else { site };
    [head(op.0, start_ticks), duration << 28 | u64::from(site) << 12 | mode, words[0], words[1]]
}

/// What a list record carries in its first slot.
#[derive(Clone, Copy, Debug)]
pub enum ListItems {
    /// Nothing was completed.
    None,
    /// One item, in place.
    One([u64; 2]),
    /// So many items in the slots that follow.
    Listed(usize),
}

/// One persistent request being started: which, and the number of this round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Number given to the persistent request when it was made.
    pub persistent: u32,
    /// Number of this round.
    pub request: u32,
}

/// Slots needed after the first for a list of this many 16-byte items.
#[inline(always)]
pub fn completion_slots(count: usize) -> usize {
    count.div_ceil(2)
}

/// Slots needed after the first for a list of this many started requests (8 bytes each).
#[inline(always)]
pub fn start_slots(count: usize) -> usize {
    count.div_ceil(4)
}

#[inline]
fn list_head(words: [u64; 4], op: Op) -> (CallRecord, u64) {
    let unit = if words[1] >> 10 & 1 != 0 { COARSE_TICKS } else { 1 };
    let mut call = CallRecord::new(op, ticks_of(words[0]), (words[1] >> 28) * unit);
    call.site = (words[1] >> 12 & SITE_MAX) as u32;
    call.failed = words[1] >> 11 & 1 != 0;
    (call, words[1] & 0x3ff)
}

/// The call, what it completed, and how many slots that takes.
pub(crate) fn unpack_completion(
    first: [u64; 4],
    bytes: &[u8],
    op: Op,
) -> Option<(CallRecord, Vec<Completion>, usize)> {
    let (call, mode) = list_head(first, op);
    match mode {
        0 => Some((call, Vec::new(), 1)),
        1 => Some((call, vec![Completion::unpack([first[2], first[3]])?], 1)),
        2 => {
            let count = usize::try_from(first[2]).ok()?;
            let list = slots_behind(bytes, completion_slots(count))?;
            let items = list.chunks_exact(SLOT_BYTES / 2).take(count);
            let completions = items
                .map(|item| Completion::unpack([word(item, 0), word(item, 1)]))
                .collect::<Option<_>>()?;
            Some((call, completions, 1 + completion_slots(count)))
        }
        _ => None,
    }
}

/// The call, what it started, and how many slots that takes.
pub(crate) fn unpack_start(
    first: [u64; 4],
    bytes: &[u8],
    op: Op,
) -> Option<(CallRecord, Vec<Started>, usize)> {
    let (call, mode) = list_head(first, op);
    let started = |word: u64| {
        let (persistent, request) = unpair(word);
        Started { persistent, request }
    };
    match mode {
        0 => Some((call, Vec::new(), 1)),
        1 => Some((call, vec![started(first[2])], 1)),
        2 => {
            let count = usize::try_from(first[2]).ok()?;
            let list = slots_behind(bytes, start_slots(count))?;
            let items = list.chunks_exact(8).take(count).map(|item| started(word(item, 0))).collect();
            Some((call, items, 1 + start_slots(count)))
        }
        _ => None,
    }
}
