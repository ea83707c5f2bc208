//! Runs stored by rank class: one rank's rows stand for those of all ranks that do the same at the same times.
//!
//! Of a million ranks of a grid only those at its borders differ from the others, and where nothing else makes ranks differ
//! all others compute, call and wait alike. A run stored by rank class has rows for one rank of each class, and a table
//! (`defs/kinds.parquet`) that says whose rows are whose. [`RankClasses`] reads it: it expands the rows of any rank when they
//! are requested, and it counts for how many ranks a row stands.
//!
//! Equal for ranks of a class: functions, places, times, sizes, tags, requests, the index of its communicators
//! a call uses, and the place of a root in it. Peers are as many ranks further on, around the end; rank 0 is rank 0 for
//! all ranks, and null peers stay null. A communicator's number among those of a rank is its place in the order of
//! `defs/communicators` of those that the rank is in.

mod communicators;
mod expanded;
mod grouped;
mod split;
mod weighed;

pub use expanded::ExpandedCalls;
pub use split::Splitting;
pub use weighed::{Weighed, all_ranks, write};

use communicators::Communicators;
use kizami_model::{Call, Peer, Rank};
use kizami_trace::{Definitions, RankClassRun};

/// The rank classes of a run.
#[derive(Clone, Debug)]
pub struct RankClasses {
    /// By rank: the number of its class.
    of: Vec<u32>,
    /// By class, in rising order: the rank that has rows, which is the lowest of its class.
    like: Vec<Rank>,
    /// By class: how many ranks.
    sizes: Vec<u32>,
    comms: Communicators,
}

impl RankClasses {
    /// From the tables of a trace; none where every rank has its rows, or where the table makes no sense.
    pub fn of(definitions: &Definitions) -> Option<RankClasses> {
        let ranks = definitions.ranks.len();
        let mut like = vec![None; ranks];
        for run in &definitions.rank_classes {
            let end = (run.first.0 as usize).checked_add(run.ranks as usize)?;
            like.get_mut(run.first.0 as usize..end)?.fill(Some(run.like));
        }
        let like: Option<Vec<Rank>> = like.into_iter().collect();
        let like = like.filter(|_| !definitions.rank_classes.is_empty())?;
        let known = |rank: &Rank| like.get(rank.0 as usize) == Some(rank);
        like.iter().all(known).then(|| RankClasses::from_keys(&like, definitions))
    }

    /// Ranks with equal keys are of one class.
    pub fn from_keys<K: Eq + std::hash::Hash + Copy>(keys: &[K], definitions: &Definitions) -> RankClasses {
        RankClasses::numbered(keys, Communicators::new(definitions, keys.len()))
    }

    fn numbered<K: Eq + std::hash::Hash + Copy>(keys: &[K], comms: Communicators) -> RankClasses {
        let mut numbers = rustc_hash::FxHashMap::default();
        let (mut of, mut like, mut sizes) = (Vec::with_capacity(keys.len()), Vec::new(), Vec::new());
        for (rank, key) in (0..).zip(keys) {
            let class = *numbers.entry(*key).or_insert_with(|| {
                like.push(Rank(rank));
                sizes.push(0);
                like.len() as u32 - 1
            });
            sizes[class as usize] += 1;
            of.push(class);
        }
        RankClasses { of, like, sizes, comms }
    }

    /// How many classes there are.
    pub fn count(&self) -> usize {
        self.like.len()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.of.len() as u32
    }

    /// The number of a rank's class.
    #[inline]
    pub fn number(&self, rank: Rank) -> u32 {
        self.of.get(rank.0 as usize).copied().unwrap_or(0)
    }

    /// The ranks that have rows, in rising order.
    pub fn with_rows(&self) -> &[Rank] {
        &self.like
    }

    /// The rank whose rows are those of this one.
    #[inline]
    pub fn like(&self, rank: Rank) -> Rank {
        self.like[self.number(rank) as usize]
    }

    /// How many ranks are in the class of this one.
    #[inline]
    pub fn alike(&self, rank: Rank) -> u32 {
        self.sizes[self.number(rank) as usize]
    }

    /// As the table has it.
    pub fn table(&self) -> Vec<RankClassRun> {
        let mut runs: Vec<RankClassRun> = Vec::new();
        for (rank, class) in (0..).zip(&self.of) {
            let like = self.like[*class as usize];
            match runs.last_mut() {
                Some(run) if run.like == like => run.ranks += 1,
                _ => runs.push(RankClassRun { first: Rank(rank), ranks: 1, like }),
            }
        }
        runs
    }

