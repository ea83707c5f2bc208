//! What is different, step by step, in a run in which something is gone that costs time: for replays that tell what that
//! gains, those of findings and those that people ask for.

use crate::diseases;
use crate::phases::iterations;
use crate::work_interval::{Borders, WorkInterval};
use kizami_blame::ByStep;
use kizami_blame::Waits;
use kizami_blame::{Doing, Excess, blame};
use kizami_graph::Graph;
use kizami_model::Length;
use kizami_network::Fit;
use kizami_replay::{StepChange, learn};

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

/// What is different if computation before calls made at `sites` is no longer than others could wait for: each time shorter
/// by as much as others waited for it, as far as it is longer than usual.
pub fn no_longer(graph: &Graph, sites: &[u32], threads: usize) -> Vec<(u64, StepChange)> {
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

/// What is different if small messages or collectives that follow each other closely at `sites` are joined.
pub fn joined(graph: &Graph, fit: &Fit, sites: &[u32]) -> Vec<(u64, StepChange)> {
    diseases::joined(graph, fit, sites)
}

/// What is different if messages taken at `sites` are taken as they come.
pub fn as_they_come(graph: &Graph, fit: &Fit, sites: &[u32]) -> Vec<(u64, StepChange)> {
    diseases::as_they_come(graph, fit, sites)
}
