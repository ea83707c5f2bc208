//! GNU's runtime: what stands before the functions that GCC has programs call.
//!
//! A function with fewer arguments than the body that serves it hands on what happens to be in the other registers or
//! on the stack above, and is not read.

mod depend;
mod parallel;
mod task;
mod taskloop;
mod wait;

use crate::choice::{self, Way};
use crate::real::{Hook, Real};
use crate::recorder::Recorder;
use crate::{thread, wanted};
use kizami_records::threading::TaskName;
use std::ffi::{CStr, c_void};

/// What stands before a function.
pub fn hook(name: &CStr) -> Option<&'static Hook> {
    hooks().find(|hook| hook.real.name == name)
}

fn hooks() -> impl Iterator<Item = &'static Hook> {
    [parallel::HOOKS, task::HOOKS, taskloop::HOOKS, wait::HOOKS].into_iter().flatten()
}

/// All functions of the runtime that are called here.
pub fn reals() -> impl Iterator<Item = &'static Real> {
    hooks().map(|hook| hook.real).chain([&parallel::THREAD_NUMBER, &taskloop::THREADS])
}

/// The body of a region or of a task.
type Body = unsafe extern "C" fn(*mut c_void);
/// The place of a region or of a task, as a return address: the beginning of its body, whose line is that of the directive. GCC
/// gives the call of the runtime no line of its own, so that it often has that of a statement before it.
#[inline(always)]
fn place_of(body: Body) -> usize {
    // Of a return address, what lies before it is looked up.
    body as usize + 1
}

/// What copies the data of a task.
type Copy = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;

/// Whose task is only counted.
const COUNTED: TaskName = TaskName { stream: u32::MAX - 1, number: 0 };

/// The recorder of this thread, unless another runtime is recorded, or what runs is only counted.
#[inline(always)]
fn recorder() -> Option<&'static mut Recorder> {
    let recorder = if choice::claim(Way::Functions) { thread::recorder() } else { None };
    recorder.filter(|recorder| !recorder.running().is_counted)
}

/// Runs a task that is only counted.
///
/// # Safety
/// As the runtime would call the body.
#[cold]
unsafe fn run_counted(body: Body, data: *mut c_void) {
    let below = thread::recorder().map(Recorder::enter_counted);
    // SAFETY: by contract.
    unsafe { body(data) };
    if let (Some(recorder), Some(below)) = (thread::recorder(), below) {
        recorder.leave_counted(below);
    }
}

/// The same for waits for tasks, which may not be wanted.
#[inline(always)]
fn recorder_of_tasks() -> Option<&'static mut Recorder> {
    if wanted::tasks() { recorder() } else { None }
}

/// The same for tasks that are made, also by those that are only counted.
#[inline(always)]
fn recorder_of_makers() -> Option<&'static mut Recorder> {
    if wanted::tasks() && choice::claim(Way::Functions) { thread::recorder() } else { None }
}
