//! Why the tasks of a trace cannot be looked at.

use kizami_model::Rank;
use kizami_trace::TraceError;
use std::path::PathBuf;
use thiserror::Error;

/// What is wrong.
#[derive(Debug, Error)]
pub enum TasksError {
    /// The trace has no tasks.
    #[error("{} has no tasks of rank {rank}; recordings of OpenMP programs and runs of `kizami fleng` have tasks", path.display())]
    NoTasks {
        /// The trace.
        path: PathBuf,
        /// The requested rank.
        rank: Rank,
    },
    /// More tasks than can be numbered.
    #[error("{} has more than 4,000,000,000 tasks", path.display())]
    TooMany {
        /// The trace.
        path: PathBuf,
    },
    /// Rows that contradict each other.
    #[error("{} is damaged: {what}; write it again", path.display())]
    Damaged {
        /// The trace.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
