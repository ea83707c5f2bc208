//! What the tasks of a rank say about its regions: the longest chain of what ran in each.

use crate::loss::LossKind;
use crate::regions::{Region, Regions};
use kizami_model::{Length, Moment, Rank};
use kizami_tasks::{Path, TaskGraph, TasksError};
use kizami_trace::{TaskKind, TaskRow, Trace};
use std::collections::BTreeMap;

/// All tasks are read once for each rank; of more ranks they are not.
const MOST_RANKS: usize = 256;

/// Of one region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The longest chain, in virtual time; zero if nothing is known.
    pub length: Length,
    /// How long explicit tasks ran, and what else was run.
    pub tasks: Length,
    pub shares: Length,
    /// The place of tasks with most of the chain, and how long they are.
    pub most: Option<(u32, Length)>,
}

impl Span {
    /// Whether the region is made of tasks: they are half of what it runs.
    pub(crate) fn is_of_tasks(&self) -> bool {
        self.tasks > Length::ZERO && self.tasks >= self.shares
    }
}

/// The longest chains of tasks in all regions begun at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Where these regions were begun: index in `defs/callsites`.
    pub region: Option<u32>,
    /// The place whose tasks make up most of the chains.
    pub tasks: Option<u32>,
    /// How long the chains are, in virtual time.
    pub span: Length,
    /// How long all that they are chains of ran.
    pub work: Length,
    /// How long these regions lasted.
    pub length: Length,
    /// How long they would at least last if no task depended on another one: their work spread over their threads.
    pub shared: Length,
    /// Threads of the widest.
    pub threads: u32,
}

/// A chain, and for how long tasks of each place are in it.
type ChainOfTasks = (Chain, BTreeMap<u32, Length>);

/// Those of all regions, by rank; empty where tasks were not recorded.
#[derive(Clone, Debug, Default)]
pub struct Spans(Vec<Vec<Span>>);

impl Spans {
    /// Of a trace with these regions.
    pub fn of(trace: &Trace, regions: &Regions) -> Result<Spans, TasksError> {
        if regions.ranks.len() > MOST_RANKS || !trace.has_parts_of::<TaskRow>() {
            return Ok(Spans::default());
        }
        let of_rank = |(rank, regions): (u32, &[Region])| match TaskGraph::of(trace, Rank(rank)) {
            Ok(graph) => of_regions(trace, Rank(rank), &graph, regions),
            Err(TasksError::NoTasks { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let ranks = (0..).zip(regions.ranks.iter().map(|rank| &rank.outer[..]));
        Ok(Spans(ranks.map(of_rank).collect::<Result<_, _>>()?))
    }

    /// Regions of tasks that are longer than their tasks would take in any order because these follow each other: a longest
    /// chain is longer than the work divided by the threads. Ranks run at the same time: of those that begin regions at a place, the
    /// one that loses most counts.
    pub fn chains(&self, regions: &Regions) -> Vec<Chain> {
        let mut chains: BTreeMap<(Option<u32>, usize), ChainOfTasks> = BTreeMap::new();
        for (rank, of_rank) in regions.ranks.iter().enumerate() {
            for (place, region) in of_rank.outer.iter().enumerate() {
                let Some(span) = self.get(rank, place).filter(Span::is_of_tasks) else { continue };
                let (row, work) = (&region.row, span.tasks + span.shares);
                let shared = work / i64::from(region.threads(of_rank.widest));
                let none = Chain {
                    region: row.callsite,
                    tasks: None,
                    span: Length::ZERO,
                    work: Length::ZERO,
                    length: Length::ZERO,
                    shared: Length::ZERO,
                    threads: 0,
                };
                let (chain, most) =
                    chains.entry((row.callsite, rank)).or_insert_with(|| (none, BTreeMap::new()));
                chain.span += span.length;
                chain.work += work;
                // With a core for each of its threads.
                let length = row.end - row.start;
                let away = region.losses(of_rank.widest, length, Length::ZERO).of(LossKind::Away);
                chain.length += length - away / i64::from(region.threads(of_rank.widest));
                chain.shared += shared;
                chain.threads = chain.threads.max(row.threads);
                if let Some((tasks, length)) = span.most {
                    *most.entry(tasks).or_default() += length;
                }
            }
        }
        let most = |most: BTreeMap<u32, Length>| most.into_iter().max_by_key(|(_, length)| *length);
        let named = chains
            .into_values()
            .map(|(chain, places)| Chain { tasks: most(places).map(|(tasks, _)| tasks), ..chain });
        let mut worst: BTreeMap<Option<u32>, Chain> = BTreeMap::new();
        for chain in named.filter(|chain| chain.span > chain.shared) {
            let known = worst.entry(chain.region).or_insert(chain);
            if chain.length - chain.shared > known.length - known.shared {
                *known = chain;
            }
        }
        worst.into_values().collect()
    }

    pub(crate) fn get(&self, rank: usize, region: usize) -> Option<Span> {
        let span = self.0.get(rank)?.get(region)?;
        (span.length > Length::ZERO).then_some(*span)
    }
}

/// What ran while a region did belongs to it: regions that lie in no other follow each other.
fn of_regions(
    trace: &Trace,
    rank: Rank,
    graph: &TaskGraph,
    regions: &[Region],
) -> Result<Vec<Span>, TasksError> {
    let mut spans = vec![Span::default(); regions.len()];
    let mut edges: Vec<Option<(Moment, Moment)>> = vec![None; regions.len()];
    // By task, whether it continues an explicit task.
    let mut explicit: Vec<bool> = Vec::with_capacity(graph.len());
    // Explicit tasks, each with its region.
    let mut own: Vec<(usize, usize)> = Vec::new();
    for part in trace.parts_of::<TaskRow>()? {
        for row in part?.into_iter().filter(|row| row.rank == rank) {
            let parent = row.parent.and_then(|parent| explicit.get(parent.checked_sub(1)? as usize));
            let is_explicit = match row.kind {
                TaskKind::Continued => parent.is_some_and(|explicit| *explicit),
                kind => kind == TaskKind::Explicit,
            };
            explicit.push(is_explicit);
            let Some(task) = graph.tasks().get(explicit.len() - 1) else { continue };
            let place = regions.partition_point(|region| region.row.start <= row.start).checked_sub(1);
            let Some(place) = place.filter(|place| row.start < regions[*place].row.end) else { continue };
            let span = &mut spans[place];
            *(if is_explicit { &mut span.tasks } else { &mut span.shares }) += task.work();
            let edge = edges[place].get_or_insert((task.start, task.end));
            *edge = (edge.0.min(task.start), edge.1.max(task.end));
            span.length = edge.1 - edge.0;
            if is_explicit {
                own.push((explicit.len() - 1, place));
            }
        }
    }
    let mut on_path: BTreeMap<(usize, u32), Length> = BTreeMap::new();
    for stretch in Path::of(graph).stretches {
        let task = graph.tasks()[stretch.task as usize];
        let found = own.binary_search_by_key(&(stretch.task as usize), |(task, _)| *task);
        if let (Ok(found), Some(site)) = (found, task.place) {
            *on_path.entry((own[found].1, site)).or_default() += stretch.to - stretch.from;
        }
    }
    for ((place, site), length) in on_path {
        let most = &mut spans[place].most;
        if most.is_none_or(|(_, longest)| length > longest) {
            *most = Some((site, length));
        }
    }
    Ok(spans)
}
