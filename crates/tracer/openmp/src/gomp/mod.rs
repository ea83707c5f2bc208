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
use crate::{lifecycle, local, ompt};
use std::ffi::c_void;

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
    if lifecycle::wants_tasks() { recorder() } else { None }
}
