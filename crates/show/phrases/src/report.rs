//! A report with its sentences, as `report --json` prints it and the viewer sends it.
//!
//! What analysis gives is data; here the texts stand beside it or in its place, under the names that the book's page on
//! JSON has.

use crate::{finding, hang};
use kizami_explain::{
    BlockedCall, CauseState, Disease, Finding, Hang, HangCause, HangKind, Report, SourceLine,
};
use serde::{Deserialize, Serialize};

/// A report with its sentences.
pub type WordedReport = Report<WordedFinding, WordedHang>;

/// A finding with its sentences.
pub type WordedFinding = Finding<Words>;

/// What stands in place of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Words {
    /// The finding as a sentence.
    pub sentence: String,
    /// The performance pattern.
    pub disease: Disease,
    /// Recommended action.
    pub advice: String,
}

/// Analysis of a hang, with its sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedHang {
    /// The whole analysis in sentences, most important first.
    pub sentences: Vec<String>,
    /// What kind of hang it is.
    pub kind: HangKind,
    /// Ranks that wait for each other, each for the next, the last for the first; empty if there is no cycle.
    pub cycle: Vec<u32>,
    /// Ranks that others wait for and that wait for no other rank.
    pub causes: Vec<WordedCause>,
    /// The rank whose process was observed to end first: killed, crashed or left by `_exit`; else null.
    pub died_first: Option<u32>,
    /// The calls that did not return, by rank.
    pub calls: Vec<WordedCall>,
    /// The run still continued when it was read.
    pub running: bool,
    /// End of the observation, in run time; null if unknown.
    pub until_ns: Option<i64>,
}

/// A rank that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedCause {
    /// The rank.
    pub rank: u32,
    /// `outside` MPI (it computes, or died there), `inside` a call, `finalized`, `exited`, `aborted`, or `absent` (it
    /// left no data).
    pub state: String,
    /// The call it is inside, or its last call; null if it made none.
    pub function: Option<String>,
    /// Call site; null if it made no call.
    pub place: Option<SourceLine>,
    /// When it entered or left that call, in run time; null if it made none.
    pub since_ns: Option<i64>,
    /// How many ranks wait for it, directly or indirectly.
    pub waiting_ranks: usize,
}

/// A call that did not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedCall {
    /// The rank.
    pub rank: u32,
    /// Thread of the rank.
    pub thread: u32,
    /// Full name of the function.
    pub function: String,
    /// Call site.
    pub place: SourceLine,
    /// When the call began, in run time.
    pub since_ns: i64,
    /// It is called repeatedly and finds nothing.
    pub polls: bool,
    /// Ranks that must act first.
    pub waits_for: Vec<u32>,
    /// One of them is enough, or it is unknown which one it is.
    pub one_is_enough: bool,
    /// What they must do; empty if that is unknown, or has happened.
    pub waits_until: String,
}

/// Adds the sentences to a report.
pub fn in_words(report: Report) -> WordedReport {
    report.with(worded_finding, worded_hang)
}

fn worded_finding(finding: Finding) -> WordedFinding {
    let disease = finding.disease();
    let words =
        Words { sentence: finding::sentence(&finding), disease, advice: finding::advice(disease).to_owned() };
    finding.with(words)
}

fn worded_hang(hang: Hang) -> WordedHang {
    WordedHang {
        sentences: hang::sentences(&hang),
        kind: hang.kind,
        cycle: hang.cycle,
        causes: hang.causes.into_iter().map(worded_cause).collect(),
        died_first: hang.died_first.map(|death| death.rank),
        calls: hang.calls.into_iter().map(worded_call).collect(),
        running: hang.running,
        until_ns: hang.until_ns,
    }
}

fn worded_cause(cause: HangCause) -> WordedCause {
    let state = match cause.state {
        CauseState::Outside(_) => "outside",
        CauseState::Inside => "inside",
        CauseState::Finalized => "finalized",
        CauseState::Exited => "exited",
        CauseState::Aborted { .. } => "aborted",
        CauseState::Absent => "absent",
    };
    WordedCause {
        rank: cause.rank,
        state: state.to_owned(),
        function: cause.function,
        place: cause.place,
        since_ns: cause.since_ns,
        waiting_ranks: cause.waiting_ranks,
    }
}

fn worded_call(call: BlockedCall) -> WordedCall {
    WordedCall {
        waits_for: call.awaited_ranks(),
        one_is_enough: call.one_is_enough(),
        waits_until: hang::waits_until(&call),
        rank: call.rank,
        thread: call.thread,
        function: call.function,
        place: call.place,
        since_ns: call.since_ns,
        polls: call.polls,
    }
}
