//! Prefix collectives under way: in those a member waits only for members that stand before it.
//!
//! Who has all of them goes on, whatever share they are walked in, though others are still to come: those may come only
//! behind what it does next. The *front* is how far members have come without a gap. It moves over each of them once.

use super::collective_state::Answer;
use super::pending::Arrival;
use kizami_graph::Members;
use kizami_model::{Op, Rank};
use rustc_hash::FxHashMap;

/// The ranks that have entered one of them. Positions are those of ranks in the communicator.
#[derive(Clone, Default)]
pub(super) struct Lower<const LANES: usize> {
    /// By position before the front: the latest of all up to there.
    up_to: Vec<Arrival<LANES>>,
    /// Those who have come behind the front, with their functions.
    behind: FxHashMap<u32, (Op, Arrival<LANES>)>,
    /// The function of the first member.
    op: Option<Op>,
    /// The first position before the front at which another function was called.
    mixed_from: Option<u32>,
    /// Strands, by the position the front must have passed.
    waiting: FxHashMap<u32, Vec<u32>>,
}

impl<const LANES: usize> Lower<LANES> {
    /// A member has come. Those who may go on are added to `woken`.
    pub(super) fn came(&mut self, position: u32, op: Op, arrival: Arrival<LANES>, woken: &mut Vec<u32>) {
        // Nobody comes twice, unless the recording is wrong.
        if (position as usize) < self.up_to.len() {
            return;
        }
        self.behind.entry(position).or_insert((op, arrival));
        loop {
            let front = self.up_to.len() as u32;
            let Some((op, arrival)) = self.behind.remove(&front) else { return };
            if *self.op.get_or_insert(op) != op {
                self.mixed_from.get_or_insert(front);
            }
            self.up_to.push(self.up_to.last().map_or(arrival, |before| before.latest(arrival)));
            woken.extend(self.waiting.remove(&front).into_iter().flatten());
        }
    }

    /// What is known for a member once all up to it have come. Only their functions count: of the others, who came
    /// before and who after depends on the walk.
    pub(super) fn answer(&self, position: u32) -> Option<Answer<LANES>> {
        let latest = self.up_to.get(position as usize)?;
        let mixed = self.mixed_from.is_some_and(|from| from <= position);
        Some(if mixed { Answer::Mixed } else { Answer::Came(*latest) })
    }

    /// The strand is to be woken when all up to a position have come.
    pub(super) fn wait(&mut self, position: u32, strand: u32) {
        self.waiting.entry(position).or_default().push(strand);
    }

    /// Nobody comes any more.
    pub(super) fn wake_all(&mut self, woken: &mut Vec<u32>) {
        woken.extend(self.waiting.drain().flat_map(|(_, strands)| strands));
    }
}

/// Where ranks stand in their communicators.
pub(super) struct Positions<'a> {
    members: &'a Members,
    /// Of communicators in which a rank asked.
    by_comm: FxHashMap<u32, FxHashMap<Rank, u32>>,
}

impl<'a> Positions<'a> {
    pub(super) fn new(members: &'a Members) -> Positions<'a> {
        Positions { members, by_comm: FxHashMap::default() }
    }

    /// Of all members of a place.
    pub(super) fn of(&mut self, place: u32) -> &FxHashMap<Rank, u32> {
        let members = self.members;
        let all = || members.of(place).zip(0..).collect();
        self.by_comm.entry(members.comm(place)).or_insert_with(all)
    }

    /// Of a rank that is distinguished from those before it: of a run stored by rank class, one member comes for others that
    /// stand before and behind it.
    pub(super) fn in_line(&mut self, place: u32, rank: Rank) -> Option<u32> {
        if self.members.rank_classes(place).is_some() {
            return None;
        }
        self.of(place).get(&rank).copied()
    }

    /// Of a rank that was asked for before.
    pub(super) fn known(&self, place: u32, rank: Rank) -> Option<u32> {
        self.by_comm.get(&self.members.comm(place))?.get(&rank).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Moment;

    const SCAN: Op = Op(1);
    const EXSCAN: Op = Op(2);

    fn at(recorded_ns: i64) -> Arrival<0> {
        Arrival { recorded: Moment(recorded_ns), replayed: [], strand: 0, step: recorded_ns as u64 }
    }

    /// When the last of those up to a position came; none if they called different functions.
    fn known(lower: &Lower<0>, position: u32) -> Option<Option<i64>> {
        lower.answer(position).map(|answer| match answer {
            Answer::Came(arrival) => Some(arrival.recorded.0),
            _ => None,
        })
    }

    #[test]
    fn each_goes_on_when_all_before_it_have_come() {
        let (mut lower, mut woken) = (Lower::default(), Vec::new());
        (0..4).for_each(|position| lower.wait(position, 10 + position));
        lower.came(2, SCAN, at(5), &mut woken);
        lower.came(0, SCAN, at(7), &mut woken);
        assert_eq!((&woken[..], known(&lower, 0), known(&lower, 1)), (&[10][..], Some(Some(7)), None));
        lower.came(1, SCAN, at(6), &mut woken);
        assert_eq!(
            (&woken[..], known(&lower, 2), known(&lower, 3)),
            (&[10, 11, 12][..], Some(Some(7)), None)
        );
        // Whoever comes again changes nothing.
        lower.came(1, EXSCAN, at(99), &mut woken);
        assert_eq!((woken.len(), known(&lower, 2)), (3, Some(Some(7))));
        lower.wake_all(&mut woken);
        assert_eq!(woken, [10, 11, 12, 13]);
    }

    #[test]
    fn another_function_counts_only_for_those_behind_it() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let mut lower = Lower::default();
            for position in order {
                let op = if position == 2 { EXSCAN } else { SCAN };
                lower.came(position, op, at(i64::from(position)), &mut Vec::new());
            }
            let all: Vec<_> = (0..4).map(|position| known(&lower, position)).collect();
            assert_eq!(all, [Some(Some(0)), Some(Some(1)), Some(None), Some(None)], "{order:?}");
        }
    }
}
