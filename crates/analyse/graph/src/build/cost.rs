//! What the tracer took around a call, and whether polls were worth anything but waiting.
//!
//! Of the tracer's cost half lies before a call and half behind it. Its measurement also holds the reading of
//! the clock that falls inside the recorded span; compensation takes it from the span where the gap
//! between two calls has no room for it.

use super::ThreadState;
use kizami_model::{Call, Length, Moment};
use kizami_trace::Stop;
use kizami_trace::disturbance::Held;

/// Less work than this between two polls is no work: the program only waits.
const IDLE_BETWEEN_POLLS: Length = Length(1_000);

/// What the tracer took around the calls of one row.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub before: Length,
    pub within: Length,
    pub behind: Length,
}

impl Cost {
    pub(super) fn of(call: &Call) -> Cost {
        let all = Length(call.overhead.0);
        let one = if call.calls > 1 { all / i64::from(call.calls) } else { all };
        let before = one / 2;
        Cost { before, within: all - one, behind: one - before }
    }
}

/// Whether a row is of failed polls that follow each other so closely that nothing was done between them.
pub(super) fn idle_polls(call: &Call, cost: Cost) -> bool {
    let Some(inside) = call.inside else { return false };
    let whole = Moment(call.end.0).saturating_since(Moment(call.start.0));
    let between = whole.saturating_sub(Length(inside.0).saturating_add(cost.within));
    between < IDLE_BETWEEN_POLLS * i64::from(call.calls - 1)
}

/// How long the tracer held the thread between its last call and this one, and how many stops are behind it.
pub(super) fn held(stops: &[Stop], call: &Call, thread: ThreadState) -> (Length, usize) {
    let begun_stops = begun_stops(stops, call).max(thread.stops_begun);
    let between = &stops[thread.stops_begun..begun_stops];
    let own = between.iter().filter(|stop| stop.thread == call.thread && Held::of(stop).is_some());
    let held = own
        .map(|stop| {
            let from = Moment(stop.start.0).max(thread.last_end);
            Moment(stop.end.0.min(call.start.0)).saturating_since(from).at_least_zero()
        })
        .fold(Length::ZERO, Length::saturating_add);
    (held, begun_stops)
}

/// How many stops of the rank began before this call.
pub(super) fn begun_stops(stops: &[Stop], call: &Call) -> usize {
    stops.partition_point(|stop| stop.start < call.start)
}
