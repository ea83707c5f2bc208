//! Calls that are not MPI's, for those who stand before other libraries: they are recorded by the same recorders.
//!
//! What it promises: only what the program itself does is recorded, on threads that have called MPI, while they are in no
//! call. What MPI does inside its functions passes, and so does what the tracer does, a forked child, and the child of a
//! `vfork` in its parent's memory. In a signal handler nothing is allocated.
//!
//! What it does not do: it does not wake a process or a thread. Who never calls MPI is not recorded.
//!
//! Nothing here that reads the clock is inlined elsewhere: its variables would no longer be this crate's own, and every
//! MPI call would take three instructions more.

use crate::arch::{self, State, ThreadLocal};
use crate::call::Call;
use crate::thread::Thread;
use crate::{exports, left, lifecycle, objects, sites};
use kizami_model::{Op, Shape};
use kizami_records::NO_SITE;
use std::ffi::CStr;

/// A call that is being made.
pub struct OutsideCall {
    call: Call,
    /// Where its return address lies.
    frame: *const usize,
}

/// Slots that a call may take, and with what is counted with it.
const SLOTS: usize = 2;
const SLOTS_WITH_COUNTERS: usize = 16;

/// Whether the thread is in no call, and would record the one whose return address lies at `frame`.
#[inline(always)]
pub fn is_outside(frame: *const usize) -> bool {
    let block = arch::thread_local();
    // SAFETY: the thread's own block.
    let state = unsafe { (*block).state };
    state == State::READY || is_back_outside(block, frame)
}

/// Whether it is so after all, which shows only now.
#[cold]
fn is_back_outside(block: *mut ThreadLocal, frame: *const usize) -> bool {
    // SAFETY: the thread's own block.
    if unsafe { (*block).state } == State::VFORKED {
        lifecycle::wake(block)
    } else {
        left::was_jumped_out_of(block, frame)
    }
}

/// Does something of the tracer's own, also what must not be interrupted by a signal handler that does the same: no call
/// is recorded meanwhile.
pub fn unseen<T>(act: impl FnOnce() -> T) -> T {
    let block = arch::thread_local();
    // SAFETY: the thread's own block.
    let before = unsafe { (*block).state };
    if before != State::READY {
        return act();
    }
    // SAFETY: as above.
    unsafe { (*block).state = State::BUSY };
    let result = act();
    // SAFETY: as above.
    unsafe { (*block).state = before };
    result
}

/// The thread is about to call `vfork`: until it is known to be back, it may be the child.
pub fn about_to_vfork() {
    let block = arch::thread_local();
    // SAFETY: the thread's own block.
    unsafe {
        if (*block).state == State::READY {
            (*block).state = State::VFORKED;
        }
    }
}

/// Has a call noticed that an exception, or a thread that ends, leaves it: for the function whose return address lies where
/// [`OutsideCall::enter`] is called.
#[inline(always)]
pub fn tell_of_unwinding() {
    left::tell_of_unwinding();
}

/// Whether the thread is in a signal handler, according to its stack.
pub fn in_signal_handler() -> bool {
    sites::in_signal_handler()
}

/// Has the loader not find a name that we export.
pub fn hide(name: &CStr) {
    exports::hide(name);
}

/// Number of the call site that a call with this return address comes from; 0 where nothing is recorded. It may take
/// memory and a lock: for those who remember the answer.
pub fn site(return_address: usize) -> u32 {
    sites::program_site(return_address).unwrap_or(NO_SITE)
}

/// Assigns a file its number in the trace.
pub fn add_file(name: String) -> u32 {
    objects::add_file(name)
}

/// What a call moved, and of which file.
#[derive(Clone, Copy, Default)]
pub struct Moved {
    /// Bytes written.
    pub bytes_out: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Number of the file, 0 if unknown.
    pub file: u32,
}

impl OutsideCall {
    /// Begins a call; `None` if the thread is not outside.
    ///
    /// # Safety
    /// `frame` points to the return address of the call, on this thread's stack, until the call is over.
    #[inline(never)]
    pub unsafe fn enter(op: Op, shape: Shape, frame: *const usize) -> Option<OutsideCall> {
        // Where it was called from is found out when it is over: that may take memory.
        let nowhere = |_: &mut Thread| NO_SITE;
        // SAFETY: the thread is ready then.
        let call = || unsafe { Call::begin(arch::thread_local(), op, shape, frame, nowhere, |_| {}) };
        is_outside(frame).then(|| OutsideCall { call: call(), frame })
    }

    /// The real function has returned.
    #[inline(never)]
    pub fn leave(&mut self, failed: bool) {
        self.call.leave(failed.into());
    }

    /// Stores the call.
    #[inline(never)]
    pub fn finish(mut self, moved: Moved) {
        let thread = self.call.thread();
        let slots = if thread.counters.is_some() { SLOTS_WITH_COUNTERS } else { SLOTS };
        if thread.cursor.room() < slots && sites::in_signal_handler() {
            thread.count_lost(1);
            return self.call.release();
        }
        let frame = self.frame;
        let mut record = self.call.record();
        record.site = sites::number_outside(&mut self.call.thread().sites, frame);
        (record.bytes_out, record.bytes_in, record.object) = (moved.bytes_out, moved.bytes_in, moved.file);
        self.call.finish(&record);
    }

    /// It is not to be recorded after all.
    #[inline(never)]
    pub fn forget(mut self) {
        self.call.forget_entry();
        self.call.release();
    }
}
