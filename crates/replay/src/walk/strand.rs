//! Where a strand stands: its next step, the times of the last one, and what is known of the one it is in.

use super::board::Note;
use super::lane::Way;
use super::observer::WaitKind;

/// One strand on its way.
pub(super) struct Walking<const LANES: usize> {
    pub step: u64,
    pub state: State,
    /// The next tie of the step to be looked at.
    pub tie: u32,
    /// The call before, as recorded and in each lane.
    pub last: Option<Last<LANES>>,
    /// The step it is in.
    pub start_ns: [i64; LANES],
    /// When it would begin if nobody had been waited for in the overlapped calls right before it.
    pub unheld_ns: [i64; LANES],
    /// In modelled lanes: when its messages have left; in others the start.
    pub busy_ns: [i64; LANES],
    /// In modelled lanes: when the network takes the next message.
    pub free_ns: [i64; LANES],
    /// In modelled lanes: when the last message of the step left, or asked for its receiver.
    pub left_ns: [i64; LANES],
    /// The last of those the step waits for, in recorded time.
    pub late: Option<Late<LANES>>,
    /// The step does not end before this, for the sake of all others it waits for.
    pub floor_ns: [i64; LANES],
    /// In modelled lanes: what taking messages costs.
    pub handling_ns: [i64; LANES],
    /// What could not be taken out of gaps and is still to be taken out of calls.
    pub debt_ns: i64,
    /// All that was to be taken out so far.
    pub removed_ns: i64,
    /// How much earlier the strand is than recorded.
    pub shift_ns: [i64; LANES],
    /// What the tracer took between the polls of the step, and the time inside them.
    pub polls: Option<(i64, i64)>,
    pub missed: bool,
    /// It is parked for calls that may have begun after its own was over.
    pub patient: bool,
    /// Strands of the same rank that have not begun begin with this one.
    pub has_heirs: bool,
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
    pub recorded_ns: (i64, i64),
    pub start_ns: [i64; LANES],
    pub end_ns: [i64; LANES],
    /// From when on the computation behind it is under way: where its wait is overlapped, before its end.
    pub free_ns: [i64; LANES],
}

/// The last one waited for.
#[derive(Clone, Copy)]
pub(super) struct Late<const LANES: usize> {
    pub note: Note<LANES>,
    pub kind: WaitKind,
    pub way: Way,
    /// When it could be there at the earliest, in recorded time.
    pub there_ns: i64,
}

impl<const LANES: usize> Walking<LANES> {
    /// The step does not begin before the call before it is over, however much of that was overlapped.
    pub(super) fn hold(&mut self) {
        self.unheld_ns = self.start_ns;
        let Some(last) = &self.last else { return };
        for lane in 0..LANES {
            if last.free_ns[lane] < last.end_ns[lane] {
                self.start_ns[lane] = self.start_ns[lane].max(last.end_ns[lane]);
            }
        }
    }

    pub(super) fn new(first_step: u64) -> Walking<LANES> {
        Walking {
            step: first_step,
            state: State::Between,
            tie: 0,
            last: None,
            start_ns: [0; LANES],
            unheld_ns: [0; LANES],
            busy_ns: [0; LANES],
            free_ns: [i64::MIN; LANES],
            left_ns: [i64::MIN; LANES],
            late: None,
            floor_ns: [i64::MIN; LANES],
            handling_ns: [0; LANES],
            debt_ns: 0,
            removed_ns: 0,
            shift_ns: [0; LANES],
            polls: None,
            missed: false,
            patient: false,
            has_heirs: false,
        }
    }
}