    /// Who is to `to` what `peer` is to `from`.
    #[inline]
    pub fn moved(&self, peer: Rank, from: Rank, to: Rank) -> Rank {
        let ranks = u64::from(self.ranks()).max(1);
        match peer.0 {
            0 => peer,
            _ => Rank(((u64::from(peer.0) + ranks - u64::from(from.0) + u64::from(to.0)) % ranks) as u32),
        }
    }

    /// The communicator that is to `to` what this one is to `from`; none if one of them is in none such.
    #[inline]
    pub fn moved_comm(&self, comm: u32, from: Rank, to: Rank) -> Option<u32> {
        self.comms.moved(comm, from, to)
    }

    /// The root in one communicator that is to `to` what the root in another is to `from`.
    pub fn moved_root(
        &self,
        definitions: &Definitions,
        (before, now): (u32, u32),
        root: Rank,
        (from, to): (Rank, Rank),
    ) -> Option<Rank> {
        match self.comms.root(definitions, (Some(before), Some(now)), root, (from, to)) {
            Peer::Rank(root) => Some(root),
            _ => None,
        }
    }

    /// The communicators a rank is in beside the world and itself, in their order, with its place in each.
    pub fn comms_of(&self, rank: Rank) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.comms.of(rank)
    }

    /// A row of one rank as that of another of its class.
    pub fn expand(&self, row: &Call, rank: Rank, definitions: &Definitions) -> Call {
        let peer = |peer: Peer| match peer {
            Peer::Rank(other) => Peer::Rank(self.moved(other, row.rank, rank)),
            other => other,
        };
        let comm = row.comm.map(|comm| self.moved_comm(comm, row.rank, rank).unwrap_or(comm));
        let root = match row.root {
            Peer::Rank(root) => self.comms.root(definitions, (row.comm, comm), root, (row.rank, rank)),
            other => other,
        };
        let (peer, recv_peer) = (peer(row.peer), peer(row.recv_peer));
        Call { rank, peer, recv_peer, comm, root, ..row.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_testing::call;

    /// Two rows of three ranks, each with a communicator of its own.
    fn definitions() -> Definitions {
        kizami_testing::definitions(&[vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2], vec![3, 4, 5]])
    }

    #[test]
    fn rows_of_a_class_are_expanded_for_each_of_its_ranks() {
        let mut definitions = definitions();
        definitions.ranks = (0..6).map(|rank| kizami_trace::RankInfo::absent(Rank(rank))).collect();
        let classes = RankClasses::from_keys(&[0, 1, 2, 3, 1, 4], &definitions);
        assert_eq!((classes.count(), classes.alike(Rank(4)), classes.like(Rank(4))), (5, 2, Rank(1)));
        let row = Call {
            comm: Some(1),
            peer: Peer::Rank(Rank(2)),
            recv_peer: Peer::Rank(Rank(0)),
            root: Peer::Rank(Rank(2)),
            ..call("MPI_Sendrecv", 1, 0, 10)
        };
        let expanded = classes.expand(&row, Rank(4), &definitions);
        assert_eq!((expanded.rank, expanded.comm), (Rank(4), Some(2)));
        assert_eq!((expanded.peer, expanded.recv_peer), (Peer::Rank(Rank(5)), Peer::Rank(Rank(0))));
        assert_eq!(expanded.root, Peer::Rank(Rank(5)), "the last of its communicator");
        let to_null = Call { peer: Peer::Null, ..row };
        assert_eq!(classes.expand(&to_null, Rank(4), &definitions).peer, Peer::Null);
        definitions.rank_classes = classes.table();
        let read = RankClasses::of(&definitions).expect("a table that makes sense");
        assert_eq!(read.table(), classes.table());
    }

    #[test]
    fn a_table_that_makes_no_sense_is_none() {
        let mut definitions = definitions();
        definitions.ranks = (0..3).map(|rank| kizami_trace::RankInfo::absent(Rank(rank))).collect();
        let run = |first, ranks, like| RankClassRun { first: Rank(first), ranks, like: Rank(like) };
        for table in [vec![run(0, 2, 0)], vec![run(0, 4, 0)], vec![run(0, 1, 1), run(1, 2, 2)]] {
            definitions.rank_classes = table;
            assert!(RankClasses::of(&definitions).is_none());
        }
    }
}
