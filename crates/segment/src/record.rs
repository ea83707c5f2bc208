//! Records: how a call is packed into slots, and what comes out again.
//!
//! ```text
//! word 0   op (10 bits) | start in ticks since the segment's base (54 bits)
//! word 1   duration in ticks (36) | call site (16) | communicator (12)
//! word 2   any-source, any-tag (2) | bytes (38) | peer (24, signed)
//! word 3   a (32) | b (32)
//! ```
//!
//! What `a` and `b` are depends on the function's [`Shape`]: tag and request for messages, bytes in and
//! request for collectives, object and request for windows and files. A call that does not fit (a peer
//! beyond eight million, a wait of half a minute, 256 GB in a message, the kind of a lock) takes the two-slot wide
//! form, in which nothing is narrow. Ranks of a group follow the call that was given the group, as parts of it
//! in wide form. Completions and starts of several requests are followed by slots that list them.
//! Op codes from 960 on are the segment's own.

use crate::{SLOT_BYTES, Slot};
use kizami_model::{Op, Shape};

/// Fills the rest of a chunk.
pub const PAD: u16 = 960;
/// A definition; word 1 is its length in bytes, which follow in whole slots.
pub const DEFINITION: u16 = 961;
/// A call in wide form.
pub const WIDE: u16 = 962;
/// Failed polls folded into one record that is updated in place while it is the last.
pub const FOLD: u16 = 963;
/// A named region begins; word 1 is its number.
pub const REGION_BEGIN: u16 = 964;
/// A named region ends.
pub const REGION_END: u16 = 965;
/// The tracer kept the program waiting, or did not look; words 1 to 3 are duration, reason and what the reason has to tell.
pub const STOP: u16 = 966;

/// What was counted with the call that follows: word 1 says how many counters; words 2 and 3, and pairs of words
/// in the slots behind, are what each counted since the call before and inside this one.
pub const COUNTED: u16 = 967;

/// What a reducer handed over: word 1 is its length in bytes, which follow in whole slots; word 2 says which reducer.
pub const REDUCED: u16 = 968;
/// For how many calls the call that follows stands; word 1 has the bits of the number.
pub const WEIGHT: u16 = 969;

/// What was collected before some of it was drawn, in a thread that keeps what it draws: see [`Window`]. The calls that were
/// drawn follow.
pub const DRAWN: u16 = 970;

/// No communicator.
pub const NO_COMM: u32 = COMM_MAX as u32;
/// No call site known.
pub const NO_SITE: u32 = 0;
/// No peer.
pub const PEER_NONE: i32 = -1;
/// `MPI_PROC_NULL`.
pub const PEER_NULL: i32 = -2;
/// `MPI_ANY_SOURCE`.
pub const PEER_ANY: i32 = -3;
/// `MPI_ROOT`: this process is the root of a collective on an inter-communicator.
pub const PEER_ROOT: i32 = -4;

const TICK_BITS: u32 = 54;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
const DURATION_MAX: u64 = (1 << 36) - 1;
const SITE_MAX: u64 = (1 << 16) - 1;
const COMM_MAX: u64 = (1 << 12) - 1;
const BYTES_MAX: u64 = (1 << 38) - 1;
const PEER_LIMIT: i32 = 1 << 23;
const COARSE_TICKS: u64 = 4096;

/// Why the tracer kept the program, in a [`Record::Stop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum StopReason {
    /// The next chunk was not ready and had to be prepared on the spot.
    ChunkWait = 1,
    /// The program switched recording off by `MPI_Pcontrol(0)`.
    Paused = 2,
    /// All ranks stopped together to write out what they had recorded.
    Suspended = 3,
    /// The clocks of hosts were compared.
    ClockRound = 4,
    /// Ranks settled that there was nothing to stop for.
    Settling = 5,
    /// The tracer measured what recording a call costs.
    Rehearsal = 6,
    /// The tracer drew from the calls it had collected.
    Drawing = 7,
}

impl StopReason {
    /// The name used in trace tables.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::ChunkWait => "chunk-wait",
            StopReason::Paused => "paused",
            StopReason::Suspended => "suspended",
            StopReason::ClockRound => "clock-round",
            StopReason::Settling => "settling",
            StopReason::Rehearsal => "rehearsal",
            StopReason::Drawing => "drawing",
        }
    }
}

/// Who handed over a piece of a [`Record::Reduced`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReducedBy {
    /// Sums and kept rows.
    Sample = 1,
    /// The folded sequence of calls.
    Structure = 2,
}

