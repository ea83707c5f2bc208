//! Ties of a run stored by rank class: one rank of a class stands for all of them.
//!
//! A message is identified by the class of its sender and by its distance in ranks. The receiver finds the class of its sender,
//! and so the same channel, whichever rank of that class it is; several classes may. That a receiver is ready is announced by
//! the receiver's class in the same way, on channels of their own. Communicators whose members are of the same classes in the same
//! order are one, which each class enters once.
//!
//! This holds as long as no rank of a class waits for a rank that comes at another time for one of them than for another; who
//! made the classes has to know that.

use crate::channels::{Channel, Side};
use crate::collectives::MemberClasses;
use kizami_model::{CommKind, Rank};
use kizami_rank_classes::RankClasses;
use kizami_trace::{Communicator, Definitions};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Arc;

/// Something that a rank awaits from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// The rank with rows.
    pub rank: Rank,
    /// The way of the messages, between ranks as they are.
    pub way: Channel,
    /// What is awaited is that the receiver is ready, not the message.
    pub of_receiver: bool,
}

impl Ask {
    /// Whom it waits for.
    pub fn other(&self) -> Rank {
        if self.of_receiver { self.way.to } else { self.way.from }
    }
}

/// Messages so far of the rank being read, by way and by whose channel they are counted on.
#[derive(Default)]
pub(crate) struct Counting {
    counts: FxHashMap<(Channel, bool, bool), u32>,
    pub asks: Vec<Ask>,
}

impl Counting {
    /// The next rank begins.
    pub(crate) fn restart(&mut self) {
        self.counts.clear();
    }

    /// The number that the next message of a way will have.
    pub(crate) fn peek(&self, way: Channel) -> u32 {
        self.counts.get(&(way, false, true)).copied().unwrap_or(0) + 1
    }

    /// The number of the next message of a way, counted by its sender or its receiver; the asking side is noted.
    pub(crate) fn count(&mut self, rank: Rank, way: Channel, of_receiver: bool, side: Side) -> u32 {
        let by_receiver = side == Side::Receiver;
        let count = self.counts.entry((way, of_receiver, by_receiver)).or_insert(0);
        *count = count.wrapping_add(1);
        if *count == 1 && of_receiver != by_receiver {
            self.asks.push(Ask { rank, way, of_receiver });
        }
        *count
    }
}

/// What stands for what.
#[derive(Debug)]
pub struct Folding {
    /// The rank classes of the run.
    pub rank_classes: Arc<RankClasses>,
    /// By communicator: the first one that is like it.
    comms: Vec<u32>,
}

impl Folding {
    /// None where every rank has its rows.
    pub fn of(definitions: &Definitions) -> Option<Arc<Folding>> {
        let rank_classes = Arc::new(RankClasses::of(definitions)?);
        let mut first: FxHashMap<u64, u32> = FxHashMap::default();
        let like = |comm: &Communicator| *first.entry(signature(&rank_classes, comm)).or_insert(comm.index);
        let comms = definitions.communicators.iter().map(like).collect();
        Some(Arc::new(Folding { rank_classes, comms }))
    }

    /// The communicator that stands for this one.
    pub fn comm(&self, comm: u32) -> u32 {
        self.comms.get(comm as usize).copied().unwrap_or(comm)
    }

    /// The classes of the members, for communicators that stand for others.
    pub(crate) fn among(&self, definitions: &Definitions) -> Vec<MemberClasses> {
        let of = |comm: &Communicator| {
            if self.comm(comm.index) != comm.index || comm.kind == CommKind::SelfOnly {
                return MemberClasses::default();
            }
            let like: Vec<Rank> =
                comm.members.iter().flatten().map(|rank| self.rank_classes.like(*rank)).collect();
            let mut coming = like.clone();
            coming.sort_unstable();
            coming.dedup();
            let place = |rank: &Rank| coming.partition_point(|other| other < rank) as u32;
            MemberClasses { by_place: like.iter().map(place).collect(), coming }
        };
        definitions.communicators.iter().map(of).collect()
    }

    /// The way of a message as its sender's class has it.
    pub fn by_sender(&self, way: Channel) -> Channel {
        let like = self.rank_classes.like(way.from);
        let comm = self.rank_classes.moved_comm(way.comm, way.from, like).unwrap_or(way.comm);
        Channel { comm, from: like, to: self.rank_classes.moved(way.to, way.from, like), tag: way.tag }
    }

    /// The same as its receiver's class has it. Its tag is none of a message.
    pub fn by_receiver(&self, way: Channel) -> Channel {
        let like = self.rank_classes.like(way.to);
        let comm = self.rank_classes.moved_comm(way.comm, way.to, like).unwrap_or(way.comm);
        Channel { comm, from: self.rank_classes.moved(way.from, way.to, like), to: like, tag: !way.tag }
    }
}

/// Equal for communicators whose members are of the same classes in the same order, and which have the same index among those
/// of the rank.
fn signature(rank_classes: &RankClasses, comm: &Communicator) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(comm.kind as u32);
    let first = comm.members.first().copied().flatten().unwrap_or(Rank(0));
    hasher.write_usize(rank_classes.comms_of(first).take_while(|(own, _)| *own != comm.index).count());
    for member in &comm.members {
        hasher.write_u32(member.map_or(u32::MAX, |rank| rank_classes.number(rank)));
    }
    hasher.finish()
}
