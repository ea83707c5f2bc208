//! What is wrong with a run, where in the source, and what fixing it would gain.
//!
//! [`Analysis`] builds the event graph of a trace, walks it as recorded to see every wait (`waits`), follows each
//! wait back to what the one waited for was doing meanwhile (`blame`), and replays the run with the worst of that
//! taken away and on an ideal network. What comes out is a [`Report`]: efficiencies, findings with their gain,
//! wait states, the critical path, and where time and messages went. [`what_if`] ranks what could be done, and
//! [`diff::Diff`] tells what changed between two runs. [`Stuck`] says why a run does not go on.
//!
//! Promises: every gain is the difference of two replays, never a guess from shares, and has its error. What could
//! not be understood is counted and named. Memory is that of the graph and a bounded list of waits.
//!
//! It prints nothing: text, Markdown and HTML are for the crates that show.

mod analysis;
mod changes;
pub mod diff;
mod disease;
mod diseases;
mod efficiency;
mod error;
mod finding;
mod nothing;
mod outcome;
mod path;
mod phases;
mod profile;
mod protocols;
mod reconstructed;
mod regions;
mod replays;
mod report;
mod scatter;
mod threads;
mod typical;
mod whatif;
mod who;

use kizami_replay::work_interval;

pub use analysis::{Analysis, Progress};
pub use changes::{as_they_come, joined, no_longer};
pub use disease::Disease;
pub use efficiency::Efficiency;
pub use error::ExplainError;
pub use finding::{Cause, Finding, Headline};
pub use kizami_blame::Pattern;
pub use kizami_hybrid::{
    Loss, LossKind, Regions as ThreadRegions, Sharing, Spans as ThreadSpans, ThreadChange, ThreadCount,
    Threads, changes as thread_changes,
};
pub use kizami_replay::Gain;
pub use kizami_stuck::{CauseState, Stuck, StuckCall, StuckCause, StuckKind};
pub use kizami_trace::SourceLine;
pub use phases::Phase;
pub use protocols::{SendProtocol, SendsWait, WaitBasis};
pub use reconstructed::{Reconstructed, ReconstructedPlace};
pub use report::{
    CallTotal, ComputationTotal, MatrixCell, NetworkFit, NotUnderstood, PathPart, RankTime, Report,
    SizeClass, WaitTotal,
};
pub use threads::RunThreads;
pub use typical::typical;
pub use whatif::{WhatIf, what_if};
pub use work_interval::WorkInterval;
