//! What is known of a run that hangs, as data. The wording is up to the front end.

use super::needs::{Need, Needs, What};
use kizami_trace::SourceLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Why a run does not go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hang {
    /// What is the matter.
    pub kind: HangKind,
    /// Ranks of the run.
    pub ranks: usize,
    /// Ranks that wait for each other, each for the next, the last for the first; empty if there is no such circle.
    pub cycle: Vec<u32>,
    /// Ranks that others wait for and that do not wait themselves.
    pub causes: Vec<HangCause>,
    /// The rank whose process ended before all others, if it was seen, by itself: killed, crashed or left by
    /// `_exit`.
    pub died_first: Option<Death>,
    /// What ranks did that does not fit together.
    pub mistakes: Vec<Mistake>,
    /// Ranks that ended early, where no rank is known to wait.
    pub ended_early: Vec<EndedEarly>,
    /// The calls that did not return, by rank.
    pub calls: Vec<BlockedCall>,
    /// The run still went on when it was looked at.
    pub running: bool,
    /// Until when it was watched, in run time, if that is known.
    pub until_ns: Option<i64>,
}

/// What kind of hang it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HangKind {
    /// Ranks wait for each other in a cycle.
    Deadlock,
    /// Ranks wait for ranks that have ended.
    WaitsForEnded,
    /// Ranks wait for ranks that could continue.
    WaitsForBusy,
    /// Ranks are inside calls, and nothing shows that they wait.
    Inside,
    /// Ranks ended early, and no rank waited.
    Ended,
}

/// A rank that others wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangCause {
    /// Which.
    pub rank: u32,
    /// What it does.
    pub state: CauseState,
    /// The call it is inside, or the last one it made; nothing if it made none.
    pub function: Option<String>,
    /// Where that was called.
    pub place: Option<SourceLine>,
    /// Since when it is inside that call, or outside all.
    pub since_ns: Option<i64>,
    /// How many ranks wait for it, directly or by way of others.
    pub waiting_ranks: usize,
}

/// What a rank does that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseState {
    /// It is outside MPI: it computes, or it died there.
    Outside(Outside),
    /// It is inside a call that does not wait, as far as is known.
    Inside,
    /// It ended by `MPI_Finalize`.
    Finalized,
    /// It left by `exit`.
    Exited,
    /// It called `MPI_Abort`.
    Aborted {
        /// With this.
        code: i32,
    },
    /// It left nothing.
    Absent,
}

/// What is known of a rank that is outside MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// It died, the first of all.
    Died,
    /// It lived until the run was interrupted.
    Interrupted {
        /// When it ended, in run time.
        ended_ns: i64,
    },
    /// It still ran when it was looked at.
    Running,
    /// It computed on, or died.
    Unknown,
}

/// The end of the rank that died first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// Which.
    pub rank: u32,
    /// When, in run time.
    pub ended_ns: i64,
    /// Where it was last seen.
    pub last_seen: LastSeen,
}

/// Where a rank was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LastSeen {
    /// Inside this call.
    Inside(Called),
    /// Outside MPI, after this call.
    After(Called),
    /// Before its first call.
    BeforeFirstCall,
}

/// A function that was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// Full name.
    pub function: String,
    /// Where.
    pub place: SourceLine,
}

/// What ranks did that does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mistake {
    /// In the same turn on one communicator they call different collectives.
    DifferentCollectives {
        /// Who calls which.
        ranks: Vec<RanksInCall>,
    },
    /// A rank waits for a message with one tag, and one with another was sent to it.
    OtherTag {
        /// Who sent it.
        from: u32,
        /// Who does not take it.
        to: u32,
        /// Its tag.
        tag: i32,
        /// The tag that is waited for.
        wanted: i32,
        /// How it was sent.
        call: Called,
    },
}

/// Ranks that call the same function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RanksInCall {
    /// Those.
    pub ranks: Vec<u32>,
    /// The call, as the first of them makes it.
    pub call: Called,
}

/// A rank that ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedEarly {
    /// Which.
    pub rank: u32,
    /// How.
    pub how: EarlyEnd,
}

/// How a rank ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyEnd {
    /// Nothing is left of it.
    NothingLeft,
    /// Without a sign, after this call.
    Vanished(Option<Called>),
    /// By `exit`, after this call.
    Exited(Option<Called>),
    /// By `MPI_Abort`.
    Aborted {
        /// With this.
        code: i32,
    },
}

/// A call that did not return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedCall {
    /// Who.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// Which function.
    pub function: String,
    /// Where it was called.
    pub place: SourceLine,
    /// Index of that place: a line may have several.
    pub callsite: Option<u32>,
    /// Since when, in run time.
    pub since_ns: i64,
    /// It is called again and again, and finds nothing.
    pub polls: bool,
    /// What it waits for; none if calls of this function do not wait.
    pub waits_for: Option<WaitsFor>,
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsFor {
    /// All that is to happen.
    pub all: Vec<Awaited>,
    /// One of them is enough, or it is not known which of them it is.
    pub any: bool,
    /// It is known what calls of this function wait for, so if nothing is listed, what it waits for has happened.
    pub understood: bool,
}

/// Something that must happen before a call can return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// Who must do something.
    pub ranks: Vec<u32>,
    /// One of them is enough.
    pub any: bool,
    /// What.
    pub event: Event,
}

/// What ranks must do before a call of another one can return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Send a message with this tag, or any.
    Send {
        /// None: any.
        tag: Option<i32>,
    },
    /// Receive a message with this tag.
    Receive {
        /// Its tag.
        tag: i32,
    },
    /// Enter the same collective.
    Come,
    /// They are in another collective.
    LeaveOther {
        /// Which.
        function: String,
    },
    /// Give up a lock.
    Unlock,
}

impl BlockedCall {
    /// Ranks that must do something first.
    pub fn awaited_ranks(&self) -> Vec<u32> {
        let all = self.waits_for.iter().flat_map(|waits| &waits.all);
        let ranks: BTreeSet<u32> = all.flat_map(|awaited| awaited.ranks.iter().copied()).collect();
        ranks.into_iter().collect()
    }

    /// One of them is enough, or it is not known which of them it is.
    pub fn one_is_enough(&self) -> bool {
        self.waits_for.as_ref().is_some_and(|waits| waits.any || waits.all.iter().any(|awaited| awaited.any))
    }
}

impl From<&Needs> for WaitsFor {
    fn from(needs: &Needs) -> WaitsFor {
        let all = needs.all.iter().map(Awaited::from).collect();
        WaitsFor { all, any: needs.any, understood: needs.understood }
    }
}

impl From<&Need> for Awaited {
    fn from(need: &Need) -> Awaited {
        let event = match need.what {
            What::Message(tag) => Event::Send { tag },
            What::Taker(tag) => Event::Receive { tag },
            What::Coming => Event::Come,
            What::Other(op) => Event::LeaveOther { function: op.name().to_owned() },
            What::Lock => Event::Unlock,
        };
        Awaited { ranks: need.ranks.to_vec(), any: need.any, event }
    }
}
