//! From what was asked for to the setting of a replay, and back to words for the `run.json` of what comes out.

use super::arguments::ReplayArguments;
use super::options::{Line, LinePieces, NetworkKind, Times};
use super::places::sites_at;
use super::threads::ThreadPlan;
use crate::commands::platform;
use crate::failure::UsageError;
use anyhow::Result;
use kizami_explain::{as_they_come, joined, no_longer};
use kizami_graph::Graph;
use kizami_machine::Machine;
use kizami_network::platform::Platform;
use kizami_network::{Fit, MeasuredCosts};
use kizami_predict::{on_platform, spreads_of};
use kizami_replay::{Epochs, Factor, Network, Pieces, PlaceFactor, Setting, StepChange, balance};
use kizami_trace::{CallSite, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The setting as far as it is known before the trace has been read.
pub struct Plan<'a> {
    arguments: &'a ReplayArguments,
    ranks: u32,
    /// Sites of each `--callsite` and each `--balance`.
    scaled: Vec<Vec<u32>>,
    balanced: Vec<Vec<u32>>,
    /// Of all the other options, in how many pieces where that is asked for.
    overlapped: FxHashMap<u32, Pieces>,
    no_longer: Vec<u32>,
    left_out: FxHashSet<u32>,
    posted_early: FxHashSet<u32>,
    joined: Vec<u32>,
    as_they_come: Vec<u32>,
    ideal_at: FxHashSet<u32>,
    machine: Option<Arc<MeasuredCosts>>,
    platform: Option<Platform>,
    threads: Option<ThreadPlan>,
}

