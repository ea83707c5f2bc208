//! The clock as a call reads it.
//!
//! Which clock that is was chosen for the process; the choice is copied to here, because a variable of another crate
//! costs one instruction more each time it is read, three times a call.

use crate::{processor, simulator};
use kizami_tracer_core::clock;
pub use kizami_tracer_core::clock::{monotonic_ns, realtime_ns, some_are_distorted};
use std::sync::atomic::{AtomicBool, Ordering};

static USE_TIME_STAMP: AtomicBool = AtomicBool::new(false);

/// Takes over what was chosen for the process; before any reading.
pub fn adopt() {
    USE_TIME_STAMP.store(clock::is_time_stamp(), Ordering::Relaxed);
}

/// The present, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    if USE_TIME_STAMP.load(Ordering::Relaxed) { processor::time_stamp() } else { monotonic_ns() }
}

/// The present at the entry of a call.
#[inline(always)]
pub fn now_at_entry() -> u64 {
    if USE_TIME_STAMP.load(Ordering::Relaxed) { processor::time_stamp() } else { monotonic_at_entry_ns() }
}

#[cold]
fn monotonic_at_entry_ns() -> u64 {
    if let Some(simulator) = simulator::get() {
        simulator.catch_up();
    }
    monotonic_ns()
}

/// The tracer has done its work for a call.
#[inline(always)]
pub fn back_to_program() {
    if !USE_TIME_STAMP.load(Ordering::Relaxed)
        && let Some(simulator) = simulator::get()
    {
        simulator.forget_since_call();
    }
}
