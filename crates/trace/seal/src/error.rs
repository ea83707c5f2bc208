//! The one error of this crate: what keeps a recording from being sealed, and what to do next.

use kizami_trace::TraceError;
use std::path::PathBuf;

/// Why a recording could not be sealed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum SealError {
    /// A file could not be read or written.
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// A directory with nothing recorded in it.
    #[error(
        "nothing was recorded in {}: no traced process left a segment in its raw/ folder. Likely reasons: the \
         program made no MPI call; its MPI library is linked statically (`ldd` on the program shows no libmpi); \
         or the launcher did not pass LD_PRELOAD on to the ranks",
        path.display()
    )]
    NothingRecorded { path: PathBuf },

    /// Segments are there, but none of them can be read.
    #[error(
        "none of the {segments} segments in {} can be read; the first problem: {first_problem}",
        path.display()
    )]
    NothingReadable { path: PathBuf, segments: usize, first_problem: String },

    /// Sealed before, and the segments are gone.
    #[error("{} is sealed already and its raw segments were removed; there is nothing left to do", path.display())]
    AlreadySealed { path: PathBuf },

    /// Somebody else seals it at this moment.
    #[error("{} is being sealed by {by}; wait until that ends, there may be nothing left to do then", path.display())]
    BeingSealed { path: PathBuf, by: String },

    /// The run is not over.
    #[error(
        "{} is still being recorded by {by}; sealing takes segments away from those who write them, so wait until the \
         run is over or end it, then seal again",
        path.display()
    )]
    BeingRecorded { path: PathBuf, by: String },

    /// One of several processes sees something else than the first.
    #[error(
        "what it finds in {} is not what the first process finds there: all nodes must see the recording under the same name, \
         and nobody may change it meanwhile; or seal it without the launcher",
        path.display()
    )]
    OtherSegments { path: PathBuf },
}
