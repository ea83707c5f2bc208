//! From the command line to the changes of a replay, and to the setting that makes them.

use super::arguments::{NetworkKind, ReplayArguments};
use super::threads::regions_of;
use crate::commands::platform;
use anyhow::Result;
use kizami_explain::{ChangedRun, ResolvedChange, ThreadRegions, ThreadSpans};
use kizami_graph::Graph;
use kizami_machine::Machine;
use kizami_network::{Fit, MeasuredCosts};
use kizami_platform::Platform;
use kizami_predict::{on_platform, spreads_of};
use kizami_replay::{Network, Setting};
use kizami_terminal::failure::UsageError;
use kizami_trace::{Definitions, Trace};
use kizami_whatif::Change;
use std::sync::{Arc, OnceLock};

/// The changes as far as they are known before the trace has been read.
pub struct Plan {
    changes: Vec<ResolvedChange>,
    machine: Option<Arc<MeasuredCosts>>,
    platform: Option<Platform>,
    regions: Option<(ThreadRegions, ThreadSpans)>,
}

impl Plan {
    /// Resolves all locations, so that a wrong one is reported at once.
    pub fn new(arguments: &ReplayArguments, trace: &Trace, definitions: &Definitions) -> Result<Plan> {
        let changes = changes(arguments);
        let ranks = trace.run().ranks;
        for change in &changes {
            let rank = match change {
                Change::Scale(_, rank, _) | Change::ScaleBelow(_, rank, _) => *rank,
                Change::LikeOthers(ranks) => ranks.0.last().copied(),
                _ => None,
            };
            if let Some(rank) = rank.filter(|rank| *rank >= ranks) {
                let (change, last) = (change.to_string(), ranks.saturating_sub(1));
                let value = change.split_once(' ').map_or(&*change, |(_, value)| value);
                let what = format!("{value}: the run has no rank {rank}; its ranks are 0 to {last}");
                return Err(UsageError(what).into());
            }
        }
        let resolve =
            |change: &Change| change.resolve(definitions).map_err(|error| UsageError(error.to_string()));
        let resolved = changes.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
        Ok(Plan {
            regions: regions(&changes, &resolved, trace)?,
            changes: resolved,
            machine: match &arguments.machine {
                Some(machine) => {
                    let spreads = spreads_of(&[trace])?;
                    Some(Arc::new(MeasuredCosts { spreads, ..Machine::open(machine)?.costs() }))
                }
                None => None,
            },
            platform: arguments.platform.as_deref().map(platform::open).transpose()?,
        })
    }

    /// The setting, now that the trace has been read, and whether all pairs of ranks get about as much of its links.
    pub fn setting(&self, graph: &Graph, fit: &Fit, threads: usize) -> Result<(Setting, bool)> {
        let (network, is_even) = self.network(graph, fit)?;
        Ok((self.setting_on(network, graph, fit, threads), is_even))
    }

    /// The setting with messages and collectives as recorded: for what a platform is to be simulated with.
    pub fn off_the_network(&self, graph: &Graph, fit: &Fit, threads: usize) -> Result<Setting> {
        Ok(self.setting_on(None, graph, fit, threads))
    }

    fn setting_on(&self, network: Option<Network>, graph: &Graph, fit: &Fit, threads: usize) -> Setting {
        let regions = self.regions.as_ref().map(|(regions, spans)| (regions, spans));
        let epochs = &OnceLock::new();
        ChangedRun { graph, fit, epochs, regions, network, threads }.setting(&self.changes)
    }

    /// The network that a file describes, and whether it is shared evenly.
    fn network(&self, graph: &Graph, fit: &Fit) -> Result<(Option<Network>, bool)> {
        if let Some(costs) = &self.machine {
            return Ok((Some(Network::Measured(costs.clone())), true));
        }
        let Some(platform) = &self.platform else { return Ok((None, true)) };
        let shared = on_platform(graph, platform, fit.model().eager_limit_bytes)?;
        Ok((Some(Network::Model(shared.model)), shared.is_even))
    }
}

/// Parallel regions, if something about threads is to be different. Each place must be one where a region begins.
fn regions(
    changes: &[Change],
    resolved: &[ResolvedChange],
    trace: &Trace,
) -> Result<Option<(ThreadRegions, ThreadSpans)>> {
    let is_of_threads = |change: &Change| {
        matches!(change, Change::Threads(_) | Change::BalanceThreads(_) | Change::ShareSerial(_))
    };
    if !changes.iter().any(is_of_threads) {
        return Ok(None);
    }
    let regions = regions_of(trace)?;
    for (change, resolved) in changes.iter().zip(resolved) {
        if let (Change::BalanceThreads(line) | Change::ShareSerial(line), Some(sites)) =
            (change, sites_of_region(resolved))
            && !regions.begin_at(sites)
        {
            let what = format!(
                "no parallel region starts at {line}; `kizami report` lists the regions that lose time"
            );
            return Err(UsageError(what).into());
        }
    }
    let spans = ThreadSpans::of(trace, &regions)?;
    Ok(Some((regions, spans)))
}

fn sites_of_region(change: &ResolvedChange) -> Option<&[u32]> {
    match change {
        Change::BalanceThreads(sites) | Change::ShareSerial(sites) => Some(sites),
        _ => None,
    }
}

/// All changes of the command line.
pub fn changes(arguments: &ReplayArguments) -> Vec<Change> {
    let mut changes = Vec::new();
    if arguments.network == Some(NetworkKind::Ideal) {
        changes.push(Change::IdealNetwork);
    }
    changes.extend(arguments.latency.map(Change::Latency));
    changes.extend(arguments.bandwidth.map(Change::Bandwidth));
    changes.extend(arguments.loggops.map(Change::LogGops));
    changes.extend(arguments.machine.as_ref().map(|machine| Change::Machine(machine.display().to_string())));
    changes.extend(arguments.platform.clone().map(Change::Platform));
    changes.extend(arguments.eager_limit.map(Change::EagerLimit));
    changes.extend(arguments.cpu.map(Change::Cpu));
    changes.extend(arguments.callsite.iter().cloned());
    changes.extend(arguments.path.iter().cloned());
    changes.extend(arguments.balance.iter().cloned().map(Change::Balance));
    changes.extend(arguments.even_tail.iter().cloned().map(Change::EvenTail));
    changes.extend(arguments.like_others.clone().map(Change::LikeOthers));
    changes.extend(arguments.omp_threads.map(Change::Threads));
    changes.extend(arguments.balance_threads.iter().cloned().map(Change::BalanceThreads));
    changes.extend(arguments.share_serial.iter().cloned().map(Change::ShareSerial));
    changes.extend(arguments.overlap.iter().cloned().map(Change::Overlap));
    changes.extend(arguments.remove_excess.iter().cloned().map(Change::RemoveExcess));
    changes.extend(arguments.out_of_lock.iter().cloned().map(Change::OutOfLock));
    changes.extend(arguments.leave_out.iter().cloned().map(Change::LeaveOut));
    changes.extend(arguments.post_early.iter().cloned().map(Change::PostEarly));
    changes.extend(arguments.pieces.iter().cloned());
    changes.extend(arguments.merge.iter().cloned().map(Change::Join));
    changes.extend(arguments.any_order.iter().cloned().map(Change::TakeAsTheyCome));
    changes.extend(arguments.even_exchange.iter().cloned().map(Change::EvenExchange));
    changes.extend(arguments.ideal_at.iter().cloned().map(Change::IdealAt));
    changes.extend(arguments.own_cores.then_some(Change::OwnCores));
    changes.extend(arguments.without_tracer.then_some(Change::WithoutTracer));
    changes
}
