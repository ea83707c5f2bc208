//! Ranks and indices that tables name, held against what the run has.
//!
//! Readers make room by rank and look things up by rank and index, so a row of a rank that the run does not have is refused,
//! and so is a table that is not in the order of its index. A rank that is only named, as a peer, a root or a member, is read
//! as unknown: that is what remains of a damaged recording, and the rest of it can be used.

use crate::definitions::{Definitions, PathFrame, RankInfo};
use crate::schema::Record;
use crate::{Communicator, TraceError};
use kizami_model::{Call, Peer, Rank};
use std::path::Path;

/// How many ranks a run has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RanksOfRun(pub u32);

impl RanksOfRun {
    fn has(self, rank: Rank) -> bool {
        rank.0 < self.0
    }

    /// The error is a sentence about the table that has a row of that rank.
    pub fn check(self, rank: Rank) -> Result<(), String> {
        match self.has(rank) {
            true => Ok(()),
            false => Err(format!("it has a row of rank {rank}, and the run has {} ranks", self.0)),
        }
    }

    /// The same for all rows of a table.
    pub fn check_all<R: Record>(
        self,
        trace: &Path,
        rows: &[R],
        rank: impl Fn(&R) -> Rank,
    ) -> Result<(), TraceError> {
        rows.iter()
            .try_for_each(|row| self.check(rank(row)))
            .map_err(|what| TraceError::damaged(&trace.join(R::PATH), what))
    }

    /// Checks a row of `events/`.
    #[inline]
    pub fn row(self, call: &mut Call) -> Result<(), String> {
        self.check(call.rank)?;
        self.peer(&mut call.peer);
        self.peer(&mut call.recv_peer);
        self.peer(&mut call.root);
        Ok(())
    }

    #[inline]
    fn peer(self, peer: &mut Peer) {
        if matches!(peer, Peer::Rank(rank) if !self.has(*rank)) {
            *peer = Peer::Unknown;
        }
    }

    fn named(self, ranks: &mut [Option<Rank>]) {
        ranks.iter_mut().for_each(|rank| *rank = rank.filter(|rank| self.has(*rank)));
    }

    /// Checks the tables of `defs/`.
    pub fn definitions(self, trace: &Path, of: &mut Definitions) -> Result<(), TraceError> {
        in_order(trace, &of.ranks, |info| info.rank.0)?;
        in_order(trace, &of.hosts, |host| host.index)?;
        in_order(trace, &of.communicators, |comm| comm.index)?;
        in_order(trace, &of.callsites, |site| site.index)?;
        in_order(trace, &of.paths, |frame| frame.index)?;
        in_order(trace, &of.objects, |object| object.index)?;
        in_order(trace, &of.regions, |region| region.index)?;
        self.check_all(trace, &of.objects, |object| object.rank)?;
        self.check_all(trace, &of.neighbours, |of| of.rank)?;
        self.check_all(trace, &of.under_way, |call| call.rank)?;
        self.check_all(trace, &of.counts, |count| count.rank)?;
        let hosts = of.hosts.len();
        for RankInfo { host, .. } in &mut of.ranks {
            *host = host.filter(|host| (*host as usize) < hosts);
        }
        // A path leads from row to row towards the first, so it ends.
        for PathFrame { index, caller, .. } in &mut of.paths {
            *caller = caller.filter(|caller| caller < index);
        }
        let frames = of.paths.len();
        of.callsites
            .iter_mut()
            .for_each(|site| site.path = site.path.filter(|path| (*path as usize) < frames));
        let communicators = of.communicators.len();
        let known = |comm: &u32| (*comm as usize) < communicators;
        for Communicator { parent, members, remote_members, .. } in &mut of.communicators {
            *parent = parent.filter(known);
            self.named(members);
            self.named(remote_members);
        }
        of.objects.iter_mut().for_each(|object| object.comm = object.comm.filter(known));
        for neighbours in &mut of.neighbours {
            self.named(&mut neighbours.sources);
            self.named(&mut neighbours.destinations);
        }
        for call in &mut of.under_way {
            [&mut call.peer, &mut call.recv_peer, &mut call.root]
                .into_iter()
                .flatten()
                .for_each(|peer| self.peer(peer));
        }
        Ok(())
    }
}

/// Whether the rows of a table stand where their index says.
fn in_order<R: Record>(trace: &Path, rows: &[R], index: impl Fn(&R) -> u32) -> Result<(), TraceError> {
    match (0..).zip(rows).find(|(place, row)| index(row) != *place) {
        None => Ok(()),
        Some((place, row)) => {
            let what = format!("row {place} says that it is number {}", index(row));
            Err(TraceError::damaged(&trace.join(R::PATH), what))
        }
    }
}
