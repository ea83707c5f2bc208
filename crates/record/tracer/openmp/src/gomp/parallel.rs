//! Parallel regions, also those that are loops or sections at once.

use super::{Body, place_of, recorder};
use crate::real::{Real, hooks};
use crate::regions;
use crate::running::Running;
use crate::thread;
use kizami_records::threading::{self, Runtime};
use std::ffi::{c_int, c_void};

/// What the threads of a region are given instead of the program's data. It lies on the stack of the thread that began the
/// region, which waits until all have ended.
#[repr(C)]
struct Share {
    /// The first word of the program's data: the runtime looks there for reductions over tasks.
    head: u64,
    body: Body,
    data: *mut c_void,
    region: u64,
}

unsafe extern "C" fn run_share(share: *mut c_void) {
    // SAFETY: what `begin` handed to the runtime.
    let (body, data, region) = unsafe {
        let share = &*share.cast::<Share>();
        (share.body, share.data, share.region)
    };
    if let Some(recorder) = thread::recorder() {
        recorder.put(threading::share(thread_number(), region));
        recorder.set_running(Running::default());
    }
    // SAFETY: as the runtime would have called it.
    unsafe { body(data) };
    if let Some(recorder) = thread::recorder() {
        recorder.put(threading::share_end());
        // For the end of the region: tasks that are left run meanwhile.
        recorder.set_running(Running { waits: true, ..Running::default() });
    }
}

/// The runtime's function that returns the number of a thread.
pub static THREAD_NUMBER: Real = Real::new(c"omp_get_thread_num");

fn thread_number() -> u32 {
    // SAFETY: the runtime's function, which has this signature.
    unsafe {
        let number: extern "C" fn() -> c_int = std::mem::transmute(THREAD_NUMBER.address());
        number() as u32
    }
}

/// All of these functions have the body and its data first; the most have eight arguments.
type Begin = unsafe extern "C" fn(Body, *mut c_void, usize, usize, usize, usize, usize, usize) -> usize;

#[inline(always)]
unsafe fn begin(real: &Real, has_head: bool, body: Body, data: *mut c_void, rest: [usize; 6]) -> usize {
    // SAFETY: the runtime's function of that name.
    let real: Begin = unsafe { std::mem::transmute(real.address()) };
    let [a, b, c, d, e, f] = rest;
    let Some(recorder) = recorder() else {
        // SAFETY: as it was called.
        return unsafe { real(body, data, a, b, c, d, e, f) };
    };
    let (region, below) = (regions::next(), recorder.running());
    let site = recorder.site(place_of(body));
    recorder.put(threading::region(site, region, Runtime::Gnu));
    // SAFETY: where the runtime looks at the data, they have a first word.
    let head = if has_head { unsafe { *data.cast::<u64>() } } else { 0 };
    let mut share = Share { head, body, data, region };
    // SAFETY: as it was called, but for the body.
    let result = unsafe { real(run_share, (&raw mut share).cast(), a, b, c, d, e, f) };
    if let Some(recorder) = thread::recorder() {
        recorder.record_counted();
        recorder.put(threading::region_end());
        recorder.set_running(below);
    }
    result
}

macro_rules! regions {
    ($($name:ident, $body:ident, $has_head:literal;)+) => {
        $(
            unsafe extern "C" fn $body(
                body: Body, data: *mut c_void,
                a: usize, b: usize, c: usize, d: usize, e: usize, f: usize,
            ) -> usize {
                // SAFETY: called as the function of that name.
                unsafe { begin(&real::$name, $has_head, body, data, [a, b, c, d, e, f]) }
            }
        )+
        hooks! { $($name => $body;)+ }
    };
}

regions! {
    GOMP_parallel, parallel, false;
    GOMP_parallel_reductions, parallel_reductions, true;
    GOMP_parallel_sections, parallel_sections, false;
    GOMP_parallel_loop_static, loop_static, false;
    GOMP_parallel_loop_dynamic, loop_dynamic, false;
    GOMP_parallel_loop_guided, loop_guided, false;
    GOMP_parallel_loop_runtime, loop_runtime, false;
    GOMP_parallel_loop_nonmonotonic_dynamic, loop_nonmonotonic_dynamic, false;
    GOMP_parallel_loop_nonmonotonic_guided, loop_nonmonotonic_guided, false;
    GOMP_parallel_loop_nonmonotonic_runtime, loop_nonmonotonic_runtime, false;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime, loop_maybe_nonmonotonic_runtime, false;
}
