//! Ways messages take: from one rank to another, in one communicator, with one tag.
//!
//! MPI delivers the messages of a channel in the order they were sent to receives in the order they were posted. So
//! each side counts its own and both arrive at the same number.

use kizami_model::Rank;
use rustc_hash::FxHashMap;

/// Index of a channel.
pub type ChannelIndex = u32;

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Index of the communicator.
    pub comm: u32,
    /// Who sends.
    pub from: Rank,
    /// Who receives.
    pub to: Rank,
    /// With which tag.
    pub tag: i32,
}

/// Channels that were looked up last are found without hashing.
const RECENT: usize = 64;

/// All channels so far, with how many messages were sent and received on each.
pub(crate) struct Channels {
    index: FxHashMap<Channel, ChannelIndex>,
    list: Vec<Channel>,
    counts: Vec<[u32; 2]>,
    recent: [(Channel, ChannelIndex); RECENT],
}

/// One side of a channel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Sender = 0,
    Receiver = 1,
}

impl Default for Channels {
    fn default() -> Channels {
        let nowhere = Channel { comm: u32::MAX, from: Rank(u32::MAX), to: Rank(u32::MAX), tag: i32::MIN };
        Channels {
            index: FxHashMap::default(),
            list: Vec::new(),
            counts: Vec::new(),
            recent: [(nowhere, 0); RECENT],
        }
    }
}

impl Channels {
    /// The number of the next message of a channel, counted.
    pub(crate) fn count(&mut self, channel: Channel, side: Side) -> (ChannelIndex, u32) {
        let index = self.find(channel);
        let count = &mut self.counts[index as usize][side as usize];
        *count = count.wrapping_add(1);
        (index, *count)
    }

    /// The number the next message of a channel will have.
    pub(crate) fn peek(&mut self, channel: Channel, side: Side) -> (ChannelIndex, u32) {
        let index = self.find(channel);
        (index, self.counts[index as usize][side as usize].wrapping_add(1))
    }

    /// Adds those of another, which has counted for other ranks; returns what each is called here, by its index there.
    pub(crate) fn join(&mut self, other: Channels) -> Vec<ChannelIndex> {
        let counted = other.list.into_iter().zip(other.counts);
        counted
            .map(|(channel, [sent, received])| {
                let index = self.find(channel);
                let counts = &mut self.counts[index as usize];
                // Each side of a channel is counted by one rank.
                *counts = [counts[0].wrapping_add(sent), counts[1].wrapping_add(received)];
                index
            })
            .collect()
    }

    /// All of them, by index.
    pub(crate) fn list(&self) -> &[Channel] {
        &self.list
    }

    /// How many messages each has: as many as its busier side has counted.
    pub(crate) fn most_counted(&self) -> impl Iterator<Item = u32> + '_ {
        self.counts.iter().map(|[sent, received]| *sent.max(received))
    }

    pub(crate) fn into_list(self) -> Vec<Channel> {
        self.list
    }

    /// The index of a channel.
    #[inline]
    pub(crate) fn find(&mut self, channel: Channel) -> ChannelIndex {
        let mixed = channel.from.0.wrapping_mul(31) ^ channel.to.0.wrapping_mul(17) ^ channel.tag as u32;
        let slot = (mixed ^ mixed >> 6 ^ channel.comm) as usize % RECENT;
        let (known, index) = self.recent[slot];
        if known == channel {
            return index;
        }
        let next = self.list.len() as ChannelIndex;
        let index = *self.index.entry(channel).or_insert(next);
        if index == next {
            self.list.push(channel);
            self.counts.push([0; 2]);
        }
        self.recent[slot] = (channel, index);
        index
    }
}
