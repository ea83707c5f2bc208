//! Collectives one by one: who came when, and when each left.

use super::Selection;
use crate::insight::Insight;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// One collective, as far as it is in the selection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Collective {
    /// Index of the communicator.
    pub comm: u32,
    /// Number of the function, as the first one called it.
    pub op: u16,
    /// Ranks that take part.
    pub ranks: Vec<u32>,
    /// When each came.
    pub start: Vec<i64>,
    /// When each left.
    pub end: Vec<i64>,
}

/// The collectives under way in a selection, up to `limit` calls that take part in them; and whether there are more.
pub fn collectives(insight: &Insight, selection: &Selection, limit: u64) -> (Vec<Collective>, bool) {
    let graph = &insight.graph;
    let mut by_key: FxHashMap<(u64, u32), Collective> = FxHashMap::default();
    let mut count = 0;
    for rank in &selection.ranks {
        if count > limit {
            break;
        }
        let range = insight.steps_of(*rank);
        let steps = &graph.steps[range.start as usize..range.end as usize];
        let end = steps.partition_point(|step| step.start.0 < selection.to.0);
        // Calls of a thread follow each other; few are under way that began long before.
        let first = steps[..end].partition_point(|step| step.end.0 < selection.from.0);
        for step in steps[first..end].iter().filter(|step| step.end.0 >= selection.from.0) {
            let ties = graph.ties_of(step);
            let Some(tie) = ties.iter().find(|tie| tie.kind().is_collective() && tie.kind().announces())
            else {
                continue;
            };
            count += 1;
            if count <= limit {
                let (comm, op) = (insight.comm_of(tie.place(), *rank), step.op().0);
                let new = || Collective { comm, op, ..Collective::default() };
                let found = by_key.entry((tie.key, comm)).or_insert_with(new);
                found.ranks.push(*rank);
                found.start.push(step.start.0);
                found.end.push(step.end.0);
            }
        }
    }
    let mut all: Vec<Collective> = by_key.into_values().collect();
    all.sort_by_key(|one| (one.start.iter().min().copied(), one.comm, one.ranks.first().copied()));
    (all, count > limit)
}
