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
    /// The whole of the finding in a sentence.
    pub sentence: String,
    /// What it is.
    pub disease: Disease,
    /// What to do about it.
    pub advice: String,
}

/// Why a run does not go on, with its sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedHang {
    /// All of it in sentences, the most important first.
    pub sentences: Vec<String>,
    /// What is the matter.
    pub kind: HangKind,
    /// Ranks that wait for each other, each for the next, the last for the first; empty if there is no such circle.
    pub cycle: Vec<u32>,
    /// Ranks that others wait for and that wait for nobody.
    pub causes: Vec<WordedCause>,
    /// The rank whose process ended before all others.
    pub died_first: Option<u32>,
    /// The calls that did not return, by rank.
    pub calls: Vec<WordedCall>,
    /// The run still went on when it was looked at.
    pub running: bool,
    /// Until when it was watched, in run time, if that is known.
    pub until_ns: Option<i64>,
}

/// A rank that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedCause {
    /// Which.
    pub rank: u32,
    /// What it does, in one word.
    pub state: String,
    /// The call it is inside, or the last one it made; nothing if it made none.
    pub function: Option<String>,
    /// Where that was called.
    pub place: Option<SourceLine>,
    /// Since when it is inside that call, or outside all.
    pub since_ns: Option<i64>,
    /// How many ranks wait for it, directly or by way of others.
    pub waiting_ranks: usize,
}

/// A call that did not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordedCall {
    /// Who.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// Which function.
    pub function: String,
    /// Where it was called.
    pub place: SourceLine,
    /// Since when, in run time.
    pub since_ns: i64,
    /// It is called again and again, and finds nothing.
    pub polls: bool,
    /// Ranks that must do something first.
    pub waits_for: Vec<u32>,
    /// One of them is enough, or it is not known which of them it is.
    pub one_is_enough: bool,
    /// What they must do; empty if that is not known, or has happened.
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
