//! A report with its sentences, as `report --json` prints it and the viewer sends it.
//!
//! What analysis gives is data; here the texts stand beside it or in its place, under the names that the book's page on
//! JSON has.

use crate::{finding, hang};
use kizami_explain::{
    CauseState, Disease, Finding, Report, SourceLine, Stuck, StuckCall, StuckCause, StuckKind,
};
use serde::{Deserialize, Serialize};

/// A report with its sentences.
pub type ToldReport = Report<ToldFinding, ToldStuck>;

/// A finding with its sentences.
pub type ToldFinding = Finding<Told>;

/// What stands in place of a diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The whole of the finding in a sentence.
    pub sentence: String,
    /// What it is.
    pub disease: Disease,
    /// What to do about it.
    pub advice: String,
}

/// Why a run does not go on, with its sentences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldStuck {
    /// All of it in sentences, the most important first.
    pub sentences: Vec<String>,
    /// What is the matter.
    pub kind: StuckKind,
    /// Ranks that wait for each other, each for the next, the last for the first; empty if there is no such circle.
    pub cycle: Vec<u32>,
    /// Ranks that others wait for and that wait for nobody.
    pub causes: Vec<ToldCause>,
    /// The rank whose process ended before all others.
    pub died_first: Option<u32>,
    /// The calls that did not return, by rank.
    pub calls: Vec<ToldCall>,
    /// The run still went on when it was looked at.
    pub running: bool,
    /// Until when it was watched, in run time, if that is known.
    pub until_ns: Option<i64>,
}

/// A rank that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldCause {
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
pub struct ToldCall {
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
pub fn in_words(report: Report) -> ToldReport {
    report.with(told_finding, told_stuck)
}

fn told_finding(finding: Finding) -> ToldFinding {
    let disease = finding.disease();
    let told =
        Told { sentence: finding::sentence(&finding), disease, advice: finding::advice(disease).to_owned() };
    finding.with(told)
}

fn told_stuck(stuck: Stuck) -> ToldStuck {
    ToldStuck {
        sentences: hang::sentences(&stuck),
        kind: stuck.kind,
        cycle: stuck.cycle,
        causes: stuck.causes.into_iter().map(told_cause).collect(),
        died_first: stuck.died_first.map(|death| death.rank),
        calls: stuck.calls.into_iter().map(told_call).collect(),
        running: stuck.running,
        until_ns: stuck.until_ns,
    }
}

fn told_cause(cause: StuckCause) -> ToldCause {
    let state = match cause.state {
        CauseState::Outside(_) => "outside",
        CauseState::Inside => "inside",
        CauseState::Finalized => "finalized",
        CauseState::Exited => "exited",
        CauseState::Aborted { .. } => "aborted",
        CauseState::Absent => "absent",
    };
    ToldCause {
        rank: cause.rank,
        state: state.to_owned(),
        function: cause.function,
        place: cause.place,
        since_ns: cause.since_ns,
        waiting_ranks: cause.waiting_ranks,
    }
}

fn told_call(call: StuckCall) -> ToldCall {
    ToldCall {
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
