//! What `kizami predict` comes to, as `--json` prints it and pictures show it.

use kizami_predict::point::Point;
use kizami_predict::{Checked, LeftOut};
use serde::Serialize;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Predicted {
    /// The program, by the name of its executable.
    pub program: String,
    /// The machine it is for, if one was given.
    pub machine: Option<String>,
    /// The runs it is made from.
    pub from: Vec<Recorded>,
    /// Those among them that do not count for other numbers of ranks.
    pub left_out: Vec<LeftOut>,
    /// What was hidden and foretold, where there were enough runs.
    pub check: Option<Checked>,
    /// What was foretold.
    pub points: Vec<Point>,
}

/// A run it is made from.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Recorded {
    /// Its trace, as it was named.
    pub trace: String,
    /// How many ranks it has.
    pub ranks: u32,
    /// How long it worked.
    pub time_s: f64,
    /// The share of all ranks' time that is computation.
    pub efficiency: f64,
}
