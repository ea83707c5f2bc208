//! The recorder of one thread: where its records go, and its private caches.

mod keep;
mod making;

pub use making::{of_process, paths_if_recorded};

use crate::arch::ThreadLocal;
use crate::cancellation::Uncancelled;
use crate::counters::Counters;
use crate::frames::Standpoint;
use crate::off_core::OffCore;
use crate::paths::Paths;
use crate::reduction::KeepMode;
use crate::stream::{FreeChunk, Room, Writer};
use crate::{clock, communicators, datatypes, sites};
use kizami_model::{Op, Shape, StopReason};
use kizami_records::kind::{COUNT, COUNTED, OFF_CORE, REGION_BEGIN, REGION_END, STOP};
use kizami_records::{
    CallRecord, Completion, ListItems, Started, completion_slots, counted_slots, fold_update, pack_fold,
    pack_list_head, pair, start_slots,
};
use kizami_segment::{CallNote, Cursor, Header, PAD, SLOT_BYTES, Slot, head, kind_of, ticks_of};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Learns what recording a call into a chunk costs that is about to be begun, in units of a tick, with what the thread
/// counts. `None` if it is not time to.
pub type Calibrate = Box<dyn FnMut(&mut FreeChunk<'_>, &mut Option<Box<Counters>>) -> Option<u64>>;

/// Everything a thread needs to record a call without other data.
pub struct Thread {
    pub cursor: Cursor,
    /// Where chunks come from; `None` if nothing can be written.
    writer: Option<Writer>,
    /// Where calls are counted that cannot be stored; `None` where they have no owner.
    losses: Option<&'static Header>,
    /// Where the call being made is noted: the segment's header, or one that is never read.
    noted: &'static Header,
    base_ticks: u64,
    fold: Option<Fold>,
    /// What is counted with each call, if anything is.
    pub counters: Option<Box<Counters>>,
    /// How long it had no core, where the kernel says it.
    pub off_core: Option<Box<OffCore>>,
    pub sites: sites::Cache,
    /// How the program came to its calls, where that is recorded.
    pub paths: Option<Paths>,
    pub communicators: communicators::Cache,
    pub datatypes: datatypes::Cache,
    /// Handles of the requests given to the present completion call.
    pub handles: Vec<usize>,
    /// Statuses of our own where the program wants none.
    pub statuses: Vec<u64>,
    /// What the present completion call completed.
    pub completed: Vec<Completion>,
    /// What the present start call started.
    pub started: Vec<Started>,
    /// When recording was paused, if it is: calls are followed, so that nothing known goes stale, but not stored.
    paused_since: Option<u64>,
    /// How to learn what recording a call costs; `None` where that is being learned.
    calibrate: Option<Calibrate>,
    /// Where the thread's stack lies, empty if that is not known.
    pub stack: Range<usize>,
    /// What becomes of calls.
    keep: KeepMode,
    /// Recording is paused, or calls are made dear for a test.
    held_up: bool,
    /// So it is, or not all is kept: the one thing an ordinary call looks at.
    slow_path: bool,
}

/// Counters a thread may have, rounded up to whole slots.
const MOST_COUNTERS: usize = 16;
/// Slots of a call without a list.
const CALL_SLOTS: usize = 2;

/// The last record, if it is a fold that may take one more failed poll.
struct Fold {
    slots: *const [Slot; 2],
    key: FoldKey,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct FoldKey {
    op: Op,
    site: u32,
    comm: u32,
    peer: i32,
    tag: i32,
}

impl Thread {
    /// The recorder of the thread that has this block.
    ///
    /// # Safety
    /// It must be this thread's own block, with a recorder in it, to which there is no other reference.
    #[inline(always)]
    pub unsafe fn of<'a>(block: *mut ThreadLocal) -> &'a mut Thread {
        // SAFETY: by contract; what is put there is a recorder.
        unsafe { &mut *(*block).thread.cast::<Thread>() }
    }

    /// Number of the call site of a call whose return address lies at `frame`, with the frame pointer at that moment.
    #[inline(always)]
    pub fn site(&mut self, frame: *const usize, frame_pointer: usize) -> u32 {
        match &mut self.paths {
            Some(paths) if !frame.is_null() => {
                paths.number(Standpoint { frame: frame as usize, frame_pointer }, &self.stack)
            }
            _ => sites::number(&mut self.sites, frame),
        }
    }

    /// Ticks since the stream's base.
    #[inline(always)]
    pub fn relative(&self, ticks: u64) -> u64 {
        ticks.wrapping_sub(self.base_ticks)
    }

    /// Bytes of records in the chunk that is being filled.
    pub fn open_bytes(&self) -> u64 {
        let chunk = self.writer.as_ref().map_or(0, |writer| writer.stream().file().chunk_bytes());
        chunk.saturating_sub(self.cursor.room() * SLOT_BYTES) as u64
    }

    /// Notes in the segment's header which call is being made, so that a process that dies or hangs in it leaves a trace of it.
    #[inline(always)]
    pub fn note_entry(&self, op: Op, start_ticks: u64) {
        self.noted.in_call.store(head(op.0, start_ticks), Ordering::Relaxed);
    }

    /// Notes that it is over.
    #[inline(always)]
    pub fn note_return(&self) {
        self.noted.in_call.store(0, Ordering::Relaxed);
    }

    /// Where it is noted what the call being made was given.
    #[inline(always)]
    pub fn note(&self) -> &'static CallNote {
        &self.noted.in_call_note
    }

    /// Records a call.
    #[inline(always)]
    pub fn record(&mut self, call: &CallRecord, shape: Shape) {
        // What is rare gets copies: the record itself then never has to lie in memory.
        if self.slow_path {
            let copy = *call;
            if self.goes_elsewhere(&copy, shape) {
                return;
            }
        }
        self.fold = None;
        self.record_counted(CALL_SLOTS);
        match call.pack(shape) {
            Some(words) => self.push_one(words),
            None => {
                let copy = *call;
                self.push_wide(&copy);
            }
        }
    }

    /// Whether a call is not to be recorded as it is: it is skipped, or only what is left of it when reduced.
    #[cold]
    #[inline(never)]
    fn goes_elsewhere(&mut self, call: &CallRecord, shape: Shape) -> bool {
        self.held_up && self.skips_call() || self.reduces(|reduction| reduction.call(call, shape))
    }

    #[cold]
    #[inline(never)]
    fn push_wide(&mut self, call: &CallRecord) {
        let [first, second] = call.pack_wide();
        self.push(first, [second].into_iter());
    }

    /// Records the call that is noted as being made, and that the program has left before it returned: as one that failed, and
    /// without length where that moment is unknown.
    pub fn record_left(&mut self, end_ticks: Option<u64>) {
        if self.writer.is_none() {
            return self.count_lost(1);
        }
        let noted = self.noted.in_call.load(Ordering::Relaxed);
        // It was not begun yet, or is not to be recorded.
        let Some(function) = Op(kind_of(noted)).function() else { return };
        let start = ticks_of(noted);
        if let Some(counters) = &mut self.counters {
            counters.leave();
        }
        let duration = end_ticks.map_or(0, |end| self.relative(end).saturating_sub(start));
        let mut record = CallRecord::new(function.op, start, duration);
        (record.site, record.failed) = (self.note().site.load(Ordering::Relaxed), true);
        match function.shape {
            Shape::Completion => {
                self.completed.clear();
                self.record_completion(&record);
            }
            Shape::Start => {
                self.started.clear();
                self.record_start(&record);
            }
            shape => self.record(&record, shape),
        }
        self.note_return();
    }

    /// Records the ranks of the group that the call just recorded was given.
    pub fn record_group(&mut self, call: &CallRecord, ranks: &[i32]) {
        if self.paused_since.is_some() {
            return;
        }
        let shape = call.op.function().map_or(Shape::Timed, |function| function.shape);
        for rank in ranks {
            let part = CallRecord { duration_ticks: 0, peer: *rank, part: true, ..*call };
            if self.reduces(|reduction| reduction.part(&part, shape)) {
                continue;
            }
            let [first, second] = part.pack_wide();
            self.push_if_room(first, [second].into_iter());
        }
    }

    /// Records a wait or test with what it completed, as left in `self.completed`.
    #[inline(always)]
    pub fn record_completion(&mut self, call: &CallRecord) {
        if self.slow_path {
            let copy = *call;
            if self.held_up && self.skips_call() || self.reduces_completion(&copy) {
                return;
            }
        }
        self.fold = None;
        self.record_counted(1 + completion_slots(self.completed.len()));
        let items = match self.completed.as_slice() {
            [] => ListItems::None,
            [one] => ListItems::One(one.pack()),
            many => ListItems::Listed(many.len()),
        };
        let first = list_head(call, items);
        if let ListItems::Listed(count) = items {
            let completed = std::mem::take(&mut self.completed);
            let half = |index: usize| completed.get(index).map_or([0, 0], |item| item.pack());
            let rest = (0..completion_slots(count)).map(|slot| {
                let [a, b] = half(2 * slot);
                let [c, d] = half(2 * slot + 1);
                [a, b, c, d]
            });
            self.push(first, rest);
            self.completed = completed;
        } else {
            self.push_one(first);
        }
    }

    /// Records a start of persistent requests, as left in `self.started`.
    pub fn record_start(&mut self, call: &CallRecord) {
        if self.slow_path && (self.held_up && self.skips_call() || self.reduces_start(call)) {
            return;
        }
        self.fold = None;
        self.record_counted(1 + start_slots(self.started.len()));
        let started = std::mem::take(&mut self.started);
        let word =
            |index: usize| started.get(index).map_or(0, |started| pair(started.persistent, started.request));
        match started.len() {
            0 => self.push_one(list_head(call, ListItems::None)),
            1 => self.push_one(list_head(call, ListItems::One([word(0), 0]))),
            count => {
                let rest = (0..start_slots(count)).map(|slot| std::array::from_fn(|i| word(4 * slot + i)));
                self.push(list_head(call, ListItems::Listed(count)), rest);
            }
        }
        self.started = started;
    }

    /// Records a poll that found nothing: one more of the same only changes the record before.
    #[inline(always)]
    pub fn record_failed_poll(&mut self, call: &CallRecord) {
        if self.slow_path
            && (self.held_up && self.skips_call()
                || self.reduces(|reduction| reduction.failed_poll(call, pack_fold(call))))
        {
            return;
        }
        let key = FoldKey { op: call.op, site: call.site, comm: call.comm, peer: call.peer, tag: call.tag };
        if let Some(fold) = &self.fold
            && fold.key == key
        {
            // SAFETY: the fold is dropped before its chunk is left, so the slots are still mapped.
            let slots = unsafe { &*fold.slots };
            fold_update(slots, call.start_ticks + call.duration_ticks, call.duration_ticks);
            return;
        }
        self.record_counted(CALL_SLOTS);
        let [first, second] = pack_fold(call);
        if self.cursor.room() < 2 && !self.make_room(2) {
            return self.count_lost(1);
        }
        let slots = self.cursor.peek(2).map(<[Slot]>::as_ptr);
        self.cursor.push_all(first, [second].into_iter());
        self.fold = slots.map(|slots| Fold { slots: slots.cast(), key });
    }

    /// Records what was counted with the call that is recorded next, and how long it had no core. Polls that are folded into
    /// the record before leave what they counted to the next record. The record to come takes `following` slots.
    #[inline(always)]
    fn record_counted(&mut self, following: usize) {
        if self.off_core.as_ref().is_some_and(|off_core| off_core.is_any()) {
            self.record_off_core(following);
        }
        if let Some(counters) = self.counters.take() {
            self.counters = Some(self.record_counters(counters, following));
        }
    }

    #[cold]
    #[inline(never)]
    fn record_off_core(&mut self, following: usize) {
        // The two records lie in one chunk, as what was counted does.
        if self.has_room_for(1 + following)
            && let Some(off_core) = &mut self.off_core
        {
            let [before_ns, inside_ns, cost_ticks] = off_core.take();
            self.cursor.push([head(OFF_CORE, 0), before_ns, inside_ns, cost_ticks]);
        }
    }

    #[cold]
    fn record_counters(&mut self, mut counters: Box<Counters>, following: usize) -> Box<Counters> {
        let mut pairs = counters.pairs();
        let count = pairs.len();
        let [before, inside] = pairs.next().unwrap_or_default();
        let first = [head(COUNTED, 0), count as u64, before, inside];
        // Collected into an array: what follows is written behind the counters' back.
        let mut rest = [[0; 2]; MOST_COUNTERS];
        rest.iter_mut().zip(pairs).for_each(|(place, pair)| *place = pair);
        let slots = (0..counted_slots(count)).map(|slot| {
            let [[a, b], [c, d]] = [rest[2 * slot], rest[2 * slot + 1]];
            [a, b, c, d]
        });
        // The two records lie in one chunk, so that no crash and no full disk parts them.
        let needed = 1 + slots.len() + following;
        if self.cursor.room() >= needed || self.make_room(needed) {
            self.cursor.push_all(first, slots);
            counters.recorded();
        }
        counters
    }

    /// Records the beginning or end of a named region.
    pub fn record_region(&mut self, region: u32, begins: bool) {
        if self.paused_since.is_some() {
            return;
        }
        self.fold = None;
        let op = if begins { REGION_BEGIN } else { REGION_END };
        let at = self.relative(clock::now());
        self.push_if_room([head(op, at), u64::from(region), 0, 0], std::iter::empty());
    }

    /// Records an amount of work that the program counted.
    pub fn record_count(&mut self, name: u32, amount: u64, site: u32) {
        if self.paused_since.is_some() {
            return;
        }
        self.fold = None;
        let at = self.relative(clock::now());
        self.push_if_room([head(COUNT, at), u64::from(name), amount, u64::from(site)], std::iter::empty());
    }

    /// Records that the tracer held the program up, or did not look. `detail` is how late a suspension ended, or what
    /// a calibration found.
    pub fn record_stop(&mut self, start_ticks: u64, end_ticks: u64, reason: StopReason, detail: u64) {
        self.fold = None;
        let start = self.relative(start_ticks);
        let length = end_ticks.saturating_sub(start_ticks);
        let words = [head(STOP, start), length, reason as u64, detail];
        self.push_if_room(words, std::iter::empty());
    }

    /// Stores the one slot of a call, or counts it as lost.
    #[inline(always)]
    fn push_one(&mut self, words: [u64; 4]) {
        if !self.cursor.push(words) {
            self.push(words, std::iter::empty());
        }
    }

    /// Stores the slots of a call, or counts it as lost.
    fn push(&mut self, first: [u64; 4], rest: impl ExactSizeIterator<Item = [u64; 4]>) {
        if !self.push_if_room(first, rest) {
            self.count_lost(1);
        }
    }

    /// Stores what is no call; false if there is no room for it.
    fn push_if_room(&mut self, first: [u64; 4], rest: impl ExactSizeIterator<Item = [u64; 4]>) -> bool {
        let needed = 1 + rest.len();
        let room = self.cursor.room() >= needed || self.make_room(needed);
        if room {
            self.cursor.push_all(first, rest);
        }
        room
    }

    /// Counts calls that cannot be stored.
    pub fn count_lost(&self, calls: u64) {
        if let Some(losses) = self.losses {
            losses.lost_calls.fetch_add(calls, Ordering::Relaxed);
        }
    }

    fn has_room_for(&mut self, slots: usize) -> bool {
        self.cursor.room() >= slots || self.make_room(slots)
    }

    /// Finds room for a record of so many slots; false if there is none.
    #[cold]
    fn make_room(&mut self, needed: usize) -> bool {
        let _uncancelled = Uncancelled::new();
        self.fold = None;
        let Some(writer) = &mut self.writer else { return false };
        let stream = writer.stream();
        let start = clock::now();
        // A slot that says "nothing more here"; without room for it the chunk is full anyway.
        self.cursor.push([head(PAD, 0), 0, 0, 0]);
        let full = std::mem::replace(&mut self.cursor, Cursor::EMPTY);
        let (mut chunk, waited) = match writer.next(full) {
            Room::Ready(chunk) => (chunk, false),
            Room::Prepared(chunk) => (chunk, true),
            Room::None => return false,
        };
        let prepared = clock::now();
        let counters = &mut self.counters;
        let cost = self.calibrate.as_mut().and_then(|calibrate| calibrate(&mut chunk, counters));
        self.cursor = chunk.begin();
        if waited {
            self.record_stop(start, prepared, StopReason::ChunkWait, 0);
        }
        if let Some(cost) = cost {
            self.record_stop(prepared, clock::now(), StopReason::Calibration, cost);
        }
        stream.note_clock();
        // A list longer than a whole chunk cannot be kept.
        let fits = self.cursor.room() >= needed;
        if let Some(losses) = self.losses.filter(|_| !fits) {
            let (none, too_long) = (0, libc::EMSGSIZE as u32);
            let _ = losses.lost_errno.compare_exchange(none, too_long, Ordering::Relaxed, Ordering::Relaxed);
        }
        fits
    }

    /// Whether the call is not to be stored. Takes its time first, if a test asks for calls that cost more.
    #[cold]
    fn skips_call(&mut self) -> bool {
        if self.paused_since.is_some() {
            return true;
        }
        let cost_ns = test_call_cost_ns();
        if cost_ns > 0 {
            let until_ns = clock::monotonic_ns() + cost_ns;
            while clock::monotonic_ns() < until_ns {
                std::hint::spin_loop();
            }
        }
        false
    }

    fn note_slow_path(&mut self) {
        self.held_up = self.paused_since.is_some() || test_call_cost_ns() > 0;
        self.slow_path = self.held_up || !matches!(self.keep, KeepMode::All);
    }

    /// Stores nothing until [`Thread::resume`].
    pub fn pause(&mut self) {
        self.paused_since.get_or_insert_with(clock::now);
        self.note_slow_path();
    }

    /// Stores again what is called.
    pub fn resume(&mut self) {
        if let Some(since) = self.paused_since.take() {
            self.note_slow_path();
            self.off_core.iter_mut().for_each(|off_core| off_core.skip());
            self.record_stop(since, clock::now(), StopReason::Paused, 0);
        }
    }
}

/// What recording a call is made to cost more, by `KIZAMI_TEST_CALL_COST_NS`: a known disturbance, to try on it
/// how well a run can be shown without it.
fn test_call_cost_ns() -> u64 {
    static COST_NS: OnceLock<u64> = OnceLock::new();
    *COST_NS.get_or_init(|| {
        let text = std::env::var("KIZAMI_TEST_CALL_COST_NS").ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    })
}

fn list_head(call: &CallRecord, items: ListItems) -> [u64; 4] {
    pack_list_head(call.op, call.start_ticks, call.duration_ticks, call.site, call.failed, items)
}
