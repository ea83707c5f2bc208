//! A run's messages on a network whose links they share.
//!
//! All pairs of ranks that the run sends messages between are taken as one phase: each sends one message of its typical size at
//! the same time, and they get fair shares of the links on their routes. What that takes gives a latency and a time per
//! byte with which the run is replayed. For halos, which are such phases, that is what happens; where ranks send at different
//! times it is too slow, and collectives are walked as if their messages were like the others. Then SimGrid knows better.

use crate::PredictError;
use kizami_graph::{Graph, TieKind};
use kizami_model::Rank;
use kizami_network::LogGops;
use kizami_platform::shares::{Message, phase};
use kizami_platform::{Platform, SizeFactors};
use kizami_stats::{sorted, upper_median};

/// Pairs whose latency is looked at where a run has no messages.
const PAIRS: u32 = 1_000;
const NS_PER_S: f64 = 1e9;

/// Messages of one size that take so much longer than the middle one are worse off than others.
const UNEVEN: f64 = 1.25;

/// A network as a run's messages see it.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedNetwork {
    /// What they cost.
    pub model: LogGops,
    /// Whether all pairs of ranks get about as much of it; if not, one price for all is wrong.
    pub is_even: bool,
}

/// The network as the run's messages see it, each rank on a host of its own, in order.
pub fn on_platform(
    graph: &Graph,
    platform: &Platform,
    eager_limit_bytes: u64,
) -> Result<SharedNetwork, PredictError> {
    let messages = typical_messages(graph);
    // Some may be sent to ranks that left nothing, behind the last that the graph knows.
    let named = messages.iter().map(|message| (message.from.max(message.to) as u32).saturating_add(1)).max();
    let ranks = graph.ranks().max(named.unwrap_or(0));
    if ranks as usize > platform.hosts() {
        return Err(PredictError::FewHosts { ranks, hosts: platform.hosts() });
    }
    let pairs: Vec<(usize, usize)> = match messages.is_empty() {
        false => messages.iter().map(|message| (message.from, message.to)).collect(),
        true => spread_pairs(ranks),
    };
    let mean = |of: &dyn Fn(usize, usize) -> f64| {
        pairs.iter().map(|(from, to)| of(*from, *to)).sum::<f64>() / pairs.len().max(1) as f64
    };
    let latency_ns = mean(&|from, to| platform.latency_ns(from, to));
    let alone = mean(&|from, to| NS_PER_S / platform.bottleneck_bytes_per_s(from, to));
    let (per_byte_ns, is_even) = match messages.is_empty() {
        true => (alone, true),
        false => {
            let done_ns = phase(platform, &messages, &SizeFactors::NONE)?.done_ns;
            // Each without its own latency: that of a far pair must not count as the price of a near one's bytes.
            let sending_ns: Vec<f64> = done_ns
                .iter()
                .zip(&pairs)
                .map(|(done, (from, to))| done - platform.latency_ns(*from, *to))
                .collect();
            let longest_ns = sending_ns.iter().copied().fold(0.0, f64::max);
            (longest_ns / busiest_bytes(&messages, ranks).max(1.0), is_even(&messages, &sending_ns))
        }
    };
    let model = LogGops { latency_ns, per_byte_ns, eager_limit_bytes, ..LogGops::default() };
    Ok(SharedNetwork { model, is_even })
}

/// Whether no pair's bytes take much longer than those of the middle one.
fn is_even(messages: &[Message], sending_ns: &[f64]) -> bool {
    let per_byte_ns: Vec<f64> =
        messages.iter().zip(sending_ns).map(|(message, ns)| ns / message.bytes.max(1) as f64).collect();
    let per_byte_ns = sorted(&per_byte_ns);
    let (middle, last) = (upper_median(&per_byte_ns), per_byte_ns.last());
    middle.zip(last).is_none_or(|(middle, last)| *last <= UNEVEN * middle)
}

/// One message of its typical size for each pair of ranks.
fn typical_messages(graph: &Graph) -> Vec<Message> {
    let mut sent = vec![(0u64, 0u64); graph.channels.len()];
    for tie in graph.ties.iter().filter(|tie| tie.kind() == TieKind::Departs) {
        let (count, bytes) = &mut sent[tie.place() as usize];
        (*count, *bytes) = (*count + 1, bytes.saturating_add(tie.bytes()));
    }
    let used = graph
        .channels
        .iter()
        .zip(sent)
        .filter(|(channel, (count, _))| *count > 0 && channel.from != channel.to);
    let of_strands = used.map(|(channel, (count, bytes))| (channel.from, channel.to, bytes / count));
    let message = |from: Rank, to: Rank, bytes| Message { from: from.0 as usize, to: to.0 as usize, bytes };
    let Some(folding) = &graph.folding else {
        return of_strands.map(|(from, to, bytes)| message(from, to, bytes)).collect();
    };
    // What one rank of a class sends, all of it do, each as far.
    let rank_classes = &folding.rank_classes;
    let mut of_class = vec![Vec::new(); rank_classes.count()];
    of_strands.for_each(|(from, to, bytes)| of_class[rank_classes.number(from) as usize].push((to, bytes)));
    let all = (0..rank_classes.ranks()).map(Rank).flat_map(|rank| {
        let moved = move |(to, bytes): &(Rank, u64)| {
            message(rank, rank_classes.moved(*to, rank_classes.like(rank), rank), *bytes)
        };
        of_class[rank_classes.number(rank) as usize].iter().map(moved)
    });
    all.collect()
}

/// What the rank that sends or gets most has to move.
fn busiest_bytes(messages: &[Message], ranks: u32) -> f64 {
    let mut moved = vec![[0u64; 2]; ranks as usize];
    for message in messages {
        for (host, way) in [(message.from, 0), (message.to, 1)] {
            moved[host][way] = moved[host][way].saturating_add(message.bytes);
        }
    }
    moved.into_iter().flatten().max().unwrap_or(0) as f64
}

/// Some pairs of ranks, near and far.
fn spread_pairs(ranks: u32) -> Vec<(usize, usize)> {
    let pair = |number: u32| {
        let from = number % ranks.max(1);
        (from as usize, ((from + 1 + number / ranks.max(1) * 7) % ranks.max(1)) as usize)
    };
    (0..PAIRS.min(ranks.saturating_mul(ranks))).map(pair).filter(|(from, to)| from != to).collect()
}