/// Calls that were collected, and of which some were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Start of the first, in ticks since the segment's base.
    pub start_ticks: u64,
    /// From there to the end of the last.
    pub duration_ticks: u64,
    /// How many were collected; none where a thread says that it will keep what it draws.
    pub collected: u32,
    /// How many of them were drawn.
    pub drawn: u32,
    /// By which importance: the number that the crate with the scheme gives it.
    pub importance: u8,
    /// Nothing more was collected by then: the thread ended, or had no more to do.
    pub rest: bool,
}

impl Window {
    /// As one slot.
    pub fn pack(&self) -> [u64; 4] {
        [
            head(DRAWN, self.start_ticks),
            self.duration_ticks,
            pair(self.collected, self.drawn),
            u64::from(self.importance) | u64::from(self.rest) << 8,
        ]
    }

    fn unpack(words: [u64; 4]) -> Window {
        let (collected, drawn) = unpair(words[2]);
        Window {
            start_ticks: words[0] & TICK_MASK,
            duration_ticks: words[1],
            collected,
            drawn,
            importance: words[3] as u8,
            rest: words[3] >> 8 & 1 != 0,
        }
    }
}

/// One call before packing, or after unpacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// The function.
    pub op: Op,
    /// Start, in ticks since the segment's base.
    pub start_ticks: u64,
    /// Length in ticks.
    pub duration_ticks: u64,
    /// Local number of the call site, [`NO_SITE`] if unknown.
    pub site: u32,
    /// Local number of the communicator, [`NO_COMM`] if none.
    pub comm: u32,
    /// Peer or root by its rank in the communicator, or one of the `PEER_` values.
    pub peer: i32,
    /// Tag of a message.
    pub tag: i32,
    /// Source of the receiving half of a send-receive.
    pub recv_peer: i32,
    /// Tag of the receiving half of a send-receive.
    pub recv_tag: i32,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
    /// Number of the request started, 0 if none.
    pub request: u32,
    /// Local number of the window, file or datatype, 0 if none.
    pub object: u32,
    /// The source was a wildcard.
    pub any_source: bool,
    /// The tag was a wildcard.
    pub any_tag: bool,
    /// The call returned an error code.
    pub failed: bool,
    /// It is no call but a part of the one before it: one rank of the group it was given.
    pub part: bool,
}

impl CallRecord {
    /// Whether it only prepares a message that later calls start, such as `MPI_Send_init`.
    #[inline]
    pub fn prepares(&self) -> bool {
        self.op.function().is_some_and(|function| function.prepares)
    }

    /// A call of which nothing but its time is known yet.
    #[inline(always)]
    pub fn new(op: Op, start_ticks: u64, duration_ticks: u64) -> CallRecord {
        CallRecord {
            op,
            start_ticks,
            duration_ticks,
            site: NO_SITE,
            comm: NO_COMM,
            peer: PEER_NONE,
            tag: 0,
            recv_peer: PEER_NONE,
            recv_tag: 0,
            bytes_out: 0,
            bytes_in: 0,
            request: 0,
            object: 0,
            any_source: false,
            any_tag: false,
            failed: false,
            part: false,
        }
    }

    /// The one-slot form, if everything fits. `shape` must be the shape of `op`.
    #[inline(always)]
    pub fn pack(&self, shape: Shape) -> Option<[u64; 4]> {
        let (bytes, a, fits) = match shape {
            Shape::Send => (self.bytes_out, self.tag as u32, true),
            Shape::Receive | Shape::Probe => (self.bytes_in, self.tag as u32, true),
            Shape::Collective => (self.bytes_out, self.bytes_in as u32, self.bytes_in >> 32 == 0),
            Shape::ObjectOut => (self.bytes_out, self.object, self.tag == 0),
            Shape::ObjectIn => (self.bytes_in, self.object, self.tag == 0),
            Shape::Object => (0, self.object, self.bytes_out | self.bytes_in == 0 && self.tag == 0),
            Shape::Timed => (0, self.object, self.bytes_out | self.bytes_in == 0),
            Shape::SendReceive | Shape::Completion | Shape::Start => return None,
        };
        let fits = fits
            & (self.duration_ticks <= DURATION_MAX)
            & (u64::from(self.site) <= SITE_MAX)
            & (u64::from(self.comm) <= COMM_MAX)
            & (bytes <= BYTES_MAX)
            & (self.peer < PEER_LIMIT)
            & !(self.failed | self.part);
        if !fits {
            return None;
        }
        Some([
            head(self.op.0, self.start_ticks),
            (self.duration_ticks << 28) | (u64::from(self.site) << 12) | u64::from(self.comm),
            (u64::from(self.any_source) << 63)
                | (u64::from(self.any_tag) << 62)
                | (bytes << 24)
                | (self.peer as u64 & 0xff_ffff),
            (u64::from(a) << 32) | u64::from(self.request),
        ])
    }

