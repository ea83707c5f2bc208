//! What messages would have to cost for a library's algorithms to take as long as its collectives took.
//!
//! For runs that have too few messages to learn from: their collectives are messages too, but which ones only the library's
//! choice of algorithms says. Three numbers are looked for (latency, time per byte, time a rank is busy with a message) that
//! make the walked algorithms nearest to what was seen, as factors. It does not say that such a network exists.

use crate::collectives::Library;
use crate::messages::IN_A_STREAM;
use crate::{Curve, MeasuredCosts, MeasuredMessages, Spreads, Trust};
use kizami_model::Op;
use kizami_stats::{sorted, upper_median};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Sizes between which costs are interpolated.
const ENDS_BYTES: [u64; 2] = [0, 1 << 22];
/// Factors on a number that are tried, one after the other, as logarithms: from coarse to fine.
const STEPS: [f64; 7] = [2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02];
/// Rounds of one step, at most; each goes on only while something gets nearer.
const ROUNDS: usize = 20;

/// Collectives of fewer bytes do not show what a byte takes: any time per byte explains them as well as the latency does.
pub const LARGE_BYTES: u64 = 16 << 10;

/// What a collective took in which all had come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedCollective {
    /// The function.
    pub op: Op,
    /// How many ranks.
    pub ranks: u32,
    /// What one of them moved, at most.
    pub bytes: u64,
    /// How long it took.
    pub took_ns: f64,
}

/// Messages by which the library's algorithms take about as long as was seen; none if nothing was seen that is made of
/// messages. `spreads` says how the program gives to others. Where only small collectives were seen, bytes take no time.
pub fn messages_of_collectives(
    seen: &[ObservedCollective],
    library: Library,
    spreads: &Spreads,
) -> Option<MeasuredMessages> {
    let partners = |op: Op| spreads.get(&op).and_then(|spread| spread.partners);
    let walkable = |seen: &&ObservedCollective| {
        seen.ranks > 1
            && seen.took_ns > 0.0
            && library.algorithm(seen.op, seen.ranks, seen.bytes, partners(seen.op)).is_some()
    };
    let seen: Vec<&ObservedCollective> = seen.iter().filter(walkable).collect();
    let per_round = seen.iter().map(|seen| seen.took_ns / f64::from(seen.ranks).log2());
    let latency_ns = per_round.fold(f64::INFINITY, f64::min);
    let per_byte =
        seen.iter().filter(|seen| seen.bytes >= LARGE_BYTES).map(|seen| seen.took_ns / seen.bytes as f64);
    let per_byte_ns = per_byte.fold(f64::INFINITY, f64::min);
    if !latency_ns.is_finite() {
        return None;
    }
    let per_byte_ns = if per_byte_ns.is_finite() { per_byte_ns } else { 0.0 };
    let start = [latency_ns, per_byte_ns, latency_ns / 10.0];
    let off = |numbers: &[f64; 3]| {
        let messages = line(*numbers);
        let factors = seen.iter().map(|seen| {
            let walked_ns = library.cost_ns(seen.op, seen.ranks, seen.bytes, partners(seen.op), &messages);
            (walked_ns.max(1.0) / seen.took_ns).ln().abs()
        });
        factors.sum::<f64>() / seen.len() as f64
    };
    Some(line(nearest(start, off)))
}

/// Goes from a start to where `off` is least, changing one number at a time by a factor.
fn nearest(start: [f64; 3], off: impl Fn(&[f64; 3]) -> f64) -> [f64; 3] {
    let (mut best, mut least) = (start, off(&start));
    for step in STEPS {
        for _ in 0..ROUNDS {
            let mut nearer = false;
            for number in 0..best.len() {
                for factor in [step.exp(), (-step).exp()] {
                    let mut tried = best;
                    tried[number] *= factor;
                    let tried_off = off(&tried);
                    if tried_off < least {
                        (best, least, nearer) = (tried, tried_off, true);
                    }
                }
            }
            if !nearer {
                break;
            }
        }
    }
    best
}

impl MeasuredCosts {
    /// How far walking algorithms to more ranks is off for each function, as the logarithm of estimated / true: what is known
    /// of its largest number of ranks, as the program calls it, is held out and estimated from the rest. Functions known at one
    /// number of ranks are left out.
    pub fn errors_of_walking(&self) -> FxHashMap<Op, f64> {
        let mut known: FxHashMap<Op, BTreeSet<u32>> = FxHashMap::default();
        for (op, ranks) in self.collectives.keys() {
            known.entry(*op).or_default().insert(*ranks);
        }
        let error = |(op, ranks): (Op, BTreeSet<u32>)| {
            let largest = *ranks.last().filter(|_| ranks.len() > 1)?;
            let truth = self.curve(op, largest)?;
            let mut hidden = self.clone();
            hidden.sparse.remove(&(op, largest));
            hidden.collectives.remove(&(op, largest));
            let off = truth.points().iter().filter_map(|(bytes, took_ns)| {
                let (told_ns, trust) = hidden.work_out(op, largest, *bytes)?;
                (trust == Trust::Walked).then(|| (told_ns.max(1.0) / took_ns.max(1.0)).ln())
            });
            let off: Vec<f64> = off.collect();
            Some((op, upper_median(&sorted(&off))?))
        };
        known.into_iter().filter_map(error).collect()
    }
}

