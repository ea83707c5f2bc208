//! How a trace came to be: what a reader must know before believing its rows and times.

use crate::run::{Reduced, ReplayedFrom, RunInfo, Undisturbed};

/// Something that makes a trace other than a plain recording with a row for every call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Provenance<'a> {
    /// Some calls have a row; of the others sums and order are known, or nothing.
    Reduced(&'a Reduced),
    /// The tracer was taken out.
    Undisturbed(&'a Undisturbed),
    /// The calls of another trace under another setting.
    Replayed(&'a ReplayedFrom),
    /// Calls of a reduced trace in their order, at times that its sums allow.
    Reconstructed(&'a ReplayedFrom),
    /// Calls that were not recorded: by a model of program and machine.
    Predicted(&'a ReplayedFrom),
}

/// First word of the setting of a reconstructed run.
pub const RECONSTRUCTED: &str = "times reconstructed";
/// The same in traces of older versions.
const RECONSTRUCTED_BEFORE: &str = "times drawn";
/// First word of the setting of a predicted run.
pub const PREDICTED: &str = "predicted";

impl RunInfo {
    /// What makes the trace other than a plain recording, in the order in which it happened; nothing for a recording.
    pub fn provenance(&self) -> Vec<Provenance<'_>> {
        let all = [
            self.reduced.as_ref().map(Provenance::Reduced),
            self.undisturbed.as_ref().map(Provenance::Undisturbed),
            self.replayed.as_ref().map(of_replay),
        ];
        all.into_iter().flatten().collect()
    }
}

fn of_replay(from: &ReplayedFrom) -> Provenance<'_> {
    match from.setting.first().map(String::as_str) {
        Some(RECONSTRUCTED | RECONSTRUCTED_BEFORE) => Provenance::Reconstructed(from),
        Some(PREDICTED) => Provenance::Predicted(from),
        _ => Provenance::Replayed(from),
    }
}
