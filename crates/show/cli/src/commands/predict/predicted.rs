//! What `kizami predict` comes to, as `--json` prints it and pictures show it.

use kizami_predict::point::Point;
use kizami_predict::{Checked, LeftOut};
use serde::Serialize;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Predicted {
    /// Name of the executable of the largest run.
    pub program: String,
    /// Name of the target machine; null if none was given.
    pub machine: Option<String>,
    /// The input runs, smallest first.
    pub from: Vec<Recorded>,
    /// Runs that predictions for other numbers of ranks ignore.
    pub left_out: Vec<LeftOut>,
    /// The largest run, held out and predicted from the others; null with fewer than three runs.
    pub check: Option<Checked>,
    /// Predictions, in the order of ranks.
    pub points: Vec<Point>,
}

/// An input run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Recorded {
    /// The trace, as it was named.
    pub trace: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Run time.
    pub time_s: f64,
    /// Computation as a share of the time of all ranks, without tracer overhead.
    pub efficiency: f64,
}
