//! Summary of a run's threads.

use crate::account::Account;
use crate::loss::{Loss, LossKind};
use crate::regions::{RankRegions, Regions};
use crate::window::Window;
use kizami_model::{Call, Length, Op};
use kizami_trace::{Definitions, RankSelection, SourceLine, Trace, TraceError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How threads spend their time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threads {
    /// Threads of all ranks.
    pub threads: u32,
    /// Largest number of threads of one rank.
    pub most_threads: u32,
    /// Parallel regions that ran.
    pub regions: u64,
    /// Computation as a share of the time of all threads: `mpi` times `openmp`.
    pub useful: f64,
    /// Share of their time that ranks are outside MPI.
    pub mpi: f64,
    /// Computation as a share of the threads' time outside MPI.
    pub openmp: f64,
    /// Computation as a share of the threads' time in parallel regions.
    pub in_regions: f64,
    /// Time of all threads.
    pub all_ns: i64,
    /// Time of threads in parallel regions in which they slept or waited in the system, for files, locks or other threads; it
    /// counts as computation. Null if that is not known.
    #[serde(default)]
    pub asleep_ns: Option<i64>,
    /// Time without computation, largest first; together with the useful time it adds up to `all_ns`.
    pub losses: Vec<Loss>,
}

impl Threads {
    /// Of a trace; none if it has no parallel regions.
    pub fn of(trace: &Trace) -> Result<Option<Threads>, TraceError> {
        let Some(regions) = Regions::of(trace)? else { return Ok(None) };
        let definitions = trace.definitions()?;
        let window = Window::of(trace, &definitions.ranks, &regions)?;
        let (mut account, mut threads) = (Account::default(), 0);
        let ranks = definitions.ranks.len().max(1) as u32;
        for rank in 0..ranks {
            let of_rank = regions.ranks.get(rank as usize);
            let widest = of_rank.map_or(1, |of_rank| of_rank.widest.max(1));
            let selection = RankSelection::One(kizami_model::Rank(rank));
            let mut calls: Vec<Call> = trace.calls(selection)?.collect::<Result<_, _>>()?;
            if let Some(of_rank) = of_rank {
                keep_those_of_regions(&mut calls, of_rank);
            }
            account.add_rank(window, widest, of_rank.map_or(&[], |of_rank| &of_rank.outer), &calls);
            threads += widest;
        }
        Ok(Some(Threads::summary(&definitions, &account, (threads, regions.widest()), regions.run)))
    }

    fn summary(
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
        // A line may have several call sites.
        let mut by_place: BTreeMap<(LossKind, SourceLine, Option<u16>), Length> = BTreeMap::new();
        for (key, length) in &account.losses {
            let place = SourceLine::of(definitions, key.callsite);
            *by_place.entry((key.kind, place, key.op)).or_default() += *length;
        }
        let mut losses: Vec<Loss> = by_place
            .into_iter()
            .map(|((kind, place, op), length)| Loss {
                kind,
                place,
                call: op.map(|op| Op(op).name().to_owned()),
                ns: length.0,
                gain: None,
                at_most: false,
                option: None,
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
            asleep_ns: account.asleep.map(|length| length.0),
            losses,
        }
    }

    /// A loss as a part of the time of all threads.
    pub fn share(&self, loss: &Loss) -> f64 {
        loss.ns as f64 / self.all_ns.max(1) as f64
    }
}

/// Leaves out calls of threads that do not run regions: their time is not that of those who do. Parts of calls are none.
fn keep_those_of_regions(calls: &mut Vec<Call>, regions: &RankRegions) {
    let threads: BTreeSet<u32> = calls.iter().map(|call| call.thread.0).collect();
    let of = |thread: u32| calls.iter().filter(move |call| call.thread.0 == thread);
    let others: Vec<u32> = threads
        .into_iter()
        .filter(|thread| !regions.has_thread(*thread, of(*thread).map(|call| (call.start, call.end))))
        .collect();
    calls.retain(|call| call.calls > 0 && !others.contains(&call.thread.0));
}
