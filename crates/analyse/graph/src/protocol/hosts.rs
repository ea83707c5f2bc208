//! Which hosts two ranks are on, and how far their times can be compared.

use crate::channels::Channel;
use kizami_model::{Length, Rank};
use kizami_trace::Definitions;
use rustc_hash::FxHashMap;

/// Index of a host that is not known.
pub const NO_HOST: u32 = u32::MAX;
/// With more pairs of hosts than this only those within a host and those between hosts are distinguished.
const MOST_PAIRS: usize = 1 << 12;
/// Times of one clock are this good: reading it takes a little, and so does what lies between reading it and MPI.
const READING: Length = Length(1_000);

/// How well times of different ranks fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// On each host they do.
    Aligned {
        /// How far times of two hosts may be apart that were one moment; nothing if unknown.
        between_hosts: Option<Length>,
    },
    /// Not at all.
    Unaligned,
}

/// The hosts of a run.
pub(super) struct Hosts {
    clocks: Clocks,
    by_rank: Vec<u32>,
}

impl Hosts {
    pub(super) fn new(definitions: &Definitions, clocks: Clocks) -> Hosts {
        let ranks = definitions.ranks.iter().map(|info| info.rank.0 as usize + 1).max().unwrap_or(0);
        let mut by_rank = vec![NO_HOST; ranks];
        for info in &definitions.ranks {
            by_rank[info.rank.0 as usize] = info.host.unwrap_or(NO_HOST);
        }
        Hosts { clocks, by_rank }
    }

    fn of(&self, rank: Rank) -> u32 {
        self.by_rank.get(rank.0 as usize).copied().unwrap_or(NO_HOST)
    }

    /// How far times of two hosts may be apart that were one moment; nothing if they cannot be compared.
    fn margin(&self, from: u32, to: u32) -> Option<Length> {
        let Clocks::Aligned { between_hosts } = self.clocks else { return None };
        let apart = if from == to { Some(Length::ZERO) } else { between_hosts };
        apart.map(|apart| READING.saturating_add(apart))
    }
}

/// One pair of hosts, or all within or between hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// Those within a host first.
    pub between: bool,
    pub from: u32,
    pub to: u32,
}

/// The pair of hosts of each channel.
pub(crate) struct Pairs {
    /// In order.
    pub(super) list: Vec<Pair>,
    /// By channel: index of the pair, and the margin; nothing if its times show nothing.
    channels: Vec<(u32, Option<Length>)>,
}

impl Pairs {
    pub(super) fn new(channels: &[Channel], hosts: &Hosts) -> Pairs {
        Pairs::at_most(MOST_PAIRS, channels, hosts)
    }

    fn at_most(most: usize, channels: &[Channel], hosts: &Hosts) -> Pairs {
        let exact = |channel: &Channel| {
            let (from, to) = (hosts.of(channel.from), hosts.of(channel.to));
            Pair { between: from != to, from, to }
        };
        let listed = |pair: &dyn Fn(&Channel) -> Pair| {
            let mut list: Vec<Pair> = channels.iter().map(pair).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        let kind = |channel: &Channel| Pair { from: NO_HOST, to: NO_HOST, ..exact(channel) };
        let all = listed(&exact);
        let too_many = all.len() > most;
        let list = if too_many { listed(&kind) } else { all };
        let index: FxHashMap<_, u32> =
            (0..).zip(&list).map(|(index, pair)| ((pair.from, pair.to, pair.between), index)).collect();
        let place = |channel: &Channel| {
            let pair = if too_many { kind(channel) } else { exact(channel) };
            let at = index.get(&(pair.from, pair.to, pair.between)).copied().unwrap_or(0);
            // Nobody can wait for what it does itself later.
            let others = channel.from != channel.to;
            let margin = others.then(|| hosts.margin(hosts.of(channel.from), hosts.of(channel.to)));
            (at, margin.flatten())
        };
        let channels = channels.iter().map(place).collect();
        Pairs { list, channels }
    }

    /// Index of the pair of a channel.
    #[inline]
    pub(super) fn of(&self, channel: u32) -> usize {
        self.channels[channel as usize].0 as usize
    }

    /// Whether times of both sides of a channel show anything.
    #[inline]
    pub(super) fn shows(&self, channel: u32) -> bool {
        self.margin(channel).is_some()
    }

    /// How far times of both sides of a channel may be off; nothing if they cannot be compared.
    #[inline]
    pub(super) fn margin(&self, channel: u32) -> Option<Length> {
        self.channels[channel as usize].1
    }
}
