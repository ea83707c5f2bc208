//! Keeping less than everything: what a thread has instead of records where `--keep` was asked for.
//!
//! Every call is added to two reducers (`kizami-summary`, `kizami-sequence`), each in memory of a fixed size that is mapped from a file beside
//! the segment: sums and a sample of rows, and the folded sequence of all calls. What reducers hand over goes into the
//! segment as records. A kill loses at most the call that is being added, and from
//! the sequence polls in a row that found nothing so far.
//!
//! The first calls of a thread become records as well, so that a short run has them all; of a longer one, sealing leaves these
//! records out.
//!
//! No lock, no system call and no allocation on the path of a call, as everywhere in the tracer.

mod sample_keys;
mod sequence;

use crate::settings::{Amount, Keep};
use kizami_model::Shape;
use kizami_records::sequence_codec::Numbering;
use kizami_records::{CallRecord, Completion, ReducedBy, Started};
use kizami_segment::{SLOT_BYTES, block};
use kizami_sequence::{Recorder, Signature, Sizes};
pub use kizami_summary::PART_BYTES;
use kizami_summary::{BLOCK_BYTES, Block, NO_PEER, PAYLOAD_WORDS, Reducer, Row, Settings};
use sample_keys::SampleKeys;
use sequence::Values;
use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicU64;

/// Bytes of an ordinary record: what a fraction is a fraction of.
const RECORD_BYTES: u32 = SLOT_BYTES as u32;
/// Entries of a list that are added at once. There is room for what comes of them before something is handed over: once
/// the first has ended the loops it was not expected in, the others add a few bytes each.
pub const LIST_MOST: usize = 64;

/// A packed call: one slot or two, and zeros behind.
type Packed = [u64; PAYLOAD_WORDS];

/// Tells a communicator's identity and this process's rank in it, by its local number, if it is known.
pub type CommunicatorOf = fn(u32) -> Option<(u64, u32)>;

/// The thread whose calls are reduced.
#[derive(Clone, Copy)]
pub struct Owner {
    /// Separates its sampling keys from those of others.
    pub key: u64,
    /// Ticks of its clock.
    pub ticks_per_second: u64,
    /// Who is in its communicators.
    pub communicator_of: CommunicatorOf,
}

impl Owner {
    /// No thread: calls are added to learn what that costs.
    const NONE: Owner = Owner { key: 0, ticks_per_second: 1_000_000_000, communicator_of: |_| None };
}

/// The reducers of one thread.
pub struct Reduction {
    sample: Reducer<'static>,
    order: Recorder<'static>,
    numbers: SampleKeys,
    /// How many more calls become records.
    records_left: u32,
    /// When the call before ended, in ticks since the segment's base; the end of time before the first.
    last_end_ticks: u64,
    requests: Numbering,
    /// Polls that found nothing and may be followed by more.
    polls: Option<(Signature, u64)>,
    order_is_due: bool,
    buffer: Box<[u8; PART_BYTES]>,
}

impl Reduction {
    /// Makes the files beside a segment. The error is an `errno`.
    fn create(segment: &CStr, keep: Keep, owner: Owner) -> Result<Box<Reduction>, i32> {
        let beside =
            |ending: &[u8]| CString::new([segment.to_bytes(), ending].concat()).map_err(|_| libc::EINVAL);
        let (sample_path, order_path, sizes) = (beside(b".sample")?, beside(b".order")?, Sizes::default());
        let sample = block::create(&sample_path, BLOCK_BYTES)?;
        let order = block::create(&order_path, sizes.bytes()).inspect_err(|_| {
            // One alone would say that the calls are there.
            // SAFETY: it was just made, and is not shared.
            unsafe { block::remove(&sample_path, sample, BLOCK_BYTES) };
        })?;
        // SAFETY: new pages that are not shared, mapped for ever, of that size.
        let (sample, order) = unsafe {
            let words = std::slice::from_raw_parts(order.cast::<AtomicU64>(), sizes.bytes() / 8);
            (Block::at(sample), words)
        };
        Reduction::within(sample, order, keep, owner).ok_or(libc::EINVAL)
    }

