//! What can go wrong with a machine's files.

use kizami_trace::TraceError;
use std::path::PathBuf;

/// Why a machine could not be read, written or measured.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields are said in their variant's text")]
pub enum MachineError {
    /// The operating system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    File { doing: &'static str, path: PathBuf, source: std::io::Error },

    /// There is no directory of that name.
    #[error(
        "there is no machine {}; give a directory that `kizami bench` made (its name ends in .kzm)",
        path.display()
    )]
    NoMachine { path: PathBuf },

    /// Not what it should be.
    #[error("{} is damaged or was not written by Kizami: {what}; measure the machine again", path.display())]
    Damaged { path: PathBuf, what: String },

    /// A table.
    #[error(transparent)]
    Table(#[from] TraceError),

    /// A file of another benchmark that says nothing that is understood.
    #[error("{}: {what}", path.display())]
    NotUnderstood { path: PathBuf, what: String },

    /// The measuring program went wrong.
    #[error("{what}")]
    Measuring { what: String },
}
