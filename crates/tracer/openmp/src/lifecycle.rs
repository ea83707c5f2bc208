//! The beginnings and ends: loading, a thread's first event, forking, leaving.

use crate::local::{self, Local};
use crate::recorder::Recorder;
use crate::{clock, recorder, rehearsal};
use kizami_records::threading;
use kizami_tracer_core::settings::{self, OpenMp};
use kizami_tracer_core::{process, simulator};
use kizami_tracer_mpi::outside;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

#[used]
#[unsafe(link_section = ".fini_array")]
static ON_EXIT: extern "C" fn() = on_exit;

extern "C" fn on_load() {
    if is_wanted() {
        // SAFETY: registers a handler that touches only its own thread's block.
        unsafe { libc::pthread_atfork(None, None, Some(on_fork)) };
    }
}

/// Whether OpenMP is to be recorded in this process.
pub fn is_wanted() -> bool {
    std::env::var_os("KIZAMI_RAW").is_some_and(|folder| !folder.is_empty())
        && settings::get().openmp != OpenMp::Off
}

/// Whether tasks are recorded.
#[inline(always)]
pub fn wants_tasks() -> bool {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match WANTED.load(Ordering::Relaxed) {
        UNKNOWN => {
            let wanted = matches!(settings::get().openmp, OpenMp::Auto(_) | OpenMp::Tasks);
            WANTED.store(if wanted { YES } else { NO }, Ordering::Relaxed);
            wanted
        }
        known => known == YES,
    }
}

/// In a forked child: its parent's memory for words is not there.
extern "C" fn on_fork() {
    // SAFETY: the thread's own block.
    unsafe {
        let block = local::get();
        (*block).recorder = std::ptr::null_mut();
        (*block).off = true;
    }
}

extern "C" fn on_exit() {
    if !process::is_forked() && process::existing().is_some_and(|process| process.is_this_one()) {
        finish(local::get());
    }
}

/// An event on a thread without a recorder.
#[cold]
pub fn wake(block: *mut Local) -> Option<&'static mut Recorder> {
    // SAFETY: the thread's own block.
    if unsafe { (*block).off } {
        return None;
    }
    // Whatever happens while setting up is not the program's.
    // SAFETY: as above.
    unsafe { (*block).off = true };
    if !is_wanted() || process::is_forked() || simulator::get().is_some() {
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

fn finish(block: *mut Local) {
    // SAFETY: the thread's own block; its recorder, if any, came from Box::into_raw.
    unsafe {
        (*block).off = true;
        let recorder = std::mem::replace(&mut (*block).recorder, std::ptr::null_mut());
        if !recorder.is_null() {
            let mut recorder = Box::from_raw(recorder);
            recorder.tell_counted();
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
