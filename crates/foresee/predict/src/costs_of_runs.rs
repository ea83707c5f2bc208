//! What calls cost, derived from recorded runs: for predictions on the machine they ran on, where it was not measured.
//!
//! Of collectives in which all wait for all, the time behind the last one that came counts, in the middle of all that were
//! seen of one size; of messages, the fastest of each size in all runs. Runs without messages have them in their
//! collectives, as their library does these. That is less than a measurement says: sizes between are few, and noise is in
//! it. How far it is off with more ranks is tried on the largest run, and kept with the costs.

use crate::PredictError;
use crate::spreads::spreads_of;
use kizami_graph::{Graph, build};
use kizami_model::Op;
use kizami_network::collectives::Library;
use kizami_network::{
    Curve, Fit, MeasuredCosts, MeasuredMessages, ObservedCollective, messages_of_collectives,
};
use kizami_replay::{EndedStep, Observer, learn};
use kizami_stats::upper_median;
use kizami_trace::Trace;
use rustc_hash::FxHashMap;

/// Costs of messages are given at least up to this size, by a line behind the largest observed size.
const LARGEST_BYTES: u64 = 1 << 22;
/// Sizes of collectives that count when messages are learned from them: of one function and number of ranks, at most.
const MOST_SIZES: usize = 12;

/// Of all runs together.
pub fn costs_of_runs(traces: &[&Trace], threads: usize) -> Result<MeasuredCosts, PredictError> {
    let mut costs = MeasuredCosts { spreads: spreads_of(traces)?, ..MeasuredCosts::default() };
    let mut fit = Fit::default();
    for trace in traces {
        let graph = build(trace, threads, &|_| {})?;
        let learned = learn(&graph, threads, || Spans::new(&graph), &|_| {});
        fit.merge(&learned.learned);
        let mut seen: FxHashMap<(Op, u32, u64), Vec<i64>> = FxHashMap::default();
        for spans in learned.observers {
            spans.seen.into_iter().for_each(|(what, lengths)| seen.entry(what).or_default().extend(lengths));
        }
        let mut curves: FxHashMap<(Op, u32), Vec<(u64, f64)>> = FxHashMap::default();
        for ((op, ranks, bytes), mut lengths) in seen {
            lengths.sort_unstable();
            let bytes = costs.measured_bytes(op, ranks, bytes);
            curves
                .entry((op, ranks))
                .or_default()
                .push((bytes, upper_median(&lengths).unwrap_or_default() as f64));
        }
        costs.collectives.extend(curves.into_iter().map(|(key, points)| (key, Curve::new(points))));
    }
    fit.finish();
    if let Some(trace) = traces.first() {
        costs.library = Library::of(&trace.run().mpi_library, &trace.run().command.join(" "));
    }
    let calibrated = || messages_of_collectives(&observed_collectives(&costs), costs.library, &costs.spreads);
    costs.messages = messages(&fit).or_else(calibrated).unwrap_or_default();
    costs.walking_errors = costs.errors_of_walking();
    Ok(costs)
}

/// What messages cost, if some were seen.
fn messages(fit: &Fit) -> Option<MeasuredMessages> {
    let mut ways: Vec<(u64, f64)> = fit.ways().collect();
    if ways.is_empty() {
        return None;
    }
    // Of a smaller message, what a larger one did is enough.
    let mut least_ns = f64::INFINITY;
    for (_, way_ns) in ways.iter_mut().rev() {
        least_ns = least_ns.min(*way_ns);
        *way_ns = least_ns;
    }
    let ((smallest, first_ns), (largest, last_ns)) = (ways[0], ways[ways.len() - 1]);
    let per_byte_ns = fit.per_byte_ns();
    if smallest > 0 {
        ways.push((0, fit.latency_ns().min(first_ns)));
    }
    ways.push((largest + LARGEST_BYTES, last_ns + per_byte_ns * LARGEST_BYTES as f64));
    let model = fit.model();
    Some(MeasuredMessages {
        round_trip_half: Curve::new(ways),
        send: Curve::new([(0, model.overhead_ns)]),
        receive: Curve::new([(0, model.overhead_ns)]),
        stream: Curve::new([0, LARGEST_BYTES].map(|bytes| (bytes, per_byte_ns * bytes as f64))),
        exchange: Curve::default(),
        eager_limit_bytes: model.eager_limit_bytes,
    })
}

/// Some sizes of each collective, evenly over those that were seen.
fn observed_collectives(costs: &MeasuredCosts) -> Vec<ObservedCollective> {
    let mut all = Vec::new();
    for ((op, ranks), curve) in &costs.collectives {
        let points = curve.points();
        let step = points.len().div_ceil(MOST_SIZES);
        let some = points.iter().step_by(step.max(1));
        all.extend(some.map(|(bytes, took_ns)| ObservedCollective {
            op: *op,
            ranks: *ranks,
            bytes: *bytes,
            took_ns: *took_ns,
        }));
    }
    // Sums of numbers depend on their order.
    all.sort_by_key(|seen| (seen.op, seen.ranks, seen.bytes));
    all
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
    fn step(&mut self, seen: &EndedStep<'_, 0>) {
        let Some(all_came) = seen.all_came else { return };
        let tie = self.graph.ties_of(seen.step).iter().find(|tie| tie.kind().is_collective());
        if let Some(tie) = tie {
            let ranks = self.graph.members.sizes[tie.place() as usize];
            let length = seen.step.end.saturating_since(all_came.max(seen.step.start));
            self.seen.entry((seen.step.op(), ranks, tie.bytes())).or_default().push(length.0);
        }
    }
}
