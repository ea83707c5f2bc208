//! Whom a rank talks to, as a formula in its own number and the number of all.
//!
//! A formula is believed if it names the right peer for every rank and every occurrence in all runs. The plainest that does
//! is taken.

use kizami_model::{Peer, Rank};
use serde::Serialize;

/// The grid that `MPI_Dims_create` makes of all ranks, the last dimension running fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// How many dimensions.
    pub dimensions: usize,
    /// Whether sides are joined.
    pub periodic: bool,
}

/// Who the other side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerFormula {
    /// There is none.
    None,
    /// `MPI_PROC_NULL`.
    Null,
    /// This many ranks on, in a ring.
    Ring(i64),
    /// This many ranks on; none beyond the ends.
    Line(i64),
    /// This many on along one dimension of the grid of all ranks.
    Neighbour {
        /// Which grid.
        grid: Grid,
        /// Along which dimension.
        dimension: usize,
        /// How many on.
        by: i64,
    },
    /// The rank with these bits turned.
    Xor(u32),
    /// Always this rank.
    Rank(u32),
    /// This many before the last.
    FromLast(u32),
    /// In the loop's round `i`: `i * step + first` ranks on, in a ring.
    RingByRound {
        /// In round 0.
        first: i64,
        /// More in each round.
        step: i64,
    },
    /// In the loop's round `i`: the rank with bit `i` turned.
    BitByRound,
    /// In the loop's round `i`: `2^i` ranks on, in a ring, or back.
    PowerByRound {
        /// On, or back.
        back: bool,
    },
    /// In the loop's round `i`: rank `i + first`.
    RankByRound {
        /// In round 0.
        first: i64,
    },
}

/// One occurrence of a peer in a recorded run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    /// How many ranks there were.
    pub ranks: u32,
    /// Whose call.
    pub rank: u32,
    /// Round of the innermost loop.
    pub round: u64,
    /// Who it was.
    pub peer: Peer,
}

impl PeerFormula {
    /// The plainest formula for what was met; none if nothing fits all of it.
    pub fn of(met: &[Met]) -> Option<PeerFormula> {
        let Some(first) = met.first() else { return Some(PeerFormula::None) };
        // Where some have no peer on the other side, a rank with one shows more.
        let telling = met.iter().find(|met| matches!(met.peer, Peer::Rank(_))).unwrap_or(first);
        candidates(telling).into_iter().find(|formula| met.iter().all(|met| formula.names(met)))
    }

    fn names(&self, met: &Met) -> bool {
        self.at(met.rank, met.ranks, met.round) == Some(met.peer)
    }

    /// The peer of a rank among so many, in a round of the innermost loop; none if there can be no such rank.
    pub fn at(&self, rank: u32, ranks: u32, round: u64) -> Option<Peer> {
        let (own, all) = (i64::from(rank), i64::from(ranks));
        let there = |rank: i64| (0..all).contains(&rank).then_some(Peer::Rank(Rank(rank as u32)));
        let ring = |by: i64| there((own + by).rem_euclid(all));
        match *self {
            PeerFormula::None => Some(Peer::None),
            PeerFormula::Null => Some(Peer::Null),
            PeerFormula::Ring(by) => ring(by),
            PeerFormula::Line(by) => Some(there(own + by).unwrap_or(Peer::Null)),
            PeerFormula::Neighbour { grid, dimension, by } => Some(
                grid.neighbour(rank, ranks, dimension, by).map_or(Peer::Null, |rank| Peer::Rank(Rank(rank))),
            ),
            PeerFormula::Xor(bits) => there(own ^ i64::from(bits)),
            PeerFormula::Rank(rank) => there(i64::from(rank)),
            PeerFormula::FromLast(before) => there(all - 1 - i64::from(before)),
            PeerFormula::RingByRound { first, step } => {
                ring(first.wrapping_add(step.wrapping_mul(round as i64)))
            }
            PeerFormula::BitByRound => there(own ^ 1i64.checked_shl(round as u32)?),
            PeerFormula::PowerByRound { back } => {
                let by = 1i64.checked_shl(round as u32)?;
                ring(if back { -by } else { by })
            }
            PeerFormula::RankByRound { first } => there(first.wrapping_add(round as i64)),
        }
    }
}

/// Formulas that name the peer of one call, the plainest first.
fn candidates(met: &Met) -> Vec<PeerFormula> {
    let Met { ranks, rank, round, peer } = *met;
    let Peer::Rank(Rank(peer)) = peer else {
        return match peer {
            Peer::None => vec![PeerFormula::None],
            Peer::Null => vec![PeerFormula::Null],
            _ => Vec::new(),
        };
    };
    let (own, other, all) = (i64::from(rank), i64::from(peer), i64::from(ranks));
    let by = other - own;
    // In a ring the short way is meant.
    let around = (by + all / 2).rem_euclid(all) - all / 2;
    let mut found = vec![PeerFormula::Ring(around), PeerFormula::Ring(by), PeerFormula::Line(by)];
    for dimensions in 2..=3 {
        for periodic in [false, true] {
            let grid = Grid { dimensions, periodic };
            for dimension in 0..dimensions {
                found.extend([-1, 1, -2, 2].map(|by| PeerFormula::Neighbour { grid, dimension, by }));
            }
        }
    }
    found.push(PeerFormula::Rank(peer));
    found.push(PeerFormula::FromLast(ranks - 1 - peer.min(ranks - 1)));
    found.push(PeerFormula::Xor(rank ^ peer));
    found.extend([PeerFormula::BitByRound, PeerFormula::PowerByRound { back: false }]);
    found.push(PeerFormula::PowerByRound { back: true });
    for step in [1, -1] {
        found.push(PeerFormula::RingByRound { first: around - step * round as i64, step });
    }
    found.push(PeerFormula::RankByRound { first: other - round as i64 });
    found
}