fn line([latency_ns, per_byte_ns, busy_ns]: [f64; 3]) -> MeasuredMessages {
    let way = |bytes: u64| latency_ns + per_byte_ns * bytes as f64;
    // Of those that follow each other, the first comes all the way alone.
    let stream = |bytes: u64| {
        let behind = (per_byte_ns * bytes as f64).max(busy_ns);
        ((IN_A_STREAM - 1.0) * behind + way(bytes)) / IN_A_STREAM
    };
    MeasuredMessages {
        round_trip_half: Curve::new(ENDS_BYTES.map(|bytes| (bytes, way(bytes)))),
        send: Curve::new([(0, busy_ns)]),
        receive: Curve::new([(0, busy_ns)]),
        stream: Curve::new(ENDS_BYTES.map(|bytes| (bytes, stream(bytes)))),
        exchange: Curve::default(),
        eager_limit_bytes: u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spread;

    /// What a network's collectives take at 8 and 16 ranks says what they take at 128.
    #[test]
    fn collectives_of_few_ranks_predict_those_of_many() {
        let library = Library::OpenMpi;
        let network = line([5_000.0, 0.8, 400.0]);
        let kinds =
            [("MPI_Allreduce", 8), ("MPI_Alltoall", 1 << 18), ("MPI_Bcast", 1 << 20), ("MPI_Barrier", 0)];
        let at = |ranks: u32| {
            kinds.map(|(name, bytes)| {
                let op = Op::by_name(name).unwrap();
                ObservedCollective {
                    op,
                    ranks,
                    bytes,
                    took_ns: library.cost_ns(op, ranks, bytes, None, &network),
                }
            })
        };
        let seen: Vec<ObservedCollective> = [8, 16].into_iter().flat_map(at).collect();
        let found = messages_of_collectives(&seen, library, &FxHashMap::default()).unwrap();
        for truth in at(128) {
            let told_ns = library.cost_ns(truth.op, truth.ranks, truth.bytes, None, &found);
            let error = told_ns / truth.took_ns - 1.0;
            assert!(error.abs() < 0.1, "{}: {error}", truth.op.name());
        }
    }

    /// A program that sends to few others is tried by what that costs, not by what sending to all does.
    #[test]
    fn walking_is_tried_as_the_program_calls() {
        let (library, few) = (Library::OpenMpi, 4);
        let op = Op::by_name("MPI_Alltoallv").unwrap();
        let mut costs =
            MeasuredCosts { library, messages: line([5_000.0, 0.8, 400.0]), ..Default::default() };
        for ranks in [8, 16] {
            let took = |partners| {
                Curve::new([(1 << 18, library.cost_ns(op, ranks, 1 << 18, partners, &costs.messages))])
            };
            let (plain, sparse) = (took(None), took(Some(few)));
            costs.collectives.insert((op, ranks), plain);
            costs.sparse.insert((op, ranks), sparse);
        }
        let plainly = costs.errors_of_walking()[&op];
        costs.spreads.insert(op, Spread { partners: Some(few), kept: 0.0 });
        let sparsely = costs.errors_of_walking()[&op];
        assert!(plainly.abs() < 0.01 && sparsely.abs() < 0.01, "{plainly} {sparsely}");
    }

    /// What small collectives take is latency: no time per byte may come of it, which larger messages would multiply.
    #[test]
    fn small_collectives_do_not_say_what_bytes_take() {
        let (library, network) = (Library::OpenMpi, line([5_000.0, 0.8, 400.0]));
        let op = Op::by_name("MPI_Allreduce").unwrap();
        let took = |ranks| library.cost_ns(op, ranks, 8, None, &network);
        let seen = [4, 8, 16].map(|ranks| ObservedCollective { op, ranks, bytes: 8, took_ns: took(ranks) });
        let found = messages_of_collectives(&seen, library, &FxHashMap::default()).unwrap();
        let (small, large) = (found.round_trip_half.at(8), found.round_trip_half.at(8_000));
        assert!(large <= small, "{small} ns for 8 bytes, {large} ns for 8,000");
    }

    #[test]
    fn no_observations_give_no_costs() {
        assert_eq!(messages_of_collectives(&[], Library::OpenMpi, &FxHashMap::default()), None);
    }
}
