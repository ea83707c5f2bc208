//! Whether sends wait for their receivers, derived from the times of the run itself.
//!
//! An MPI library takes small messages from their sender at once and lets large ones wait until the receiver is ready.
//! Where the border lies depends on the library, on the way between the two hosts and on how the site set it up, and no
//! call says so. But a run shows it. A send that was over before its receive was posted did not wait for it; one that
//! was over only after that, with nothing else to wait for, did. `learn` looks at all sends whose receives were posted
//! late, by pair of hosts and by size, and decides for each size ([`Decision`]): no sender waits, all senders wait, or each
//! as its own times say, which is how a library looks whose buffers are sometimes full.
//!
//! Sizes of which no receive was late have shown nothing: they are decided by other sizes, by other pairs of hosts, and
//! last by what holds for every library we know ([`Basis`]).
//!
//! What comes out does not depend on the order in which ranks are looked at, nor on how many are at the same time.

mod decide;
mod evidence;
mod hosts;
mod judge;
mod messages;

pub use hosts::{Clocks, NO_HOST};
pub(crate) use judge::{Judge, Send, Verdict};
pub(crate) use messages::{Messages, RankSteps};

use crate::channels::Channels;
use crate::shares::Lists;
use decide::Rules;
use hosts::{Hosts, Pairs};
use kizami_parallel::map;
use kizami_trace::Definitions;

/// Messages above this many bytes wait for their receiver in every MPI we know, unless times say otherwise.
pub(crate) const SURELY_RENDEZVOUS: u64 = 64 << 10;

/// What is known of sends of about one size from one host to another, or within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Index of the sender's host; [`NO_HOST`] if it is not known, or if there are too many pairs to distinguish.
    pub from_host: u32,
    /// Index of the receiver's host.
    pub to_host: u32,
    /// Whether both are on one host.
    pub within_host: bool,
    /// The smallest send.
    pub from_bytes: u64,
    /// The largest send.
    pub to_bytes: u64,
    /// Sends, without buffered and synchronous ones, and without those to oneself.
    pub sends: u64,
    /// What those show whose receive was posted late.
    pub shown: Shown,
    /// Whether they wait.
    pub decision: Decision,
    /// What that rests on.
    pub basis: Basis,
}

/// Sends whose receiver was late, by when they were over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Before their receive was posted.
    pub before_post: u64,
    /// Before it was posted, but only when the receiver came back to MPI.
    pub when_in_mpi: u64,
    /// Only after it was posted.
    pub after_post: u64,
    /// It was posted in time, but they were over only when the receiver came back to MPI.
    pub late_progress: u64,
}

impl Shown {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.before_post + self.waited()
    }

    /// Those that waited for the receiver.
    pub fn waited(&self) -> u64 {
        self.when_in_mpi + self.after_post + self.late_progress
    }
}

/// Whether sends wait for their receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They do not.
    Eager,
    /// They wait until their receive is posted.
    Waits,
    /// Those of more than so many bytes do.
    WaitsAbove(u64),
    /// Some do: those whose times show it.
    ByTimes,
}

/// What a decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Late receives of such sends.
    Seen,
    /// Late receives of sends of other sizes between the same hosts.
    OtherSizes,
    /// Late receives between other hosts.
    OtherHosts,
    /// No late receive: messages above 64 KiB wait in every library we know.
    Size,
}

/// What was learned: who waits, and the rows that show it.
pub(crate) struct Learned {
    pub protocols: Vec<Protocol>,
    pub rules: Rules,
    pub pairs: Pairs,
    pub messages: Messages,
}

/// Looks at all sends. `clocks` says how far times of different hosts can be believed; with clocks that do not fit together
/// sizes decide.
pub(crate) fn learn(
    lists: Lists<'_>,
    ranks: &[RankSteps],
    channels: &Channels,
    definitions: &Definitions,
    clocks: Clocks,
) -> Learned {
    let pairs = Pairs::new(channels.list(), &Hosts::new(definitions, clocks));
    let messages = Messages::new(lists, ranks, channels);
    let of_shares = map(lists.shares, |share| {
        let judge = Judge::new(lists, share, ranks, channels.list(), &messages, &pairs);
        evidence::gather(&judge, &pairs)
    });
    let evidence = evidence::sum(&pairs, of_shares);
    let rules = Rules::new(&pairs, &evidence);
    let protocols = rules.protocols(&pairs, &evidence);
    Learned { protocols, rules, pairs, messages }
}

/// The size up to which sends do not wait, where the run shows it: between the hosts with most sends that show
/// something.
pub fn eager_limit_bytes(protocols: &[Protocol]) -> Option<u64> {
    let shows = |protocol: &&Protocol| protocol.basis == Basis::Seen;
    let pair = |protocol: &Protocol| (protocol.from_host, protocol.to_host, protocol.within_host);
    let most = protocols
        .chunk_by(|a, b| pair(a) == pair(b))
        .max_by_key(|of_pair| of_pair.iter().filter(shows).map(|protocol| protocol.sends).sum::<u64>())?;
    let largest_eager = most.iter().filter(shows).filter_map(|protocol| match protocol.decision {
        Decision::Eager => Some(protocol.to_bytes),
        Decision::WaitsAbove(bytes) => Some(bytes),
        Decision::Waits | Decision::ByTimes => None,
    });
    let smallest_waiting = most.iter().filter(shows).filter(|protocol| protocol.decision == Decision::Waits);
    let below = smallest_waiting.map(|protocol| protocol.from_bytes.saturating_sub(1)).min();
    match (largest_eager.max(), below) {
        // All that were seen are eager: the border lies somewhere above.
        (Some(largest), None) => Some(largest.max(SURELY_RENDEZVOUS)),
        (Some(largest), Some(below)) => Some(largest.min(below)),
        (None, below) => below.map(|below| below.min(SURELY_RENDEZVOUS)),
    }
}
