//! Where a strand stands: its next step, the times of the last one, and what is known of the one it is in.

use super::lane::Way;
use super::observer::WaitKind;
use super::pending::Arrival;
use crate::lane_moment::LaneMoment;
use crate::setting::Pieces;
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
    /// When it would begin if nobody had been waited for in the overlapped calls right before it.
    pub unheld: [LaneMoment; LANES],
    /// When the overlapped call right before it is over, and the last piece of computation behind it is done.
    pub held: [LaneMoment; LANES],
    /// In modelled lanes: when it is done with its own messages.
    pub busy_until: [LaneMoment; LANES],
    /// In modelled lanes: when the network takes the next message.
    pub network_free: [LaneMoment; LANES],
    /// In modelled lanes: when the last message of the step left, or asked for its receiver.
    pub left: [LaneMoment; LANES],
    /// The last of those the step waits for, in recorded time.
    pub late: Option<Late<LANES>>,
    /// The step does not end before this, for the sake of all others it waits for.
    pub floor: [LaneMoment; LANES],
    /// In modelled lanes: what taking messages costs.
    pub handling: [Length; LANES],
    /// What could not be taken out of gaps and is still to be taken out of calls.
    pub debt: Length,
    /// All that was to be taken out so far.
    pub removed: Length,
    /// How much earlier the strand is than recorded.
    pub shift: [Length; LANES],
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
    /// It waits for somebody in its step.
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
    /// From when on the computation behind it is under way: where its wait is overlapped, before its end.
    pub free: [LaneMoment; LANES],
    /// In how many pieces that computation is done, where it is overlapped.
    pub pieces: [Pieces; LANES],
}

/// The last one waited for.
#[derive(Clone, Copy)]
pub(super) struct Late<const LANES: usize> {
    pub arrival: Arrival<LANES>,
    pub kind: WaitKind,
    pub way: Way,
    /// When it could be there at the earliest, in recorded time.
    pub there: Moment,
}

impl<const LANES: usize> Late<LANES> {
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
    /// The step does not begin before the call before it is over, however much of that was overlapped.
    pub(super) fn hold(&mut self) {
        self.unheld = self.start;
        let Some(last) = &self.last else { return };
        for lane in 0..LANES {
            if last.free[lane] < last.end[lane] {
                self.start[lane] = self.start[lane].max(last.end[lane]).max(self.held[lane]);
            }
        }
    }

    pub(super) fn new(first_step: u64) -> Walking<LANES> {
        Walking {
            step: first_step,
            state: State::Between,
            tie: 0,
            last: None,
            start: [LaneMoment::default(); LANES],
            unheld: [LaneMoment::default(); LANES],
            held: [LaneMoment::NEVER; LANES],
            busy_until: [LaneMoment::default(); LANES],
            network_free: [LaneMoment::NEVER; LANES],
            left: [LaneMoment::NEVER; LANES],
            late: None,
            floor: [LaneMoment::NEVER; LANES],
            handling: [Length::ZERO; LANES],
            debt: Length::ZERO,
            removed: Length::ZERO,
            shift: [Length::ZERO; LANES],
            polls: None,
            missed: false,
            patient: false,
            has_child_threads: false,
        }
    }
}
