//! The sampling key of a row of a full trace, and the peers of its messages.
//!
//! Both ends of a message get the same number, and so do all ranks of a collective. A send-receive that exchanges
//! with one partner gets the number of the message from the lower rank to the higher, on both sides; one that
//! passes on gets that of what it sends.

use kizami_model::Call;
use kizami_summary::NO_PEER;
use kizami_summary::sample::Series;
use kizami_traffic::{Beginning, Ending, Message, Numbering, Traffic};
use rustc_hash::FxHashMap;

/// What a reducer needs of a row beside its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleKey {
    pub number: u64,
    /// World rank of the peer of a message that leaves.
    pub to: i32,
    /// World rank of the peer of a message that arrives.
    pub from: i32,
}

/// Assigns numbers to the rows of one rank, which must come in the order of the trace.
pub(super) struct SampleKeys<'a> {
    seed: u64,
    rank: u32,
    /// What ranks call each communicator.
    identities: &'a [u64],
    traffic: Traffic,
    collectives: FxHashMap<u32, Series>,
    alone: Series,
    beginnings: Vec<Beginning>,
    endings: Vec<Ending>,
}

impl<'a> SampleKeys<'a> {
    pub(super) fn new(seed: u64, rank: u32, identities: &'a [u64]) -> SampleKeys<'a> {
        SampleKeys {
            seed,
            rank,
            identities,
            traffic: Traffic::new(Numbering::On),
            collectives: FxHashMap::default(),
            alone: Series::alone(seed, u64::from(rank)),
            beginnings: Vec::new(),
            endings: Vec::new(),
        }
    }

    /// A number that concerns no other rank.
    pub(super) fn alone(&mut self) -> u64 {
        self.alone.next_number()
    }

    pub(super) fn of(&mut self, call: &Call) -> SampleKey {
        self.beginnings.clear();
        self.endings.clear();
        self.traffic.of_call(call, &mut self.beginnings, &mut self.endings);
        let (mut sent, mut received, mut collective) = (None, None, false);
        for beginning in &self.beginnings {
            match beginning {
                Beginning::Send(message, _) => sent = Some(*message),
                Beginning::Receive(_, message) => received = *message,
                Beginning::Collective(_) => collective = true,
            }
        }
        for ending in &self.endings {
            if let Ending::Receive(message, None) = ending {
                received = Some(*message);
            }
        }
        let number = match (sent, received) {
            (Some(sent), Some(received)) if sent.peer == received.peer && self.rank > received.peer.0 => {
                self.message(received, true)
            }
            (Some(sent), _) => self.message(sent, false),
            (None, Some(received)) => self.message(received, true),
            (None, None) if collective => self.collective(call.comm.unwrap_or(0)),
            (None, None) => self.alone(),
        };
        let peer = |message: Option<Message>| message.map_or(NO_PEER, |message| message.peer.0 as i32);
        // A receive that was posted and never got anything has a peer, and is no message.
        let from = if call.bytes_in.is_some() { peer(received) } else { NO_PEER };
        SampleKey { number, to: peer(sent), from }
    }

    fn identity(&self, comm: u32) -> u64 {
        self.identities.get(comm as usize).copied().unwrap_or(u64::from(comm))
    }

    fn message(&self, message: Message, arrives: bool) -> u64 {
        let (own, peer) = (self.rank, message.peer.0);
        let (source, destination) = if arrives { (peer, own) } else { (own, peer) };
        let communicator = self.identity(message.comm);
        Series::of_messages(self.seed, communicator, source, destination, message.tag).number(message.number)
    }

    fn collective(&mut self, comm: u32) -> u64 {
        let (seed, identity) = (self.seed, self.identity(comm));
        self.collectives.entry(comm).or_insert_with(|| Series::of_collectives(seed, identity)).next_number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::{Peer, Rank};

    fn exchange(rank: u32, to: u32, from: u32) -> Call {
        Call {
            comm: Some(0),
            peer: Peer::Rank(Rank(to)),
            tag: Some(4),
            recv_peer: Peer::Rank(Rank(from)),
            recv_tag: Some(4),
            bytes_out: Some(8),
            bytes_in: Some(8),
            ..kizami_testing::call("MPI_Sendrecv", rank, 0, 10)
        }
    }

    #[test]
    fn both_sides_of_an_exchange_have_the_same_number() {
        let identities = [77];
        let (mut low, mut high) = (SampleKeys::new(1, 2, &identities), SampleKeys::new(1, 5, &identities));
        for _ in 0..3 {
            let one = low.of(&exchange(2, 5, 5));
            let other = high.of(&exchange(5, 2, 2));
            assert_eq!(one.number, other.number);
            assert_eq!((one.to, one.from), (5, 5));
            assert_eq!((other.to, other.from), (2, 2));
        }
        assert_ne!(low.of(&exchange(2, 5, 5)).number, low.of(&exchange(2, 5, 5)).number);
    }
}
