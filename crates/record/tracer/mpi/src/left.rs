//! Calls that do not return to us although the program goes on.
//!
//! A C++ exception thrown by an error handler, or a thread that is cancelled or ends inside MPI, unwinds the stack through the
//! frames of our bodies. Each of them names [`on_unwinding`] as its personality function, which the unwinder asks on its way:
//! the call is over from then on. That is written in the unwind tables alone, so a call that returns pays nothing for it,
//! and it holds at any instruction, also where a thread is cancelled asynchronously.
//!
//! `longjmp` gives no notice. It is noticed at the thread's next call: on one stack, whatever MPI calls inside a call lies
//! below it, so a call from the same height or above means that the one before it was left. When it was left is not known then.
//!
//! What it does not do: a call made deeper on the stack than the one that was left by a jump is taken for MPI's own, as it
//! looks just like that. Nothing is concluded on fibres and signal stacks.

use crate::arch::{self, State, ThreadLocal};
use crate::cancellation::Uncancelled;
use crate::thread::Thread;
use crate::unwinder::{_Unwind_Backtrace, _Unwind_GetCFA, _Unwind_GetIP, GO_ON, STOP};
use crate::{clock, simulator, stack};
use std::arch::asm;
use std::ffi::{c_int, c_void};

/// Has the unwinder call [`on_unwinding`] for the frame of the function that this is part of. It is no instruction, only
/// an entry in the unwind tables: the function's personality, by its distance from there in four bytes.
#[inline(always)]
pub fn tell_of_unwinding() {
    // SAFETY: names a function of the form that unwinders call.
    unsafe {
        asm!(
            ".cfi_personality 0x1b, {personality}",
            personality = sym on_unwinding,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// The personality function of our bodies, as the unwinder calls it: notes that the call was left, and lets the unwinder go
/// on. It catches nothing.
pub extern "C" fn on_unwinding(
    _version: c_int,
    actions: c_int,
    class: u64,
    exception: *mut c_void,
    context: *mut c_void,
) -> c_int {
    // Before it, the unwinder only looks whether the exception is caught.
    const CLEANUP_PHASE: c_int = 2;
    const CONTINUE_UNWINDING: c_int = 8;
    // A rank that the simulator ends is inside its call to the end.
    // SAFETY: the unwinder passes the exception that is thrown.
    if actions & CLEANUP_PHASE != 0 && !unsafe { simulator::ends_rank(class, exception) } {
        let (block, now) = (arch::thread_local(), clock::now());
        // What MPI calls inside a call comes here as well, with frames of its own.
        // SAFETY: the thread's own block; the unwinder passes the context of the body's frame.
        if unsafe { (*block).state.frame().is_some() && (*block).state.frame() == return_address(context) } {
            close(block, Some(now));
        }
    }
    CONTINUE_UNWINDING
}

/// Where the return address of a frame that is being unwound lies. Its context has only how far down the frame reaches, so
/// the stack, which is still whole, is gone through once more to the frame above it.
///
/// # Safety
/// The context must be one that the unwinder has passed.
unsafe fn return_address(context: *mut c_void) -> Option<*const usize> {
    struct Search {
        frame: (usize, usize),
        is_next: bool,
        above: Option<usize>,
    }
    extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes a valid context, and `search` is the struct above.
        let (search, frame) =
            unsafe { (&mut *search.cast::<Search>(), (_Unwind_GetIP(context), _Unwind_GetCFA(context))) };
        if search.is_next {
            search.above = Some(frame.1);
            return STOP;
        }
        search.is_next = frame == search.frame;
        GO_ON
    }
    // SAFETY: by contract.
    let frame = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    let mut search = Search { frame, is_next: false, above: None };
    // SAFETY: the callback takes exactly this struct.
    unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
    // It was pushed just below the caller's stack.
    search.above.map(|above| (above - size_of::<usize>()) as *const usize)
}

/// Whether the call that the thread is inside was left by a jump, now that another is made whose return address lies at
/// `frame`; it is closed then, and the thread is ready.
#[cold]
pub fn was_jumped_out_of(block: *mut ThreadLocal, frame: *const usize) -> bool {
    // SAFETY: the thread's own block; inside a call it has a recorder.
    let left = unsafe {
        (*block).state.frame().is_some_and(|left| {
            let stack = &Thread::of(block).stack;
            left <= frame && [left, frame].iter().all(|frame| stack.contains(&(*frame as usize)))
        })
    } && !stack::on_signal_stack();
    if left {
        close(block, None);
    }
    left
}

/// The thread ends: a call that it is inside by now was left.
pub fn close_at_thread_exit(block: *mut ThreadLocal) {
    // SAFETY: the thread's own block.
    if unsafe { (*block).state }.frame().is_some() {
        close(block, None);
    }
}

/// Records the call that the thread is inside as one that failed. The thread is ready then.
fn close(block: *mut ThreadLocal, end_ticks: Option<u64>) {
    let _uncancelled = Uncancelled::new();
    // SAFETY: the thread's own block; inside a call it has a recorder, which is the call's.
    unsafe {
        Thread::of(block).record_left(end_ticks);
        (*block).state = State::READY;
    }
    clock::back_to_program();
}
