//! The beginnings and ends: loading, a thread's first call, forking, leaving.

use crate::arch::{self, State, ThreadLocal};
use crate::binding::{self, When};
use crate::cancellation::Uncancelled;
use crate::references::References;
use crate::thread::{self, Thread};
use crate::{calibration, clock, exports, left, process, requests, simulator};
use kizami_model::Ending;
use kizami_parallel::announce_barriers;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

#[used]
#[unsafe(link_section = ".fini_array")]
static ON_EXIT: extern "C" fn() = on_exit;

extern "C" fn on_load() {
    if std::env::var_os("KIZAMI_RAW").is_some() {
        simulator::on_load();
        exports::on_load();
        if exports::are_wanted() {
            binding::register(&References);
        }
        announce_barriers();
        // SAFETY: registers a handler that touches only its own thread's block and a flag.
        unsafe { libc::pthread_atfork(None, None, Some(on_fork)) };
    }
}

/// In a forked child: what it calls is not its parent's.
extern "C" fn on_fork() {
    process::note_fork();
    // SAFETY: the thread's own block.
    unsafe { (*arch::thread_local()).state = State::OFF };
}

/// `exit` was called or `main` returned. Never a collective here: other ranks may be anywhere.
extern "C" fn on_exit() {
    if process::is_forked() {
        return;
    }
    binding::look(When::Later);
    process::report_unrecorded();
    let Some(process) = process::existing() else { return };
    if !process.is_this_one() {
        return;
    }
    let _uncancelled = Uncancelled::new();
    process.note_clock();
    process.for_each_header(|header| {
        let vanished = Ending::Vanished as u8;
        let exited = Ending::Exited as u8;
        let _ = header.ending.compare_exchange(vanished, exited, Ordering::Relaxed, Ordering::Relaxed);
    });
    finish_thread(arch::thread_local());
}

/// A call on a thread that is not simply ready. True if the call is to be recorded.
#[cold]
pub fn wake(block: *mut ThreadLocal) -> bool {
    // SAFETY: the thread's own block.
    let (state, frame) = unsafe { ((*block).state, (*block).frame) };
    match state {
        State::FRESH => set_up_thread(block),
        State::READY => true,
        State::BUSY | State::OFF => false,
        State::VFORKED => end_vfork(block),
        _ => left::was_jumped_out_of(block, frame),
    }
}

/// The thread may have come back from `vfork`, or be the child. True if it is the one that called it.
fn end_vfork(block: *mut ThreadLocal) -> bool {
    let parent = process::existing().is_some_and(|process| process.is_this_one());
    if parent {
        // SAFETY: the thread's own block.
        unsafe { (*block).state = State::READY };
    }
    parent
}

fn set_up_thread(block: *mut ThreadLocal) -> bool {
    let _uncancelled = Uncancelled::new();
    // Whatever is called while setting up is not the program's call.
    // SAFETY: the thread's own block.
    unsafe { (*block).state = State::OFF };
    if process::is_forked() {
        return false;
    }
    let Some(process) = process::get() else { return false };
    clock::adopt();
    calibration::before_first_call(process);
    let thread = thread::of_process(process, calibration::of_thread());
    if !finish_at_thread_exit() {
        // It will end without giving up what it owns, so it must not own it.
        requests::expect_several_threads();
    }
    // SAFETY: the thread's own block; the recorder is given up only by `finish_thread`.
    unsafe {
        (*block).thread = Box::into_raw(thread).cast();
        (*block).state = State::READY;
    }
    true
}

fn finish_thread(block: *mut ThreadLocal) {
    let _uncancelled = Uncancelled::new();
    // SAFETY: the thread's own block; its recorder, if any, came from Box::into_raw.
    unsafe {
        (*block).state = State::OFF;
        let thread = std::mem::replace(&mut (*block).thread, std::ptr::null_mut());
        if !thread.is_null() {
            let mut thread = Box::from_raw(thread.cast::<Thread>());
            thread.finish();
        }
    }
}

/// Has the thread's stream finished when the thread ends; false if that cannot be had.
fn finish_at_thread_exit() -> bool {
    extern "C" fn on_thread_exit(_: *mut c_void) {
        if !process::is_forked() {
            left::close_at_thread_exit(arch::thread_local());
            finish_thread(arch::thread_local());
            // Not at the end of the process: that may come in a signal, inside a call that holds the lock, and nothing
            // vanishes then.
            requests::give_up();
        }
    }
    // A process has few keys, and a simulator has all ranks in one, on threads that stay.
    if simulator::get().is_some() {
        return false;
    }
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let key = *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a valid place for the key and a destructor of the right type.
        (unsafe { libc::pthread_key_create(&mut key, Some(on_thread_exit)) } == 0).then_some(key)
    });
    // SAFETY: our own key; any non-null value makes the destructor run.
    key.is_some_and(|key| unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<c_void>()) } == 0)
}
