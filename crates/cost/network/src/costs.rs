//! What calls cost on a machine: by the parameters of a model, or as they were measured there.
//!
//! Order of trust for a collective: what was measured at this number of ranks, between sizes by straight lines; else the
//! algorithm the library would take, walked over what messages cost, corrected by how far that is off at the largest number
//! of ranks that was measured. That is what a collective takes to which all come at once; who comes late is walked through
//! the algorithm where it is known. Never a curve in the number of ranks: libraries change their algorithm, and a curve does
//! not see it coming.

use crate::collectives::{Algorithm, Library, algorithm, leaves, passing_ns};
use crate::{Curve, LogGops, MeasuredMessages, Messages, Spreads};
use kizami_model::kind::{Flow, Kind};
use kizami_model::{Length, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::Discriminant;
use std::sync::{Arc, Mutex, PoisonError};

/// What a rank that gives something to a root spends, as a share of what the root does: it sends once.
const GIVING_SHARE: f64 = 0.25;
/// Collectives of more ranks are not walked rank by rank: so many do not all come at very different times, and it takes long.
const MOST_WALKED: u32 = 1024;
/// A walk over messages is corrected by at most this factor, either way.
const MOST_CORRECTION: f64 = 3.0;

/// What a collective is asked for with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCall {
    /// The function.
    pub op: Op,
    /// How many ranks.
    pub ranks: u32,
    /// What one of them moves, at most: the larger of what it gives and what it gets.
    pub bytes: u64,
    /// It is the first of its communicator that sets something up.
    pub first: bool,
}

/// How a cost came to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// Measured at this number of ranks and at this size, or between two measured sizes.
    Measured,
    /// Measured at this number of ranks, beyond the largest size.
    LargerSize,
    /// The library's algorithm, walked over what messages cost.
    Walked,
}

/// What was measured on a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCosts {
    /// Between two ranks.
    pub messages: MeasuredMessages,
    /// The cheapest and the dearest that messages may be, where runs do not show what they take.
    pub messages_between: Option<Box<[MeasuredMessages; 2]>>,
    /// By function and ranks.
    pub collectives: FxHashMap<(Op, u32), Curve>,
    /// The same where a rank has something for a few others only.
    pub sparse: FxHashMap<(Op, u32), Curve>,
    /// How the program gives to others, by functions that leave it to the program.
    pub spreads: Spreads,
    /// What a communicator's first collective takes longer.
    pub first_calls: FirstCalls,
    /// Measured again and again with the same buffers, which lay in a cache and had their pages: the calls of a program may
    /// take longer.
    pub warm: bool,
    /// Whose choice of algorithms counts where nothing was measured.
    pub library: Library,
    /// How far walking over messages was off where it could be tried, by function, as the logarithm of estimated / true.
    pub walking_errors: FxHashMap<Op, f64>,
    /// What was worked out before.
    pub cache: CostCache,
}

/// Costs that were asked for before: walking an algorithm again for each of a million calls would take long.
#[derive(Debug, Default)]
pub struct CostCache {
    costs: Mutex<FxHashMap<CostKey, Answer>>,
    /// What the walked algorithm takes if all come at once.
    aligned: Mutex<FxHashMap<CostKey, f64>>,
}

/// What was asked for: function, ranks, bytes.
type CostKey = (Op, u32, u64);

/// An answer from before, or the one that is worked out now and kept. Nobody waits while it is worked out.
fn remember<T: Copy>(cache: &Mutex<FxHashMap<CostKey, T>>, key: CostKey, work_out: impl FnOnce() -> T) -> T {
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    let before = lock().get(&key).copied();
    before.unwrap_or_else(|| {
        let worked_out = work_out();
        lock().insert(key, worked_out);
        worked_out
    })
}

/// A cost and how it is known, if there is one.
type Answer = Option<(f64, Trust)>;

