//! How a thread comes by its recorder, and what it leaves behind.

use super::{Calibrate, Thread};
use crate::counters::Counters;
use crate::off_core::OffCore;
use crate::paths::Paths;
use crate::process::Process;
use crate::reduction::KeepMode;
use crate::stream::{Writer, lock};
use crate::{communicators, settings, simulator, stack};
use kizami_segment::{Cursor, Header};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// What a thread that has ended leaves to one that begins: a stream with room in it. Files and mappings do not
/// pile up in programs that start a thread for every task.
struct Spare {
    writer: Writer,
    cursor: Cursor,
    keep: KeepMode,
}

static SPARES: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

/// Where threads without a segment note their calls.
// SAFETY: a header is made of integers, for all of which zero is a value.
static UNREAD: Header = unsafe { std::mem::zeroed() };

/// A recorder for one more thread of the process. Without a file to write to it loses everything and counts it, but
/// works.
pub fn of_process(process: &Process, calibrate: Calibrate) -> Box<Thread> {
    let spare = lock(&SPARES).pop();
    let mut thread = match spare {
        Some(spare) => Thread::taking_over(spare),
        None => match process.new_stream(communicators::identity_and_rank) {
            Ok((writer, keep)) => Thread::new(writer, keep),
            Err(error) => Thread::losing(process.losses(error)),
        },
    };
    thread.counters = Counters::open(process);
    thread.off_core = OffCore::begin();
    thread.stack = stack::own();
    thread.paths = paths_if_recorded();
    thread.calibrate = Some(calibrate);
    thread
}

/// What a thread needs to record call paths. All ranks of a simulation are in one process, on stacks of their own.
pub fn paths_if_recorded() -> Option<Paths> {
    (settings::get().paths && simulator::get().is_none()).then(Paths::new).flatten()
}

impl Thread {
    /// A recorder that writes to a new stream.
    fn new(writer: Writer, keep: KeepMode) -> Box<Thread> {
        let mut thread = Thread::for_calibration(keep);
        thread.write_to(writer);
        thread.make_room(1);
        thread
    }

    /// A recorder without a stream: all its calls are lost, and counted in this header, if there is one.
    fn losing(losses: Option<&'static Header>) -> Box<Thread> {
        let mut thread = Thread::for_calibration(KeepMode::All);
        thread.losses = losses;
        thread
    }

    /// A recorder whose calls are discarded.
    ///
    /// It is made in its place on the heap: a thread's whole stack may be hardly larger than its caches.
    pub fn for_calibration(keep: KeepMode) -> Box<Thread> {
        let mut place = Box::<Thread>::new_uninit();
        let thread = place.as_mut_ptr();
        // SAFETY: the whole of the new block, which needs nothing from what was there.
        unsafe { thread.write_bytes(0, 1) };
        macro_rules! put {
            ($($field:ident: $value:expr),+ $(,)?) => {
                // SAFETY: fields of the new block, none of which holds anything yet.
                unsafe { $((&raw mut (*thread).$field).write($value);)+ }
                // What is written above and the caches are all there is.
                const _: fn(&Thread) =
                    |Thread { sites: _, communicators: _, datatypes: _, $($field: _),+ }| ();
            };
        }
        put! {
            cursor: Cursor::EMPTY,
            writer: None,
            losses: None,
            noted: &UNREAD,
            base_ticks: 0,
            fold: None,
            counters: None,
            off_core: None,
            paths: None,
            handles: Vec::with_capacity(256),
            statuses: Vec::with_capacity(1024),
            completed: Vec::with_capacity(256),
            started: Vec::with_capacity(256),
            paused_since: None,
            calibrate: None,
            stack: 0..0,
            held_up: false,
            slow_path: false,
            keep: keep,
        }
        // SAFETY: caches are empty when they are all zeros, and every other field was written.
        let mut thread = unsafe { place.assume_init() };
        thread.note_slow_path();
        thread
    }

    /// A recorder that goes on where one that has ended stopped.
    fn taking_over(spare: Spare) -> Box<Thread> {
        let mut thread = Thread::for_calibration(spare.keep);
        thread.write_to(spare.writer);
        thread.cursor = spare.cursor;
        thread
    }

    fn write_to(&mut self, writer: Writer) {
        let header = writer.stream().file().header();
        self.base_ticks = header.base_ticks.load(Ordering::Relaxed);
        (self.writer, self.losses, self.noted) = (Some(writer), Some(header), header);
    }

    /// Writes no more; what is left of the stream may serve another thread.
    pub fn finish(&mut self) {
        self.resume();
        if let KeepMode::Reduced(reduction) = &mut self.keep {
            reduction.finish();
            self.hand_over();
        }
        if let Some(writer) = self.writer.take() {
            writer.stream().note_clock();
            let cursor = std::mem::replace(&mut self.cursor, Cursor::EMPTY);
            let keep = std::mem::take(&mut self.keep);
            lock(&SPARES).push(Spare { writer, cursor, keep });
        }
    }
}
