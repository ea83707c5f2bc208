//! Runs a sliced program as any rank of any number of ranks, and writes what it would do as a trace.
//!
//! A skeleton is a program, and running one runs its code. So ranks run in a process that can compute, read files, and tell this
//! one what they did, and nothing else; and of functions outside the skeleton they call only those that are known to
//! change nothing ([`kizami_entry::outside`]). There its bitcode is compiled, and each rank runs on a stack of its own,
//! with the program's data as they were at the start, memory of its own, and a stand-in MPI that answers for its rank
//! ([`kizami_mpi_stub`]). Ranks run alone, one after another, in passes until what they tell each other settles; or together, with messages handed over, where
//! what they receive steers them.
//!
//! [`run()`] writes a trace of a run nobody made; [`check()`] compares such a run call by call with a recorded one. Nothing here
//! claims that a skeleton does what its program does: `check` says where it does.

mod arrived;
mod check;
mod child;
mod error;
mod fortran_runtime;
mod jit;
mod known;
mod oracles;
mod rows;
mod run;
mod runner;
mod sandbox;
mod skeleton;
mod time;
mod wire;
mod write;

pub use check::{CheckOptions, Checked, Difference, check};
pub use child::Progress;
pub use error::ExecuteError;
pub use kizami_entry::Library;
pub use known::cannot_run;
pub use oracles::{Answered, Setting};
pub use run::{Ran, RunOptions, run};
pub use runner::RankMode;
pub use sandbox::missing as missing_restrictions;
pub use skeleton::Skeleton;
pub use time::Noise;
