//! The clock as words have it: a copy of what was chosen for the process, as a variable of this crate.

use kizami_tracer_core::{clock, processor};
use std::sync::atomic::{AtomicBool, Ordering};

static USE_TIME_STAMP: AtomicBool = AtomicBool::new(false);

/// Takes over what was chosen for the process; before any reading.
pub fn adopt() {
    USE_TIME_STAMP.store(clock::is_time_stamp(), Ordering::Relaxed);
}

/// The present, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    if USE_TIME_STAMP.load(Ordering::Relaxed) { processor::time_stamp() } else { clock::monotonic_ns() }
}
