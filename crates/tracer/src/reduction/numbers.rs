//! The numbers by which calls are drawn: both ends of a message have the same, and so have all ranks of a collective.
//!
//! Ranks do not ask each other. A message is known on both sides by its communicator, ranks and tag, and by how many such
//! messages came before; a collective by its communicator and how many came before. Where that cannot be known (a
//! wildcard, a program with more than [`COUNTS`] kinds of messages, several threads that receive) a call has a number
//! of its own, and is kept or not without regard to others.

use crate::communicators;
use kizami_model::Shape;
use kizami_reduce::sample::draw;
use kizami_segment::record::CallRecord;

/// Kinds of messages that are counted apart.
const COUNTS: usize = 4096;
/// Communicators that are remembered; there may be more, which takes longer.
const COMMUNICATORS: usize = 64;

/// What was counted so far.
pub struct Numbers {
    seed: u64,
    /// Calls so far, and something that tells this thread from all others.
    calls: u64,
    thread: u64,
    counts: Box<[(u64, u64); COUNTS]>,
    used: usize,
    /// Number, identity and own rank of communicators, by their number modulo the length.
    communicators: [(u32, u64, u32); COMMUNICATORS],
}

impl Numbers {
    pub fn new(seed: u64, thread: u64) -> Numbers {
        Numbers {
            seed,
            calls: 0,
            thread,
            counts: Box::new([(0, 0); COUNTS]),
            used: 0,
            communicators: [(u32::MAX, 0, 0); COMMUNICATORS],
        }
    }

    /// The number of a call.
    #[inline]
    pub fn of(&mut self, call: &CallRecord, shape: Shape) -> u64 {
        self.calls += 1;
        let found = match shape {
            // Sends nothing yet; what its starts send is not counted on this side.
            Shape::Send | Shape::Receive if call.prepares() => None,
            Shape::Send => self.message(call, call.peer, call.tag, Direction::Out),
            // What a blocking receive got is known, whatever it asked for.
            Shape::Receive if call.request == 0 || !(call.any_source || call.any_tag) => {
                self.message(call, call.peer, call.tag, Direction::In)
            }
            Shape::SendReceive => self.exchange(call),
            Shape::Collective => self.collective(call),
            _ => None,
        };
        found.unwrap_or_else(|| draw::alone(self.seed, self.thread, self.calls))
    }

    #[inline]
    fn message(&mut self, call: &CallRecord, peer: i32, tag: i32, direction: Direction) -> Option<u64> {
        let peer = u32::try_from(peer).ok()?;
        let (identity, own) = self.communicator(call.comm)?;
        let (source, destination) = match direction {
            Direction::Out => (own, peer),
            Direction::In => (peer, own),
        };
        let before = self.count(call.comm, peer, tag, direction as u64)?;
        Some(draw::message(self.seed, identity, source, destination, tag, before))
    }

    /// Two ranks that exchange messages with each other have one number, that of the message from the lower rank to the
    /// higher; else the message that goes out counts.
    #[inline]
    fn exchange(&mut self, call: &CallRecord) -> Option<u64> {
        let out = self.message(call, call.peer, call.tag, Direction::Out);
        let into = self.message(call, call.recv_peer, call.recv_tag, Direction::In);
        let (_, own) = self.communicator(call.comm)?;
        let mutual = call.peer == call.recv_peer && call.tag == call.recv_tag;
        if mutual && i64::from(own) > i64::from(call.peer) { into } else { out }
    }

    #[inline]
    fn collective(&mut self, call: &CallRecord) -> Option<u64> {
        let (identity, _) = self.communicator(call.comm)?;
        let before = self.count(call.comm, 0, 0, COLLECTIVE)?;
        Some(draw::collective(self.seed, identity, before))
    }

    #[inline]
    fn communicator(&mut self, local: u32) -> Option<(u64, u32)> {
        let (known, identity, rank) = self.communicators[local as usize % COMMUNICATORS];
        if known == local && local != u32::MAX {
            return Some((identity, rank));
        }
        let (identity, rank) = communicators::identity_and_rank(local)?;
        self.communicators[local as usize % COMMUNICATORS] = (local, identity, rank);
        Some((identity, rank))
    }

    /// How many of this kind came before; nothing if there are too many kinds.
    #[inline]
    fn count(&mut self, comm: u32, peer: u32, tag: i32, kind: u64) -> Option<u64> {
        let words = (u64::from(comm) << 34 ^ u64::from(tag as u32) << 2 ^ kind).wrapping_mul(FIRST)
            ^ (u64::from(peer) + 1).wrapping_mul(SECOND);
        // Two kinds with the same hash are counted together, which does no harm but to the numbers' likeness.
        let key = words ^ words >> 29 | 1;
        let mut place = key as usize >> 8 & (COUNTS - 1);
        loop {
            let (known, count) = &mut self.counts[place];
            if *known == key {
                *count += 1;
                return Some(*count);
            }
            if *known == 0 {
                // Some places stay empty, so that searches end.
                if self.used >= COUNTS / 4 * 3 {
                    return None;
                }
                self.used += 1;
                (*known, *count) = (key, 0);
                return Some(0);
            }
            place = (place + 1) & (COUNTS - 1);
        }
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Out = 0,
    In = 1,
}

const COLLECTIVE: u64 = 2;
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd6e8_feb8_6659_fd93;
