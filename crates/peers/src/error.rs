//! What can go wrong between processes, and what to do then.

use kizami_mpi::MpiError;

/// Why processes cannot work together.
#[derive(Debug, thiserror::Error)]
pub enum PeersError {
    /// MPI cannot be loaded, or fails.
    #[error(
        "a launcher has started several processes, and they do not find together: {0}. To have one process do all, start \
         kizami without the launcher"
    )]
    Mpi(#[from] MpiError),
    /// The library belongs to another launcher.
    #[error(
        "{path} knows {known} of the {launched} processes that the launcher has started: set KIZAMI_MPI_LIBRARY to the \
         library of the launcher's MPI"
    )]
    OtherLauncher {
        /// The library.
        path: String,
        /// How many processes it knows.
        known: u32,
        /// How many there are.
        launched: u32,
    },
    /// They come to a meeting with different kinds of mail.
    #[error(
        "processes do not do the same: start all with the same command and options, and the same version of kizami"
    )]
    OutOfStep,
    /// MPI counts by 32-bit numbers.
    #[error(
        "processes have more than 2 GiB to tell each other at once: use more of them, or one with --threads"
    )]
    TooLarge,
}
