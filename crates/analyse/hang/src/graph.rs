//! Who waits for whom, as a graph of ranks: which of them can never go on, a cycle among those, and whom the others wait
//! for in the end.

use super::needs::Needs;
use std::collections::{BTreeSet, VecDeque};

/// What a rank is doing, as far as others are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It waits for these; each is what one of its threads waits for.
    Waits(Vec<Needs>),
    /// It can go on by itself.
    Free,
    /// It will do nothing any more.
    Gone,
}

/// Cycles are looked for from so many ranks.
const MOST_STARTS: usize = 4096;

/// The graph, by rank.
pub(super) struct Graph<'a>(pub &'a [Doing]);

impl Graph<'_> {
    /// Ranks that can never go on: all that they wait for is done by such ranks, or by ranks that are gone.
    pub(super) fn doomed(&self) -> BTreeSet<u32> {
        let mut blocked: Vec<bool> = self.0.iter().map(|doing| *doing != Doing::Free).collect();
        loop {
            let freed: Vec<usize> = (0..self.0.len())
                .filter(|rank| blocked[*rank])
                .filter(|rank| match &self.0[*rank] {
                    Doing::Waits(threads) => threads.iter().any(|needs| can_be_met(needs, &blocked)),
                    _ => false,
                })
                .collect();
            if freed.is_empty() {
                break;
            }
            freed.into_iter().for_each(|rank| blocked[rank] = false);
        }
        let waits = |rank: &u32| blocked[*rank as usize] && matches!(self.0[*rank as usize], Doing::Waits(_));
        (0..self.0.len() as u32).filter(waits).collect()
    }

    /// Whom a rank waits for directly; some perhaps more than once.
    pub(super) fn awaited(&self, rank: u32) -> impl Iterator<Item = u32> + '_ {
        let threads = match self.0.get(rank as usize) {
            Some(Doing::Waits(threads)) => threads.as_slice(),
            _ => &[],
        };
        let all = threads.iter().flat_map(|needs| &needs.all).flat_map(|need| need.ranks.iter().copied());
        all.filter(|rank| (*rank as usize) < self.0.len())
    }

    /// The shortest cycle within these ranks, from its lowest rank on; nothing if there is none.
    pub(super) fn cycle(&self, within: &BTreeSet<u32>) -> Vec<u32> {
        let mut shortest: Vec<u32> = Vec::new();
        for start in within.iter().take(MOST_STARTS) {
            let found = self.way_back(*start, within, shortest.len());
            if !found.is_empty() && (shortest.is_empty() || found.len() < shortest.len()) {
                shortest = found;
            }
            if (1..=2).contains(&shortest.len()) {
                break;
            }
        }
        shortest
    }

    /// The shortest way from a rank back to itself, if it is shorter than `limit` (0: whatever it is).
    fn way_back(&self, start: u32, within: &BTreeSet<u32>, limit: usize) -> Vec<u32> {
        let mut from: Vec<Option<u32>> = vec![None; self.0.len()];
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((rank, length)) = queue.pop_front() {
            if limit > 0 && length >= limit {
                break;
            }
            for next in self.awaited(rank) {
                if next == start {
                    let mut way = vec![rank];
                    let mut at = rank;
                    while let Some(before) = from[at as usize].filter(|_| at != start) {
                        way.push(before);
                        at = before;
                    }
                    way.reverse();
                    return way;
                }
                if within.contains(&next) && from[next as usize].is_none() {
                    from[next as usize] = Some(rank);
                    queue.push_back((next, length + 1));
                }
            }
        }
        Vec::new()
    }

    /// Ranks from which one of `targets` is waited for, directly or by way of others, without the targets themselves.
    pub(super) fn waiting_for(&self, targets: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut reached = targets.clone();
        loop {
            let more: Vec<u32> = (0..self.0.len() as u32)
                .filter(|rank| {
                    !reached.contains(rank) && self.awaited(*rank).any(|next| reached.contains(&next))
                })
                .collect();
            if more.is_empty() {
                return reached.difference(targets).copied().collect();
            }
            reached.extend(more);
        }
    }

    /// Ranks that are waited for and do not wait themselves.
    pub(super) fn ends(&self) -> BTreeSet<u32> {
        let awaited = (0..self.0.len() as u32).flat_map(|rank| self.awaited(rank));
        awaited.filter(|rank| self.awaited(*rank).next().is_none()).collect()
    }
}

