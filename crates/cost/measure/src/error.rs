//! What can go wrong before there is anything to measure.

use kizami_mpi::MpiError;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// MPI could not be loaded or started.
    #[error("MPI could not be started for measuring: {0}")]
    Mpi(#[from] MpiError),
}
