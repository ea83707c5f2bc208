//! What the tasks of a rank say about its regions: the longest chain of what ran in each.

use crate::regions::{Region, Regions};
use kizami_model::{Length, Moment, Rank};
use kizami_tasks::{TaskGraph, TasksError};
use kizami_trace::{TaskKind, TaskRow, Trace};

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
}

impl Span {
    /// Whether the region is made of tasks: they are half of what it runs.
    pub(crate) fn is_of_tasks(&self) -> bool {
        self.tasks > Length::ZERO && self.tasks >= self.shares
    }
}

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
        }
    }
    Ok(spans)
}