    /// The two-slot form, in which everything fits.
    pub fn pack_wide(&self) -> [[u64; 4]; 2] {
        let flags = u64::from(self.failed)
            | u64::from(self.any_source) << 1
            | u64::from(self.any_tag) << 2
            | u64::from(self.part) << 3;
        [
            [
                head(WIDE, self.start_ticks),
                (u64::from(self.op.0) << 54) | (flags << 48) | (self.duration_ticks & ((1 << 48) - 1)),
                self.bytes_out,
                self.bytes_in,
            ],
            [
                pair(self.site, self.comm),
                pair(self.peer as u32, self.tag as u32),
                pair(self.recv_peer as u32, self.recv_tag as u32),
                pair(self.request, self.object),
            ],
        ]
    }

    #[inline]
    fn unpack(words: [u64; 4], op: Op, shape: Shape) -> CallRecord {
        let mut call = CallRecord::new(op, words[0] & TICK_MASK, words[1] >> 28);
        call.site = (words[1] >> 12 & SITE_MAX) as u32;
        call.comm = (words[1] & COMM_MAX) as u32;
        call.any_source = words[2] >> 63 != 0;
        call.any_tag = words[2] >> 62 & 1 != 0;
        call.peer = ((words[2] as u32) << 8) as i32 >> 8;
        let bytes = words[2] >> 24 & BYTES_MAX;
        let a = (words[3] >> 32) as u32;
        call.request = words[3] as u32;
        match shape {
            Shape::Send => (call.bytes_out, call.tag) = (bytes, a as i32),
            Shape::Receive | Shape::Probe => (call.bytes_in, call.tag) = (bytes, a as i32),
            Shape::Collective => (call.bytes_out, call.bytes_in) = (bytes, u64::from(a)),
            Shape::ObjectOut => (call.bytes_out, call.object) = (bytes, a),
            Shape::ObjectIn => (call.bytes_in, call.object) = (bytes, a),
            _ => call.object = a,
        }
        call
    }

    fn unpack_wide(first: [u64; 4], second: [u64; 4]) -> Option<CallRecord> {
        let op = Op((first[1] >> 54) as u16);
        op.function()?;
        let flags = first[1] >> 48 & 63;
        let mut call = CallRecord::new(op, first[0] & TICK_MASK, first[1] & ((1 << 48) - 1));
        (call.bytes_out, call.bytes_in) = (first[2], first[3]);
        (call.site, call.comm) = unpair(second[0]);
        let (peer, tag) = unpair(second[1]);
        (call.peer, call.tag) = (peer as i32, tag as i32);
        let (recv_peer, recv_tag) = unpair(second[2]);
        (call.recv_peer, call.recv_tag) = (recv_peer as i32, recv_tag as i32);
        (call.request, call.object) = unpair(second[3]);
        (call.failed, call.any_source, call.any_tag) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        call.part = flags & 8 != 0;
        Some(call)
    }
}

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
        /// Source, by rank in the communicator, or [`PEER_NULL`].
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

/// A record as the reader yields it.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// An ordinary call.
    Call(CallRecord),
    /// A wait or test and what it completed.
    Completion(CallRecord, Vec<Completion>),
    /// A start of persistent requests.
    Start(CallRecord, Vec<Started>),
    /// Failed polls: the call (of the first), how many, the time inside all of them.
    Fold {
        /// First start to last end.
        call: CallRecord,
        /// How many polls.
        count: u64,
        /// Ticks inside them.
        inside_ticks: u64,
    },
    /// What each counter counted before and inside the call that follows.
    Counted(Vec<[u64; 2]>),
    /// A definition's bytes, to be given to [`crate::Definition::decode`].
    Definition(&'a [u8]),
    /// For how many calls the call that follows stands, because others were not kept.
    Weight(f64),
    /// Calls were collected, and those that follow were drawn of them.
    Drawn(Window),
    /// A piece of what a reducer handed over.
    Reduced {
        /// Which reducer, if this version knows it.
        by: Option<ReducedBy>,
        /// What it handed over.
        bytes: &'a [u8],
    },
    /// A region begins or ends.
    Region {
        /// When.
        at_ticks: u64,
        /// Which.
        region: u32,
        /// Begins, or ends.
        begins: bool,
    },
    /// The tracer held the program up or looked away.
    Stop {
        /// Since when.
        start_ticks: u64,
        /// How long.
        duration_ticks: u64,
        /// Why, if this version knows the reason.
        reason: Option<StopReason>,
        /// For a suspension: how many ticks after the agreed moment this thread went on. For a rehearsal: what
        /// recording a call costs from here on, in the units of the header's `call_cost`.
        detail: u64,
    },
}

