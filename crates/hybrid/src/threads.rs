//! What is told of a run's threads.

use crate::account::{Account, Region};
use crate::loss::Loss;
use crate::window::Window;
use kizami_model::{Call, Length, Op};
use kizami_trace::{Definitions, ParallelRow, RankSelection, SourceLine, Trace, TraceError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Efficiencies of threads, and where their time went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// Threads of all ranks.
    pub threads: u32,
    /// The most of one rank.
    pub most_threads: u32,
    /// Parallel regions that were run.
    pub regions: u64,
    /// Part of the time of all threads in which they compute: `mpi` times `openmp`.
    pub useful: f64,
    /// Part of their time that ranks are outside MPI.
    pub mpi: f64,
    /// Part of the threads' time outside MPI in which they compute.
    pub openmp: f64,
    /// Part of the threads' time in parallel regions in which they compute.
    pub in_regions: f64,
    /// Time of all threads, which shares are of.
    pub all_ns: i64,
    /// What was lost, the most first.
    pub losses: Vec<Loss>,
}

impl Threads {
    /// Of a trace; none if it has no parallel regions.
    pub fn of(trace: &Trace) -> Result<Option<Threads>, TraceError> {
        let rows: Vec<ParallelRow> =
            trace.parts_of::<ParallelRow>()?.collect::<Result<Vec<_>, _>>()?.concat();
        if rows.is_empty() {
            return Ok(None);
        }
        let definitions = trace.definitions()?;
        let window = Window::of(trace, &definitions.ranks, &rows)?;
        let (mut account, mut threads, mut most) = (Account::default(), 0, 0);
        let ranks = definitions.ranks.len().max(1) as u32;
        for rank in 0..ranks {
            // They are sorted by rank.
            let first = rows.partition_point(|row| row.rank.0 < rank);
            let of_rank = &rows[first..rows.partition_point(|row| row.rank.0 <= rank)];
            let widest = of_rank.iter().map(|row| row.threads).max().unwrap_or(1).max(1);
            let selection = RankSelection::One(kizami_model::Rank(rank));
            let calls: Vec<Call> = trace.calls(selection)?.collect::<Result<_, _>>()?;
            account.add_rank(window, widest, &outermost(of_rank), &calls);
            threads += widest;
            most = most.max(widest);
        }
        Ok(Some(Threads::told(&definitions, &account, (threads, most), rows.len() as u64)))
    }

    fn told(
        definitions: &Definitions,
        account: &Account,
        (threads, most_threads): (u32, u32),
        regions: u64,
    ) -> Threads {
        let ratio = |part: Length, whole: Length| match whole.0 {
            0 => 1.0,
            whole => part.0 as f64 / whole as f64,
        };
        let (useful, mpi) = (ratio(account.useful, account.all), ratio(account.outside_mpi, account.ranks));
        let mut losses: Vec<Loss> = account
            .losses
            .iter()
            .map(|(key, length)| Loss {
                kind: key.kind,
                place: SourceLine::of(definitions, key.callsite),
                call: key.op.map(|op| Op(op).name().to_owned()),
                ns: length.0,
            })
            .collect();
        losses.sort_by_key(|loss| std::cmp::Reverse(loss.ns));
        Threads {
            threads,
            most_threads,
            regions,
            useful,
            mpi,
            openmp: if mpi > 0.0 { useful / mpi } else { 1.0 },
            in_regions: ratio(account.useful_in_regions, account.in_regions),
            all_ns: account.all.0,
            losses,
        }
    }

    /// A loss as a part of the time of all threads.
    pub fn share(&self, loss: &Loss) -> f64 {
        loss.ns as f64 / self.all_ns.max(1) as f64
    }
}

/// Regions that lie in no other, each with what those inside it ran.
fn outermost(rows: &[ParallelRow]) -> Vec<Region> {
    let within: BTreeMap<u64, u64> = rows.iter().filter_map(|row| Some((row.region, row.within?))).collect();
    let mut running: BTreeMap<u64, Length> = BTreeMap::new();
    for row in rows {
        let mut region = row.region;
        // Whoever is around has a smaller number, so this ends.
        while let Some(around) = within.get(&region).filter(|around| **around < region) {
            region = *around;
        }
        *running.entry(region).or_default() += row.running;
    }
    let outer = rows.iter().filter(|row| row.within.is_none());
    outer.map(|row| Region { row: row.clone(), running: running[&row.region] }).collect()
}
