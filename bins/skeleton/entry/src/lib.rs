//! What a program finds where its MPI should be: C and Fortran entry points of the stand-in, and the process that a rank is.
//!
//! Each function of MPI's has an [`Entry`]; it takes arguments as a program's own headers spell them ([`Convention`]),
//! answers by [`kizami_mpi_stub`], and notes the call in the rank's stream. A [`Process`] is one rank: a stack that can be left
//! and resumed, memory of its own, functions of the C library that end for it alone ([`c_library`]), files that it can
//! read and not write ([`files`]), and traps that turn a crash into the end of the rank. [`outside`] says which other functions
//! a program may call.
//!
//! Nothing here knows LLVM or where the program's code comes from, and nothing decides which rank runs next.

pub mod c_library;
mod calls;
mod collective_plan;
mod convention;
mod coroutine;
pub mod files;
mod fortran;
mod heap;
mod leaning;
mod observed;
pub mod outside;
mod process;
mod requests;
mod reserved;
mod trap;

pub use calls::{Entry, enter, entry};
pub use convention::{Convention, Library, Object};
pub use coroutine::Stacks;
pub use heap::{Heap, Heaps};
pub use observed::{Observed, OracleValues, PlaceValues, Runs};
pub use process::{Beginning, Process, State, Stop};
pub use trap::{Denied, Traps, answer_system_calls};
