//! GNU's runtime: the functions that GCC has programs call, under their own names.
//!
//! A function with fewer arguments than the body that serves it hands on what happens to be in the other registers or
//! on the stack above, and nobody looks at it.

mod depend;
mod parallel;
mod task;
mod taskloop;
mod wait;

use crate::recorder::Recorder;
use crate::{local, ompt};
use kizami_tracer_core::settings::{self, OpenMp};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, Ordering};

/// The body of a region or of a task.
type Body = unsafe extern "C" fn(*mut c_void);
/// What copies the data of a task.
type Copy = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;

/// The recorder of this thread, unless another way to know is used.
#[inline(always)]
fn recorder() -> Option<&'static mut Recorder> {
    if ompt::is_on() { None } else { local::recorder() }
}

/// The same for tasks, which may not be wanted.
#[inline(always)]
fn recorder_of_tasks() -> Option<&'static mut Recorder> {
    if wants_tasks() { recorder() } else { None }
}

/// Whether tasks are recorded.
#[inline(always)]
fn wants_tasks() -> bool {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match WANTED.load(Ordering::Relaxed) {
        UNKNOWN => {
            let wanted = settings::get().openmp == OpenMp::Tasks;
            WANTED.store(if wanted { YES } else { NO }, Ordering::Relaxed);
            wanted
        }
        known => known == YES,
    }
}
