//! What the tracer took around a call, and whether polls were worth anything but waiting.
//!
//! Of the tracer's cost half lies before a call and half behind it. Its measurement also holds the reading of
//! the clock that falls inside the recorded span; whoever takes it out takes that from the span where the gap
//! between two calls has no room for it.

use super::ThreadState;
use kizami_model::Call;
use kizami_store::Stop;
use kizami_store::disturbance::Held;

/// Less work than this between two polls is no work: the program only waits.
const IDLE_BETWEEN_POLLS_NS: i64 = 1_000;

/// What the tracer took around the calls of one row.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub before_ns: i64,
    pub within_ns: i64,
    pub behind_ns: i64,
}

impl Cost {
    pub(super) fn of(call: &Call) -> Cost {
        let one_ns = if call.calls > 1 { call.overhead.0 / i64::from(call.calls) } else { call.overhead.0 };
        let before_ns = one_ns / 2;
        Cost { before_ns, within_ns: call.overhead.0 - one_ns, behind_ns: one_ns - before_ns }
    }
}

/// Whether a row is of failed polls that follow each other so closely that nothing was done between them.
pub(super) fn idle_polls(call: &Call, cost: Cost) -> bool {
    let Some(inside) = call.inside else { return false };
    let between_ns =
        call.end.0.saturating_sub(call.start.0).saturating_sub(inside.0.saturating_add(cost.within_ns));
    between_ns < IDLE_BETWEEN_POLLS_NS.saturating_mul(i64::from(call.calls - 1))
}

/// How long the tracer held the thread between its last call and this one, and how many stops are behind it.
pub(super) fn held(stops: &[Stop], call: &Call, thread: ThreadState) -> (i64, usize) {
    let seen = seen(stops, call).max(thread.stops_seen);
    let between = &stops[thread.stops_seen..seen];
    let own = between.iter().filter(|stop| stop.thread == call.thread && Held::of(stop).is_some());
    let held_ns: i64 = own
        .map(|stop| {
            let from = stop.start.0.max(thread.last_end_ns);
            stop.end.0.min(call.start.0).saturating_sub(from).max(0)
        })
        .fold(0, i64::saturating_add);
    (held_ns, seen)
}

/// How many stops of the rank began before this call.
pub(super) fn seen(stops: &[Stop], call: &Call) -> usize {
    stops.partition_point(|stop| stop.start < call.start)
}