/// What is known follows from the rest, so nothing is lost without it.
impl Clone for CostCache {
    fn clone(&self) -> CostCache {
        CostCache::default()
    }
}

/// What is known follows from the rest, so it makes no difference.
impl PartialEq for CostCache {
    fn eq(&self, _: &CostCache) -> bool {
        true
    }
}

impl MeasuredCosts {
    /// The largest number of ranks at which a function was measured.
    fn largest_ranks(&self, op: Op) -> Option<u32> {
        self.collectives.keys().filter(|(known, _)| *known == op).map(|(_, ranks)| *ranks).max()
    }

    /// What a collective takes in which all come at once, and how that is known; none if it is no collective.
    pub fn collective_ns(&self, op: Op, ranks: u32, bytes: u64) -> Option<(f64, Trust)> {
        let bytes = self.measured_bytes(op, ranks, bytes);
        remember(&self.cache.costs, (op, ranks, bytes), || self.work_out(op, ranks, bytes))
    }

    /// What was measured of a function at some ranks, as the program calls it.
    pub(crate) fn curve(&self, op: Op, ranks: u32) -> Option<&Curve> {
        let few = self.spreads.get(&op).is_some_and(|spread| spread.is_sparse(ranks));
        let sparse = self.sparse.get(&(op, ranks)).filter(|_| few);
        sparse.or_else(|| self.collectives.get(&(op, ranks)))
    }

    /// The size at which what the program does is measured.
    pub fn measured_bytes(&self, op: Op, ranks: u32, bytes: u64) -> u64 {
        self.spreads.get(&op).map_or(bytes, |spread| spread.measured_bytes(ranks, bytes))
    }

    /// How many others get something; none: all.
    fn partners(&self, op: Op) -> Option<u32> {
        self.spreads.get(&op).and_then(|spread| spread.partners)
    }

    pub(crate) fn work_out(&self, op: Op, ranks: u32, bytes: u64) -> Option<(f64, Trust)> {
        // Making a communicator or a window, and ending MPI, are barriers with something to do.
        let made_together = matches!(op.kind(), Kind::Communicator(_) | Kind::Window(_) | Kind::Finalize);
        let barrier = Op::by_name("MPI_Barrier").filter(|_| made_together);
        if let Some(curve) = barrier.and_then(|barrier| self.collectives.get(&(barrier, ranks))) {
            return Some((curve.at(0), Trust::Measured));
        }
        if let Some(curve) = self.curve(op, ranks) {
            let within = curve.largest_bytes().is_some_and(|largest| bytes <= largest);
            return Some((curve.at(bytes), if within { Trust::Measured } else { Trust::LargerSize }));
        }
        let partners = self.partners(op);
        let how = |ranks| self.library.algorithm(op, ranks, bytes, partners);
        let walked = |ranks| self.library.cost_ns(op, ranks, bytes, partners, &self.messages);
        let algorithm = how(ranks)?;
        let correction = self.largest_ranks(op).map_or(1.0, |known| {
            let measured = self.curve(op, known).map_or(0.0, |curve| curve.at(bytes));
            let (same, walked) = (how(known).as_ref() == Some(&algorithm), walked(known));
            if same && walked > 0.0 && measured > 0.0 { measured / walked } else { 1.0 }
        });
        Some((walked(ranks) * correction.clamp(1.0 / MOST_CORRECTION, MOST_CORRECTION), Trust::Walked))
    }

