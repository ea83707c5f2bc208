//! Ranks within communicators: OTF2 names the sides of a message that way, trace tables by world rank.

use kizami_model::{CommKind, Rank};
use kizami_trace::{Communicator, Definitions};
use std::collections::HashMap;

/// For every communicator, which world rank is which rank in it.
pub(super) struct CommRanks {
    communicators: Vec<Members>,
}

enum Members {
    /// The only member is the rank that uses it.
    Itself,
    /// Ranks are the same as in the world.
    Same(u32),
    /// The ranks in the only group, or in the two groups of an inter-communicator.
    Listed([HashMap<Rank, u32>; 2]),
}

impl CommRanks {
    /// From the table of communicators.
    pub fn new(definitions: &Definitions) -> CommRanks {
        CommRanks { communicators: definitions.communicators.iter().map(members).collect() }
    }

    /// Rank of `peer` in the communicator, as `caller` would name it: in an inter-communicator, the rank in
    /// the other group. None if it is not a member that left a definition.
    pub fn of_peer(&self, comm: u32, caller: Rank, peer: Rank) -> Option<u32> {
        match self.communicators.get(comm as usize)? {
            Members::Itself => (peer == caller).then_some(0),
            Members::Same(size) => (peer.0 < *size).then_some(peer.0),
            Members::Listed([group, remote]) if remote.is_empty() => group.get(&peer).copied(),
            Members::Listed([first, second]) => {
                let other = if first.contains_key(&caller) { second } else { first };
                other.get(&peer).copied()
            }
        }
    }
}

fn members(communicator: &Communicator) -> Members {
    let Communicator { kind, members, remote_members, .. } = communicator;
    let same = || members.iter().zip(0..).all(|(member, rank)| *member == Some(Rank(rank)));
    if *kind == CommKind::SelfOnly {
        Members::Itself
    } else if remote_members.is_empty() && same() {
        Members::Same(members.len() as u32)
    } else {
        Members::Listed([by_rank(members), by_rank(remote_members)])
    }
}

fn by_rank(members: &[Option<Rank>]) -> HashMap<Rank, u32> {
    members.iter().zip(0..).filter_map(|(member, index)| Some(((*member)?, index))).collect()
}
