//! Collectives: those all ranks wait in, and those that are messages from some ranks to others.

use super::{Parts, RankState};
use crate::channels::{Channel, Side};
use crate::collectives::Part;
use crate::step::{Tie, TieKind};
use kizami_model::kind::{CollectiveKind, Kind};
use kizami_model::{Call, Peer, Rank};
use kizami_trace::Communicator;

/// Tag of messages a collective is made of; no program can use it.
const COLLECTIVE_TAG: i32 = i32::MIN;

impl Parts<'_> {
    pub(super) fn collective(&mut self, state: &mut RankState, call: &Call) {
        match self.collectives.part_of(call) {
            Part::None => {}
            Part::Unknown => self.not_followed += 1,
            Part::Neighbours { comm } => self.neighbours(state, call, comm),
            Part::BetweenGroups { comm, root_gives } => self.between_groups(state, call, comm, root_gives),
            Part::Takes { announces, awaits, place, number } => {
                let bytes = call.bytes_out.unwrap_or(0).max(call.bytes_in.unwrap_or(0));
                let tie = Tie::new(announces, place, number, bytes);
                self.announces.push(tie);
                match (awaits.map(|kind| tie.as_kind(kind)), call.request) {
                    (Some(tie), Some(request)) => state.open.insert(request, tie),
                    (Some(tie), None) => self.awaits.push(tie),
                    (None, _) => {}
                }
            }
        }
    }

    /// A collective of neighbours is a message to each of them and one from each.
    fn neighbours(&mut self, state: &mut RankState, call: &Call, comm: u32) {
        let communicator: Option<&Communicator> = self.definitions.communicators.get(comm as usize);
        let Some(near) = communicator.and_then(|comm| self.topology.of(comm, state.rank)) else {
            self.not_followed += 1;
            return;
        };
        let (to, from) = (near.destinations.clone(), near.sources.clone());
        self.exchange(state, call, comm, &to, &from, true);
    }

    /// In a rooted collective of two groups the root gives a message to each of the other group, or takes one from
    /// each. Its fellows say `MPI_PROC_NULL` and have no part in it.
    fn between_groups(&mut self, state: &mut RankState, call: &Call, comm: u32, root_gives: bool) {
        let others: Vec<Rank> = match call.root {
            Peer::Null => return,
            Peer::Rank(root) if root == state.rank => self.other_group(comm, root),
            Peer::Rank(root) => vec![root],
            Peer::None | Peer::Any | Peer::Unknown => {
                self.not_followed += 1;
                return;
            }
        };
        let is_root = call.root == Peer::Rank(state.rank);
        let (to, from) = if is_root == root_gives { (&others[..], &[][..]) } else { (&[][..], &others[..]) };
        // A broadcast gives all to each, and a reduction takes as much from each.
        let whole =
            matches!(call.op.kind(), Kind::Collective(CollectiveKind::Bcast | CollectiveKind::Reduce, _));
        self.exchange(state, call, comm, to, from, !whole);
    }

    /// The group of a communicator in which this rank is not.
    fn other_group(&self, comm: u32, rank: Rank) -> Vec<Rank> {
        let Some(comm) = self.definitions.communicators.get(comm as usize) else { return Vec::new() };
        let first = comm.members.contains(&Some(rank));
        let others = if first { &comm.remote_members } else { &comm.members };
        others.iter().copied().flatten().collect()
    }

    /// A collective that is a message to each of some ranks, and one from each of others. They may share its bytes.
    fn exchange(
        &mut self,
        state: &mut RankState,
        call: &Call,
        comm: u32,
        to: &[Rank],
        from: &[Rank],
        shared: bool,
    ) {
        let share = |bytes: Option<u64>, among: usize| {
            bytes.unwrap_or(0) / if shared { among.max(1) as u64 } else { 1 }
        };
        let own = state.rank;
        let bytes = share(call.bytes_out, to.len());
        for to in to {
            let channel = Channel { comm, from: own, to: *to, tag: COLLECTIVE_TAG };
            let (channel, number) = self.count(own, channel, Side::Sender);
            self.announces.push(Tie::new(TieKind::Departs, channel, number, bytes));
        }
        let bytes = share(call.bytes_in, from.len());
        let mut awaits = Vec::with_capacity(from.len());
        for from in from {
            let channel = Channel { comm, from: *from, to: own, tag: COLLECTIVE_TAG };
            let (channel, number) = self.count(own, channel, Side::Receiver);
            awaits.push(Tie::new(TieKind::Awaits, channel, number, bytes));
        }
        match call.request {
            Some(request) => drop(state.exchanges.insert(request, awaits)),
            None => self.awaits.extend(awaits),
        }
    }
}
