//! What `libkizami.so` has between a program and MPI: it records the MPI calls of a process, whatever MPI it uses.
//!
//! It is linked against no MPI. Every MPI function is exported twice, as `MPI_X` and `PMPI_X`, by stubs that
//! are generated from the table of functions; the outermost call on a thread is recorded, whatever the
//! language it came from, and everything the MPI library calls inside passes straight through.
//!
//! What it promises: no lock, no system call and no allocation on the path of an ordinary call (those on windows, files
//! and datatypes lock a table); what was recorded survives the process; if recording becomes impossible (disk full, directory gone) the program
//! runs on and the loss is counted; without `KIZAMI_RAW` in the environment it does nothing at all.
//!
//! What it does not do: no clock model, no translation of ranks, no symbols, no compression. Numbers are
//! local to the process; sealing gives them their meaning afterwards, elsewhere.
//!
//! Calls that are not MPI's are recorded by the same recorders, through [`outside`].
//!
//! How a call runs: `arch` stub notes the stack pointer → generated body asks `call::Call::enter` → the
//! real function → `call::Call::leave` reads the clock → a hook in `hooks` says what the call meant →
//! `thread::Thread` packs it into its stream.

mod abi;
mod arch;
mod calibration;
mod call;
mod clock;
mod communicators;
mod datatypes;
mod exports;
mod hooks;
mod left;
mod lifecycle;
mod loading;
mod modules;
mod needed;
mod objects;
pub mod outside;
mod paths;
mod real;
mod references;
mod rendezvous;
mod requests;
mod sites;
mod status;
#[cfg(test)]
mod tests;
mod thread;

use kizami_tracer_core::{
    binding, cancellation, counters, frames, helper, identity, launcher, loader, off_core, process,
    processor, reduction, settings, simulator, stack, stream, unwinder,
};

#[expect(non_snake_case, reason = "the functions bear the names MPI gives them")]
#[allow(clippy::undocumented_unsafe_blocks, reason = "generated: see build.rs, which says why each is sound")]
#[allow(
    unused_mut,
    clippy::unnecessary_cast,
    reason = "generated: not every hook changes the call or needs the cast"
)]
mod wrappers {
    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}
