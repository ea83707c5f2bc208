//! What can go wrong between processes, and what to do about it.

use kizami_mpi::MpiError;

/// Why processes cannot share work.
#[derive(Debug, thiserror::Error)]
pub enum MpiGroupError {
    /// MPI cannot be loaded, or fails.
    #[error(
        "could not set up MPI between the launched processes: {0}. To use one process, start kizami without the \
         launcher"
    )]
    Mpi(#[from] MpiError),
    /// The library belongs to another launcher.
    #[error(
        "{path} sees {size} of the {launched} processes that the launcher has started: set KIZAMI_MPI_LIBRARY to the \
         library of the launcher's MPI"
    )]
    OtherLauncher {
        /// The library.
        path: String,
        /// The size of its MPI_COMM_WORLD.
        size: u32,
        /// How many there are.
        launched: u32,
    },
    /// They call different methods of the group.
    #[error("processes are out of step: start all with the same command, options and version of kizami")]
    OutOfStep,
    /// MPI counts by 32-bit numbers.
    #[error("a message between processes is larger than 2 GiB: use more processes, or one with --threads")]
    TooLarge,
}
