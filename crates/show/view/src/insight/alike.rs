//! What the messages and waits of one rank say of all ranks of its kind, in a run told by kinds of rank. In other runs every
//! rank is like itself alone.

use super::{Insight, WaitRow};
use kizami_model::Rank;
use kizami_replay::WaitKind;

impl Insight {
    /// The rank whose steps are those of this one.
    pub fn like(&self, rank: u32) -> u32 {
        match &self.graph.folding {
            Some(folding) if rank < folding.rank_classes.ranks() => folding.rank_classes.like(Rank(rank)).0,
            _ => rank,
        }
    }

    /// Tells the ranks between which messages go that go from one rank to another: from, to.
    pub fn each_pair(&self, from: u32, to: u32, mut note: impl FnMut(u32, u32)) {
        let Some(folding) = &self.graph.folding else { return note(from, to) };
        let rank_classes = &folding.rank_classes;
        for rank in &self.ranks_of_classes[rank_classes.number(Rank(to)) as usize] {
            note(rank_classes.moved(Rank(from), Rank(to), Rank(*rank)).0, *rank);
        }
    }

    /// Whom a rank waited for, whose kind waited so.
    pub fn waited_for(&self, wait: &WaitRow, rank: u32) -> u32 {
        match &self.graph.folding {
            Some(folding) if wait.is_for_one() => {
                let waiting = Rank(self.rank_of(wait.strand));
                folding.rank_classes.moved(Rank(wait.of_rank), waiting, Rank(rank)).0
            }
            _ => wait.of_rank,
        }
    }

    /// The strand and step that a rank waited for, whose kind waited so. Ranks of a kind may wait for ranks of several kinds, as
    /// long as these come at the same moments.
    pub fn step_waited_for(&self, wait: &WaitRow, rank: u32) -> (u32, u64) {
        let of = self.like(self.waited_for(wait, rank));
        if of == self.rank_of(wait.of_strand) {
            return (wait.of_strand, wait.of);
        }
        let (range, steps) = (self.steps_of(of), &self.graph.steps);
        let of_rank = &steps[range.start as usize..range.end as usize];
        let first = of_rank.partition_point(|step| step.start < steps[wait.of as usize].start) as u64;
        let same = (range.start + first..range.end).find(|step| self.is_same_moment(*step, wait.of));
        let strand = self.graph.strands.partition_point(|strand| strand.rank.0 < of) as u32;
        same.map_or((wait.of_strand, wait.of), |step| (strand, step))
    }

    /// Whether two ranks, maybe of two kinds, make the same call at the same moment.
    pub fn is_same_moment(&self, one: u64, other: u64) -> bool {
        let (one, other) = (&self.graph.steps[one as usize], &self.graph.steps[other as usize]);
        (one.start, one.end, one.op(), one.site()) == (other.start, other.end, other.op(), other.site())
    }

    /// Tells who waited for a rank, whose kind was waited for so. Of those that waited in a collective one of each kind is told.
    pub fn each_waiter(&self, wait: &WaitRow, rank: u32, mut note: impl FnMut(u32)) {
        let waiting = self.rank_of(wait.strand);
        match &self.graph.folding {
            Some(_) if wait.is_for_one() => {
                self.each_pair(wait.of_rank, waiting, |of, waiting| {
                    if of == rank {
                        note(waiting);
                    }
                });
            }
            _ => note(waiting),
        }
    }

    /// The communicator of a rank's collective at a place of the graph.
    pub fn comm_of(&self, place: u32, rank: u32) -> u32 {
        let comm = self.graph.members.comm(place);
        let Some(folding) = &self.graph.folding else { return comm };
        let (rank_classes, rank) = (&folding.rank_classes, Rank(rank));
        let like = rank_classes.like(rank);
        let own = rank_classes.comms_of(like).map(|(own, _)| own).find(|own| folding.comm(*own) == comm);
        own.and_then(|own| rank_classes.moved_comm(own, like, rank)).unwrap_or(comm)
    }
}

impl WaitRow {
    /// Whether one partner was waited for, and not those who take part in a collective.
    fn is_for_one(&self) -> bool {
        [WaitKind::Sender, WaitKind::Receiver, WaitKind::Window].iter().any(|kind| *kind as u32 == self.kind)
    }
}