    /// When each leaves, by the library's algorithm with messages that make it take what was measured if all come at once:
    /// who comes late keeps others from going on only as far as the algorithm does. None where nothing is won by it, or the
    /// algorithm does not explain what was measured.
    fn walk_through(
        &self,
        call: CollectiveCall,
        cost_ns: f64,
        enters: &[Length],
        root: usize,
    ) -> Option<Vec<Length>> {
        let CollectiveCall { op, ranks, .. } = call;
        let bytes = self.measured_bytes(op, ranks, call.bytes);
        let last = *enters.iter().max()?;
        let all_to_all = matches!(op.kind(), Kind::Collective(which, _) if which.flow() == Flow::All);
        let together = enters.iter().all(|enter| *enter == last);
        if !all_to_all || together || ranks > MOST_WALKED || enters.len() != ranks as usize {
            return None;
        }
        let partners = self.partners(op);
        let how = self
            .library
            .algorithm(op, ranks, bytes, partners)
            .filter(|_| self.library != Library::Unknown)?;
        let aligned_ns = remember(&self.cache.aligned, (op, ranks, bytes), || {
            self.library.cost_ns(op, ranks, bytes, partners, &self.messages)
        });
        let factor = cost_ns / aligned_ns;
        if !(1.0 / MOST_CORRECTION..=MOST_CORRECTION).contains(&factor) {
            return None;
        }
        // Messages that cost more by a factor are the same walk in a time that goes slower by it.
        let scaled = |enter: &Length| Length::from_nanos_f64((*enter - last).0 as f64 / factor);
        let enters: Vec<Length> = enters.iter().map(scaled).collect();
        let left = leaves(how, &enters, root, bytes, &self.messages);
        let back = |leave: Length| last.saturating_add(Length::from_nanos_f64(leave.0 as f64 * factor));
        Some(left.into_iter().map(back).collect())
    }

    /// Whether a collective sets something up, if it is the first of its communicator that does.
    pub fn sets_up(&self, op: Op, ranks: u32, bytes: u64) -> bool {
        let how = self.library.algorithm(op, ranks, bytes, self.partners(op));
        // Creating a communicator informs all ranks, by the library's own algorithm.
        let tells_all = matches!(op.kind(), Kind::Communicator(_)) && !self.first_calls.algorithms.is_empty();
        tells_all
            || self.first_calls.by_ops.contains(&op)
            || how.is_some_and(|how| self.first_calls.sets_up(&how))
    }
}

/// What the first collective of a communicator takes longer: connections and communicators that are made once. Some
/// algorithms need them, others do not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstCalls {
    by_ranks: FxHashMap<u32, f64>,
    algorithms: Vec<Discriminant<Algorithm>>,
    by_ops: FxHashSet<Op>,
}

impl FirstCalls {
    /// A first call with so many ranks took no longer than others: unless another does, none sets anything up.
    pub fn learn_none(&mut self, ranks: u32) {
        self.by_ranks.entry(ranks).or_default();
    }

    /// A first call took so much longer, done by this algorithm if that is known.
    pub fn learn(&mut self, op: Op, ranks: u32, algorithm: Option<&Algorithm>, extra_ns: f64) {
        let known = self.by_ranks.entry(ranks).or_default();
        *known = known.max(extra_ns);
        match algorithm.map(std::mem::discriminant) {
            Some(algorithm) if !self.algorithms.contains(&algorithm) => self.algorithms.push(algorithm),
            Some(_) => {}
            None => drop(self.by_ops.insert(op)),
        }
    }

    fn sets_up(&self, how: &Algorithm) -> bool {
        match how {
            Algorithm::InTurn(parts) => parts.iter().any(|(part, _)| self.sets_up(part)),
            how => self.algorithms.contains(&std::mem::discriminant(how)),
        }
    }

    /// How much longer it takes with so many ranks.
    pub fn extra_ns(&self, ranks: u32) -> f64 {
        if let Some(known) = self.by_ranks.get(&ranks) {
            return *known;
        }
        // With more ranks more is made, each hearing of all others at most: the last two that were measured say how much.
        let longer = self.by_ranks.iter().filter(|(_, extra_ns)| **extra_ns > 0.0);
        let mut known: Vec<(u32, f64)> = longer.map(|(ranks, ns)| (*ranks, *ns)).collect();
        known.sort_by_key(|(ranks, _)| *ranks);
        match known[..] {
            [.., (before, low), (last, high)] => {
                let power = (high / low).ln() / (f64::from(last) / f64::from(before)).ln();
                high * (f64::from(ranks) / f64::from(last)).powf(power.clamp(0.0, 1.0))
            }
            [.., (_, last)] => last,
            [] => 0.0,
        }
    }
}

