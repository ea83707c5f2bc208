//! What a skeleton's folder holds: the contract between who makes a skeleton and who runs it.
//!
//! ```text
//! manifest.json   see [`Manifest`]
//! skeleton.bc     LLVM 19 bitcode: `main`, MPI's functions as external symbols, functions of the C library, and four more:
//!                   void __kizami_site(i32 site)             right before each MPI call that was kept
//!                   i64  __kizami_oracle(i32 oracle)         the next value of a place that depends on data
//!                   void __kizami_trips(i32 loop, i64 count) a loop that is gone would have gone round so often
//!                   i64  __kizami_leaning(i64 times, i64 first, i64 each, i64 step)
//!                                                            the sum of (first + each * i) / step over i below times, without
//!                                                            what is negative: how often it does in rounds of another
//! observe         the whole program, which writes the values of such places; only if there are any
//! observed/RANKS/ what it wrote, for each number of ranks: see [`RankValues`]
//! ```
//!
//! Buffers of MPI calls whose payload does not matter are null pointers in the bitcode; those that matter (see
//! [`CallSite::carries`]) point to payload that the skeleton computes or expects.

mod manifest;
mod observed;

pub use manifest::{CallSite, CountedLoop, Dialect, FORMAT, Manifest, Oracle, Refusal};
pub use observed::{ObservedRun, RankValues, keep_observed, read_observed};
use std::path::PathBuf;

/// The file that describes the skeleton.
pub const MANIFEST: &str = "manifest.json";
/// The skeleton's code.
pub const BITCODE: &str = "skeleton.bc";
/// The program that observes what depends on data.
pub const OBSERVE: &str = "observe";
/// The folder with what it observed.
pub const OBSERVED: &str = "observed";

/// Why a file of a skeleton cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be read.
    #[error("cannot read {}: {why}", file.display())]
    Read {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// It cannot be written.
    #[error("cannot write {}: {why}", file.display())]
    Write {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// It describes no skeleton.
    #[error("{} is not a valid skeleton manifest: {why}; build the skeleton again with `kizami skeleton build`", file.display())]
    Manifest {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It does not hold observed values.
    #[error("{} has no valid observed values; run `kizami skeleton observe` again", file.display())]
    Observed {
        /// Which file.
        file: PathBuf,
    },
}
