//! Collectives as an actor takes part in them: in bytes, with what every member gives and gets.

use super::Actor;
use crate::script::Collective;
use kizami_model::Rank;
use kizami_model::kind::CollectiveKind;
use std::ffi::c_int;

impl Actor<'_> {
    /// Amounts and their places for each member, of what this one gives (0, 1) and gets (2, 3).
    fn count(&mut self, collective: &Collective, own: usize) {
        let Some(amounts) = collective.amounts.map(|index| &self.stage.play.amounts[index as usize]) else {
            return;
        };
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

    pub(super) fn collective(&mut self, collective: &Collective) {
        use CollectiveKind::*;
        let comm = self.communicators[collective.comm as usize];
        let members = self.stage.play.communicators[collective.comm as usize].members.len().max(1) as c_int;
        let own = self.own_place(collective.comm);
        self.count(collective, own);
        let (s, byte, op) = (&self.stage.simgrid, self.stage.simgrid.byte, self.operation);
        let ([from, to], [out, back], root) = (self.stage.buffers, collective.bytes, collective.root);
        let [given, given_at, got, got_at] = &self.counts;
        let (given, given_at, got, got_at) =
            (given.as_ptr(), given_at.as_ptr(), got.as_ptr(), got_at.as_ptr());
        // SAFETY: called by an actor; the buffers have room for the most that a call moves, and lists have an entry for each
        // member.
        unsafe {
            match collective.kind {
                Barrier => (s.barrier)(comm),
                Bcast => (s.bcast)(from, out.max(back), byte, root, comm),
                Gather => (s.gather)(
                    from,
                    part(out, back, members),
                    byte,
                    to,
                    part(out, back, members),
                    byte,
                    root,
                    comm,
                ),
                Gatherv => (s.gatherv)(from, out, byte, to, got, got_at, byte, root, comm),
                Scatter => (s.scatter)(
                    from,
                    part(back, out, members),
                    byte,
                    to,
                    part(back, out, members),
                    byte,
                    root,
                    comm,
                ),
                Scatterv => (s.scatterv)(from, given, given_at, byte, to, back, byte, root, comm),
                Allgather => (s.allgather)(from, back / members, byte, to, back / members, byte, comm),
                Allgatherv => (s.allgatherv)(from, out, byte, to, got, got_at, byte, comm),
                Alltoall => (s.alltoall)(from, out / members, byte, to, out / members, byte, comm),
                Alltoallv | Alltoallw => {
                    (s.alltoallv)(from, given, given_at, byte, to, got, got_at, byte, comm)
                }
                Reduce => (s.reduce)(from, to, out, byte, op, root, comm),
                Allreduce => (s.allreduce)(from, to, out.max(back), byte, op, comm),
                ReduceScatter => (s.reduce_scatter)(from, to, given, byte, op, comm),
                ReduceScatterBlock => 0,
                Scan => (s.scan)(from, to, out.max(back), byte, op, comm),
                Exscan => (s.exscan)(from, to, out.max(back), byte, op, comm),
                _ => 0,
            }
        };
    }

    pub(super) fn collective_later(&mut self, collective: &Collective, request: u32) {
        use CollectiveKind::*;
        let comm = self.communicators[collective.comm as usize];
        let members = self.stage.play.communicators[collective.comm as usize].members.len().max(1) as c_int;
        let own = self.own_place(collective.comm);
        self.count(collective, own);
        let (s, byte, op) = (&self.stage.simgrid, self.stage.simgrid.byte, self.operation);
        let ([from, to], [out, back], root) = (self.stage.buffers, collective.bytes, collective.root);
        let [given, given_at, got, got_at] = &self.counts;
        let (given, given_at, got, got_at) =
            (given.as_ptr(), given_at.as_ptr(), got.as_ptr(), got_at.as_ptr());
        let r = &mut self.requests[request as usize];
        // SAFETY: as for those that wait; lists of amounts are copied by the library before it returns.
        unsafe {
            match collective.kind {
                Barrier => (s.ibarrier)(comm, r),
                Bcast => (s.ibcast)(from, out.max(back), byte, root, comm, r),
                Gather => (s.igather)(
                    from,
                    part(out, back, members),
                    byte,
                    to,
                    part(out, back, members),
                    byte,
                    root,
                    comm,
                    r,
                ),
                Gatherv => (s.igatherv)(from, out, byte, to, got, got_at, byte, root, comm, r),
                Scatter => (s.iscatter)(
                    from,
                    part(back, out, members),
                    byte,
                    to,
                    part(back, out, members),
                    byte,
                    root,
                    comm,
                    r,
                ),
                Scatterv => (s.iscatterv)(from, given, given_at, byte, to, back, byte, root, comm, r),
                Allgather => (s.iallgather)(from, back / members, byte, to, back / members, byte, comm, r),
                Allgatherv => (s.iallgatherv)(from, out, byte, to, got, got_at, byte, comm, r),
                Alltoall => (s.ialltoall)(from, out / members, byte, to, out / members, byte, comm, r),
                Alltoallv | Alltoallw => {
                    (s.ialltoallv)(from, given, given_at, byte, to, got, got_at, byte, comm, r)
                }
                Reduce => (s.ireduce)(from, to, out, byte, op, root, comm, r),
                Allreduce => (s.iallreduce)(from, to, out.max(back), byte, op, comm, r),
                ReduceScatter => (s.ireduce_scatter)(from, to, given, byte, op, comm, r),
                Scan => (s.iscan)(from, to, out.max(back), byte, op, comm, r),
                Exscan => (s.iexscan)(from, to, out.max(back), byte, op, comm, r),
                _ => 0,
            }
        };
    }

    fn own_place(&self, comm: u32) -> usize {
        let members = &self.stage.play.communicators[comm as usize].members;
        members.iter().position(|member| *member == Some(Rank(self.rank))).unwrap_or(0)
    }
}

/// What one member gives or gets, where the root has it `members` times.
fn part(own: c_int, all: c_int, members: c_int) -> c_int {
    if own > 0 { own } else { all / members }
}
