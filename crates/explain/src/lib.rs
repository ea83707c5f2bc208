//! What is wrong with a run, where in the source, and what fixing it would gain.
//!
//! [`Analysis`] builds the event graph of a trace, walks it as recorded to see every wait (`waits`), follows each
//! wait back to what the one waited for was doing meanwhile (`blame`), and replays the run with the worst of that
//! taken away and on an ideal network. What comes out is a [`Report`]: efficiencies, findings with their gain,
//! wait states, the critical path, and where time and messages went. [`what_if`] ranks what could be done, and
//! [`diff::Diff`] tells what changed between two runs.
//!
//! Promises: every gain is the difference of two replays, never a guess from shares, and has its error. What could
//! not be understood is counted and named. Memory is that of the graph and a bounded list of waits.
//!
//! It prints nothing: text, Markdown and HTML are for the crates that show.

mod analysis;
mod blame;
pub mod diff;
mod efficiency;
mod error;
mod finding;
mod late_complete;
mod lateness;
mod marks;
mod pair_interner;
mod path;
mod pattern;
mod phases;
mod profile;
mod reconstructed;
mod report;
mod source_line;
mod waits;
mod whatif;
mod work_interval;

pub use analysis::{Analysis, Progress};
pub use efficiency::Efficiency;
pub use error::ExplainError;
pub use finding::{Cause, Finding, Gain};
pub use pattern::Pattern;
pub use phases::Phase;
pub use reconstructed::{Reconstructed, ReconstructedPlace};
pub use report::{
    CallTotal, ComputationTotal, MatrixCell, NetworkFit, NotUnderstood, PathPart, RankTime, Report,
    SizeClass, WaitTotal,
};
pub use source_line::SourceLine;
pub use whatif::{WhatIf, what_if};
pub use work_interval::WorkInterval;
