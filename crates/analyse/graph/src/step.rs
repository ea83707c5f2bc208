//! A step and its ties, as they lie in memory and in files.

use bytemuck::{Pod, Zeroable};
use kizami_model::{Length, Moment, Op};

/// No call site: the program was entered, or it is not known.
pub(crate) const NO_SITE: u32 = u32::MAX;
/// More call sites than any program has: lists are kept by them, and what a file says is not to make those endless.
const MOST_SITES: u32 = 1 << 20;

/// What a step stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A call.
    Call,
    /// A part of the call before it: one request of several started together.
    Part,
    /// Failed polls right before one that found what they looked for: waiting by another name. What the call behind
    /// it awaits, it awaits as well.
    Polling,
}

/// A call around which its thread could have run, but had no core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct OffCore {
    /// Index of its step.
    pub step: u64,
    /// How long, between the call before and this one.
    pub before: Length,
    /// How long, inside it.
    pub inside: Length,
}

/// One row of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    /// When the call began.
    pub start: Moment,
    /// When it returned.
    pub end: Moment,
    /// What the tracer took between the call before and this one.
    pub before: Length,
    /// Index of its first tie.
    pub first_tie: u64,
    /// How many ties it has.
    pub ties: u32,
    /// How many steps on the next one of the same strand is; 0 for the last.
    pub next: u32,
    site: u32,
    op: u16,
    kind: u16,
}

impl Step {
    /// A step without ties, so far the last of its strand.
    pub fn new(start: Moment, end: Moment, op: Op, site: Option<u32>, kind: StepKind) -> Step {
        let (site, op) = (site.unwrap_or(NO_SITE), op.0);
        let before = Length::ZERO;
        let mut step = Step { start, end, before, first_tie: 0, ties: 0, next: 0, site, op, kind: 0 };
        step.set_kind(kind);
        step
    }

    /// Which function was called.
    #[inline]
    pub fn op(&self) -> Op {
        Op(self.op)
    }

    /// Index of the place it was called from.
    #[inline]
    pub fn site(&self) -> Option<u32> {
        (self.site < MOST_SITES).then_some(self.site)
    }

    pub(crate) fn set_site(&mut self, site: Option<u32>) {
        self.site = site.unwrap_or(NO_SITE);
    }

    /// What the step stands for.
    #[inline]
    pub fn kind(&self) -> StepKind {
        match self.kind {
            1 => StepKind::Part,
            2 => StepKind::Polling,
            _ => StepKind::Call,
        }
    }

    pub(crate) fn set_kind(&mut self, kind: StepKind) {
        self.kind = match kind {
            StepKind::Call => 0,
            StepKind::Part => 1,
            StepKind::Polling => 2,
        };
    }

    /// How long the call took.
    #[inline]
    pub fn length(&self) -> Length {
        self.end.saturating_since(self.start)
    }
}

/// How a step is tied to other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TieKind {
    /// A message leaves.
    Departs,
    /// The receiver of a message is ready, which its sender may wait for: the receive is posted, or the receiver is back
    /// in MPI. Or something else is ready that another rank may wait for.
    Posts,
    /// Comes to a collective.
    Enters,
    /// Comes to a collective as its root.
    EntersAsRoot,
    /// Enters a collective and does not wait.
    Passes,
    /// Enters a collective as its root and does not wait.
    PassesAsRoot,
    /// The message must have left; it is taken.
    Awaits,
    /// The message must have left; it stays for the receive that follows.
    Looks,
    /// The receiver of this message must be ready, unless there is room for it.
    AwaitsPost,
    /// The same where there is less room than in the recorded run, in which the send did not wait.
    MayAwaitPost,
    /// The other side must be ready, whatever the size: it has posted the receive of a synchronous send, opened its
    /// window, is done with ours, or has let go of its lock.
    AwaitsReady,
    /// The same, unless the call ends before that; a later step awaits it.
    LooksReady,
    /// All must have entered the collective.
    AwaitsAll,
    /// The root must have entered it.
    AwaitsRoot,
    /// Those of lower rank must have entered it.
    AwaitsLower,
    /// No tie to others: the row is of several failed polls, see [`Tie::polls`].
    Polls,
    /// No tie to others: the call moves so many bytes to or from a file or a window, for which no rank waits.
    Moves,
    /// No tie to others: what the call gives and gets in an all-to-all exchange in which that may differ between ranks, see
    /// [`Tie::exchanged`].
    Exchanges,
}

const KINDS: [TieKind; 18] = [
    TieKind::Departs,
    TieKind::Posts,
    TieKind::Enters,
    TieKind::EntersAsRoot,
    TieKind::Passes,
    TieKind::PassesAsRoot,
    TieKind::Awaits,
    TieKind::Looks,
    TieKind::AwaitsPost,
    TieKind::MayAwaitPost,
    TieKind::AwaitsReady,
    TieKind::LooksReady,
    TieKind::AwaitsAll,
    TieKind::AwaitsRoot,
    TieKind::AwaitsLower,
    TieKind::Polls,
    TieKind::Moves,
    TieKind::Exchanges,
];

impl TieKind {
    /// Whether others learn something from it.
    #[inline]
    pub fn announces(self) -> bool {
        (self as u8) < TieKind::Awaits as u8
    }