impl Grid {
    /// The rank so many on along a dimension.
    pub fn neighbour(&self, rank: u32, ranks: u32, dimension: usize, by: i64) -> Option<u32> {
        let sides = dims(ranks, self.dimensions);
        let stride: u32 = sides[dimension + 1..].iter().product();
        let side = i64::from(sides[dimension]);
        let at = i64::from(rank / stride) % side;
        let there = if self.periodic { (at + by).rem_euclid(side) } else { at + by };
        let inside = (0..side).contains(&there);
        inside.then(|| (i64::from(rank) + (there - at) * i64::from(stride)) as u32)
    }

    /// Where a rank is in the grid: for each dimension at the first end, inside, or at the last end.
    pub fn region(&self, rank: u32, ranks: u32) -> u32 {
        let sides = dims(ranks, self.dimensions);
        let (mut rest, mut region) = (rank, 0);
        for side in sides.iter().rev() {
            let at = rest % side;
            rest /= side;
            region = 3 * region
                + if at == 0 {
                    0
                } else if at + 1 == *side {
                    2
                } else {
                    1
                };
        }
        region
    }
}

/// The sides of the grid that `MPI_Dims_create` makes: as equal as can be, the largest first.
pub fn dims(ranks: u32, dimensions: usize) -> Vec<u32> {
    let mut sides = vec![1u32; dimensions];
    let mut rest = ranks;
    let mut factors = Vec::new();
    let mut factor = 2;
    while factor * factor <= rest {
        while rest.is_multiple_of(factor) {
            factors.push(factor);
            rest /= factor;
        }
        factor += 1;
    }
    if rest > 1 {
        factors.push(rest);
    }
    for factor in factors.into_iter().rev() {
        if let Some(smallest) = sides.iter_mut().min() {
            *smallest *= factor;
        }
    }
    sides.sort_unstable_by(|one, other| other.cmp(one));
    sides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula(
        all: &[u32],
        peer: impl Fn(u32, u32, u64) -> i64,
        rounds: impl Fn(u32) -> u64,
    ) -> Option<PeerFormula> {
        let mut met = Vec::new();
        for ranks in all {
            for rank in 0..*ranks {
                for round in 0..rounds(*ranks) {
                    let there = peer(rank, *ranks, round);
                    let peer = if there < 0 { Peer::Null } else { Peer::Rank(Rank(there as u32)) };
                    met.push(Met { ranks: *ranks, rank, round, peer });
                }
            }
        }
        PeerFormula::of(&met)
    }

    #[test]
    fn common_patterns_are_found() {
        let once = |_| 1;
        let left = formula(&[8, 16], |rank, ranks, _| i64::from((rank + ranks - 1) % ranks), once);
        assert_eq!(left, Some(PeerFormula::Ring(-1)));
        let above =
            formula(&[8, 16], |rank, ranks, _| if rank + 1 < ranks { i64::from(rank) + 1 } else { -1 }, once);
        assert_eq!(above, Some(PeerFormula::Line(1)));
        let up = formula(
            &[12, 16],
            |rank, ranks, _| {
                let side = dims(ranks, 2)[1];
                if rank < side { -1 } else { i64::from(rank - side) }
            },
            once,
        );
        let grid = Grid { dimensions: 2, periodic: false };
        assert_eq!(up, Some(PeerFormula::Neighbour { grid, dimension: 0, by: -1 }));
        let last = formula(&[8, 12], |_, ranks, _| i64::from(ranks) - 1, once);
        assert_eq!(last, Some(PeerFormula::FromLast(0)));
        let bits = formula(
            &[8, 16],
            |rank, _, round| i64::from(rank ^ 1 << round),
            |ranks| u64::from(ranks.ilog2()),
        );
        assert_eq!(bits, Some(PeerFormula::BitByRound));
        let each = |rank: u32, ranks: u32, round: u64| i64::from((rank + round as u32 + 1) % ranks);
        let turns = formula(&[8, 12], each, |ranks| u64::from(ranks) - 1);
        assert_eq!(turns, Some(PeerFormula::RingByRound { first: 1, step: 1 }));
        assert_eq!(formula(&[8, 12], |rank, ranks, _| i64::from(rank * rank % ranks), once), None);
    }

    #[test]
    fn grids_are_those_of_the_standard() {
        assert_eq!(dims(12, 2), [4, 3]);
        assert_eq!(dims(64, 3), [4, 4, 4]);
        assert_eq!(dims(1_024, 2), [32, 32]);
        assert_eq!(dims(7, 2), [7, 1]);
        assert_eq!(dims(256, 3), [8, 8, 4]);
    }
}
