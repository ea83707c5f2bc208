//! Communicators as one rank sees them.

use crate::group::Group;
use crate::topology::{Neighbours, Topology};
use kizami_model::CommKind;
use std::sync::Arc;

/// The number all ranks of a communicator agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(pub u64);

impl Identity {
    /// That of all ranks.
    pub const WORLD: Identity = Identity(1);

    /// That of one rank alone.
    pub fn of_self(rank: u32) -> Identity {
        Identity(2).with(u64::from(rank))
    }

    /// Another one, that follows from this one and a number.
    pub fn with(self, number: u64) -> Identity {
        let mixed = (self.0 ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        Identity(mixed ^ mixed >> 32)
    }
}

/// Ranks in a communicator; none where a grid ends.
pub type Places = Vec<Option<u32>>;

/// One communicator.
#[derive(Clone, Debug)]
pub struct Communicator {
    /// Who it is.
    pub identity: Identity,
    /// What it was made from.
    pub parent: Option<Identity>,
    /// How it was made.
    pub kind: CommKind,
    /// Its processes.
    pub group: Group,
    /// This rank's place in it.
    pub rank: u32,
    /// Who is whose neighbour.
    pub topology: Option<Topology>,
    /// What the program called it.
    pub name: Option<String>,
    /// What the program attached to it: keys and values.
    pub attributes: Vec<(i32, usize)>,
    /// The error handler the program set.
    pub error_handler: u32,
    /// Collectives that began on it.
    pub collectives: u32,
    /// Communicators made from it.
    pub children: u32,
}

impl Communicator {
    /// All ranks.
    pub fn world(rank: u32, size: u32) -> Communicator {
        Communicator::new(Identity::WORLD, None, CommKind::World, Group::All(size), rank)
    }

    /// One rank alone.
    pub fn of_self(rank: u32) -> Communicator {
        Communicator::new(Identity::of_self(rank), None, CommKind::SelfOnly, Group::of(vec![rank]), 0)
    }

    /// One of these processes.
    pub fn new(
        identity: Identity,
        parent: Option<Identity>,
        kind: CommKind,
        group: Group,
        rank: u32,
    ) -> Communicator {
        Communicator {
            identity,
            parent,
            kind,
            group,
            rank,
            topology: None,
            name: None,
            attributes: Vec::new(),
            error_handler: 0,
            collectives: 0,
            children: 0,
        }
    }

    /// One made from this one by all its ranks, or by a part of them; `group` must have this rank.
    pub fn child(&self, sequence: u32, kind: CommKind, group: Group, rank: u32) -> Communicator {
        let first = group.world(0).unwrap_or(0);
        let identity = self.identity.with(kind as u64).with(u64::from(sequence)).with(u64::from(first) + 1);
        let mut child = Communicator::new(identity, Some(self.identity), kind, group, rank);
        child.error_handler = self.error_handler;
        child
    }

    /// The world rank of a place.
    #[inline]
    pub fn world_rank(&self, place: u32) -> Option<u32> {
        self.group.world(place)
    }

    /// Those this rank receives from and sends to, as ranks in the communicator; none where a grid ends.
    pub fn neighbours(&self) -> Option<(Places, Places)> {
        match self.topology.as_ref()? {
            Topology::Cartesian(grid) => {
                let both = grid.neighbours(self.rank);
                Some((both.clone(), both))
            }
            Topology::Graph { index, edges } => {
                let list: Places =
                    graph_neighbours(index, edges, self.rank).iter().map(|to| Some(*to as u32)).collect();
                Some((list.clone(), list))
            }
            Topology::Distributed(own) => {
                let list = |ranks: &[u32]| ranks.iter().map(|rank| Some(*rank)).collect();
                Some((list(&own.sources), list(&own.destinations)))
            }
        }
    }

    /// Gives it a topology of its own neighbours.
    pub fn distribute(&mut self, neighbours: Neighbours) {
        self.topology = Some(Topology::Distributed(Arc::new(neighbours)));
    }
}

/// The neighbours of a rank in a graph that all ranks know.
pub fn graph_neighbours<'a>(index: &[i32], edges: &'a [i32], rank: u32) -> &'a [i32] {
    let end = index.get(rank as usize).map_or(0, |end| *end as usize);
    let begin =
        (rank as usize).checked_sub(1).and_then(|before| index.get(before)).map_or(0, |end| *end as usize);
    edges.get(begin..end).unwrap_or(&[])
}
