//! What a walk shows of a predicted run: how long it is, where its time goes, and how well the costs were known.

use kizami_graph::{Graph, TieKind};
use kizami_model::{Length, Op};
use kizami_network::{MeasuredCosts, Trust};
use kizami_replay::work_interval::{Borders, WorkIntervals};
use kizami_replay::{EndedStep, LaneMoment, Observer, WorkInterval};
use rustc_hash::FxHashMap;

/// The lane of the lowest times.
pub(crate) const LOW: usize = 0;
/// The lane of the highest times.
pub(crate) const HIGH: usize = 2;
/// The lane whose places are looked at.
pub(crate) const MIDDLE: usize = 1;
/// The lane of the middle on a network that costs nothing, which separates waiting from transfer.
pub(crate) const IDEAL: usize = 3;
/// How many lanes there are: the lowest, the middle, the highest, and the ideal one.
pub(crate) const LANES: usize = 4;

/// How far a cost that was walked over messages may be off at least, as a share.
const WALKED_ERROR: f64 = 0.15;

/// Time of all ranks together at one place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlaceTime {
    /// Computation before its calls.
    pub before: Length,
    /// Inside its calls.
    pub inside: Length,
    /// Inside its calls on a network that costs nothing.
    pub ideal: Length,
    /// How many calls.
    pub calls: u64,
    /// Bytes its calls moved, added up over collectives and messages.
    pub bytes: u64,
}

/// By place and function.
pub(crate) type Places = FxHashMap<(Option<u32>, Op), PlaceTime>;

/// Time inside calls, by how well their cost was known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByTrust {
    pub measured: Length,
    pub larger: Length,
    pub walked: Length,
    /// By how much `walked` may be off, where walking could be tried.
    pub walked_off: Length,
    pub messages: Length,
}

/// Watches the strands of one thread of a walk.
pub(crate) struct Watch<'a> {
    graph: &'a Graph,
    costs: Option<&'a MeasuredCosts>,
    work: WorkIntervals<'a, LANES>,
    borders: &'a Borders,
    /// By strand: when its last call ended in the middle lane.
    last: FxHashMap<u32, LaneMoment>,
    pub(crate) places: Places,
    pub(crate) by_trust: ByTrust,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(graph: &'a Graph, costs: Option<&'a MeasuredCosts>, borders: &'a Borders) -> Watch<'a> {
        Watch {
            graph,
            costs,
            work: WorkIntervals::new(borders),
            borders,
            last: FxHashMap::default(),
            places: FxHashMap::default(),
            by_trust: ByTrust::default(),
        }
    }

    /// All threads together: how long the run is in each lane, and where the time of the middle one goes.
    pub(crate) fn all(watches: Vec<Watch<'a>>) -> ([WorkInterval; LANES], Places, ByTrust) {
        let mut places = Places::default();
        let mut by_trust = ByTrust::default();
        let mut work = Vec::new();
        for watch in watches {
            for (place, time) in watch.places {
                let sum = places.entry(place).or_default();
                sum.before += time.before;
                sum.inside += time.inside;
                sum.ideal += time.ideal;
                sum.calls += time.calls;
                sum.bytes += time.bytes;
            }
            by_trust.measured += watch.by_trust.measured;
            by_trust.larger += watch.by_trust.larger;
            by_trust.walked += watch.by_trust.walked;
            by_trust.walked_off += watch.by_trust.walked_off;
            by_trust.messages += watch.by_trust.messages;
            work.push(watch.work);
        }
        (WorkIntervals::all(work), places, by_trust)
    }

    fn trust(&mut self, seen: &EndedStep<'_, LANES>, inside: Length) -> u64 {
        let ties = self.graph.ties_of(seen.step);
        let collective = ties.iter().find(|tie| tie.kind().is_collective());
        let moved = ties.iter().filter(|tie| tie.kind() == TieKind::Departs).map(|tie| tie.bytes()).sum();
        let Some(tie) = collective else {
            self.by_trust.messages += if ties.is_empty() { Length::ZERO } else { inside };
            return moved;
        };
        let ranks = self.graph.members.sizes[tie.place() as usize];
        let op = seen.step.op();
        let known = self.costs.and_then(|costs| costs.collective_ns(op, ranks, tie.bytes()));
        match known {
            Some((cost_ns, Trust::Walked)) => {
                let error = self.costs.and_then(|costs| costs.walking_errors.get(&op));
                let share = error.map_or(WALKED_ERROR, |error| error.abs().exp_m1().max(WALKED_ERROR));
                // Who waits for late ranks does so whatever the call costs.
                let cost = Length::from_nanos_f64(cost_ns).min(inside);
                self.by_trust.walked += inside;
                self.by_trust.walked_off += Length::from_nanos_f64(cost.0 as f64 * share);
            }
            Some((_, Trust::LargerSize)) => self.by_trust.larger += inside,
            Some((_, Trust::Measured)) | None => self.by_trust.measured += inside,
        }
        tie.bytes()
    }
}

impl Observer<LANES> for Watch<'_> {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        self.work.step(seen);
        let (start, end) = (seen.start[MIDDLE], seen.end[MIDDLE]);
        let before = self.last.insert(seen.strand, end);
        let op = seen.step.op();
        if self.borders.begins(op) || self.borders.ends(op) {
            return;
        }
        let inside = end.as_moment().saturating_since(start.as_moment());
        let bytes = self.trust(seen, inside);
        let place = self.places.entry((seen.step.site(), op)).or_default();
        place.inside += inside;
        place.ideal += seen.end[IDEAL].as_moment().saturating_since(seen.start[IDEAL].as_moment());
        place.before +=
            before.map_or(Length::ZERO, |before| start.as_moment().saturating_since(before.as_moment()));
        place.calls += 1;
        place.bytes += bytes;
    }
}
