//! What is wrong with a run, where in the source, and what fixing it would gain.
//!
//! [`Analysis`] builds the event graph of a trace, walks it as recorded to see every wait (`waits`), follows each
//! wait back to what the one waited for was doing meanwhile (`blame`), and replays the run with the worst of that
//! taken away and on an ideal network. What comes out is a [`Report`]: efficiencies, findings with their gain,
//! wait states, the critical path, and where time and messages went. [`what_if`] ranks what could be done, and
//! [`diff::Diff`] is what changed between two runs. [`Hang`] says why a run hangs.
//!
//! Promises: every gain is the difference of two replays, never a guess from shares, and has its error. What could
//! not be understood is counted and named. Memory is that of the graph and a bounded list of waits.
//!
//! It prints nothing: text, Markdown and HTML are for the crates that show.

mod analysis;
mod changes;
mod cores;
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
mod thresholds;
mod typical;
mod whatif;
mod who;

use kizami_replay::work_interval;

pub use analysis::{Analysis, Progress};
pub use changes::{ChangedRun, ResolvedChange};
pub use cores::SharedCores;
pub use disease::{Diagnosis, Disease, Rows};
pub use efficiency::Efficiency;
pub use error::ExplainError;
pub use finding::{Cause, Finding, Headline};
pub use kizami_blame::Pattern;
pub use kizami_hang::{
    Awaited, BlockedCall, Called, CauseState, Death, EarlyEnd, EndedEarly, Event, Hang, HangCause, HangKind,
    LastSeen, Mistake, Outside, RanksInCall, WaitsFor,
};
pub use kizami_hybrid::{
    Loss, LossKind, Regions as ThreadRegions, Sharing, Spans as ThreadSpans, Threads, Window,
};
pub use kizami_trace::SourceLine;
pub use kizami_whatif::{Change, Changes, Gain, ThreadCount};
pub use nothing::{Consumer, NothingFound};
pub use phases::Phase;
pub use protocols::{SendProtocol, SendsWait, WaitBasis};
pub use reconstructed::{ExactCalls, Reconstructed, ReconstructedPlace};
pub use report::{
    CallTotal, ComputationTotal, MatrixCell, NetworkFit, NotUnderstood, PathPart, RankTime, Report,
    SizeClass, WaitTotal,
};
pub use threads::RunThreads;
pub use thresholds::{THRESHOLDS, Thresholds};
pub use typical::typical;
pub use whatif::{Idea, WhatIf, what_if};
pub use who::{Who, stretches};
pub use work_interval::WorkInterval;
