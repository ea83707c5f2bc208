//! Phases of a run that another run may have as well, so that the two can be laid over each other: the program between
//! `MPI_Init` and `MPI_Finalize`, and every stay in a named region.
//!
//! A phase lasts from the first rank that comes to the last that leaves. Regions are those of the first thread of each
//! rank; the n-th stay of one rank belongs to the n-th of all others.

use crate::index::Index;
use crate::query::work::work;
use kizami_trace::{Definitions, RegionSpan};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Stays in one region that are told, at most.
const MOST_STAYS: u32 = 1_000;

/// A phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phase {
    /// What it is.
    pub kind: PhaseKind,
    /// Name of the region.
    pub name: String,
    /// Which of the stays in it, counted from 0.
    pub instance: u32,
    /// From.
    pub from: i64,
    /// To.
    pub to: i64,
}

/// What a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum PhaseKind {
    /// All of the program, between `MPI_Init` and `MPI_Finalize`.
    Program,
    /// A stay in a region.
    Region,
}

/// The phases of a run, the program first, then regions in the order they are first come to. `spans` are all stays in
/// regions, by rank, then by start.
pub fn phases(index: &Index, definitions: &Definitions, spans: &[RegionSpan]) -> Vec<Phase> {
    let mut phases: Vec<Phase> = program(index).into_iter().collect();
    phases.extend(regions(index, definitions, spans));
    phases
}

/// From the first rank that leaves `MPI_Init` to the last that comes to `MPI_Finalize`, if there is both.
fn program(index: &Index) -> Option<Phase> {
    let work = work(index);
    let (from, to) = (work.from?.0, work.to?.0);
    let name = "MPI_Init to MPI_Finalize".to_owned();
    (to > from).then_some(Phase { kind: PhaseKind::Program, name, instance: 0, from, to })
}

fn regions(index: &Index, definitions: &Definitions, spans: &[RegionSpan]) -> Vec<Phase> {
    let mut found: FxHashMap<(u32, u32), (i64, i64)> = FxHashMap::default();
    for of_rank in spans.chunk_by(|a, b| a.rank == b.rank) {
        let Some((_, _, thread)) = index.seen(of_rank[0].rank.0) else { continue };
        let mut stays: FxHashMap<u32, u32> = FxHashMap::default();
        for span in of_rank.iter().filter(|span| span.thread.0 == thread) {
            let stay = stays.entry(span.region).or_default();
            if *stay < MOST_STAYS {
                let phase = found.entry((span.region, *stay)).or_insert((i64::MAX, i64::MIN));
                *phase = (phase.0.min(span.start.0), phase.1.max(span.end.0));
            }
            *stay += 1;
        }
    }
    let first = |region: u32| found.get(&(region, 0)).map_or(i64::MAX, |phase| phase.0);
    let mut order: Vec<_> = found.iter().filter(|(_, (from, to))| to > from).collect();
    order.sort_unstable_by_key(|((region, stay), _)| (first(*region), *region, *stay));
    let phase = |((region, stay), (from, to)): (&(u32, u32), &(i64, i64))| {
        let name = definitions.regions.get(*region as usize)?.name.clone();
        Some(Phase { kind: PhaseKind::Region, name, instance: *stay, from: *from, to: *to })
    };
    order.into_iter().filter_map(phase).collect()
}