/// What messages and collectives cost.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// By the parameters of a model.
    Model(LogGops),
    /// As measured.
    Measured(Arc<MeasuredCosts>),
}

impl Costs {
    /// When each rank leaves a collective to which they come at `enters`, both since one moment; `root` is an index. None if
    /// the function is not known as a collective.
    pub fn leaves(&self, call: CollectiveCall, enters: &[Length], root: usize) -> Option<Vec<Length>> {
        let CollectiveCall { op, ranks, bytes, first } = call;
        match self {
            Costs::Model(model) => {
                let how = algorithm(op, ranks, bytes)?;
                Some(leaves(how, enters, root, bytes, model))
            }
            Costs::Measured(measured) => {
                let (cost_ns, _) = measured.collective_ns(op, ranks, bytes)?;
                let extra_ns = if first { measured.first_calls.extra_ns(ranks) } else { 0.0 };
                let walked = measured.walk_through(call, cost_ns, enters, root).map(|mut leaves| {
                    let extra = Length::from_nanos_f64(extra_ns);
                    leaves.iter_mut().for_each(|leave| *leave = leave.saturating_add(extra));
                    leaves
                });
                Some(walked.unwrap_or_else(|| leave_after(flow(op), cost_ns + extra_ns, enters, root)))
            }
        }
    }

    /// Whether a collective sets something up, if it is the first of its communicator that does.
    pub fn sets_up(&self, op: Op, ranks: u32, bytes: u64) -> bool {
        match self {
            Costs::Model(_) => false,
            Costs::Measured(measured) => measured.sets_up(op, ranks, bytes),
        }
    }

    /// What a collective costs a rank that does not wait in it.
    pub fn passing_ns(&self, op: Op, ranks: u32, bytes: u64) -> f64 {
        match self {
            Costs::Model(model) => passing_ns(op, ranks, bytes, model),
            Costs::Measured(measured) => {
                let cost_ns = measured.collective_ns(op, ranks, bytes).map_or(0.0, |(cost_ns, _)| cost_ns);
                match flow(op) {
                    Flow::ToRoot => GIVING_SHARE * cost_ns,
                    _ => measured.messages.sending_ns(bytes).min(cost_ns),
                }
            }
        }
    }

    fn messages(&self) -> &dyn Messages {
        match self {
            Costs::Model(model) => model,
            Costs::Measured(measured) => &measured.messages,
        }
    }
}

impl Messages for Costs {
    fn sending_ns(&self, bytes: u64) -> f64 {
        self.messages().sending_ns(bytes)
    }

    fn receiving_ns(&self, bytes: u64) -> f64 {
        self.messages().receiving_ns(bytes)
    }

    fn way_ns(&self, bytes: u64) -> f64 {
        self.messages().way_ns(bytes)
    }

    fn occupied_ns(&self, bytes: u64) -> f64 {
        self.messages().occupied_ns(bytes)
    }

    fn eager_limit_bytes(&self) -> u64 {
        self.messages().eager_limit_bytes()
    }

    fn asking_ns(&self) -> f64 {
        self.messages().asking_ns()
    }

    fn leaving_ns(&self, bytes: u64) -> f64 {
        self.messages().leaving_ns(bytes)
    }

    fn taking_ns(&self, bytes: u64) -> f64 {
        self.messages().taking_ns(bytes)
    }

    fn spaced_ns(&self, bytes: u64) -> f64 {
        self.messages().spaced_ns(bytes)
    }

    fn exchange_ns(&self, bytes: u64) -> f64 {
        self.messages().exchange_ns(bytes)
    }
}

