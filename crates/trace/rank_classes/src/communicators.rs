//! The communicators of each rank, in their order, which identifies them across ranks of a class.

use kizami_model::{CommKind, Peer, Rank};
use kizami_trace::Definitions;

/// Which rank is in which communicator, beside the world and `MPI_COMM_SELF`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Communicators {
    /// By communicator: it is that of each rank alone, or that of all.
    shared: Vec<bool>,
    /// By rank: where its own begin in the list; one more at the end. Empty if no rank has any.
    begins: Vec<u32>,
    /// Communicator, and the rank's place in it.
    list: Vec<(u32, u32)>,
}

impl Communicators {
    pub(crate) fn new(definitions: &Definitions, ranks: usize) -> Communicators {
        let comms = &definitions.communicators;
        let shared = |kind: CommKind| matches!(kind, CommKind::World | CommKind::SelfOnly);
        let shared: Vec<bool> = comms.iter().map(|comm| shared(comm.kind)).collect();
        let made = || comms.iter().zip(&shared).filter(|(_, shared)| !**shared);
        if made().next().is_none() {
            return Communicators { shared, ..Communicators::default() };
        }
        let mut begins = vec![0u32; ranks + 1];
        for member in made().flat_map(|(comm, _)| comm.members.iter().flatten()) {
            if let Some(count) = begins.get_mut(member.0 as usize + 1) {
                *count += 1;
            }
        }
        for rank in 0..ranks {
            begins[rank + 1] += begins[rank];
        }
        let mut next = begins.clone();
        let mut list = vec![(0, 0); begins[ranks] as usize];
        for (comm, _) in made() {
            for (place, member) in (0..).zip(&comm.members) {
                if let Some(rank) = member.filter(|rank| (rank.0 as usize) < ranks) {
                    let slot = &mut next[rank.0 as usize];
                    list[*slot as usize] = (comm.index, place);
                    *slot += 1;
                }
            }
        }
        Communicators { shared, begins, list }
    }

    fn slice(&self, rank: Rank) -> &[(u32, u32)] {
        let index = rank.0 as usize;
        match (self.begins.get(index), self.begins.get(index + 1)) {
            (Some(begin), Some(end)) => &self.list[*begin as usize..*end as usize],
            _ => &[],
        }
    }

    pub(crate) fn of(&self, rank: Rank) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.slice(rank).iter().copied()
    }

    #[inline]
    pub(crate) fn moved(&self, comm: u32, from: Rank, to: Rank) -> Option<u32> {
        if from == to || self.shared.get(comm as usize).copied().unwrap_or(true) {
            return Some(comm);
        }
        let number = self.slice(from).iter().position(|(own, _)| *own == comm)?;
        self.slice(to).get(number).map(|(own, _)| *own)
    }

    /// The root of a call as another rank has it, in the communicator that is its own.
    pub(crate) fn root(
        &self,
        definitions: &Definitions,
        (before, now): (Option<u32>, Option<u32>),
        root: Rank,
        (from, to): (Rank, Rank),
    ) -> Peer {
        let comm = |index: Option<u32>| definitions.communicators.get(index? as usize);
        let (Some(before), Some(now)) = (comm(before), comm(now)) else { return Peer::Rank(root) };
        match before.kind {
            CommKind::World => Peer::Rank(root),
            CommKind::SelfOnly => Peer::Rank(to),
            _ if before.index == now.index || from == to => Peer::Rank(root),
            _ => {
                let place = before.members.iter().position(|member| *member == Some(root));
                let there = place.and_then(|place| now.members.get(place).copied().flatten());
                there.map_or(Peer::Unknown, Peer::Rank)
            }
        }
    }
}
