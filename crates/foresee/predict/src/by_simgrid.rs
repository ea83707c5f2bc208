//! A run on a network that SimGrid simulates: a process of its own is given the run as a trace and gives it back as another.
//!
//! What fair shares of links in one phase ([`crate::on_platform()`]) get wrong, it has right: messages that meet by chance, and
//! collectives whose messages go all over the network. It takes a hundred times as long.

use crate::PredictError;
use kizami_trace::Trace;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs are not simulated that would take longer, unless that is asked for.
const MOST_S: f64 = 120.0;

/// How to simulate.
#[derive(Clone, Debug)]
pub struct BySimGrid {
    /// The program that does it, `kizami-simgrid`.
    pub program: PathBuf,
    /// The machine, in the form that program reads.
    pub platform: String,
    /// Whose algorithms collectives follow; those of the recorded library if it is not said.
    pub collectives: Option<String>,
    /// How long it may take, as it is estimated beforehand.
    pub most_s: Option<f64>,
}

impl BySimGrid {
    /// The same, refusing a run that takes too long to be simulated without being asked for.
    pub fn unless_long(&self) -> BySimGrid {
        BySimGrid { most_s: Some(MOST_S), ..self.clone() }
    }

    /// Plays a run, with computation `faster` times as fast; leaves the simulated one in `output`, a new directory.
    pub fn play(&self, trace: &Path, faster: f64, output: &Path) -> Result<Trace, PredictError> {
        let mut command = Command::new(&self.program);
        command.arg(trace).args(["--platform", &self.platform, "--cpu", &format!("{faster}x")]);
        command.args(self.collectives.iter().flat_map(|library| ["--collectives", library]));
        command.args(self.most_s.iter().flat_map(|most_s| ["--within".to_owned(), most_s.to_string()]));
        command.arg("--output").arg(output);
        let ended = command
            .output()
            .map_err(|source| PredictError::NoSimGrid { program: self.program.clone(), source })?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let error = said.lines().find_map(|line| line.strip_prefix("kizami: error"));
            return Err(PredictError::Simulation { said: error.unwrap_or(&said).trim().to_owned() });
        }
        Ok(Trace::open(output)?)
    }
}
