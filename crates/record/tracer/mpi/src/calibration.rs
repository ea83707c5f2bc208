//! Calibration: calls whose records are discarded, to learn what recording one costs (P1's direct perturbation).
//!
//! The first takes place before a process's first call, on private memory. As that memory is warm and the machine's
//! speed changes, the cost is learned anew where it arises: in about every MiB of records, on the memory that is
//! about to be filled, before the chunk is announced to readers. It costs some microseconds and is recorded as a
//! stop, so it can be taken out like the others.

use crate::arch::{self, State};
use crate::call::Call;
use crate::counters::Counters;
use crate::process::Process;
use crate::reduction::KeepMode;
use crate::stream::lock;
use crate::thread::{Calibrate, Thread, paths_if_recorded};
use crate::{clock, hooks, settings, simulator, stack};
use kizami_model::{Op, Shape};
use kizami_segment::{Cursor, Slot};
use std::hint::black_box;
use std::sync::Mutex;

/// Calls that are timed together: the clock is read around them.
const CALLS: u64 = 16;
/// Such groups in a calibration; the one in the middle counts, so an interruption does not.
const GROUPS: usize = 9;
/// A cost counts in this part of a tick.
const UNITS_PER_TICK: u64 = 1024;

/// The recorder of a thread's calibrations: caches of its own, and no stream.
struct Stage(Box<Thread>);

impl Stage {
    /// One that has recorded nothing yet; with something that keeps less, calls are added to that instead.
    fn new(keep: KeepMode) -> Stage {
        let mut thread = Thread::for_calibration(keep);
        (thread.stack, thread.paths) = (stack::own(), paths_if_recorded());
        Stage(thread)
    }

    /// What recording a plain call into these slots costs, in units of a tick. To be called while the program's call
    /// is being recorded, or before the first.
    fn measure(&mut self, slots: Cursor, counters: &mut Option<Box<Counters>>) -> u64 {
        let block = arch::thread_local();
        self.0.cursor = slots;
        self.0.counters = counters.take();
        // SAFETY: the thread's own block; the recorder that belongs there is put back below, and nothing else can
        // call on this thread meanwhile.
        let (state, frame, thread) = unsafe { ((*block).state, (*block).frame, (*block).thread) };
        // SAFETY: as above.
        unsafe { (*block).thread = (&raw mut *self.0).cast() };
        let call: extern "C" fn() = black_box(pretend);
        let mut costs = [0; GROUPS];
        for cost in &mut costs {
            let start = clock::now();
            for _ in 0..CALLS {
                // SAFETY: as above. What the exported function would do before it comes to the body.
                unsafe {
                    (*block).state = State::READY;
                    (*block).frame = frame;
                }
                call();
            }
            *cost = (clock::now() - start) * UNITS_PER_TICK / CALLS;
        }
        // SAFETY: as above.
        unsafe {
            (*block).state = state;
            (*block).frame = frame;
            (*block).thread = thread;
        }
        *counters = self.0.counters.take();
        self.0.cursor = Cursor::EMPTY;
        costs.sort_unstable();
        costs[GROUPS / 2]
    }
}

/// The way of a call of which only the time is kept, around a function that does nothing.
#[inline(never)]
extern "C" fn pretend() {
    extern "C" fn nothing() {}
    let real: extern "C" fn() = black_box(nothing);
    let Some(mut call) = Call::enter(Op(1), Shape::Timed, |_| false, |_| ()) else { return };
    real();
    call.leave(0);
    hooks::timed(call);
}

/// The first calibration of a process, on private memory.
pub fn before_first_call(process: &Process) {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = lock(&DONE);
    if std::mem::replace(&mut *done, true) {
        return;
    }
    // Room for what is counted, too.
    const SLOTS: usize = 16 * CALLS as usize * GROUPS;
    // SAFETY: zeroed atomics are valid slots.
    let slots: Vec<Slot> = (0..SLOTS).map(|_| unsafe { std::mem::zeroed() }).collect();
    let mut counters = Counters::open(process);
    // The first finds caches cold and pages missing; where calls are reduced, many of the first are kept.
    let calibrations = if settings::get().keep.is_some() { 64 } else { 3 };
    let keep = settings::get().keep.map_or(KeepMode::All, KeepMode::for_calibration);
    let mut stage = Stage::new(keep);
    let cost = (0..calibrations).map(|_| {
        // SAFETY: the slots outlive the calibration, and no other thread writes them.
        let cursor = unsafe { Cursor::new(slots.as_ptr(), slots.len()) };
        stage.measure(cursor, &mut counters)
    });
    process.set_call_cost(cost.min().unwrap_or(0));
}

/// What a thread calibrates by, whenever it is about to begin a chunk.
pub fn of_thread() -> Calibrate {
    let mut stage = None;
    Box::new(move |chunk, counters| {
        // Where calls are reduced, few records are written, and they are no calls.
        if settings::get().keep.is_some() || !is_due(chunk.sequence(), chunk.bytes()) {
            return None;
        }
        let stage = stage.get_or_insert_with(|| Stage::new(KeepMode::All));
        // SAFETY: the stage gives the cursor up before it returns.
        Some(stage.measure(unsafe { chunk.unannounced() }, counters))
    })
}

/// Whether a thread calibrates when it begins its chunk of this number and size.
fn is_due(sequence: u64, chunk_bytes: usize) -> bool {
    const EVERY_BYTES: u64 = 1 << 20;
    let every = (EVERY_BYTES / chunk_bytes as u64).max(1);
    sequence > 1 && (sequence - 1).is_multiple_of(every) && simulator::get().is_none()
}