/// Whether what is needed can come from ranks that do not hang.
fn can_be_met(needs: &Needs, blocked: &[bool]) -> bool {
    let moves = |rank: &u32| !blocked.get(*rank as usize).copied().unwrap_or(false);
    let mut met = needs.all.iter().map(|need| match need.any {
        true => need.ranks.iter().any(moves),
        false => need.ranks.iter().all(moves),
    });
    match needs.any && !needs.all.is_empty() {
        true => met.any(|met| met),
        false => met.all(|met| met),
    }
}

#[cfg(test)]
mod tests {
    use super::super::needs::{Need, What};
    use super::*;

    fn needs(any: bool, ranks: &[&[u32]]) -> Doing {
        let need = |ranks: &&[u32]| Need { ranks: (*ranks).into(), any: false, what: What::Coming };
        Doing::Waits(vec![Needs { all: ranks.iter().map(need).collect(), any, understood: true }])
    }

    fn set(ranks: &[u32]) -> BTreeSet<u32> {
        ranks.iter().copied().collect()
    }

    #[test]
    fn a_cycle_is_found_behind_ranks_that_wait_for_it() {
        let doing =
            [needs(false, &[&[1]]), needs(false, &[&[2]]), needs(false, &[&[1]]), needs(false, &[&[0]])];
        let graph = Graph(&doing);
        assert_eq!(graph.doomed(), set(&[0, 1, 2, 3]));
        assert_eq!(graph.cycle(&graph.doomed()), [1, 2]);
        assert_eq!(graph.waiting_for(&set(&[1, 2])), set(&[0, 3]));
    }

    #[test]
    fn ranks_that_wait_for_a_computing_rank_are_not_doomed() {
        let doing = [needs(false, &[&[1, 2]]), needs(false, &[&[2]]), Doing::Free];
        let graph = Graph(&doing);
        assert_eq!(graph.doomed(), set(&[]));
        assert_eq!(graph.ends(), set(&[2]));
    }

    #[test]
    fn one_of_several_is_enough_where_any_will_do() {
        let free = [needs(true, &[&[1], &[2]]), needs(false, &[&[0]]), Doing::Free];
        assert_eq!(Graph(&free).doomed(), set(&[]));
        let gone = [needs(true, &[&[1], &[2]]), needs(false, &[&[0]]), Doing::Gone];
        assert_eq!(Graph(&gone).doomed(), set(&[0, 1]));
        assert_eq!(Graph(&gone).cycle(&set(&[0, 1])), [0, 1]);
    }

    #[test]
    fn long_cycles_and_ranks_that_wait_for_themselves() {
        let ring: Vec<Doing> = (0..5).map(|rank| needs(false, &[&[(rank + 1) % 5]])).collect();
        assert_eq!(Graph(&ring).cycle(&Graph(&ring).doomed()), [0, 1, 2, 3, 4]);
        let own = [Doing::Free, needs(false, &[&[1]])];
        assert_eq!(Graph(&own).cycle(&Graph(&own).doomed()), [1]);
    }

    #[test]
    fn a_rank_with_a_thread_that_can_go_on_can_go_on() {
        let mut both = needs(false, &[&[1]]);
        let Doing::Waits(threads) = &mut both else { unreachable!() };
        threads.push(Needs { all: Vec::new(), any: false, understood: true });
        let doing = [both, needs(false, &[&[0]])];
        assert_eq!(Graph(&doing).doomed(), set(&[]));
    }
}