/// Op and start in one word.
#[inline(always)]
pub fn head(op: u16, start_ticks: u64) -> u64 {
    u64::from(op) << TICK_BITS | start_ticks & TICK_MASK
}

/// Two 32-bit numbers in one word.
#[inline(always)]
pub fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn unpair(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
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

/// The slots of a packed call without a list, by the first word of its first.
#[inline]
pub fn call_slots(first: u64) -> usize {
    if matches!((first >> TICK_BITS) as u16, WIDE | FOLD) { 2 } else { 1 }
}

/// The first slot and the rest of a fold record; see [`fold_update`].
#[inline(always)]
pub fn pack_fold(call: &CallRecord) -> [[u64; 4]; 2] {
    let end = call.start_ticks + call.duration_ticks;
    [
        [
            head(FOLD, call.start_ticks),
            pair(u32::from(call.op.0), call.site),
            pair(call.peer as u32, call.tag as u32),
            1,
        ],
        [call.duration_ticks, end, u64::from(call.comm), 0],
    ]
}

/// Adds one more failed poll to the fold record in `slots`, which must be the segment's last record.
#[inline(always)]
pub fn fold_update(slots: &[Slot; 2], end_ticks: u64, inside_ticks: u64) {
    slots[1].add_word(0, inside_ticks);
    slots[1].set_word(1, end_ticks);
    slots[0].add_word(3, 1);
}

/// Decodes the record at the beginning of `bytes`; gives it and the number of slots it takes.
/// Nothing comes out if the bytes hold no whole, sensible record.
#[inline]
pub fn decode(bytes: &[u8]) -> Option<(Record<'_>, usize)> {
    let first = slot_words(bytes, 0)?;
    let op = (first[0] >> TICK_BITS) as u16;
    let ticks = first[0] & TICK_MASK;
    match op {
        DEFINITION => {
            let length = usize::try_from(first[1]).ok()?;
            let end = SLOT_BYTES.checked_add(length)?;
            Some((Record::Definition(bytes.get(SLOT_BYTES..end)?), end.div_ceil(SLOT_BYTES)))
        }
        WIDE => Some((Record::Call(CallRecord::unpack_wide(first, slot_words(bytes, 1)?)?), 2)),
        FOLD => Some((unpack_fold(first, slot_words(bytes, 1)?)?, 2)),
        COUNTED => {
            let count = usize::try_from(first[1]).ok().filter(|count| (1..=MOST_COUNTERS).contains(count))?;
            let list = list_bytes(bytes, counted_slots(count))?;
            let rest = list.chunks_exact(SLOT_BYTES / 2).map(|pair| [word(pair, 0), word(pair, 1)]);
            let pairs = std::iter::once([first[2], first[3]]).chain(rest).take(count).collect();
            Some((Record::Counted(pairs), 1 + counted_slots(count)))
        }
        WEIGHT => {
            let weight =
                Some(f64::from_bits(first[1])).filter(|weight| weight.is_finite() && *weight >= 1.0)?;
            Some((Record::Weight(weight), 1))
        }
        DRAWN => Some((Record::Drawn(Window::unpack(first)), 1)),
        REDUCED => {
            let end = SLOT_BYTES.checked_add(usize::try_from(first[1]).ok()?)?;
            let by = match first[2] {
                1 => Some(ReducedBy::Sample),
                2 => Some(ReducedBy::Structure),
                _ => None,
            };
            Some((Record::Reduced { by, bytes: bytes.get(SLOT_BYTES..end)? }, end.div_ceil(SLOT_BYTES)))
        }
        REGION_BEGIN | REGION_END => {
            let region = u32::try_from(first[1]).ok()?;
            Some((Record::Region { at_ticks: ticks, region, begins: op == REGION_BEGIN }, 1))
        }
        STOP => {
            let reason = match first[2] {
                1 => Some(StopReason::ChunkWait),
                2 => Some(StopReason::Paused),
                3 => Some(StopReason::Suspended),
                4 => Some(StopReason::ClockRound),
                5 => Some(StopReason::Settling),
                6 => Some(StopReason::Rehearsal),
                7 => Some(StopReason::Drawing),
                _ => None,
            };
            Some((Record::Stop { start_ticks: ticks, duration_ticks: first[1], reason, detail: first[3] }, 1))
        }
        _ => {
            let op = Op(op);
            match op.function()?.shape {
                Shape::Completion => unpack_completion(first, bytes, op),
                Shape::Start => unpack_start(first, bytes, op),
                shape => Some((Record::Call(CallRecord::unpack(first, op, shape)), 1)),
            }
        }
    }
}

/// The words of the slot with this index, if the bytes hold it.
#[inline(always)]
pub fn slot_words(bytes: &[u8], index: usize) -> Option<[u64; 4]> {
    let slot = bytes.get(index * SLOT_BYTES..(index + 1) * SLOT_BYTES)?;
    Some(std::array::from_fn(|word| {
        u64::from_le_bytes(slot[word * 8..word * 8 + 8].try_into().expect("8 bytes"))
    }))
}

fn unpack_fold(first: [u64; 4], second: [u64; 4]) -> Option<Record<'static>> {
    let (op, site) = unpair(first[1]);
    let op = Op(u16::try_from(op).ok()?);
    op.function()?;
    let start = first[0] & TICK_MASK;
    let mut call = CallRecord::new(op, start, second[1].checked_sub(start)?);
    call.site = site;
    call.comm = second[2] as u32;
    let (peer, tag) = unpair(first[2]);
    (call.peer, call.tag) = (peer as i32, tag as i32);
    Some(Record::Fold { call, count: first[3], inside_ticks: second[0] })
}

