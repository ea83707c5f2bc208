//! What is on its way at a moment of the simulation: messages that were sent and not received yet, and the collectives that
//! ranks are in. With the routes between hosts this says which calls a link works for.
//!
//! Promises: a message counts from the beginning of its send to the end of its receive. It does not know when exactly it
//! crosses a link, nor which messages a collective consists of.

use crate::library::{Handle, SimGrid};
use crate::script::Message;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Messages that are followed at one look, at most.
const MOST_FOLLOWED: usize = 1 << 10;

/// Between two ranks of the world: messages arrive in the order in which they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Channel {
    comm: u32,
    from: u32,
    to: u32,
    tag: i32,
}

/// What is on its way; calls are told by their kind (see [`crate::translate::Play::calls`]).
#[derive(Debug, Default)]
pub struct Traffic {
    /// The calls that sent.
    messages: FxHashMap<Channel, VecDeque<u32>>,
    /// By rank: the collective it is in, or has begun and not completed.
    collectives: Vec<Option<u32>>,
    /// By two ranks: the links between them.
    routes: FxHashMap<[u32; 2], Vec<Handle>>,
    /// Hosts by rank.
    hosts: Vec<Handle>,
}

impl Traffic {
    /// Nothing yet.
    pub fn of(ranks: usize) -> Traffic {
        let hosts = vec![std::ptr::null_mut(); ranks];
        Traffic { collectives: vec![None; ranks], hosts, ..Traffic::default() }
    }

    /// A rank is on this host.
    pub fn lives(&mut self, rank: u32, host: Handle) {
        self.hosts[rank as usize] = host;
    }

    /// A call begins to send.
    pub fn sent(&mut self, from: u32, to: u32, message: &Message, call: u32) {
        let channel = Channel { comm: message.comm, from, to, tag: message.tag };
        self.messages.entry(channel).or_default().push_back(call);
    }

    /// A message has been received.
    pub fn received(&mut self, from: u32, to: u32, message: &Message) {
        let channel = Channel { comm: message.comm, from, to, tag: message.tag };
        if let Some(waiting) = self.messages.get_mut(&channel) {
            waiting.pop_front();
            if waiting.is_empty() {
                self.messages.remove(&channel);
            }
        }
    }

    /// A rank is in a collective from now on, or in none.
    pub fn is_in(&mut self, rank: u32, collective: Option<u32>) {
        self.collectives[rank as usize] = collective;
    }

    /// Which calls each of some links works for now, and for how many messages of theirs; for none whose messages are known,
    /// the collectives that ranks are in.
    pub fn now(&mut self, simgrid: &SimGrid, links: &[Handle]) -> Vec<Vec<(u32, u32)>> {
        let places: FxHashMap<Handle, usize> =
            links.iter().enumerate().map(|(place, link)| (*link, place)).collect();
        let mut calls: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::default(); links.len()];
        let stride = self.messages.len().div_ceil(MOST_FOLLOWED).max(1);
        for (channel, waiting) in self.messages.iter().step_by(stride) {
            let route = self.routes.entry([channel.from, channel.to]).or_insert_with(|| {
                simgrid.route(self.hosts[channel.from as usize], self.hosts[channel.to as usize])
            });
            for place in route.iter().filter_map(|link| places.get(link)) {
                for call in waiting {
                    *calls[*place].entry(*call).or_default() += 1;
                }
            }
        }
        let mut collectives: FxHashMap<u32, u32> = FxHashMap::default();
        for call in self.collectives.iter().flatten() {
            *collectives.entry(*call).or_default() += 1;
        }
        let by_strand = calls.iter().map(|calls| if calls.is_empty() { &collectives } else { calls });
        by_strand.map(|calls| calls.iter().map(|(call, count)| (*call, *count)).collect()).collect()
    }
}
