//! Collectives as an actor takes part in them: in bytes, with what every member gives and gets.

use super::Actor;
use crate::library::Handle;
use crate::script::Collective;
use kizami_model::Rank;
use kizami_model::kind::CollectiveKind;
use std::ffi::c_int;

/// A function of the library that waits, or its twin that leaves a request.
macro_rules! either {
    ($request:expr, $waits:expr, $later:expr, ($($argument:expr),*)) => {
        match $request {
            None => ($waits)($($argument),*),
            Some(request) => ($later)($($argument,)* request),
        }
    };
}

impl Actor<'_> {
    /// Amounts and their places for each member, of what this one gives (0, 1) and gets (2, 3).
    fn count(&mut self, collective: &Collective) {
        let Some(amounts) = collective.amounts.map(|index| &self.stage.play.amounts[index as usize]) else {
            return;
        };
        let own = self.own_place(collective.comm);
        let members = amounts.given.len();
        let [given, given_at, got, got_at] = &mut self.counts;
        let exchange = matches!(collective.kind, CollectiveKind::Alltoallv | CollectiveKind::Alltoallw);
        given.clear();
        got.clear();
        for other in 0..members {
            given.push(if exchange { amounts.between(own, other) } else { amounts.got[other] });
            got.push(if exchange { amounts.between(other, own) } else { amounts.given[other] });
        }
        // All lie at the beginning of the buffer: nobody looks at them.
        given_at.clear();
        given_at.resize(members, 0);
        got_at.clear();
        got_at.resize(members, 0);
    }

    /// Takes part, and waits; or leaves a request in this place.
    pub(super) fn collective(&mut self, collective: &Collective, request: Option<u32>) {
        use CollectiveKind::*;
        self.count(collective);
        let comm = self.communicators[collective.comm as usize];
        let members = self.stage.play.communicators[collective.comm as usize].members.len().max(1) as c_int;
        let (s, byte, op) = (&self.stage.simgrid, self.stage.simgrid.byte, self.operation);
        let ([from, to], [out, back], root) = (self.stage.buffers, collective.bytes, collective.root);
        let (gathers, scatters) = (part(out, back, members), part(back, out, members));
        let ([given, given_at, got, got_at], most) = (&self.counts, out.max(back));
        let (given, given_at, got, got_at) =
            (given.as_ptr(), given_at.as_ptr(), got.as_ptr(), got_at.as_ptr());
        let r: Option<*mut Handle> = request.map(|place| &raw mut self.requests[place as usize]);
        // SAFETY: called by an actor; the buffers have room for the most that a call moves, lists have an entry for each
        // member and are copied by calls that return before they are done, and places of requests stay.
        unsafe {
            match collective.kind {
                Barrier => either!(r, s.barrier, s.ibarrier, (comm)),
                Bcast => either!(r, s.bcast, s.ibcast, (from, most, byte, root, comm)),
                Gather => {
                    either!(r, s.gather, s.igather, (from, gathers, byte, to, gathers, byte, root, comm))
                }
                Gatherv => {
                    either!(r, s.gatherv, s.igatherv, (from, out, byte, to, got, got_at, byte, root, comm))
                }
                Scatter => {
                    either!(r, s.scatter, s.iscatter, (from, scatters, byte, to, scatters, byte, root, comm))
                }
                Scatterv => {
                    let (now, later) = (s.scatterv, s.iscatterv);
                    either!(r, now, later, (from, given, given_at, byte, to, back, byte, root, comm))
                }
                Allgather => {
                    let each = back / members;
                    either!(r, s.allgather, s.iallgather, (from, each, byte, to, each, byte, comm))
                }
                Allgatherv => {
                    either!(r, s.allgatherv, s.iallgatherv, (from, out, byte, to, got, got_at, byte, comm))
                }
                Alltoall => {
                    let each = out / members;
                    either!(r, s.alltoall, s.ialltoall, (from, each, byte, to, each, byte, comm))
                }
                Alltoallv | Alltoallw => {
                    let (now, later) = (s.alltoallv, s.ialltoallv);
                    either!(r, now, later, (from, given, given_at, byte, to, got, got_at, byte, comm))
                }
                Reduce => either!(r, s.reduce, s.ireduce, (from, to, most, byte, op, root, comm)),
                Allreduce => either!(r, s.allreduce, s.iallreduce, (from, to, most, byte, op, comm)),
                ReduceScatter => {
                    either!(r, s.reduce_scatter, s.ireduce_scatter, (from, to, given, byte, op, comm))
                }
                ReduceScatterBlock => {
                    let (now, later) = (s.reduce_scatter_block, s.ireduce_scatter_block);
                    either!(r, now, later, (from, to, scatters, byte, op, comm))
                }
                Scan => either!(r, s.scan, s.iscan, (from, to, most, byte, op, comm)),
                Exscan => either!(r, s.exscan, s.iexscan, (from, to, most, byte, op, comm)),
                // They are kept, not played.
                NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
                | NeighborAlltoallw => 0,
            }
        };
    }

    /// This rank among the members of a communicator.
    pub(super) fn own_place(&self, comm: u32) -> usize {
        let members = &self.stage.play.communicators[comm as usize].members;
        members.iter().position(|member| *member == Some(Rank(self.rank))).unwrap_or(0)
    }
}

/// What one member gives or gets, where the root has it `members` times.
fn part(own: c_int, all: c_int, members: c_int) -> c_int {
    if own > 0 { own } else { all / members }
}
