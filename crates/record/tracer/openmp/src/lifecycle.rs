//! The beginnings and ends of the process: loading, forking, leaving.

use crate::references::References;
use crate::{local, thread, wanted};
use kizami_tracer_core::{binding, process, simulator};
use kizami_tracer_mpi::outside;

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

#[used]
#[unsafe(link_section = ".fini_array")]
static ON_EXIT: extern "C" fn() = on_exit;

extern "C" fn on_load() {
    if wanted::openmp() {
        // SAFETY: registers a handler that touches only its own thread's block.
        unsafe { libc::pthread_atfork(None, None, Some(on_fork)) };
        if simulator::get().is_none() {
            binding::register(&References);
        }
    } else {
        outside::hide(c"ompt_start_tool");
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
        thread::finish(local::get());
    }
}
