//! Sampling keys of calls: both ends of a message have the same, and so have all ranks of a collective.
//!
//! Ranks do not ask each other. A message is known on both sides by its communicator, ranks and tag, and by how many such
//! messages came before; a collective by its communicator and how many came before. Where that cannot be known (a
//! wildcard, a program with more than [`KINDS`] kinds of messages, several threads that receive) a call has a number
//! of its own, and is kept or not without regard to others.

use super::CommunicatorOf;
use kizami_model::Shape;
use kizami_records::CallRecord;
use kizami_summary::sample::Series;

/// Places for kinds of messages that are counted apart; some stay empty, so that searches end.
const PLACES: usize = 4096;
const KINDS: usize = PLACES / 4 * 3;
/// Communicators that are remembered; there may be more, which takes longer.
const COMMUNICATORS: usize = 64;

/// Where all kinds of messages are.
pub struct SampleKeys {
    seed: u64,
    communicator_of: CommunicatorOf,
    /// For calls that concern no other rank.
    alone: Series,
    /// Kinds of messages and collectives, by a hash of what they are.
    kinds: Box<[(u64, Series); PLACES]>,
    used: usize,
    /// This process's rank in communicators, by their local number modulo the length, with that number.
    own_ranks: [(u32, u32); COMMUNICATORS],
}

impl SampleKeys {
    pub fn new(seed: u64, thread: u64, communicator_of: CommunicatorOf) -> SampleKeys {
        SampleKeys {
            seed,
            communicator_of,
            alone: Series::alone(seed, thread),
            kinds: Box::new([(0, Series::default()); PLACES]),
            used: 0,
            own_ranks: [(u32::MAX, 0); COMMUNICATORS],
        }
    }

    /// The number of a call.
    #[inline(always)]
    pub fn of(&mut self, call: &CallRecord, shape: Shape) -> u64 {
        let found = match shape {
            // Sends nothing yet; what its starts send is not counted on this side.
            Shape::Send | Shape::Receive if call.prepares() => None,
            Shape::Send => self.message(call, call.peer, call.tag, Direction::Out),
            // What a blocking receive got is known, whatever it asked for.
            Shape::Receive if call.request == 0 || !(call.any_source || call.any_tag) => {
                self.message(call, call.peer, call.tag, Direction::In)
            }
            Shape::SendReceive => self.exchange(call),
            Shape::Collective => self.next(call.comm, 0, 0, Direction::Around),
            _ => None,
        };
        found.unwrap_or_else(|| self.alone.next_number())
    }

    #[inline(always)]
    fn message(&mut self, call: &CallRecord, peer: i32, tag: i32, direction: Direction) -> Option<u64> {
        self.next(call.comm, u32::try_from(peer).ok()?, tag, direction)
    }

    /// Two ranks that exchange messages with each other have one number, that of the message from the lower rank to the
    /// higher; else the message that goes out counts.
    #[inline(always)]
    fn exchange(&mut self, call: &CallRecord) -> Option<u64> {
        let out = self.message(call, call.peer, call.tag, Direction::Out);
        let into = self.message(call, call.recv_peer, call.recv_tag, Direction::In);
        let mutual = call.peer == call.recv_peer && call.tag == call.recv_tag;
        if mutual && i64::from(self.own_rank(call.comm)?) > i64::from(call.peer) { into } else { out }
    }

    #[inline(always)]
    fn own_rank(&mut self, comm: u32) -> Option<u32> {
        let place = &mut self.own_ranks[comm as usize % COMMUNICATORS];
        if place.0 != comm {
            *place = (comm, (self.communicator_of)(comm)?.1);
        }
        Some(place.1)
    }

    /// The next number of this kind; nothing if there are too many kinds.
    #[inline(always)]
    fn next(&mut self, comm: u32, peer: u32, tag: i32, direction: Direction) -> Option<u64> {
        let words = (u64::from(comm) << 34 ^ u64::from(tag as u32) << 2 ^ direction as u64)
            .wrapping_mul(FIRST)
            ^ (u64::from(peer) + 1).wrapping_mul(SECOND);
        // Two kinds with the same hash are one series, which does no harm but to the numbers' likeness.
        let key = words ^ words >> 29 | 1;
        let mut place = key as usize >> 8 & (PLACES - 1);
        loop {
            let (known, series) = &mut self.kinds[place];
            if *known == key {
                return Some(series.next_number());
            }
            if *known == 0 {
                return self.begin(place, key, (comm, peer, tag, direction));
            }
            place = (place + 1) & (PLACES - 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(
        &mut self,
        place: usize,
        key: u64,
        (comm, peer, tag, direction): (u32, u32, i32, Direction),
    ) -> Option<u64> {
        if self.used >= KINDS {
            return None;
        }
        let (identity, own) = (self.communicator_of)(comm)?;
        let mut series = match direction {
            Direction::Out => Series::of_messages(self.seed, identity, own, peer, tag),
            Direction::In => Series::of_messages(self.seed, identity, peer, own, tag),
            Direction::Around => Series::of_collectives(self.seed, identity),
        };
        let number = series.next_number();
        self.kinds[place] = (key, series);
        self.used += 1;
        Some(number)
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Out = 0,
    In = 1,
    /// A collective.
    Around = 2,
}

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd6e8_feb8_6659_fd93;