impl<'a> Plan<'a> {
    /// Looks all places up, so that a wrong one is told at once.
    pub fn new(arguments: &'a ReplayArguments, trace: &Trace, sites: &[CallSite]) -> Result<Plan<'a>> {
        let ranks = trace.run().ranks;
        let beyond = arguments.callsite.iter().find(|place| place.rank.is_some_and(|rank| rank >= ranks));
        if let Some(place) = beyond {
            let last = ranks.saturating_sub(1);
            let what = format!("{place} names no rank of the run; its ranks are 0 to {last}");
            return Err(UsageError(what).into());
        }
        let scaled = arguments.callsite.iter().map(|place| sites_at(&place.line, sites));
        let balanced = arguments.balance.iter().map(|line| sites_at(line, sites));
        let mut overlapped = FxHashMap::default();
        for line in &arguments.overlap {
            overlapped.extend(sites_at(line, sites)?.into_iter().map(|site| (site, Pieces::Endless)));
        }
        for LinePieces { line, pieces } in &arguments.pieces {
            overlapped.extend(sites_at(line, sites)?.into_iter().map(|site| (site, Pieces::Of(*pieces))));
        }
        Ok(Plan {
            arguments,
            ranks,
            scaled: scaled.collect::<Result<_, _>>()?,
            balanced: balanced.collect::<Result<_, _>>()?,
            overlapped,
            no_longer: all_sites(&arguments.no_longer, sites)?,
            left_out: all_sites(&arguments.leave_out, sites)?.into_iter().collect(),
            posted_early: all_sites(&arguments.post_early, sites)?.into_iter().collect(),
            joined: all_sites(&arguments.join, sites)?,
            as_they_come: all_sites(&arguments.as_they_come, sites)?,
            ideal_at: all_sites(&arguments.ideal_at, sites)?.into_iter().collect(),
            machine: match &arguments.machine {
                Some(machine) => {
                    let spreads = spreads_of(&[trace])?;
                    Some(Arc::new(MeasuredCosts { spreads, ..Machine::open(machine)?.costs() }))
                }
                None => None,
            },
            platform: arguments.platform.as_deref().map(platform::open).transpose()?,
            threads: ThreadPlan::new(arguments, trace, sites)?,
        })
    }

    /// All of it, now that the trace has been read.
    pub fn setting(&self, graph: &Graph, fit: &Fit, threads: usize) -> Result<Setting> {
        let arguments = self.arguments;
        let mut setting = Setting {
            // A processor that is so many times as fast takes that part of the time.
            cpu: Factor(1.0 / arguments.cpu.map_or(1.0, |times| times.0)),
            network: self.network(graph, fit)?,
            eager_limit_bytes: arguments.eager_limit.map(|limit| limit.bytes),
            overlapped: self.overlapped.clone(),
            left_out: self.left_out.clone(),
            posted_early: self.posted_early.clone(),
            ideal_at: self.ideal_at.clone(),
            without_tracer: arguments.without_tracer,
            ..Setting::of_steps(graph, self.changes(graph, fit, threads))
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
        Ok(setting)
    }

    /// What is different step by step.
    fn changes(&self, graph: &Graph, fit: &Fit, threads: usize) -> Vec<(u64, StepChange)> {
        let mut changes = Vec::new();
        if !self.balanced.is_empty() {
            let epochs = Epochs::of(graph);
            let balanced = |sites: &Vec<u32>| balance(graph, &epochs, sites, self.arguments.without_tracer);
            changes.extend(self.balanced.iter().flat_map(balanced));
        }
        if !self.no_longer.is_empty() {
            changes.extend(no_longer(graph, &self.no_longer, threads));
        }
        if !self.joined.is_empty() {
            changes.extend(joined(graph, fit, &self.joined));
        }
        if !self.as_they_come.is_empty() {
            changes.extend(as_they_come(graph, fit, &self.as_they_come));
        }
        changes.extend(self.threads.iter().flat_map(|threads| threads.changes(graph)));
        changes
    }

    fn network(&self, graph: &Graph, fit: &Fit) -> Result<Network> {
        let arguments = self.arguments;
        if let Some(costs) = &self.machine {
            return Ok(Network::Measured(costs.clone()));
        }
        if let Some(platform) = &self.platform {
            return Ok(Network::Model(on_platform(graph, platform, fit.model().eager_limit_bytes)?.model));
        }
        let times = |wish: Option<Times>| wish.map_or(1.0, |times| times.0);
        Ok(match (&arguments.loggops, arguments.network) {
            (Some(model), _) => Network::Model(model.apply(fit.model())),
            (None, Some(NetworkKind::Ideal)) => Network::Ideal,
            _ if arguments.latency.is_none() && arguments.bandwidth.is_none() => Network::AsRecorded,
            _ => {
                Network::Changed { latency: times(arguments.latency), bandwidth: times(arguments.bandwidth) }
            }
        })
    }
}

/// Call sites of several lines.
fn all_sites(lines: &[Line], sites: &[CallSite]) -> Result<Vec<u32>, UsageError> {
    let each: Vec<Vec<u32>> = lines.iter().map(|line| sites_at(line, sites)).collect::<Result<_, _>>()?;
    Ok(each.concat())
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
    words.extend(arguments.machine.as_ref().map(|machine| format!("--machine {}", machine.display())));
    words.extend(arguments.platform.as_ref().map(|platform| format!("--platform {platform}")));
    words.extend(arguments.eager_limit.map(|limit| format!("--eager-limit {limit}")));
    words.extend(arguments.cpu.map(|times| format!("--cpu {times}")));
    words.extend(arguments.callsite.iter().map(|place| format!("--callsite {place}")));
    words.extend(arguments.balance.iter().map(|line| format!("--balance {line}")));
    words.extend(arguments.omp_threads.map(|threads| format!("--omp-threads {threads}")));
    words.extend(arguments.balance_threads.iter().map(|line| format!("--balance-threads {line}")));
    words.extend(arguments.share_serial.iter().map(|line| format!("--share-serial {line}")));
    words.extend(arguments.overlap.iter().map(|line| format!("--overlap {line}")));
    words.extend(arguments.no_longer.iter().map(|line| format!("--no-longer {line}")));
    words.extend(arguments.leave_out.iter().map(|line| format!("--leave-out {line}")));
    words.extend(arguments.post_early.iter().map(|line| format!("--post-early {line}")));
    words.extend(arguments.pieces.iter().map(|pieces| format!("--pieces {pieces}")));
    words.extend(arguments.join.iter().map(|line| format!("--join {line}")));
    words.extend(arguments.as_they_come.iter().map(|line| format!("--as-they-come {line}")));
    words.extend(arguments.ideal_at.iter().map(|line| format!("--ideal-at {line}")));
    words.extend(arguments.without_tracer.then(|| "--without-tracer".to_owned()));
    words
}
