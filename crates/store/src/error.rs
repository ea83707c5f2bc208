//! The one error of this crate: what happened, to which file, and what to do next.

use std::path::{Path, PathBuf};

/// Why a trace could not be sealed, opened or read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum StoreError {
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },

    /// There is no directory of that name.
    #[error("there is no trace {}; give the directory that `kizami record` made (its name ends in .kz)", path.display())]
    NoTrace { path: PathBuf },

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

    /// Recorded, but not sealed yet.
    #[error("{} was recorded but not sealed yet; run `kizami seal {}` first", path.display(), path.display())]
    NotSealed { path: PathBuf },

    /// Sealed before, and the segments are gone.
    #[error("{} is sealed already and its raw segments were removed; there is nothing left to do", path.display())]
    AlreadySealed { path: PathBuf },

    /// A table or `run.json` that does not hold what it should.
    #[error(
        "{} is damaged or was not written by Kizami: {what}; seal the trace again if its raw/ folder was kept, \
         or record it again",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },

    /// Written by a later version.
    #[error(
        "{} has schema {found:?}, and this version reads {expected:?}; open it with the version that wrote it",
        path.display()
    )]
    OtherSchema { path: PathBuf, found: String, expected: &'static str },

    /// A table could not be written.
    #[error("cannot write {}: {what}; check that the disk has room, then seal again", path.display())]
    Write { path: PathBuf, what: String },

    /// An export could not be made.
    #[error("cannot export to {}: {what}", path.display())]
    Export { path: PathBuf, what: String },
}

impl StoreError {
    /// For `map_err` after an operation on a file.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        move |source| StoreError::File { doing, path: path.to_path_buf(), source }
    }

    /// A table or `run.json` that does not hold what it should.
    pub fn damaged(path: &Path, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: path.to_path_buf(), what: what.into() }
    }

    /// A table that could not be written.
    pub fn write(path: &Path, what: impl std::fmt::Display) -> StoreError {
        StoreError::Write { path: path.to_path_buf(), what: what.to_string() }
    }
}
