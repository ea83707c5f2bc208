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
    Curve, Fit, LARGE_BYTES, MeasuredCosts, MeasuredMessages, ObservedCollective, messages_of_collectives,
};
use kizami_replay::{EndedStep, Observer, learn};
use kizami_stats::upper_median;
use kizami_trace::Trace;
use rustc_hash::FxHashMap;

/// Costs of messages are given at least up to this size, by a line behind the largest observed size.
const LARGEST_BYTES: u64 = 1 << 22;
/// What is known of bytes holds for messages so many times as large.
const FURTHER: u64 = 16;

/// A network of which no run shows enough.
#[derive(Clone, Copy)]
struct Assumed {
    latency_ns: f64,
    per_byte_ns: f64,
}

/// A network that costs nothing, a usual one, and a slow one: 50 MB/s is half of what Gigabit Ethernet gives.
const ASSUMED: [Assumed; 3] = [
    Assumed { latency_ns: 0.0, per_byte_ns: 0.0 },
    Assumed { latency_ns: 2_000.0, per_byte_ns: 1.0 },
    Assumed { latency_ns: 50_000.0, per_byte_ns: 20.0 },
];
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
    let seen = observed_collectives(&costs);
    let calibrated = || {
        let known_bytes = seen.iter().map(|seen| seen.bytes).max()?;
        let known_bytes =
            if known_bytes >= LARGE_BYTES { known_bytes.saturating_mul(FURTHER) } else { known_bytes };
        Some((messages_of_collectives(&seen, costs.library, &costs.spreads)?, known_bytes))
    };
    let known = messages(&fit).or_else(calibrated);
    (costs.messages, costs.messages_between) = between(known, &fit);
    costs.walking_errors = costs.errors_of_walking();
    Ok(costs)
}

/// What messages cost, and the cheapest and the dearest they may be. Messages that were always there before they were received,
/// because ranks compute meanwhile, leave that open if they are larger than all whose way was seen; it took them no longer
/// than until they were received.
fn between(
    known: Option<(MeasuredMessages, u64)>,
    fit: &Fit,
) -> (MeasuredMessages, Option<Box<[MeasuredMessages; 2]>>) {
    let known_bytes = known.as_ref().map_or(0, |(_, bytes)| *bytes);
    let hidden: Vec<(u64, f64)> =
        fit.hidden().filter(|(bytes, _)| known.is_none() || *bytes > known_bytes).collect();
    let (Some((largest, _)), false) = (hidden.last().copied(), hidden.is_empty()) else {
        return (known.map(|(messages, _)| messages).unwrap_or_default(), None);
    };
    let [low, middle, high] = ASSUMED.map(|assumed| {
        let messages = known.clone().map_or_else(|| of_latency(assumed.latency_ns), |(messages, _)| messages);
        let beyond = |bytes: u64| assumed.per_byte_ns * bytes.saturating_sub(known_bytes) as f64;
        let further = |curve: &Curve| {
            let (inside, base_ns) = (curve.points().iter().copied(), curve.at(known_bytes));
            let mut points: Vec<(u64, f64)> = inside.filter(|(bytes, _)| *bytes <= known_bytes).collect();
            points.push((known_bytes, base_ns));
            points.extend(
                hidden
                    .iter()
                    .map(|(bytes, within_ns)| (*bytes, within_ns.clamp(base_ns, base_ns + beyond(*bytes)))),
            );
            points.push((largest + LARGEST_BYTES, base_ns + beyond(largest + LARGEST_BYTES)));
            least_of_larger(&mut points);
            Curve::new(points)
        };
        MeasuredMessages {
            round_trip_half: further(&messages.round_trip_half),
            stream: further(&messages.stream),
            ..messages
        }
    });
    (middle, Some(Box::new([low, high])))
}

/// Messages of which only the latency is assumed.
fn of_latency(latency_ns: f64) -> MeasuredMessages {
    MeasuredMessages {
        round_trip_half: Curve::new([(0, latency_ns)]),
        send: Curve::new([(0, 0.0)]),
        receive: Curve::new([(0, 0.0)]),
        stream: Curve::new([(0, 0.0)]),
        exchange: Curve::default(),
        eager_limit_bytes: u64::MAX,
    }
}

/// Of a smaller message, what a larger one took is enough.
fn least_of_larger(points: &mut [(u64, f64)]) {
    let mut least_ns = f64::INFINITY;
    for (_, ns) in points.iter_mut().rev() {
        least_ns = least_ns.min(*ns);
        *ns = least_ns;
    }
}

/// What messages cost, if some were seen, and up to which size.
fn messages(fit: &Fit) -> Option<(MeasuredMessages, u64)> {
    let mut ways: Vec<(u64, f64)> = fit.ways().collect();
    if ways.is_empty() {
        return None;
    }
    least_of_larger(&mut ways);
    let ((smallest, first_ns), (largest, last_ns)) = (ways[0], ways[ways.len() - 1]);
    let per_byte_ns = fit.per_byte_ns();
    if smallest > 0 {
        ways.push((0, fit.latency_ns().min(first_ns)));
    }
    ways.push((largest + LARGEST_BYTES, last_ns + per_byte_ns * LARGEST_BYTES as f64));
    let model = fit.model();
    let messages = MeasuredMessages {
        round_trip_half: Curve::new(ways),
        send: Curve::new([(0, model.overhead_ns)]),
        receive: Curve::new([(0, model.overhead_ns)]),
        stream: Curve::new([0, LARGEST_BYTES].map(|bytes| (bytes, per_byte_ns * bytes as f64))),
        exchange: Curve::default(),
        eager_limit_bytes: model.eager_limit_bytes,
    };
    Some((messages, if per_byte_ns > 0.0 { largest.saturating_mul(FURTHER) } else { largest }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Length;
    use kizami_network::Messages;

    fn known() -> Option<(MeasuredMessages, u64)> {
        Some((of_latency(3_000.0), 8))
    }

    /// Ranks compute for a millisecond after they have sent: a message takes that at most, and usually much less.
    #[test]
    fn a_message_behind_computation_may_take_any_time_up_to_it() {
        let mut fit = Fit::default();
        (0..10).for_each(|_| fit.learn_handling(1 << 20, Length(1_000_000), Length(500)));
        fit.finish();
        let (messages, range) = between(known(), &fit);
        let [low, high] = *range.expect("a range");
        let costs = [low, messages, high].map(|messages| messages.message_ns(1 << 20));
        assert_eq!(costs, [3_000.0, 1_000_500.0, 1_000_500.0]);
    }

    #[test]
    fn small_messages_behind_computation_are_cheap() {
        let mut fit = Fit::default();
        (0..10).for_each(|_| fit.learn_handling(800, Length(1_000_000), Length(500)));
        fit.finish();
        let (messages, range) = between(known(), &fit);
        let [_, high] = *range.expect("a range");
        assert_eq!(messages.message_ns(800), 3_000.0 + 792.0);
        assert_eq!(high.message_ns(800), 3_000.0 + 20.0 * 792.0);
    }

    #[test]
    fn messages_whose_way_was_seen_leave_nothing_open() {
        let mut fit = Fit::default();
        (0..10).for_each(|_| fit.learn_way(800, Length(4_000)));
        (0..10).for_each(|_| fit.learn_handling(800, Length(1_000_000), Length(500)));
        fit.finish();
        let (messages, range) = between(messages(&fit), &fit);
        assert_eq!((messages.message_ns(800), range), (4_000.0, None));
    }
}
