//! The kinds of waiting, by the names Scalasca gave them.

use kizami_model::Op;
use kizami_model::kind::{CollectiveKind, Flow, Kind, WindowCall};
use kizami_replay::WaitKind;
use serde::{Deserialize, Serialize};

/// A wait-state pattern, measured as a difference of two moments of the recorded run; `enter` is when a rank calls a
/// function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A receive waits for a message that is sent later: enter(send) - enter(receive).
    LateSender,
    /// The same, while another message that is received later had been sent earlier.
    LateSenderWrongOrder,
    /// A send waits for a receive that is posted later: enter(receive) - enter(send).
    LateReceiver,
    /// A collective that needs data of all ranks waits for the last one: enter(last) - enter(own).
    WaitAtNxN,
    /// A barrier waits for the last rank.
    WaitAtBarrier,
    /// The root of a reduction or gather waits for the last rank.
    EarlyReduce,
    /// A rank waits for the root of a broadcast or scatter: enter(root) - enter(own).
    LateBroadcast,
    /// A prefix sum waits for ranks before it.
    EarlyScan,
    /// Creating, fencing or freeing a window waits for the last rank.
    WaitAtFence,
    /// An access to a window waits until its target opens it: enter(post) - enter(own).
    LatePost,
    /// A target waits until the origins have completed their accesses: enter(last complete) - enter(wait).
    EarlyWait,
    /// The part of early wait after the last access of the origin and before it called complete.
    LateComplete,
    /// A lock, or a call that needs it, waits until another rank releases it: enter(unlock) - enter(own).
    LockContention,
    /// `MPI_Finalize` waits for the last rank.
    WaitAtFinalize,
    /// Not waiting: time in a collective that needs data of all ranks after the last one entered: leave(own) -
    /// enter(last).
    NxNCompletion,
    /// The same for a barrier.
    BarrierCompletion,
}

impl Pattern {
    /// All kinds of waiting for others.
    pub const WAITS: [Pattern; 14] = [
        Pattern::LateSender,
        Pattern::LateSenderWrongOrder,
        Pattern::LateReceiver,
        Pattern::WaitAtNxN,
        Pattern::WaitAtBarrier,
        Pattern::EarlyReduce,
        Pattern::LateBroadcast,
        Pattern::EarlyScan,
        Pattern::WaitAtFence,
        Pattern::LatePost,
        Pattern::EarlyWait,
        Pattern::LateComplete,
        Pattern::LockContention,
        Pattern::WaitAtFinalize,
    ];

    /// What calls take when no rank is waited for any more.
    pub const COMPLETIONS: [Pattern; 2] = [Pattern::NxNCompletion, Pattern::BarrierCompletion];

    /// Whether it is waiting for others.
    pub fn is_waiting(self) -> bool {
        !Pattern::COMPLETIONS.contains(&self)
    }

    /// Whether all of several may have been waited for.
    pub(crate) fn may_be_for_all(self) -> bool {
        use Pattern::*;
        matches!(self, WaitAtNxN | WaitAtBarrier | EarlyReduce | WaitAtFence | EarlyWait | WaitAtFinalize)
    }

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::LateSender => "late sender",
            Pattern::LateSenderWrongOrder => "late sender, wrong order",
            Pattern::LateReceiver => "late receiver",
            Pattern::WaitAtNxN => "wait at NxN",
            Pattern::WaitAtBarrier => "wait at barrier",
            Pattern::EarlyReduce => "early reduce",
            Pattern::LateBroadcast => "late broadcast",
            Pattern::EarlyScan => "early scan",
            Pattern::WaitAtFence => "wait at fence",
            Pattern::LatePost => "late post",
            Pattern::EarlyWait => "early wait",
            Pattern::LateComplete => "late complete",
            Pattern::LockContention => "lock contention",
            Pattern::WaitAtFinalize => "wait at finalize",
            Pattern::NxNCompletion => "NxN completion",
            Pattern::BarrierCompletion => "barrier completion",
        }
    }

    /// Of a step of this function that waited for another to be ready.
    fn of_readiness(op: Op) -> Pattern {
        match op.kind() {
            Kind::Window(WindowCall::Complete) => Pattern::LatePost,
            Kind::Window(WindowCall::Wait | WindowCall::Test) => Pattern::EarlyWait,
            // Accesses wait for a post by another kind.
            Kind::Window(_) => Pattern::LockContention,
            // Data passes through the rank that was waited for.
            Kind::Collective(collective, _) if collective.flow() == Flow::FromRoot => Pattern::LateBroadcast,
            Kind::Collective(collective, _) if collective.flow() == Flow::ToRoot => Pattern::EarlyReduce,
            _ => Pattern::LateReceiver,
        }
    }

    /// Of a step of this function that waited in this way.
    pub(crate) fn of(kind: WaitKind, op: Op) -> Pattern {
        let flow = match op.kind() {
            Kind::Collective(collective, _) => Some(collective.flow()),
            _ => None,
        };
        match kind {
            // Rooted collectives of two groups are messages.
            WaitKind::Sender if flow == Some(Flow::FromRoot) => Pattern::LateBroadcast,
            WaitKind::Sender if flow == Some(Flow::ToRoot) => Pattern::EarlyReduce,
            WaitKind::Sender => Pattern::LateSender,
            WaitKind::Window => Pattern::LatePost,
            WaitKind::Receiver => Pattern::of_readiness(op),
            WaitKind::Root => Pattern::LateBroadcast,
            WaitKind::Lower => Pattern::EarlyScan,
            WaitKind::All if flow == Some(Flow::ToRoot) => Pattern::EarlyReduce,
            WaitKind::All => match op.kind() {
                Kind::Collective(CollectiveKind::Barrier, _) => Pattern::WaitAtBarrier,
                Kind::Window(_) => Pattern::WaitAtFence,
                Kind::Finalize => Pattern::WaitAtFinalize,
                _ => Pattern::WaitAtNxN,
            },
        }
    }
}

impl Pattern {
    /// Of what is left of a call of this function once all have come, if that is looked at: in collectives that keep
    /// every rank until all have entered.
    pub(crate) fn of_completion(op: Op) -> Option<Pattern> {
        let collective = matches!(op.kind(), Kind::Collective(..));
        match Pattern::of(WaitKind::All, op) {
            Pattern::WaitAtNxN if collective => Some(Pattern::NxNCompletion),
            Pattern::WaitAtBarrier if collective => Some(Pattern::BarrierCompletion),
            _ => None,
        }
    }
}