#[inline]
fn list_head(words: [u64; 4], op: Op) -> (CallRecord, u64) {
    let unit = if words[1] >> 10 & 1 != 0 { COARSE_TICKS } else { 1 };
    let mut call = CallRecord::new(op, words[0] & TICK_MASK, (words[1] >> 28) * unit);
    call.site = (words[1] >> 12 & SITE_MAX) as u32;
    call.failed = words[1] >> 11 & 1 != 0;
    (call, words[1] & 0x3ff)
}

fn unpack_completion(first: [u64; 4], bytes: &[u8], op: Op) -> Option<(Record<'_>, usize)> {
    let (call, mode) = list_head(first, op);
    match mode {
        0 => Some((Record::Completion(call, Vec::new()), 1)),
        1 => Some((Record::Completion(call, vec![Completion::unpack([first[2], first[3]])?]), 1)),
        2 => {
            let count = usize::try_from(first[2]).ok()?;
            let list = list_bytes(bytes, completion_slots(count))?;
            let items = list.chunks_exact(SLOT_BYTES / 2).take(count);
            let completions = items
                .map(|item| Completion::unpack([word(item, 0), word(item, 1)]))
                .collect::<Option<_>>()?;
            Some((Record::Completion(call, completions), 1 + completion_slots(count)))
        }
        _ => None,
    }
}

fn unpack_start(first: [u64; 4], bytes: &[u8], op: Op) -> Option<(Record<'_>, usize)> {
    let (call, mode) = list_head(first, op);
    let started = |word: u64| {
        let (persistent, request) = unpair(word);
        Started { persistent, request }
    };
    match mode {
        0 => Some((Record::Start(call, Vec::new()), 1)),
        1 => Some((Record::Start(call, vec![started(first[2])]), 1)),
        2 => {
            let count = usize::try_from(first[2]).ok()?;
            let list = list_bytes(bytes, start_slots(count))?;
            let items = list.chunks_exact(8).take(count).map(|item| started(word(item, 0))).collect();
            Some((Record::Start(call, items), 1 + start_slots(count)))
        }
        _ => None,
    }
}

/// More than anybody counts: a damaged record must not ask for much.
const MOST_COUNTERS: usize = 256;

/// Slots behind the first for so many counters.
pub fn counted_slots(count: usize) -> usize {
    count.saturating_sub(1).div_ceil(2)
}

/// The slots behind the first, if they are all there.
fn list_bytes(bytes: &[u8], slots: usize) -> Option<&[u8]> {
    let end = slots.checked_add(1)?.checked_mul(SLOT_BYTES)?;
    bytes.get(SLOT_BYTES..end)
}

fn word(bytes: &[u8], index: usize) -> u64 {
    u64::from_le_bytes(bytes[index * 8..index * 8 + 8].try_into().expect("8 bytes"))
}
