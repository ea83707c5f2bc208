//! What calls cost, as recorded runs tell it: for predictions on the machine they ran on, where nobody measured it.
//!
//! Of collectives in which all wait for all, the time behind the last one that came counts, in the middle of all that were
//! seen of one size; of messages, the line through the fastest. That is less than a measurement says: sizes between are few,
//! and noise is in it.

use crate::PredictError;
use kizami_graph::{Graph, build};
use kizami_model::Op;
use kizami_network::{Curve, MeasuredCosts, MeasuredMessages};
use kizami_replay::{Observer, Seen, learn};
use kizami_trace::Trace;
use kizami_trace::derived::scratch_folder;
use rustc_hash::FxHashMap;

/// Messages of two sizes, to draw a line.
const ENDS_BYTES: [u64; 2] = [0, 1 << 22];
/// How many others a rank has something for, where it is a few: that is how it is measured.
const FEW_PARTNERS: u32 = 4;

/// Of all runs together.
pub fn costs_of_runs(traces: &[&Trace], threads: usize) -> Result<MeasuredCosts, PredictError> {
    let mut costs = MeasuredCosts::default();
    for trace in traces {
        let graph = build(trace, &scratch_folder(trace), threads, &|_| {})?;
        let learned = learn(&graph, threads, || Spans::new(&graph), &|_| {});
        let (latency_ns, per_byte_ns) = (learned.learned.latency_ns(), learned.learned.per_byte_ns());
        if latency_ns > 0.0 || per_byte_ns > 0.0 {
            let line = ENDS_BYTES.map(|bytes| (bytes, latency_ns + per_byte_ns * bytes as f64));
            let model = learned.learned.model();
            costs.messages = MeasuredMessages {
                round_trip_half: Curve::new(line),
                send: Curve::new([(0, model.overhead_ns)]),
                receive: Curve::new([(0, model.overhead_ns)]),
                stream: Curve::new(ENDS_BYTES.map(|bytes| (bytes, per_byte_ns * bytes as f64))),
                exchange: Curve::default(),
                eager_limit_bytes: model.eager_limit_bytes,
            };
        }
        let mut seen: FxHashMap<(Op, u32, u64), Vec<i64>> = FxHashMap::default();
        for spans in learned.observers {
            spans.seen.into_iter().for_each(|(what, lengths)| seen.entry(what).or_default().extend(lengths));
        }
        let mut curves: FxHashMap<(Op, u32), Vec<(u64, f64)>> = FxHashMap::default();
        for ((op, ranks, bytes), mut lengths) in seen {
            lengths.sort_unstable();
            curves.entry((op, ranks)).or_default().push((bytes, lengths[lengths.len() / 2] as f64));
        }
        costs.collectives.extend(curves.into_iter().map(|(key, points)| (key, Curve::new(points))));
    }
    Ok(costs)
}

/// Functions by which the program seems to send to a few others only: what they took is nearer to that.
pub fn sparse_ones(of_runs: &MeasuredCosts, machine: &MeasuredCosts) -> FxHashMap<Op, u32> {
    let mut nearer: FxHashMap<Op, [f64; 2]> = FxHashMap::default();
    for ((op, ranks), curve) in &of_runs.collectives {
        let (Some(sparse), Some(plain)) =
            (machine.sparse.get(&(*op, *ranks)), machine.collectives.get(&(*op, *ranks)))
        else {
            continue;
        };
        for (bytes, took_ns) in curve.points() {
            let off = |curve: &Curve| (curve.at(*bytes).max(1.0) / took_ns.max(1.0)).ln().abs();
            let sums = nearer.entry(*op).or_default();
            *sums = [sums[0] + off(sparse), sums[1] + off(plain)];
        }
    }
    nearer
        .into_iter()
        .filter(|(_, [sparse, plain])| sparse < plain)
        .map(|(op, _)| (op, FEW_PARTNERS))
        .collect()
}

/// How long collectives took behind the last one that came.
struct Spans<'a> {
    graph: &'a Graph,
    seen: FxHashMap<(Op, u32, u64), Vec<i64>>,
}

impl<'a> Spans<'a> {
    fn new(graph: &'a Graph) -> Spans<'a> {
        Spans { graph, seen: FxHashMap::default() }
    }
}

impl Observer<0> for Spans<'_> {
    fn step(&mut self, seen: &Seen<'_, 0>) {
        let Some(all_came) = seen.all_came else { return };
        let tie = self.graph.ties_of(seen.step).iter().find(|tie| tie.kind().is_collective());
        if let Some(tie) = tie {
            let ranks = self.graph.members.sizes[tie.place() as usize];
            let length = seen.step.end.saturating_since(all_came.max(seen.step.start));
            self.seen.entry((seen.step.op(), ranks, tie.bytes())).or_default().push(length.0);
        }
    }
}
