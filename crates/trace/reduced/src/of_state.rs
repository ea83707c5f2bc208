//! From what a reducer knew of one thread to rows of tables.

use super::op_of;
use kizami_model::{Length, Moment, Op, Rank, Shape, ThreadIndex};
use kizami_summary::{Kind, State, Sums};
use kizami_trace::reduced_tables::{GapRow, KindOfCall, ReducedRows, SketchRow, SumRow, What};
use kizami_trace::run::Missing;
use kizami_trace::write::{OpTotal, OpTotals};

/// What a reducer's own numbers mean.
pub struct Meaning<'a> {
    /// Whose.
    pub rank: u32,
    /// Which of its threads.
    pub thread: u32,
    /// Index of a call site.
    pub site: &'a dyn Fn(u32) -> Option<u32>,
    /// A moment of the run.
    pub at: &'a dyn Fn(u64) -> i64,
    /// Length of a tick.
    pub ns_per_tick: f64,
}

impl Meaning<'_> {
    fn kind(&self, kind: &Kind) -> KindOfCall {
        KindOfCall {
            op: kind.op.map(|op| op_of(op).0),
            callsite: kind.site.and_then(self.site),
            size_class: kind.size_class.map(u32::from),
        }
    }

    fn length_ns(&self, ticks: u64) -> i64 {
        // Where ticks are nanoseconds, nothing is rounded.
        if self.ns_per_tick == 1.0 { ticks as i64 } else { (ticks as f64 * self.ns_per_tick).round() as i64 }
    }
}

/// The rows of one thread.
pub fn rows_of(state: &State, meaning: &Meaning<'_>) -> ReducedRows {
    let mut tables = ReducedRows::default();
    let (rank, thread) = (Rank(meaning.rank), ThreadIndex(meaning.thread));
    for kind in &state.kinds {
        let what = kind.op.map_or(What::Call, |op| op_of(op).1);
        let KindOfCall { op, callsite, size_class } = meaning.kind(kind);
        let moves = op.is_none_or(moves_bytes);
        let bytes = |bytes: u64| if moves { bytes } else { 0 };
        for slice in &kind.slices {
            let (from, to) = (Moment((meaning.at)(slice.start)), Moment((meaning.at)(slice.end)));
            let classes = slice.classes.iter().zip(0..).filter(|(sums, _)| **sums != Sums::default());
            tables.sums.extend(classes.map(|(sums, duration_class)| SumRow {
                rank,
                thread,
                from,
                to,
                op,
                callsite,
                what,
                size_class,
                duration_class,
                calls: sums.calls,
                total: Length(meaning.length_ns(sums.ticks)),
                bytes_out: bytes(sums.bytes_out),
                bytes_in: bytes(sums.bytes_in),
            }));
        }
        // Before a part of a call there is no time.
        let gaps = kind.gaps.iter().filter(|_| what == What::Call);
        tables.gaps.extend(gaps.map(|gap| {
            let after = gap.after.and_then(|after| state.kinds.get(after));
            let after = after.map(|after| meaning.kind(after)).unwrap_or_default();
            GapRow {
                rank,
                thread,
                op,
                callsite,
                size_class,
                after_op: after.op,
                after_callsite: after.callsite,
                after_size_class: after.size_class,
                calls: gap.calls,
                total: Length(meaning.length_ns(gap.ticks)),
            }
        }));
        tables.sketches.extend(kind.sketch.bins().map(|(low, high, calls)| SketchRow {
            rank,
            thread,
            op,
            callsite,
            what,
            size_class,
            low_ns: low * meaning.ns_per_tick,
            high_ns: high * meaning.ns_per_tick,
            calls,
        }));
    }
    tables
}

/// Adds sums to those by function; each call cost `overhead_ns` to record.
pub fn sums_by_function(rows: &ReducedRows, totals: &mut OpTotals, overhead_ns: f64) {
    for row in &rows.sums {
        let calls = if row.what == What::Call { row.calls } else { 0 };
        let sums = OpTotal {
            rows: 0,
            calls,
            total_ns: row.total.0,
            bytes_out: row.bytes_out,
            bytes_in: row.bytes_in,
            overhead_ns: (calls as f64 * overhead_ns).round() as i64,
        };
        totals.add_sums(row.op.unwrap_or(Op(0)), &sums);
    }
}

/// Whether calls of a function move the bytes they are given: a probe leaves them where they are, and making a persistent
/// request only says what is to be moved. Rows have no bytes there either.
fn moves_bytes(op: Op) -> bool {
    op.function().is_none_or(|function| !function.prepares && function.shape != Shape::Probe)
}

/// Where a reducer had no room.
pub fn missing(state: &State) -> Missing {
    Missing {
        calls_without_place: state.missing.calls_without_kind,
        calls_without_quantile: state.missing.calls_without_bins,
        calls_of_other_duration: state.missing.calls_of_wrong_class,
        messages_without_peer: state.missing.messages_without_peer,
        rows_lost: state.missing.rows_lost,
        calls_without_order: 0,
        damage: state.missing.damage,
    }
}

/// Both together.
pub fn sum_missing(one: Missing, other: Missing) -> Missing {
    Missing {
        calls_without_place: one.calls_without_place.saturating_add(other.calls_without_place),
        calls_without_quantile: one.calls_without_quantile.saturating_add(other.calls_without_quantile),
        calls_of_other_duration: one.calls_of_other_duration.saturating_add(other.calls_of_other_duration),
        messages_without_peer: one.messages_without_peer.saturating_add(other.messages_without_peer),
        rows_lost: one.rows_lost.saturating_add(other.rows_lost),
        calls_without_order: one.calls_without_order.saturating_add(other.calls_without_order),
        damage: one.damage.saturating_add(other.damage),
    }
}
