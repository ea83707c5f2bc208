//! Cuts a program down to what its communication depends on.
//!
//! `skeleton` takes the LLVM bitcode of all sources of a program and leaves `skeleton.bc`: the same `main`, in which
//! everything is gone that no MPI call depends on. It never runs the program. What it cannot slice it says, with the place in
//! the source, and what depends on data becomes a question that is asked when the skeleton runs.
//!
//! The way there: `prepare` brings the module into shape, `program` reads it into tables, `analysis` finds out how
//! control flows and who writes which memory, `taint` what depends on data, `slice` what is needed, `trips` how often
//! loops that go would go round, and `cut` removes the rest. What a skeleton's folder holds, for those who run it, is in
//! [`kizami_folder`].

mod analysis;
mod builder;
mod cut;
mod effects;
mod flow;
mod llvm;
mod memory;
pub mod observe;
mod prepare;
mod program;
pub mod rounds;
mod skeleton;
mod slice;
mod taint;
mod trips;

pub use effects::{Binding, mpi_function};
pub use skeleton::{Request, skeleton};
use std::path::PathBuf;

/// Why there is no skeleton.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is no bitcode.
    #[error("cannot read {} as LLVM bitcode: {why}; build the program again with `kizami skeleton build`", file.display())]
    Bitcode {
        /// Which file.
        file: PathBuf,
        /// What LLVM said.
        why: String,
    },
    /// Two modules do not fit together.
    #[error("cannot link {} with the other sources: {why}", file.display())]
    Link {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// LLVM refused passes.
    #[error("LLVM cannot run the passes {passes}: {why}")]
    Passes {
        /// Which.
        passes: String,
        /// What LLVM said.
        why: String,
    },
    /// The module is not well formed after a change.
    #[error("internal error: the sliced module is malformed: {0}")]
    Malformed(String),
    /// There is no `main`.
    #[error("no compiled source defines `main`; give a command that compiles all sources of the program")]
    NoMain,
    /// There is no call of MPI.
    #[error("no MPI call is reachable from `main`; give a command that compiles all sources of the program")]
    NoCalls,
    /// A file cannot be written.
    #[error("cannot write {}: {why}", file.display())]
    Write {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// The skeleton's folder cannot be written.
    #[error(transparent)]
    Folder(#[from] kizami_folder::FolderError),
}
