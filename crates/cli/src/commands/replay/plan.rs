//! From what was asked for to the setting of a replay, and back to words for the `run.json` of what comes out.

use super::arguments::ReplayArguments;
use super::options::{NetworkKind, Times};
use super::places::sites_at;
use crate::failure::UsageError;
use kizami_graph::Graph;
use kizami_network::Fit;
use kizami_replay::{Factor, Network, PlaceFactor, Setting, balance};
use kizami_trace::CallSite;

/// The setting as far as it is known before the trace has been read.
pub struct Plan<'a> {
    arguments: &'a ReplayArguments,
    ranks: u32,
    /// Sites of each `--callsite` and each `--balance`, and of all `--overlap`.
    scaled: Vec<Vec<u32>>,
    balanced: Vec<Vec<u32>>,
    overlapped: Vec<Vec<u32>>,
}

impl<'a> Plan<'a> {
    /// Looks all places up, so that a wrong one is told at once.
    pub fn new(
        arguments: &'a ReplayArguments,
        sites: &[CallSite],
        ranks: u32,
    ) -> Result<Plan<'a>, UsageError> {
        let beyond = arguments.callsite.iter().find(|place| place.rank.is_some_and(|rank| rank >= ranks));
        if let Some(place) = beyond {
            let last = ranks.saturating_sub(1);
            return Err(UsageError(format!("{place} names no rank of the run; its ranks are 0 to {last}")));
        }
        let scaled = arguments.callsite.iter().map(|place| sites_at(&place.line, sites));
        let balanced = arguments.balance.iter().map(|line| sites_at(line, sites));
        let overlapped = arguments.overlap.iter().map(|line| sites_at(line, sites));
        Ok(Plan {
            arguments,
            ranks,
            scaled: scaled.collect::<Result<_, _>>()?,
            balanced: balanced.collect::<Result<_, _>>()?,
            overlapped: overlapped.collect::<Result<_, _>>()?,
        })
    }

    /// All of it, now that the trace has been read.
    pub fn setting(&self, graph: &Graph, fit: &Fit) -> Setting {
        let arguments = self.arguments;
        let mut setting = Setting {
            // A processor that is so many times as fast takes that part of the time.
            cpu: Factor(1.0 / arguments.cpu.map_or(1.0, |times| times.0)),
            network: self.network(fit),
            eager_limit_bytes: arguments.eager_limit.map(|limit| limit.bytes),
            overlapped: self.overlapped.iter().flatten().copied().collect(),
            without_tracer: arguments.without_tracer,
            ..Setting::default()
        };
        for (place, sites) in arguments.callsite.iter().zip(&self.scaled) {
            let mut by_rank = vec![Factor::default(); self.ranks as usize];
            let factor = match place.rank {
                None => PlaceFactor::All(Factor(place.factor)),
                Some(rank) => {
                    by_rank[rank as usize] = Factor(place.factor);
                    PlaceFactor::ByRank(by_rank)
                }
            };
            sites.iter().for_each(|site| setting.scale_place(*site, self.ranks, &factor));
        }
        for sites in &self.balanced {
            let factor = PlaceFactor::ByRank(balance(graph, sites, arguments.without_tracer));
            sites.iter().for_each(|site| setting.scale_place(*site, self.ranks, &factor));
        }
        setting
    }

    fn network(&self, fit: &Fit) -> Network {
        let arguments = self.arguments;
        let times = |wish: Option<Times>| wish.map_or(1.0, |times| times.0);
        match (&arguments.loggops, arguments.network) {
            (Some(model), _) => Network::Model(model.apply(fit.model())),
            (None, Some(NetworkKind::Ideal)) => Network::Ideal,
            _ if arguments.latency.is_none() && arguments.bandwidth.is_none() => Network::AsRecorded,
            _ => {
                Network::Changed { latency: times(arguments.latency), bandwidth: times(arguments.bandwidth) }
            }
        }
    }
}

/// The setting as options, each with its value.
pub fn words(arguments: &ReplayArguments) -> Vec<String> {
    let mut words = Vec::new();
    if arguments.network == Some(NetworkKind::Ideal) {
        words.push("--network ideal".to_owned());
    }
    words.extend(arguments.latency.map(|times| format!("--latency {times}")));
    words.extend(arguments.bandwidth.map(|times| format!("--bandwidth {times}")));
    words.extend(arguments.loggops.map(|model| format!("--loggops {model}")));
    words.extend(arguments.eager_limit.map(|limit| format!("--eager-limit {limit}")));
    words.extend(arguments.cpu.map(|times| format!("--cpu {times}")));
    words.extend(arguments.callsite.iter().map(|place| format!("--callsite {place}")));
    words.extend(arguments.balance.iter().map(|line| format!("--balance {line}")));
    words.extend(arguments.overlap.iter().map(|line| format!("--overlap {line}")));
    words.extend(arguments.without_tracer.then(|| "--without-tracer".to_owned()));
    words
}
