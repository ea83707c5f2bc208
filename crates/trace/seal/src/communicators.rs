//! Communicators of the whole run, put together from what every rank says about its own.
//!
//! Ranks agree on a communicator's identity; each stores its own rank in it, which gives the list of members.
//! The worlds come first, then one entry for all `MPI_COMM_SELF` (a million ranks must not mean a million
//! rows for it), then the others in the order of the lowest rank that knows them.

use kizami_model::{CommKind, Peer, Rank};
use kizami_records::{PEER_ANY, PEER_NONE, PEER_NULL};
use kizami_trace::definitions::CommIdentity;
use kizami_trace::definitions::Communicator;
use kizami_trace::schema::NULL32;
use std::collections::HashMap;

/// A peer as the tables hold it, [`NULL32`] for none.
#[inline]
pub(crate) fn cell(peer: Peer) -> i32 {
    peer.to_table().unwrap_or(NULL32)
}

/// What a process means by a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LocalComm {
    /// Index in the run's table.
    pub index: u32,
    /// Where its peers are looked up.
    pub peers: PeerGroup,
}

/// Whose ranks the peers of a call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PeerGroup {
    /// The members; for an inter-communicator seen from its second group.
    First,
    /// The second group, seen from the first.
    Second,
    /// Only this process: `MPI_COMM_SELF`.
    Own,
}

/// One process's definition of a communicator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    pub identity: u64,
    pub parent: Option<u32>,
    pub kind: CommKind,
    pub rank: u32,
    pub size: u32,
    pub remote: Option<(u32, u8)>,
}

#[derive(Clone, Debug)]
struct Entry {
    identity: u64,
    parent: Option<u32>,
    kind: CommKind,
    name: Option<String>,
    groups: [Group; 2],
    dims: Vec<u32>,
    periodic: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    size: u32,
    members: Vec<i32>,
}

impl Group {
    /// Puts a process at its place; ranks a run of `limit` processes cannot have are not believed.
    fn put(&mut self, rank: u32, world_rank: u32, limit: usize) {
        let rank = rank as usize;
        if rank >= limit {
            return;
        }
        if self.members.len() <= rank {
            self.members.resize(rank + 1, cell(Peer::Unknown));
        }
        self.members[rank] = world_rank as i32;
    }
}

/// The table of communicators.
#[derive(Debug)]
pub(crate) struct Communicators {
    entries: Vec<Entry>,
    by_identity: HashMap<u64, u32>,
    own_index: u32,
    ranks: usize,
}

impl Communicators {
    /// A table that knows the worlds, given by their first ranks and sizes, and nothing else.
    pub(crate) fn new(worlds: impl Iterator<Item = (u32, u32)>) -> Communicators {
        let world = |(first, size): (u32, u32)| {
            let members = (first..first + size).map(|rank| rank as i32).collect();
            Entry::new(CommKind::World, 0, [Group { size, members }, Group::default()])
        };
        let mut entries: Vec<Entry> = worlds.map(world).collect();
        let ranks = entries.iter().map(|entry| entry.groups[0].members.len()).sum();
        let own_index = entries.len() as u32;
        let own = Group { size: 1, members: Vec::new() };
        entries.push(Entry::new(CommKind::SelfOnly, 0, [own, Group::default()]));
        Communicators { entries, by_identity: HashMap::new(), own_index, ranks }
    }

    /// Takes what the process with this world rank, in the world with this number, says.
    pub(crate) fn add(&mut self, claim: Claim, world_rank: u32, world: u32) -> LocalComm {
        let index = match claim.kind {
            CommKind::SelfOnly => return LocalComm { index: self.own_index, peers: PeerGroup::Own },
            CommKind::World => {
                self.entries[world as usize].identity = claim.identity;
                self.by_identity.insert(claim.identity, world);
                return LocalComm { index: world, peers: PeerGroup::First };
            }
            kind => *self.by_identity.entry(claim.identity).or_insert_with(|| {
                self.entries.push(Entry::new(kind, claim.identity, Default::default()));
                self.entries.len() as u32 - 1
            }),
        };
        let entry = &mut self.entries[index as usize];
        entry.parent = entry.parent.or(claim.parent).filter(|parent| *parent != index);
        let (own, peers) = match claim.remote {
            None => (0, PeerGroup::First),
            Some((remote_size, group)) => {
                let own = usize::from(group & 1);
                entry.groups[1 - own].size = remote_size;
                (own, if own == 0 { PeerGroup::Second } else { PeerGroup::First })
            }
        };
        entry.groups[own].size = claim.size;
        entry.groups[own].put(claim.rank, world_rank, self.ranks);
        LocalComm { index, peers }
    }

    pub(crate) fn by_identity(&self, identity: u64) -> Option<u32> {
        self.by_identity.get(&identity).copied()
    }

    pub(crate) fn set_name(&mut self, index: u32, name: String) {
        self.entries[index as usize].name = Some(name);
    }

    pub(crate) fn set_shape(&mut self, index: u32, dims: Vec<u32>, periodic: Vec<bool>) {
        let entry = &mut self.entries[index as usize];
        (entry.dims, entry.periodic) = (dims, periodic);
    }

    /// World rank, or another peer cell, of a peer as raw records name it.
    #[inline]
    pub(crate) fn peer(&self, comm: Option<LocalComm>, peer: i32, own_rank: i32) -> i32 {
        match peer {
            0.. => {
                let Some(comm) = comm else { return cell(Peer::Unknown) };
                let groups = &self.entries[comm.index as usize].groups;
                let members = match comm.peers {
                    PeerGroup::First => &groups[0].members,
                    PeerGroup::Second => &groups[1].members,
                    PeerGroup::Own => return own_rank,
                };
                members.get(peer as usize).copied().unwrap_or(cell(Peer::Unknown))
            }
            PEER_NONE => NULL32,
            PEER_NULL => cell(Peer::Null),
            PEER_ANY => cell(Peer::Any),
            _ => cell(Peer::Unknown),
        }
    }

    /// The finished table.
    pub(crate) fn table(&self) -> Vec<Communicator> {
        self.entries.iter().zip(0..).map(|(entry, index)| entry.finished(index, self.ranks)).collect()
    }
}

impl Entry {
    fn new(kind: CommKind, identity: u64, groups: [Group; 2]) -> Entry {
        Entry { identity, parent: None, kind, name: None, groups, dims: Vec::new(), periodic: Vec::new() }
    }

    fn finished(&self, index: u32, ranks: usize) -> Communicator {
        let members = |group: &Group| {
            let mut members: Vec<Option<Rank>> =
                group.members.iter().map(|rank| u32::try_from(*rank).ok().map(Rank)).collect();
            // A size beyond the run (a damaged definition, processes outside the run) is not spelled out.
            if group.size as usize <= ranks && self.kind != CommKind::SelfOnly {
                members.resize(members.len().max(group.size as usize), None);
            }
            members
        };
        Communicator {
            index,
            identity: CommIdentity(self.identity),
            parent: self.parent,
            kind: self.kind,
            name: self.name.clone(),
            size: self.groups[0].size,
            members: members(&self.groups[0]),
            remote_members: members(&self.groups[1]),
            dims: self.dims.clone(),
            periodic: self.periodic.clone(),
        }
    }
}
