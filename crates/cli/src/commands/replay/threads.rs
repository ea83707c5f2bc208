//! What is asked for about the threads of ranks, and which steps of a run that changes.

use super::arguments::ReplayArguments;
use super::options::Line;
use super::places::sites_at;
use crate::failure::UsageError;
use crate::show::path::as_typed;
use anyhow::Result;
use kizami_explain::{
    LossKind, RunThreads, Sharing, ThreadChange, ThreadRegions, ThreadSpans, thread_changes,
};
use kizami_graph::Graph;
use kizami_replay::StepChange;
use kizami_trace::{CallSite, Trace};

/// Parallel regions, and what is different about them.
pub struct ThreadPlan {
    regions: ThreadRegions,
    spans: ThreadSpans,
    change: ThreadChange,
}

impl ThreadPlan {
    /// None if nothing is asked for. Looks all places up, so that a wrong one is told at once.
    pub fn new(arguments: &ReplayArguments, trace: &Trace, sites: &[CallSite]) -> Result<Option<ThreadPlan>> {
        let (balanced, shared) = (&arguments.balance_threads, &arguments.share_serial);
        if arguments.omp_threads.is_none() && balanced.is_empty() && shared.is_empty() {
            return Ok(None);
        }
        let regions = regions_of(trace)?;
        let places = |lines: &[Line]| lines.iter().map(|line| begin_at(line, &regions, sites)).collect();
        let without = |kind, places: Result<Vec<Vec<Option<u32>>>, UsageError>| Ok((kind, places?.concat()));
        let without =
            [without(LossKind::Imbalance, places(balanced)), without(LossKind::Serial, places(shared))];
        let without = without.into_iter().collect::<Result<_, UsageError>>()?;
        let spans = ThreadSpans::of(trace, &regions)?;
        let change = ThreadChange { threads: arguments.omp_threads, sharing: Sharing::AsNow, without };
        Ok(Some(ThreadPlan { regions, spans, change }))
    }

    /// What is different step by step.
    pub fn changes(&self, graph: &Graph) -> Vec<(u64, StepChange)> {
        thread_changes(graph, &self.regions, &self.spans, &self.change).steps
    }
}

/// All that is known of the threads of a trace; none if it has no parallel regions.
pub fn threads_of(trace: &Trace) -> Result<Option<RunThreads>> {
    let Some(told) = kizami_explain::Threads::of(trace)? else { return Ok(None) };
    let regions = regions_of(trace)?;
    let spans = ThreadSpans::of(trace, &regions)?;
    Ok(Some(RunThreads { told, regions, spans }))
}

/// Refuses a trace that has none.
pub fn regions_of(trace: &Trace) -> Result<ThreadRegions> {
    Ok(ThreadRegions::of(trace)?.ok_or_else(|| {
        let path = as_typed(trace.path());
        let what = "it has no OpenMP, was recorded with --openmp off, or is no recording itself";
        UsageError(format!(
            "{path} has no parallel regions: {what}. Give a recording of a program with OpenMP"
        ))
    })?)
}

/// Call sites of a line at which parallel regions begin.
fn begin_at(
    line: &Line,
    regions: &ThreadRegions,
    sites: &[CallSite],
) -> Result<Vec<Option<u32>>, UsageError> {
    let found = sites_at(line, sites)?;
    if regions.begin_at(&found) {
        return Ok(found.into_iter().map(Some).collect());
    }
    let what = format!("no parallel region begins at {line}; `kizami report` names those that lose time");
    Err(UsageError(what))
}
