//! What can go wrong, and what to do then.

use std::path::PathBuf;

/// Why a skeleton could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The folder, or a file in it, is not what it should be.
    #[error("{}: {what}", path.display())]
    Skeleton {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file of the folder cannot be used.
    #[error(transparent)]
    Folder(#[from] kizami_folder::FolderError),
    /// The bitcode could not be compiled.
    #[error("{}: LLVM cannot compile this file: {what}", path.display())]
    Compile {
        /// Which file.
        path: PathBuf,
        /// What LLVM says.
        what: String,
    },
    /// There is no memory for so many ranks.
    #[error("cannot reserve memory for {ranks} ranks: {why}; run fewer ranks, or omit --together")]
    Memory {
        /// How many.
        ranks: u32,
        /// What the system says.
        why: std::io::Error,
    },
    /// Ranks took more memory than they may have.
    #[error(
        "memory limit of {} MiB exceeded while rank {rank} of {ranks} was running; check that the program's arguments are \
         those of a run at {ranks} ranks, run fewer ranks, or raise --memory",
        limit >> 20
    )]
    MemoryLimit {
        /// Who ran last.
        rank: u32,
        /// Of how many.
        ranks: u32,
        /// Bytes they may have.
        limit: u64,
    },
    /// The process that ranks run in is gone, or says what cannot be.
    #[error("the sandbox process {what}")]
    Process {
        /// What happened.
        what: String,
    },
    /// A rank could not go on.
    #[error("rank {rank} of {ranks}: {what}")]
    Rank {
        /// Who.
        rank: u32,
        /// Of how many.
        ranks: u32,
        /// Why.
        what: String,
    },
    /// A rank that ran alone asked for what only others know.
    #[error("rank {rank} cannot run separately: {what}; use --together")]
    NeedsOthers {
        /// Who.
        rank: u32,
        /// What.
        what: String,
    },
    /// Nothing says what places that depend on data give.
    #[error(
        "the values at these lines depend on data and are unknown at {ranks} ranks ({observed}):\n{places}\n\
         run `kizami skeleton observe` at other numbers of ranks, or set the values: --set {example}=12 (constant), \
         --set {example}=1x300,0 (300 times 1, then 0), or --set {example}=observed (as in the observed run with the \
         nearest number of ranks)"
    )]
    Unanswered {
        /// Of how many ranks.
        ranks: u32,
        /// What was observed.
        observed: String,
        /// Which places.
        places: String,
        /// The first of them.
        example: String,
    },
    /// Ranks wait for each other.
    #[error("the skeleton hangs: {waiting} of {ranks} ranks wait for others; {what}")]
    Hang {
        /// How many wait.
        waiting: u32,
        /// Of how many.
        ranks: u32,
        /// Where the first of them is.
        what: String,
    },
    /// What ranks tell each other changes with every pass.
    #[error("the exchanged data still changes after {passes} passes; use --together")]
    Unsettled {
        /// How many.
        passes: u32,
    },
    /// The trace cannot be read or written.
    #[error(transparent)]
    Trace(#[from] kizami_trace::TraceError),
    /// Its ranks cannot be made to fit together.
    #[error(transparent)]
    Replay(#[from] kizami_replay::ReplayError),
}