/// Who waits for whom; functions that make things together wait for all.
fn flow(op: Op) -> Flow {
    match op.kind() {
        Kind::Collective(which, _) => which.flow(),
        _ => Flow::All,
    }
}

/// When each leaves, if the collective takes so long once those it waits for have come.
fn leave_after(flow: Flow, cost_ns: f64, enters: &[Length], root: usize) -> Vec<Length> {
    let cost = Length::from_nanos_f64(cost_ns);
    let last = enters.iter().copied().max().unwrap_or_default();
    match flow {
        Flow::All | Flow::Neighbours => vec![last.saturating_add(cost); enters.len()],
        Flow::FromRoot => {
            let given = enters.get(root).copied().unwrap_or(last);
            enters.iter().map(|enter| given.max(*enter).saturating_add(cost)).collect()
        }
        Flow::ToRoot => {
            let giving = Length::from_nanos_f64(GIVING_SHARE * cost_ns);
            let mut all: Vec<Length> = enters.iter().map(|enter| enter.saturating_add(giving)).collect();
            all[root] = last.saturating_add(cost);
            all
        }
        Flow::Prefix => {
            // The first does not wait, the last for all.
            let others = enters.len().saturating_sub(1).max(1) as f64;
            let mut highest = Length(i64::MIN);
            (0u32..)
                .zip(enters)
                .map(|(rank, enter)| {
                    highest = highest.max(*enter);
                    highest.saturating_add(Length::from_nanos_f64(cost_ns * f64::from(rank) / others))
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str) -> Op {
        Op::by_name(name).unwrap()
    }

    fn measured() -> MeasuredCosts {
        let mut costs = MeasuredCosts::default();
        costs.collectives.insert((op("MPI_Allreduce"), 4), Curve::new([(8, 1_000.0), (16, 3_000.0)]));
        costs.messages.round_trip_half = Curve::new([(0, 400.0), (1 << 20, 400.0 + (1 << 20) as f64)]);
        costs
    }

    #[test]
    fn what_was_measured_is_believed_first() {
        let costs = measured();
        assert_eq!(costs.collective_ns(op("MPI_Allreduce"), 4, 12), Some((2_000.0, Trust::Measured)));
        assert_eq!(costs.collective_ns(op("MPI_Allreduce"), 4, 24), Some((5_000.0, Trust::LargerSize)));
        assert_eq!(costs.collective_ns(op("MPI_Send"), 4, 24), None);
        // Three rounds in place of two.
        let (eight_ranks, trust) = costs.collective_ns(op("MPI_Allreduce"), 8, 8).unwrap();
        assert_eq!(trust, Trust::Walked);
        assert!((eight_ranks - 1_500.0).abs() < 30.0, "{eight_ranks}");
    }

    #[test]
    fn ranks_wait_for_whom_they_must() {
        let costs = Costs::Measured(Arc::new(MeasuredCosts {
            collectives: ["MPI_Bcast", "MPI_Reduce", "MPI_Scan", "MPI_Barrier"]
                .map(|name| ((op(name), 3), Curve::new([(0, 100.0)])))
                .into_iter()
                .collect(),
            ..MeasuredCosts::default()
        }));
        let enters = [Length(50), Length(10), Length(20)];
        let leaves = |name, root| {
            let call = CollectiveCall { op: op(name), ranks: 3, bytes: 8, first: false };
            costs.leaves(call, &enters, root).unwrap().into_iter().map(|leave| leave.0).collect::<Vec<_>>()
        };
        assert_eq!(leaves("MPI_Barrier", 0), [150, 150, 150]);
        assert_eq!(leaves("MPI_Bcast", 2), [150, 120, 120]);
        assert_eq!(leaves("MPI_Reduce", 1), [75, 150, 45]);
        assert_eq!(leaves("MPI_Scan", 0), [50, 100, 150]);
    }
}