    /// Whether it says something about its own call alone.
    #[inline]
    pub fn is_of_its_call(self) -> bool {
        matches!(self, TieKind::Polls | TieKind::Moves | TieKind::Exchanges)
    }

    /// Whether it waits for the other side to be ready. Who is ready only after the call was over was not waited for.
    #[inline]
    pub fn awaits_readiness(self) -> bool {
        use TieKind::*;
        matches!(self, AwaitsPost | MayAwaitPost | AwaitsReady | LooksReady)
    }

    /// Whether it is about a collective.
    #[inline]
    pub fn is_collective(self) -> bool {
        use TieKind::*;
        matches!(self, Enters | EntersAsRoot | Passes | PassesAsRoot | AwaitsAll | AwaitsRoot | AwaitsLower)
    }
}

/// Several failed polls in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polls {
    /// What the tracer took between them.
    pub tracer: Length,
    /// Time inside them.
    pub inside: Length,
}

/// What one rank gives and gets in an exchange of all with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchanged {
    /// To all ranks.
    pub given_bytes: u64,
    /// From all ranks.
    pub got_bytes: u64,
}

const BYTES_BITS: u32 = 56;
const MOST_BYTES: u64 = (1 << BYTES_BITS) - 1;

/// One tie. Both sides of what it is about have the same key.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Tie {
    head: u64,
    /// Channel of a message or communicator of a collective in the upper half, number in the lower.
    pub key: u64,
}

impl Tie {
    /// A tie about so many bytes.
    #[inline]
    pub fn new(kind: TieKind, place: u32, number: u32, bytes: u64) -> Tie {
        let head = (kind as u64) << BYTES_BITS | bytes.min(MOST_BYTES);
        Tie { head, key: u64::from(place) << 32 | u64::from(number) }
    }

    /// A row of several failed polls.
    pub(crate) fn of_polls(polls: Polls) -> Tie {
        let (tracer_ns, inside_ns) = (polls.tracer.at_least_zero().0, polls.inside.at_least_zero().0);
        let head = (TieKind::Polls as u64) << BYTES_BITS | (tracer_ns as u64).min(MOST_BYTES);
        Tie { head, key: inside_ns as u64 }
    }

    /// What is known of a row of several failed polls; none if it is another tie.
    #[inline]
    pub fn polls(self) -> Option<Polls> {
        let polls = || Polls { tracer: Length(self.bytes() as i64), inside: Length(self.key as i64) };
        (self.kind() == TieKind::Polls).then(polls)
    }

    /// What a call gives and gets in an exchange of all with all.
    pub(crate) fn of_exchange(exchanged: Exchanged) -> Tie {
        let head = (TieKind::Exchanges as u64) << BYTES_BITS | exchanged.got_bytes.min(MOST_BYTES);
        Tie { head, key: exchanged.given_bytes }
    }

    /// What the call gives and gets; none if it is another tie.
    #[inline]
    pub fn exchanged(self) -> Option<Exchanged> {
        let exchanged = || Exchanged { given_bytes: self.key, got_bytes: self.bytes() };
        (self.kind() == TieKind::Exchanges).then(exchanged)
    }

    /// The same with another meaning.
    #[inline]
    pub fn as_kind(self, kind: TieKind) -> Tie {
        Tie { head: (kind as u64) << BYTES_BITS | self.bytes(), key: self.key }
    }

    /// The same about another channel or communicator.
    #[inline]
    pub(crate) fn at(self, place: u32) -> Tie {
        Tie { head: self.head, key: u64::from(place) << 32 | u64::from(self.number()) }
    }

    /// What it means.
    #[inline]
    pub fn kind(self) -> TieKind {
        KINDS[(self.head >> BYTES_BITS) as usize % KINDS.len()]
    }

    /// Size of the message, or this rank's part in the collective.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.head & MOST_BYTES
    }

    /// Whether it is about a channel or a communicator.
    #[inline]
    pub(crate) fn names_a_place(self) -> bool {
        !self.kind().is_of_its_call()
    }

    /// Index of the channel or the communicator.
    #[inline]
    pub fn place(self) -> u32 {
        (self.key >> 32) as u32
    }

    /// Which of the messages of the channel, or collectives of the communicator, it is about.
    #[inline]
    pub fn number(self) -> u32 {
        self.key as u32
    }
}

impl std::fmt::Debug for Tie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}#{} of {} B", self.kind(), self.place(), self.number(), self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_survive_a_round_trip() {
        for (number, kind) in (0..).zip(KINDS) {
            assert_eq!(kind as u8, number);
            let tie = Tie::new(kind, u32::MAX, 7, 1 << 50);
            assert_eq!((tie.kind(), tie.place(), tie.number(), tie.bytes()), (kind, u32::MAX, 7, 1 << 50));
        }
        let polls = Polls { tracer: Length(50), inside: Length(1 << 40) };
        assert_eq!(Tie::of_polls(polls).polls(), Some(polls));
        let exchanged = Exchanged { given_bytes: 1 << 50, got_bytes: 7 };
        assert_eq!(Tie::of_exchange(exchanged).exchanged(), Some(exchanged));
        assert_eq!(Tie::new(TieKind::Posts, 1, 2, 3).polls(), None);
        assert!(TieKind::PassesAsRoot.announces() && !TieKind::Awaits.announces());
    }
}
