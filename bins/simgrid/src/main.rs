//! The program `kizami-simgrid`.
//!
//! It has no `main` of Rust's: below that, exceptions of SimGrid would be lost. Here its own handler says what they are.

#![no_main]

use std::ffi::{c_char, c_int};

/// Where the process begins.
// SAFETY: the C library calls the only function of this name.
#[unsafe(no_mangle)]
extern "C-unwind" fn main(_: c_int, _: *const *const c_char) -> c_int {
    c_int::from(kizami_simgrid::command())
}
