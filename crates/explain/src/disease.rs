//! What can be wrong with a parallel program, by name, with what to do about it.

use serde::{Deserialize, Serialize};

/// A disease. Which signs each is told by is said where it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disease {
    /// The same ranks always compute longer.
    Imbalance,
    /// Now this rank computes longer, now that one, each for some time.
    MovingImbalance,
    /// Some ranks compute longer and longer.
    GrowingImbalance,
    /// Some ranks compute longer now and then.
    RareImbalance,
    /// Ranks compute for different times, without any order.
    RandomImbalance,
    /// A rank starts late.
    LateStart,
    /// Sends wait until a receive is posted.
    LateReceiver,
    /// A rank waits for a message while others that it takes later are there.
    WrongOrder,
    /// Ranks hand work on to each other in pieces so large that those behind wait for their first one.
    PipelineFill,
    /// Ranks wait for each other in a barrier that no message depends on.
    NeedlessBarrier,
    /// One rank reads or writes while others wait for it.
    SerialisedIo,
    /// One rank takes messages from all others one by one, or sends them so.
    CollectionLoop,
    /// Everybody waits for the root of a broadcast or scatter.
    LateRoot,
    /// Collectives on little data follow each other closely.
    TinyCollectives,
    /// Small messages follow each other closely.
    SmallMessages,
    /// Ranks wait for a lock.
    LockContention,
    /// Everybody exchanges with everybody, and that takes long.
    Alltoall,
    /// Messages just above the size up to which MPI takes them from their sender.
    ProtocolCliff,
    /// A call takes long while others wait for it.
    SlowCall,
    /// Messages or collectives take long though nobody is waited for.
    Transfer,
}

impl Disease {
    /// All of them.
    pub const ALL: [Disease; 20] = [
        Disease::Imbalance,
        Disease::MovingImbalance,
        Disease::GrowingImbalance,
        Disease::RareImbalance,
        Disease::RandomImbalance,
        Disease::LateStart,
        Disease::LateReceiver,
        Disease::WrongOrder,
        Disease::PipelineFill,
        Disease::NeedlessBarrier,
        Disease::SerialisedIo,
        Disease::CollectionLoop,
        Disease::LateRoot,
        Disease::TinyCollectives,
        Disease::SmallMessages,
        Disease::LockContention,
        Disease::Alltoall,
        Disease::ProtocolCliff,
        Disease::SlowCall,
        Disease::Transfer,
    ];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Disease::Imbalance => "imbalance",
            Disease::MovingImbalance => "moving imbalance",
            Disease::GrowingImbalance => "growing imbalance",
            Disease::RareImbalance => "rare imbalance",
            Disease::RandomImbalance => "random imbalance",
            Disease::LateStart => "late start",
            Disease::LateReceiver => "late receiver",
            Disease::WrongOrder => "wrong order",
            Disease::PipelineFill => "pipeline that fills slowly",
            Disease::NeedlessBarrier => "needless barrier",
            Disease::SerialisedIo => "serialised I/O",
            Disease::CollectionLoop => "collection loop",
            Disease::LateRoot => "late root",
            Disease::TinyCollectives => "tiny collectives",
            Disease::SmallMessages => "small messages",
            Disease::LockContention => "lock contention",
            Disease::Alltoall => "all-to-all storm",
            Disease::ProtocolCliff => "protocol cliff",
            Disease::SlowCall => "slow call",
            Disease::Transfer => "transfer",
        }
    }

    /// What to do about it, in one sentence.
    pub fn advice(self) -> &'static str {
        match self {
            Disease::Imbalance => {
                "Give those ranks less of the work, or make what they do as quick as on the others."
            }
            Disease::MovingImbalance => "Spread the work anew as it moves: divide it again every few steps.",
            Disease::GrowingImbalance => {
                "Divide the work again from time to time; what was even at the start is not any more."
            }
            Disease::RareImbalance => {
                "Find out what that rank does now and then, and let it do so while nobody waits, or all do a part."
            }
            Disease::RandomImbalance => {
                "Let ranks meet less often, so that long and short steps even out, or divide the work into smaller pieces that whoever is free takes."
            }
            Disease::LateStart => "Look at what that rank reads or sets up before its first call.",
            Disease::LateReceiver => {
                "Post the receive before the computation (MPI_Irecv, and wait for it afterwards), or send without waiting (MPI_Isend)."
            }
            Disease::WrongOrder => {
                "Take messages as they come: MPI_Waitany over receives posted before, or MPI_ANY_SOURCE."
            }
            Disease::PipelineFill => "Hand on smaller blocks, so that those behind begin earlier.",
            Disease::NeedlessBarrier => "Take the barrier out: messages keep the order that data needs.",
            Disease::SerialisedIo => {
                "Let all ranks write their part (MPI_File_write_at_all), or one rank write while the others go on."
            }
            Disease::CollectionLoop => {
                "Use a collective (MPI_Gather, MPI_Reduce, MPI_Scatter): it takes log P steps where the loop takes P."
            }
            Disease::LateRoot => {
                "Let the root do its work behind the call, or give that work to a rank that has time."
            }
            Disease::TinyCollectives => "Put the values into one array and call the collective once.",
            Disease::SmallMessages => "Put them into one message (an array, or a derived type).",
            Disease::LockContention => {
                "Hold the lock for less time, use a shared lock, or atomic operations (MPI_Fetch_and_op)."
            }
            Disease::Alltoall => {
                "Send less, or to fewer: exchange among neighbours or in rows and columns, or begin it early (MPI_Ialltoall)."
            }
            Disease::ProtocolCliff => "Raise the eager limit of MPI, or send a little less at a time.",
            Disease::SlowCall => "Look at what the call does: it holds up the others.",
            Disease::Transfer => {
                "Send less or less often, begin early and wait late (MPI_Isend, MPI_Iallreduce), or use a faster network."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_disease_is_listed_once() {
        for (number, disease) in Disease::ALL.into_iter().enumerate() {
            assert_eq!(disease as usize, number);
        }
    }
}
