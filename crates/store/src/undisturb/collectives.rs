//! Which part a rank takes in a collective: who waits for whom.
//!
//! In a collective that gives everybody something of everybody, nobody leaves before all have come. Where one
//! rank gives, the others wait for it alone; where one rank takes, only it waits. Making a communicator and
//! `MPI_Finalize` wait for all, too. Prefix sums, neighbourhoods, inter-communicators and communicators with
//! members nobody knows are not followed: who waits for whom depends on more than the call says.

use super::spool::Tie;
use crate::Definitions;
use kizami_model::{Call, CommKind, Peer, Rank, Shape};
use std::collections::HashMap;

/// What a call does in a collective.
pub(super) enum Part {
    /// It is none.
    None,
    /// It may wait for others, but not in a way that can be followed.
    Unknown,
    /// It tells that it came, and may wait.
    Takes { tells: Tie, awaits: Option<Tie>, key: u64 },
}

/// The communicators whose collectives can be followed, with the numbers of those each rank has been in.
pub(super) struct Communicators {
    /// Ranks in each; 0 if it cannot be followed.
    sizes: Vec<u32>,
    alone: Vec<bool>,
    /// The world of each rank.
    worlds: HashMap<Rank, u32>,
    /// Collectives so far, of the rank being read.
    counts: HashMap<u32, u32>,
    rank: Option<Rank>,
}

impl Communicators {
    pub(super) fn new(definitions: &Definitions) -> Communicators {
        let comms = &definitions.communicators;
        let known = |comm: &crate::Communicator| {
            let whole = comm.members.len() == comm.size as usize && comm.members.iter().all(Option::is_some);
            whole && comm.remote_members.is_empty() && comm.kind != CommKind::SelfOnly
        };
        let mut worlds = HashMap::new();
        for comm in comms.iter().filter(|comm| comm.kind == CommKind::World) {
            for member in comm.members.iter().flatten() {
                worlds.entry(*member).or_insert(comm.index);
            }
        }
        Communicators {
            sizes: comms.iter().map(|comm| if known(comm) { comm.size } else { 0 }).collect(),
            alone: comms.iter().map(|comm| comm.kind == CommKind::SelfOnly || comm.size == 1).collect(),
            worlds,
            counts: HashMap::new(),
            rank: None,
        }
    }

    /// How many ranks meet in the collective with this key.
    pub(super) fn members(sizes: &[u32], key: u64) -> u32 {
        sizes.get((key >> 32) as usize).copied().unwrap_or(0)
    }

    /// Ranks in each communicator.
    pub(super) fn sizes(definitions: &Definitions) -> Vec<u32> {
        Communicators::new(definitions).sizes
    }

    /// What the call does. Calls must come rank by rank, in the order of their start.
    pub(super) fn part_of(&mut self, call: &Call) -> Part {
        if self.rank != Some(call.rank) {
            self.counts.clear();
            self.rank = Some(call.rank);
        }
        let Some(function) = call.op.function() else { return Part::None };
        let making = function.shape_name == "comm_new";
        let finalizing = function.shape_name == "finalize" && function.name == "MPI_Finalize";
        let comm = if finalizing { self.worlds.get(&call.rank).copied() } else { call.comm };
        let made = function.shape_name.starts_with("init:");
        if call.failed || made || !(function.shape == Shape::Collective || making || finalizing) {
            return Part::None;
        }
        let Some(comm) = comm else { return Part::None };
        if self.alone.get(comm as usize).copied().unwrap_or(false) {
            return Part::None;
        }
        // Counted whether it is followed or not: all members count alike.
        let count = self.counts.entry(comm).or_insert(0);
        *count = count.wrapping_add(1);
        let key = u64::from(comm) << 32 | u64::from(*count);
        if self.sizes.get(comm as usize).is_none_or(|size| *size == 0) {
            return Part::Unknown;
        }
        let operation = function.shape_name.rsplit(':').next().unwrap_or(function.shape_name);
        let root = call.root == Peer::Rank(call.rank);
        match operation {
            _ if making || finalizing => {
                Part::Takes { tells: Tie::Enters, awaits: Some(Tie::AwaitsAll), key }
            }
            "bcast" | "scatter" | "scatterv" if root => {
                Part::Takes { tells: Tie::PassesAsRoot, awaits: None, key }
            }
            "bcast" | "scatter" | "scatterv" => {
                Part::Takes { tells: Tie::Enters, awaits: Some(Tie::AwaitsRoot), key }
            }
            "gather" | "gatherv" | "reduce" if !root => Part::Takes { tells: Tie::Passes, awaits: None, key },
            "gather" | "gatherv" | "reduce" => {
                Part::Takes { tells: Tie::EntersAsRoot, awaits: Some(Tie::AwaitsAll), key }
            }
            "scan" | "exscan" => Part::Unknown,
            name if name.starts_with("neighbor") => Part::Unknown,
            _ => Part::Takes { tells: Tie::Enters, awaits: Some(Tie::AwaitsAll), key },
        }
    }
}
