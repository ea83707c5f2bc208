//! Adding a call: the path that every call takes, and what makes rooms in the tables when something is new.
//!
//! The path of a call that is not kept looks up its kind, adds to its class, its bin, its peers, the gap before it
//! and two sums of the thread, and compares once. It takes no lock, allocates nothing, has no loop but for the search in the
//! tables, and cannot panic.

use super::block::{
    ALL, Block, CLASSES, CLASSES_KNOWN, Class, KEY_OTHER, KEY_USED, KIND_ANY, KINDS, KINDS_KNOWN, KINDS_MOST,
    Kind, LONG_DECADE, NO_PAGE, PAGE_BINS, PAGES, PAYLOAD_WORDS, PEERS, PEERS_KNOWN, Peer, SLOTS,
};
use super::{bins, keep, settings::Settings, slices};

/// A peer that is none.
pub const NO_PEER: i32 = -1;

/// One call, as the reducer wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the call site, 0 if unknown.
    pub site: u32,
    /// The function.
    pub op: u16,
    /// Number of the communicator.
    pub communicator: u32,
    /// To whom `bytes_out` went; negative if to no single rank.
    pub to: i32,
    /// From whom `bytes_in` came; negative if from no single rank.
    pub from: i32,
    /// Bytes given.
    pub bytes_out: u64,
    /// Bytes obtained.
    pub bytes_in: u64,
    /// Start. Calls of one thread come in the order of their starts.
    pub start_ticks: u64,
    /// Length.
    pub duration_ticks: u64,
    /// From the end of the call before to the start; none for what is part of the call before.
    pub before_ticks: Option<u64>,
    /// The sampling key, see [`super::sample`].
    pub number: u64,
}

/// Adds calls up and keeps some of them, in a block of memory that is given to it.
pub struct Reducer<'a> {
    pub(super) block: &'a mut Block,
}

impl<'a> Reducer<'a> {
    /// Begins in a block of zeros. Another block is emptied first.
    pub fn start(block: &'a mut Block, settings: &Settings) -> Reducer<'a> {
        if block.magic != 0 {
            // SAFETY: zeros are a Block, because it is made of integers alone.
            unsafe { std::ptr::write_bytes(std::ptr::from_mut(block), 0, 1) };
        }
        block.classes_used = 1;
        block.pages_used = 1;
        block.slots_used = 1;
        block.slots_free = SLOTS as u32 - 1;
        keep::first_limits(block);
        settings.put_into(block);
        slices::first_lengths(block);
        let any = &mut block.kinds[KIND_ANY];
        any.key = KEY_USED | KEY_OTHER | ANY_OP;
        any.left = slices::FIRST_LENGTH;
        block.classes[0].kind = KIND_ANY as u16;
        Reducer { block }
    }

    /// Adds a call. `payload` is called for what is to be kept of it if it is kept.
    ///
    /// True says that [`Reducer::take`] should be called before the next call is added.
    #[inline(always)]
    pub fn add(&mut self, row: &Row, payload: impl FnOnce() -> [u64; PAYLOAD_WORDS]) -> bool {
        let block = &mut *self.block;
        let duration = row.duration_ticks;
        let (octave, bin) = bins::place(duration);
        let decade = block.decade(octave, duration);
        let kind_index = block.find_kind(row) & (KINDS - 1);
        let class_index = match block.kinds[kind_index].classes[decade] {
            0 => block.make_class(kind_index, decade),
            class => usize::from(class),
        };
        let page = match block.kinds[kind_index].pages[octave] {
            0 => block.make_page(kind_index, octave),
            page => page,
        };
        match block.bins.get_mut(usize::from(page) + bin) {
            Some(bin) => *bin = bin.saturating_add(1),
            None => block.calls_without_bins += 1,
        }
        block.add_message(row);
        let class_index = class_index & (CLASSES - 1);
        let class = &mut block.classes[class_index];
        class.sums.ticks = class.sums.ticks.wrapping_add(duration);
        class.sums.bytes_out = class.sums.bytes_out.wrapping_add(row.bytes_out);
        class.sums.bytes_in = class.sums.bytes_in.wrapping_add(row.bytes_in);
        class.sums.calls = class.sums.calls.wrapping_add(1);
        let sampled = row.number < class.threshold;
        // Behind the sums: a gap of a kind without calls would make no sense.
        if let Some(ticks) = row.before_ticks {
            block.add_gap(kind_index, class_index, ticks);
        }
        let kind = &mut block.kinds[kind_index];
        kind.left = kind.left.wrapping_sub(1);
        let slow = duration > kind.slow_min;
        let slice_ends = kind.left == 0;
        block.ticks = block.ticks.wrapping_add(duration);
        block.last_start = row.start_ticks;
        block.mark_left = block.mark_left.wrapping_sub(1);
        if sampled | slow | slice_ends | (block.mark_left == 0) {
            let time = (row.start_ticks, duration);
            return block.look_closer(time, row.number, kind_index, class_index, payload);
        }
        false
    }
}

const ANY_OP: u64 = 0xffff << 8;

#[inline(always)]
fn key_of(row: &Row) -> u64 {
    let size = 64 - (row.bytes_out | row.bytes_in).leading_zeros();
    KEY_USED | u64::from(row.site) << 24 | u64::from(row.op) << 8 | u64::from(size)
}

#[inline(always)]
fn place_of(key: u64, places: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (places - 1)
}

impl Block {
    #[inline(always)]
    pub(super) fn decade(&self, octave: usize, duration: u64) -> usize {
        let octave = octave.min(bins::OCTAVES - 1);
        usize::from(self.decade_base[octave] + u8::from(duration > self.decade_edge[octave])) & 7
    }

