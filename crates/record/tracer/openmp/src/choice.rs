//! Which OpenMP runtime is recorded, where a process has several: the first that runs something.
//!
//! Threads of two runtimes know nothing of each other, and one thread may be in regions of both; what is recorded would not
//! fit together. So one is recorded whole, and of the others it is said that they are not.

use kizami_records::Unrecorded;
use kizami_tracer_core::process;
use kizami_tracer_core::stream::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

/// How a runtime is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// Its functions are led through ours.
    Functions = 1,
    /// It reports to us as its tool.
    Tool = 2,
}

const NONE: u8 = 0;
static CHOSEN: AtomicU8 = AtomicU8::new(NONE);
/// Files of the runtimes that could be recorded, by way.
static FILES: Mutex<[Option<String>; 2]> = Mutex::new([None, None]);

/// A runtime can be recorded by this way, if it is the first to run something.
pub fn offer(way: Way, file: String) {
    lock(&FILES)[way as usize - 1] = Some(file);
}

/// Whether the runtime that runs something now is recorded.
#[inline(always)]
pub fn claim(way: Way) -> bool {
    CHOSEN.load(Ordering::Relaxed) == way as u8 || claim_slowly(way)
}

#[cold]
fn claim_slowly(way: Way) -> bool {
    match CHOSEN.compare_exchange(NONE, way as u8, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(chosen) if chosen == way as u8 => true,
        Err(_) => {
            // Once: the process that takes the name reports it.
            if let Some(file) = lock(&FILES)[way as usize - 1].take() {
                process::note_unrecorded(Unrecorded::OtherRuntime, file);
            }
            false
        }
    }
}

/// The runtime has ended or is unloaded: another may come.
pub fn release(way: Way) {
    let _ = CHOSEN.compare_exchange(way as u8, NONE, Ordering::Relaxed, Ordering::Relaxed);
}
