//! The one error of this crate. What it means and what to do next is said by those below.

use kizami_replay::ReplayError;
use kizami_trace::TraceError;

/// Why there is no whole run of a reduced trace.
#[derive(Debug, thiserror::Error)]
pub enum ReconstructError {
    /// The reduced trace cannot be read, or its rows cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),

    /// Ranks cannot be made to fit together.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}
