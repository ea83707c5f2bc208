//! From changes to the setting of a replay that makes them: the one place where that is done, for findings, ideas and those
//! who ask for a replay.

use crate::cores::own_cores;
use crate::diseases;
use crate::phases::iterations;
use crate::work_interval::{Borders, WorkInterval};
use kizami_blame::ByStep;
use kizami_blame::Waits;
use kizami_blame::{Doing, Excess, blame};
use kizami_graph::Graph;
use kizami_hybrid::{LossKind, Regions, Sharing, Spans, ThreadChange};
use kizami_model::Length;
use kizami_network::Fit;
use kizami_replay::{Factor, Network, Pieces, PlaceFactor, Setting, StepChange, learn};
use kizami_whatif::{Change, Epochs, Paces, balance};
use std::sync::OnceLock;

/// A change with the call sites that it is about.
pub type ResolvedChange = Change<Vec<u32>>;

/// The run that changes are made to.
#[derive(Debug)]
pub struct ChangedRun<'a> {
    /// Its graph.
    pub graph: &'a Graph,
    /// What it says about its network.
    pub fit: &'a Fit,
    /// Its epochs, worked out when they are needed.
    pub epochs: &'a OnceLock<Epochs>,
    /// Its parallel regions, and what tasks say of them; without, nothing about threads is changed.
    pub regions: Option<(&'a Regions, &'a Spans)>,
    /// What [`Change::Machine`] and [`Change::Platform`] stand for: they name files, which are not read here.
    pub network: Option<Network>,
    /// Threads to work with.
    pub threads: usize,
}

impl ChangedRun<'_> {
    /// The setting in which all these changes are made.
    pub fn setting(&self, changes: &[ResolvedChange]) -> Setting {
        let ranks = self.graph.ranks();
        let without_tracer = changes.contains(&Change::WithoutTracer);
        let own_cores = changes.contains(&Change::OwnCores);
        let mut setting = Setting { without_tracer, own_cores, ..Setting::default() };
        let (mut latency, mut bandwidth, mut network) = (None, None, None);
        let (mut steps, mut threads) = (Vec::new(), ThreadChange::default());
        let (mut excess_at, mut joined_at, mut taken_at) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::WithoutTracer => {}
                Change::OwnCores => steps.extend(give_own_cores(self.graph, self.threads)),
                Change::IdealNetwork => network = Some(Network::Ideal),
                Change::Latency(times) => latency = Some(times.0),
                Change::Bandwidth(times) => bandwidth = Some(times.0),
                Change::LogGops(model) => network = Some(Network::Model(model.apply(self.fit.model()))),
                Change::Machine(_) | Change::Platform(_) => network.clone_from(&self.network),
                Change::EagerLimit(limit) => setting.eager_limit_bytes = Some(limit.bytes),
                // A processor that is so many times as fast takes that part of the time.
                Change::Cpu(times) => setting.cpu = Factor(1.0 / times.0),
                Change::Scale(sites, rank, factor) | Change::ScaleBelow(sites, rank, factor) => {
                    let factor = match rank {
                        None => PlaceFactor::All(Factor(*factor)),
                        Some(rank) => {
                            let mut by_rank = vec![Factor::default(); ranks as usize];
                            by_rank[*rank as usize] = Factor(*factor);
                            PlaceFactor::ByRank(by_rank)
                        }
                    };
                    sites.iter().for_each(|site| setting.scale_place(*site, ranks, &factor));
                }
                Change::Balance(sites) => {
                    let epochs = self.epochs.get_or_init(|| Epochs::of(self.graph));
                    steps.extend(balance(self.graph, epochs, sites, without_tracer));
                }
                Change::LikeOthers(ranks) => {
                    steps.extend(Paces::of(self.graph, without_tracer).like_others(self.graph, &ranks.0));
                }
                Change::Threads(count) => threads.threads = Some(*count),
                Change::BalanceThreads(sites) => threads.without.push((LossKind::Imbalance, some(sites))),
                Change::ShareSerial(sites) => threads.without.push((LossKind::Serial, some(sites))),
                Change::Overlap(sites) => {
                    setting.overlapped.extend(sites.iter().map(|site| (*site, Pieces::Endless)));
                }
                Change::Pieces(sites, pieces) => {
                    setting.overlapped.extend(sites.iter().map(|site| (*site, Pieces::Of(*pieces))));
                }
                Change::RemoveExcess(sites) => excess_at.extend(sites),
                Change::OutOfLock(sites) => steps.extend(diseases::out_of_locks(self.graph, sites)),
                Change::LeaveOut(sites) => setting.left_out.extend(sites),
                Change::PostEarly(sites) => setting.posted_early.extend(sites),
                Change::Join(sites) => joined_at.extend(sites),
                Change::TakeAsTheyCome(sites) => taken_at.extend(sites),
                Change::EvenTail(sites) => {
                    let epochs = self.epochs.get_or_init(|| Epochs::of(self.graph));
                    steps.extend(diseases::even_tail(self.graph, epochs, sites));
                }
                Change::EvenExchange(sites) => steps.extend(diseases::even_exchanges(self.graph, sites)),
                Change::IdealAt(sites) => setting.ideal_at.extend(sites),
            }
        }
        // What several places have in common is found with all of them.
        if !excess_at.is_empty() {
            steps.extend(remove_excess(self.graph, &excess_at, self.threads));
        }
        if !joined_at.is_empty() {
            steps.extend(diseases::joined(self.graph, self.fit, &joined_at));
        }
        if !taken_at.is_empty() {
            steps.extend(diseases::as_they_come(self.graph, self.fit, &taken_at));
        }
        if let Some((regions, spans)) =
            self.regions.filter(|_| threads.threads.is_some() || !threads.without.is_empty())
        {
            threads.sharing = Sharing::AsNow;
            steps.extend(kizami_hybrid::changes(self.graph, regions, spans, &threads).steps);
        }
        if !steps.is_empty() {
            setting.steps = Setting::of_steps(self.graph, steps).steps;
        }
        setting.network = network.unwrap_or_else(|| match (latency, bandwidth) {
            (None, None) => Network::AsRecorded,
            _ => Network::Changed { latency: latency.unwrap_or(1.0), bandwidth: bandwidth.unwrap_or(1.0) },
        });
        setting
    }
}

