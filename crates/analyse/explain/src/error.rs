//! The one error of this crate. What it means and what to do next is said by those below.

use kizami_graph::GraphError;
use kizami_trace::TraceError;

/// Why a run could not be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The run has no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),

    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
}
