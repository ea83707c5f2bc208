//! The recorder of a thread: from its first event to its end.

use crate::local::{self, Local};
use crate::recorder::Recorder;
use crate::{clock, recorder, rehearsal, wanted};
use kizami_records::threading;
use kizami_tracer_core::cancellation::Uncancelled;
use kizami_tracer_core::{process, simulator};
use kizami_tracer_mpi::outside;
use std::ffi::c_void;
use std::sync::OnceLock;

/// The recorder of this thread, made at its first event; none where nothing is recorded.
///
/// It must not be kept over a call of the runtime: that may run anything, here or elsewhere.
#[inline(always)]
pub fn recorder() -> Option<&'static mut Recorder> {
    let block = local::get();
    // SAFETY: the thread's own block; its recorder is given up only by the thread itself, at its end.
    unsafe {
        match (*block).recorder.as_mut() {
            None => wake(block),
            known => known,
        }
    }
}

/// An event on a thread without a recorder.
#[cold]
fn wake(block: *mut Local) -> Option<&'static mut Recorder> {
    // SAFETY: the thread's own block.
    if unsafe { (*block).off } {
        return None;
    }
    let _uncancelled = Uncancelled::new();
    // Whatever happens while setting up is not the program's.
    // SAFETY: as above.
    unsafe { (*block).off = true };
    if !wanted::openmp() || process::is_forked() || simulator::get().is_some() {
        return None;
    }
    let made = outside::unseen(|| {
        let process = process::get()?;
        clock::adopt();
        let cost = rehearsal::record_cost();
        recorder::of_process(process, cost)
    })?;
    finish_at_thread_exit();
    // SAFETY: the thread's own block; the recorder is given up only by `finish`.
    unsafe {
        (*block).recorder = Box::into_raw(made);
        (*block).off = false;
        (*block).recorder.as_mut()
    }
}

/// The thread ends, or the process does.
pub fn finish(block: *mut Local) {
    let _uncancelled = Uncancelled::new();
    // SAFETY: the thread's own block; its recorder, if any, came from Box::into_raw.
    unsafe {
        (*block).off = true;
        let recorder = std::mem::replace(&mut (*block).recorder, std::ptr::null_mut());
        if !recorder.is_null() {
            let mut recorder = Box::from_raw(recorder);
            recorder.record_counted();
            recorder.put(threading::leave());
            recorder::give_back(recorder);
        }
    }
}

/// Has the thread's stream finished when the thread ends. Where that cannot be had, the stream just ends.
fn finish_at_thread_exit() {
    extern "C" fn on_thread_exit(_: *mut c_void) {
        if !process::is_forked() {
            finish(local::get());
        }
    }
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    let key = *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: a valid place for the key and a destructor of the right type.
        (unsafe { libc::pthread_key_create(&mut key, Some(on_thread_exit)) } == 0).then_some(key)
    });
    if let Some(key) = key {
        // SAFETY: our own key; any non-null value makes the destructor run.
        unsafe { libc::pthread_setspecific(key, std::ptr::dangling::<c_void>()) };
    }
}