    /// One in memory that is never read, to learn what adding a call costs. The memory is never given back: there is one
    /// such in a process.
    fn for_calibration(keep: Keep) -> Option<Box<Reduction>> {
        let keep = Keep { all_below: 0, ..keep };
        let order: Vec<AtomicU64> = (0..Sizes::default().bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        Reduction::within(Box::leak(Block::boxed()), Vec::leak(order), keep, Owner::NONE)
    }

    fn within(
        sample: &'static mut Block,
        order: &'static [AtomicU64],
        keep: Keep,
        owner: Owner,
    ) -> Option<Box<Reduction>> {
        let settings = match keep.amount {
            Amount::Fraction(part) => Settings::fraction(part, RECORD_BYTES, owner.ticks_per_second),
            Amount::BytesPerSecond(bytes) => Settings::rate(bytes, owner.ticks_per_second),
        };
        Some(Box::new(Reduction {
            sample: Reducer::start(sample, &settings),
            order: Recorder::start(order, Sizes::default())?,
            numbers: SampleKeys::new(keep.seed, owner.key, owner.communicator_of),
            records_left: keep.all_below,
            last_end_ticks: u64::MAX,
            requests: Numbering::FIRST,
            polls: None,
            order_is_due: false,
            buffer: Box::new([0; PART_BYTES]),
        }))
    }

    /// Whether the call that is added next becomes a record as well.
    #[inline]
    pub fn records_next(&self) -> bool {
        self.records_left > 0
    }

    /// Adds a call. True if something is to be handed over before the next.
    ///
    /// Callers know the shape when they are compiled: for those that come often there is a way without questions.
    #[inline(always)]
    pub fn call(&mut self, call: &CallRecord, shape: Shape) -> bool {
        match shape {
            Shape::Timed if call.request == 0 => self.timed(call),
            Shape::Send => self.send(call),
            Shape::Receive => self.receive(call),
            Shape::SendReceive => self.exchange(call),
            Shape::Collective => self.collective(call),
            other => self.other(call, other),
        }
    }

    /// A call that begins no request and of which only the time is kept.
    #[inline(never)]
    fn timed(&mut self, call: &CallRecord) -> bool {
        self.add(call, Shape::Timed, false)
    }

    #[inline(never)]
    fn send(&mut self, call: &CallRecord) -> bool {
        self.add(call, Shape::Send, call.request != 0)
    }

    #[inline(never)]
    fn receive(&mut self, call: &CallRecord) -> bool {
        self.add(call, Shape::Receive, call.request != 0)
    }

    #[inline(never)]
    fn exchange(&mut self, call: &CallRecord) -> bool {
        self.add(call, Shape::SendReceive, call.request != 0)
    }

    #[inline(never)]
    fn collective(&mut self, call: &CallRecord) -> bool {
        self.add(call, Shape::Collective, call.request != 0)
    }

    #[inline(never)]
    fn other(&mut self, call: &CallRecord, shape: Shape) -> bool {
        self.add(call, shape, call.request != 0)
    }

    /// Adds a call; `begins` says whether it begins a request.
    #[inline(always)]
    fn add(&mut self, call: &CallRecord, shape: Shape, begins: bool) -> bool {
        let (signature, values) = sequence::of_call(call, shape, begins, &mut self.requests);
        let ordered = self.in_order(&signature, &values);
        self.sample(call, shape, || packed(call, shape)) | ordered
    }

    /// Adds to the sequence one of the ranks of a group that the call before was given.
    pub fn part(&mut self, call: &CallRecord, shape: Shape) -> bool {
        let (signature, values) = sequence::of_call(call, shape, call.request != 0, &mut self.requests);
        self.in_order(&signature, &values)
    }

    /// Adds a call that completed requests; `head` is its packed form. The list has at most [`LIST_MOST`] entries.
    #[inline]
    pub fn completion(&mut self, call: &CallRecord, completed: &[Completion], head: [u64; 4]) -> bool {
        self.completed(call, completed, false) | self.sample(call, Shape::Completion, || short(head))
    }

    /// Adds to the sequence the first of the requests that a call completed.
    #[inline]
    pub fn completed(&mut self, call: &CallRecord, completed: &[Completion], goes_on: bool) -> bool {
        let mut due = false;
        let next = self.requests.next();
        sequence::of_completion(call, completed, next, goes_on, |signature, values| {
            due |= self.in_order(signature, values);
        });
        due
    }

    /// Adds a call that started persistent requests. The list has at most [`LIST_MOST`] entries.
    pub fn start(&mut self, call: &CallRecord, started: &[Started], head: [u64; 4]) -> bool {
        self.started(call, started, false) | self.sample(call, Shape::Start, || short(head))
    }

    /// Adds to the sequence the first of the persistent requests that a call started.
    pub fn started(&mut self, call: &CallRecord, started: &[Started], goes_on: bool) -> bool {
        let mut due = false;
        let mut requests = self.requests;
        sequence::of_start(call, started, &mut requests, goes_on, |signature, values| {
            due |= self.in_order(signature, values);
        });
        self.requests = requests;
        due
    }

    /// Adds a poll that found nothing. In the sequence those in a row are one.
    pub fn failed_poll(&mut self, call: &CallRecord, packed: [[u64; 4]; 2]) -> bool {
        let signature = sequence::of_polls(call);
        let mut ordered = false;
        match &mut self.polls {
            Some((known, count)) if *known == signature => *count += 1,
            _ => {
                ordered = self.end_polls();
                self.polls = Some((signature, 1));
            }
        }
        self.sample(call, Shape::Probe, || wide(packed)) | ordered
    }

    /// Passes to `append` one piece of what is to be handed over; false if there is nothing more.
    pub fn hand_over(&mut self, append: impl FnOnce(ReducedBy, &[u8])) -> bool {
        let length = self.sample.take(&mut self.buffer[..]);
        if length > 0 {
            append(ReducedBy::Summary, &self.buffer[..length]);
            return true;
        }
        if std::mem::take(&mut self.order_is_due) {
            let order_is_due = &mut self.order_is_due;
            self.order.take(&mut self.buffer[..], |bytes| {
                // There may be more than fits.
                *order_is_due = bytes.len() == PART_BYTES;
                append(ReducedBy::Sequence, bytes);
            });
            return true;
        }
        false
    }

    /// The thread makes no more calls: what was held back is written down.
    pub fn finish(&mut self) {
        self.end_polls();
        // Another thread may go on here, and does not compute until then.
        self.last_end_ticks = u64::MAX;
        self.sample.forget_last();
    }

    #[inline(always)]
    fn in_order(&mut self, signature: &Signature, values: &Values) -> bool {
        if self.polls.is_some() {
            self.end_polls();
        }
        let due = self.order.call(signature, values.as_slice());
        self.order_is_due |= due;
        due
    }

    #[cold]
    fn end_polls(&mut self) -> bool {
        let Some((signature, count)) = self.polls.take() else { return false };
        let due = self.order.call(&signature, &[count]);
        self.order_is_due |= due;
        due
    }

    #[inline(always)]
    fn sample(&mut self, call: &CallRecord, shape: Shape, payload: impl FnOnce() -> Packed) -> bool {
        let moves = || !call.failed && !call.prepares();
        let (to, from) = match shape {
            Shape::Send if moves() => (call.peer, NO_PEER),
            Shape::Receive if moves() => (NO_PEER, call.peer),
            Shape::SendReceive if moves() => (call.peer, call.recv_peer),
            _ => (NO_PEER, NO_PEER),
        };
        // Others have none; where that is known, nothing is done about them.
        let (bytes_out, bytes_in) = match shape {
            Shape::Send | Shape::ObjectOut => (call.bytes_out, 0),
            Shape::Receive | Shape::ObjectIn => (0, call.bytes_in),
            Shape::SendReceive | Shape::Collective | Shape::Object => (call.bytes_out, call.bytes_in),
            // A probe only looks.
            Shape::Probe | Shape::Timed | Shape::Completion | Shape::Start => (0, 0),
        };
        let row = Row {
            site: call.site,
            op: call.op.0,
            communicator: call.comm,
            to: to.max(NO_PEER),
            from: from.max(NO_PEER),
            bytes_out,
            bytes_in,
            start_ticks: call.start_ticks,
            duration_ticks: call.duration_ticks,
            before_ticks: Some(call.start_ticks.saturating_sub(self.last_end_ticks)),
            number: self.numbers.of(call, shape),
        };
        self.last_end_ticks = call.start_ticks + call.duration_ticks;
        self.records_left = self.records_left.saturating_sub(1);
        self.sample.add(&row, payload)
    }
}

/// What becomes of a thread's calls.
#[derive(Default)]
pub enum KeepMode {
    /// All become records.
    #[default]
    All,
    /// All are added up; a few become records.
    Reduced(Box<Reduction>),
}

impl KeepMode {
    /// For the thread with this segment. Where it cannot be had, everything is kept.
    pub fn create(segment: &CStr, keep: Keep, owner: Owner) -> KeepMode {
        Reduction::create(segment, keep, owner).map_or(KeepMode::All, KeepMode::Reduced)
    }

    /// For calls that are never read, to learn what adding one costs.
    pub fn for_calibration(keep: Keep) -> KeepMode {
        Reduction::for_calibration(keep).map_or(KeepMode::All, KeepMode::Reduced)
    }
}

/// A call without a list, packed.
#[inline(always)]
fn packed(call: &CallRecord, shape: Shape) -> Packed {
    match call.pack(shape) {
        Some(slot) => short(slot),
        None => wide(call.pack_wide()),
    }
}

/// One slot, and zeros behind.
#[inline(always)]
fn short([a, b, c, d]: [u64; 4]) -> Packed {
    [a, b, c, d, 0, 0, 0, 0]
}

/// Two slots.
#[inline(always)]
fn wide([[a, b, c, d], [e, f, g, h]]: [[u64; 4]; 2]) -> Packed {
    [a, b, c, d, e, f, g, h]
}