    #[inline(always)]
    fn find_kind(&mut self, row: &Row) -> usize {
        let key = key_of(row);
        let mut at = place_of(key, KINDS);
        // The table is never full, so there is an end.
        loop {
            let found = self.kinds[at].key;
            if found == key {
                return at;
            }
            if found == 0 {
                return self.make_kind(key, at, row.start_ticks, (row.bytes_out, row.bytes_in));
            }
            at = (at + 1) & (KINDS - 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_kind(&mut self, key: u64, at: usize, start: u64, bytes: (u64, u64)) -> usize {
        if (self.kinds_used as usize) < KINDS_KNOWN && (self.classes_used as usize) < CLASSES_KNOWN {
            self.begin_kind(key, at, start, bytes);
            return at;
        }
        self.calls_without_kind += 1;
        let key = KEY_USED | KEY_OTHER | key & ANY_OP;
        let mut at = place_of(key, KINDS);
        for _ in 0..KINDS {
            match self.kinds[at].key {
                found if found == key => return at,
                0 if (self.kinds_used as usize) < KINDS_MOST && (self.classes_used as usize) < CLASSES => {
                    self.begin_kind(key, at, start, bytes);
                    return at;
                }
                0 => break,
                _ => at = (at + 1) & (KINDS - 1),
            }
        }
        KIND_ANY
    }

    fn begin_kind(&mut self, key: u64, at: usize, start: u64, bytes: (u64, u64)) {
        if self.kinds_used == 0 {
            (self.first_start, self.marked_end) = (start, start);
        }
        let kind = &mut self.kinds[at];
        (kind.first_start, kind.recorded_end) = (start, start);
        (kind.bytes_out, kind.bytes_in) = bytes;
        kind.left = slices::FIRST_LENGTH;
        kind.length = slices::FIRST_LENGTH;
        kind.key = key;
        self.kinds_used += 1;
    }

    /// A class for this decade of a kind; where there is none left, the kind's class nearest to it.
    #[cold]
    #[inline(never)]
    fn make_class(&mut self, kind_index: usize, decade: usize) -> usize {
        let kind: &mut Kind = &mut self.kinds[kind_index];
        let first = kind.classes.iter().all(|&class| class == 0);
        let room = if first || decade >= LONG_DECADE { CLASSES } else { CLASSES_KNOWN };
        let next = self.classes_used as usize;
        if next < room {
            let class: &mut Class = &mut self.classes[next & (CLASSES - 1)];
            (class.kind, class.decade) = (kind_index as u16, decade as u16);
            class.threshold = ALL;
            self.classes_used += 1;
            kind.classes[decade & 7] = next as u16;
            return next;
        }
        self.calls_of_wrong_class += 1;
        let nearest = (0..kind.classes.len()).filter(|&other| kind.classes[other] != 0);
        let nearest = nearest.min_by_key(|&other| other.abs_diff(decade)).map(|other| kind.classes[other]);
        // A kind without any class is only there when all classes are taken: class 0 is for its calls.
        usize::from(nearest.unwrap_or(0))
    }

    #[cold]
    #[inline(never)]
    fn make_page(&mut self, kind_index: usize, octave: usize) -> u16 {
        let mut page = NO_PAGE;
        if (self.pages_used as usize) < PAGES {
            page = (self.pages_used as usize * PAGE_BINS) as u16;
            self.pages_used += 1;
        }
        self.kinds[kind_index].pages[octave] = page;
        page
    }

    #[inline(always)]
    fn add_message(&mut self, row: &Row) {
        if row.to >= 0 {
            let peer = self.find_peer(row.communicator, row.to);
            peer.messages_out = peer.messages_out.wrapping_add(1);
            peer.bytes_out = peer.bytes_out.wrapping_add(row.bytes_out);
        }
        if row.from >= 0 {
            let peer = self.find_peer(row.communicator, row.from);
            peer.messages_in = peer.messages_in.wrapping_add(1);
            peer.bytes_in = peer.bytes_in.wrapping_add(row.bytes_in);
        }
    }

    #[inline(always)]
    fn find_peer(&mut self, communicator: u32, rank: i32) -> &mut Peer {
        let key = !(u64::from(communicator) << 32 | u64::from(rank as u32));
        // Ranks that talk to each other have other numbers than their neighbours: no need to stir them.
        let mut at = (rank as usize).wrapping_add(communicator as usize * 61) & (PEERS - 1);
        loop {
            let found = self.peers[at].key;
            if found == key {
                return &mut self.peers[at];
            }
            if found == 0 {
                return self.make_peer(key, at);
            }
            at = (at + 1) & (PEERS - 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_peer(&mut self, key: u64, at: usize) -> &mut Peer {
        if self.peers_used as usize >= PEERS_KNOWN {
            self.messages_without_peer += 1;
            return &mut self.other_peers;
        }
        self.peers_used += 1;
        let peer = &mut self.peers[at];
        peer.key = key;
        peer
    }

    /// What is due for a call that is kept or ends a slice, given as start and duration.
    ///
    /// It is not given the row: one that nothing points to is never put together in memory.
    #[cold]
    #[inline(never)]
    fn look_closer(
        &mut self,
        (start, duration): (u64, u64),
        number: u64,
        kind_index: usize,
        class_index: usize,
        payload: impl FnOnce() -> [u64; PAYLOAD_WORDS],
    ) -> bool {
        let sampled = number < self.classes[class_index].threshold;
        if sampled || duration > self.kinds[kind_index].slow_min {
            self.keep((start, duration), number, kind_index, class_index, payload());
        }
        if self.kinds[kind_index].left == 0 {
            self.end_slice(kind_index, start);
        }
        if self.mark_left == 0 {
            self.end_mark(start);
        }
        self.due != 0
    }
}