fn some(sites: &[u32]) -> Vec<Option<u32>> {
    sites.iter().copied().map(Some).collect()
}

/// These stretches are shorter by as much as others waited for them.
pub(crate) fn without_excess<'a>(excesses: impl Iterator<Item = &'a Excess>) -> Vec<(u64, StepChange)> {
    let change = |excess: &Excess| {
        let shorter = Length::ZERO - excess.length;
        let change = if excess.inside {
            StepChange { inside: shorter, ..StepChange::default() }
        } else {
            StepChange { before: shorter, ..StepChange::default() }
        };
        (excess.step, change)
    };
    excesses.map(change).collect()
}

/// What is different if every thread has its own core.
fn give_own_cores(graph: &Graph, threads: usize) -> Vec<(u64, StepChange)> {
    let waits = Waits::all(learn(graph, threads, Waits::new, &|_| {}).observers);
    let interval = WorkInterval::recorded(graph, &Borders::new(), threads);
    own_cores(graph, interval, &waits.long, &ByStep::new(graph.steps.len(), &waits.long))
}

/// What is different if computation before calls made at `sites` loses its excess: each time it is shorter by as much as
/// others waited for it, as far as it is longer than the baseline.
fn remove_excess(graph: &Graph, sites: &[u32], threads: usize) -> Vec<(u64, StepChange)> {
    let mut waits = Waits::all(learn(graph, threads, Waits::new, &|_| {}).observers);
    kizami_blame::divide(graph, &mut waits);
    let by_step = ByStep::new(graph.steps.len(), &waits.long);
    let blamed = blame(graph, &waits.long, &by_step, threads);
    let interval = WorkInterval::recorded(graph, &Borders::new(), threads);
    let begins = iterations(graph, interval);
    let too_long = diseases::too_long(graph, &blamed, interval, &begins, threads);
    let there = |doing: &Doing| matches!(doing, Doing::Computing(Some(site)) if sites.contains(site));
    let there = too_long.iter().filter(|(doing, _)| there(doing));
    let mut changes = without_excess(there.flat_map(|(_, excesses)| excesses));
    changes.sort_by_key(|(step, _)| *step);
    changes
}
