//! What can be wrong with a parallel program, by name, with what is to be said about it as data.
//!
//! Each performance pattern is declared once, with what a sentence about it needs beyond what every finding has. The sentence
//! itself, and the advice, are made where reports are shown.

use crate::who::Who;
use kizami_trace::SourceLine;
use serde::{Deserialize, Serialize};

/// Generates from one entry for each pattern its name without data and its diagnosis with data.
macro_rules! diseases {
    ($($(#[$about:meta])* $name:ident { $($(#[$fact:meta])* $field:ident: $type:ty,)* })*) => {
        /// A performance pattern.
        ///
        /// Its detector documents how it is recognised.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Disease {
            $($(#[$about])* $name,)*
        }

        impl Disease {
            /// All of them.
            pub const ALL: &[Disease] = &[$(Disease::$name),*];
        }

        /// A performance pattern that was found, with what its sentence needs beyond the fields of the finding.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "disease", rename_all = "kebab-case")]
        pub enum Diagnosis {
            $($(#[$about])* $name { $($(#[$fact])* $field: $type,)* },)*
        }

        impl Diagnosis {
            /// The pattern.
            pub fn disease(&self) -> Disease {
                match self {
                    $(Diagnosis::$name { .. } => Disease::$name,)*
                }
            }
        }
    };
}

diseases! {
    /// Some ranks compute longer than the others wherever they compute.
    SlowRanks {
        /// Those.
        who: Who,
        /// The host whose only ranks they are; null if they are not all ranks of one host.
        host: Option<String>,
        /// Their computation in per cent of what it would be if they were like the others.
        factor_percent: u32,
    }
    /// The same ranks always compute longer.
    Imbalance {
        /// Those.
        who: Who,
    }
    /// Different ranks in turn compute longer, each for some time.
    MovingImbalance {
        /// All of them.
        who: Who,
    }
    /// Some ranks compute longer and longer.
    GrowingImbalance {
        /// Those.
        who: Who,
    }
    /// Some ranks compute longer in a few iterations.
    RareImbalance {
        /// Those.
        who: Who,
        /// Iterations in which they do.
        times: usize,
        /// All iterations.
        iterations: usize,
    }
    /// Computation differs between ranks at random.
    RandomImbalance {
        /// All of them.
        who: Who,
    }
    /// A master hands out tasks, and at the end a few workers are at long ones while the others are idle.
    TaskFarmTail {
        /// How many workers there are.
        workers: usize,
    }
    /// A rank starts late.
    LateStart {
        /// Which.
        who: Who,
    }
    /// Sends wait until a receive is posted.
    LateReceiver {
        /// Those who post it.
        who: Who,
    }
    /// A rank waits for a message while others, which it receives later, have arrived.
    WrongOrder {}
    /// Ranks pass work on in blocks so large that later ranks wait long for their first one.
    PipelineFill {
        /// Those who are waited for.
        who: Who,
    }
    /// One rank after the other computes between a small message that it receives and one that it sends.
    SerialisedSection {
        /// Size of the largest of these messages.
        most_bytes: u64,
    }
    /// Ranks wait for each other in a barrier that no message depends on.
    NeedlessBarrier {}
    /// Ranks meet between parts of a step in which they compute for different times, but for the same time in all.
    NeedlessCollective {
        /// Of so many meetings in a row, one would do.
        of: usize,
    }
    /// One rank reads or writes while others wait for it.
    SerialisedIo {
        /// Which.
        who: Who,
    }
    /// One rank receives messages from all others one by one, or sends to them one by one.
    CollectionLoop {
        /// It sends them.
        sends: bool,
        /// With how many ranks.
        partners: usize,
        /// How often.
        times: u64,
    }
    /// The same communicator is created again and again.
    RepeatedCommunicator {
        /// How often, on the rank that does so most often.
        times: u64,
    }
    /// All ranks wait for the root of a broadcast or scatter.
    LateRoot {
        /// The root.
        who: Who,
    }
    /// Collectives on little data follow each other closely.
    TinyCollectives {
        /// How many there are.
        rows: Rows,
    }
    /// Small messages follow each other closely.
    SmallMessages {
        /// How many there are.
        rows: Rows,
    }
    /// Ranks wait for a lock.
    LockContention {
        /// Those who hold it.
        who: Who,
    }
    /// Threads lose their core for short times, and others wait for them.
    SystemNoise {
        /// How many ranks.
        ranks: usize,
    }
    /// Some ranks receive far more than the others in an exchange of all ranks with all ranks.
    HotReceiver {
        /// Those.
        who: Who,
        /// The part of all bytes that they receive, in per cent.
        percent: u32,
    }
    /// All ranks exchange data with all ranks, which takes long.
    Alltoall {}
    /// A call takes long while other ranks wait for it.
    SlowCall {
        /// Those who are in it.
        who: Who,
    }
    /// Data transfer in messages or collectives takes long, not waiting.
    Transfer {}
    /// Threads of a parallel region wait for the slowest.
    ThreadImbalance {
        /// Threads of the rank with the most.
        threads: u32,
    }
    /// Threads wait in a parallel region: for tasks, at barriers, or in turn.
    ThreadWaits {
        /// Threads of the rank with the most.
        threads: u32,
    }
    /// Threads wait for locks in a parallel region.
    ThreadLocks {
        /// Threads of the rank with the most.
        threads: u32,
    }
    /// A parallel region has fewer threads than others.
    FewThreads {
        /// Threads of the rank with the most.
        threads: u32,
    }
    /// One thread computes outside parallel regions while the others are idle.
    SerialPart {
        /// Threads of the rank with the most.
        threads: u32,
    }
    /// Tasks that follow each other take longer than the threads need for all tasks.
    TaskChain {
        /// How long these take: the span of the regions.
        span_ns: i64,
        /// How long all take, added up.
        work_ns: i64,
        /// Threads of the region.
        threads: u32,
        /// Where most tasks of the chain are created; null if that is not known.
        tasks: Option<SourceLine>,
    }
}

impl Disease {
    /// Whether it is about threads of a rank: its place is a parallel region, and nothing is known of a call there.
    pub fn is_of_threads(self) -> bool {
        use Disease::{FewThreads, SerialPart, TaskChain, ThreadImbalance, ThreadLocks, ThreadWaits};
        matches!(self, ThreadImbalance | ThreadWaits | ThreadLocks | FewThreads | SerialPart | TaskChain)
    }
}

/// Rows of calls that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Bytes of the largest call.
    pub most_bytes: u64,
    /// Calls in all rows.
    pub calls: u64,
    /// Rows.
    pub rows: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_disease_is_listed_once() {
        for (number, disease) in Disease::ALL.iter().enumerate() {
            assert_eq!(*disease as usize, number);
        }
    }
}
