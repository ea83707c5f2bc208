//! Where a strand stands: its next step, the times of the last one, and what is known of the one it is in.

use super::lane::Way;
use super::observer::WaitKind;
use crate::lane_moment::LaneMoment;
use kizami_graph::Polls;
use kizami_model::{Length, Moment};
use kizami_network::Fit;

/// One strand on its way.
pub(super) struct Walking<const LANES: usize> {
    pub step: u64,
    pub state: State,
    /// The next tie of the step to be looked at.
    pub tie: u32,
    /// The call before, as recorded and in each lane.
    pub last: Option<Last<LANES>>,
    /// The step it is in.
    pub start: [LaneMoment; LANES],
    /// The last of those the step waits for, in recorded time.
    pub late: Option<Late>,
    /// When that one sent, posted or came.
    pub late_at: [LaneMoment; LANES],
    /// The step does not end before this, for the sake of all others it waits for.
    pub floor: [LaneMoment; LANES],
    /// What could not be removed from gaps and is still to be taken out of calls.
    pub debt: Length,
    /// All that was to be taken out so far.
    pub removed: Length,
    /// The step is one of several failed polls.
    pub polls: Option<Polls>,
    pub missed: bool,
    /// It is parked for calls that may have begun after its own was over.
    pub patient: bool,
    /// Strands of the same rank that have not begun begin with this one.
    pub has_child_threads: bool,
}

/// What a strand is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is between two steps.
    Between,
    /// It has begun its step.
    Inside,
    /// It waits for another strand in its step.
    Parked,
    Done,
}

/// The call before.
#[derive(Clone, Copy)]
pub(super) struct Last<const LANES: usize> {
    pub recorded_start: Moment,
    pub recorded_end: Moment,
    pub start: [LaneMoment; LANES],
    pub end: [LaneMoment; LANES],
}

/// The last one waited for.
#[derive(Clone, Copy)]
pub(super) struct Late {
    /// When it sent, posted or came, as recorded.
    pub recorded: Moment,
    /// Whose.
    pub strand: u32,
    /// The step that did it.
    pub step: u64,
    pub kind: WaitKind,
    pub way: Way,
    /// When it could be there at the earliest, in recorded time.
    pub there: Moment,
}

impl Late {
    /// The least time a way like this takes; none at all where nothing travels to the one that waits.
    #[inline]
    pub(super) fn least_way(&self, fit: &Fit) -> Length {
        match (self.kind, self.way) {
            (WaitKind::Sender, Way::Message(bytes)) => fit.way(bytes),
            _ => Length::ZERO,
        }
    }
}

impl<const LANES: usize> Walking<LANES> {
    pub(super) fn new(first_step: u64) -> Walking<LANES> {
        Walking {
            step: first_step,
            state: State::Between,
            tie: 0,
            last: None,
            start: [LaneMoment::default(); LANES],
            late: None,
            late_at: [LaneMoment::MINUS_INFINITY; LANES],
            floor: [LaneMoment::MINUS_INFINITY; LANES],
            debt: Length::ZERO,
            removed: Length::ZERO,
            polls: None,
            missed: false,
            patient: false,
            has_child_threads: false,
        }
    }
}
