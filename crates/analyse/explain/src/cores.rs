//! Cores that were not there: how long ranks could have run but had no core, and the run in which each has its own.
//!
//! Where more ranks than cores share a host, or other programs use its cores, a rank waits for a core wherever it is: the
//! computation before a call looks longer, a message that is there is noticed late. What else a report finds may then be the
//! machine's doing. The recorded run knows how long each thread had no core around each call; a replay takes that out. Of what
//! a thread lacked inside a call, only the share counts in which it waited for no other rank: while it waits for one, it does
//! not matter whether it has a core.

use crate::thresholds::THRESHOLDS;
use crate::work_interval::WorkInterval;
use kizami_blame::{ByStep, LongWait};
use kizami_graph::{Graph, OffCore};
use kizami_hybrid::{LossKind, Threads};
use kizami_model::Length;
use kizami_replay::StepChange;
use kizami_trace::RankInfo;
use kizami_whatif::Gain;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Ranks that had no core for a part of their time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedCores {
    /// Ranks on the host with the most of them per core.
    pub ranks: u32,
    /// Their threads, where parallel regions have several; null otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Cores that these ranks may use together; null if that is not known.
    pub cores: Option<u32>,
    /// Time in which threads that call MPI were ready to run but had no core; where these lacked none, the same of the threads
    /// of parallel regions.
    pub waiting_ns: i64,
    /// The same as a share of the time of these threads.
    pub share: f64,
    /// Gain if every thread that calls MPI had its own core; null if these lacked none.
    pub gain: Option<Gain>,
}

impl SharedCores {
    /// Of a run in which that took a part of the time worth mentioning; none of another.
    pub(crate) fn of(graph: &Graph, ranks: &[RankInfo], interval: WorkInterval) -> Option<SharedCores> {
        let waiting: Length =
            lacking(graph, interval).map(|(_, off_core)| off_core.before + off_core.inside).sum();
        let all_ns = interval.length().0 as f64 * f64::from(graph.ranks().max(1));
        let share = waiting.0 as f64 / all_ns.max(1.0);
        if share < THRESHOLDS.least_without_core {
            return None;
        }
        let (ranks, cores) =
            most_crowded(ranks).map_or((graph.ranks(), None), |(ranks, cores)| (ranks, Some(cores)));
        Some(SharedCores { ranks, threads: None, cores, waiting_ns: waiting.0, share, gain: None })
    }

    /// With the threads of parallel regions, which lack cores while their rank has one: what is known of ranks, or where they
    /// did not lack any, of all threads.
    pub fn with_threads(
        known: Option<SharedCores>,
        threads: &Threads,
        ranks: &[RankInfo],
    ) -> Option<SharedCores> {
        let preempted = threads.losses.iter().filter(|loss| loss.kind == LossKind::Away);
        let waiting_ns = preempted.map(|loss| loss.ns).sum();
        let share = waiting_ns as f64 / threads.all_ns.max(1) as f64;
        let all = ranks.len().max(1) as u32;
        let of_host = |on_host: u32| {
            let of_ranks = u64::from(threads.threads) * u64::from(on_host) / u64::from(all);
            u32::try_from(of_ranks).ok().filter(|some| *some > on_host)
        };
        match known {
            Some(known) => Some(SharedCores { threads: of_host(known.ranks), ..known }),
            None if share < THRESHOLDS.least_without_core => None,
            None => {
                let (ranks, cores) =
                    most_crowded(ranks).map_or((all, None), |(ranks, cores)| (ranks, Some(cores)));
                Some(SharedCores { ranks, threads: of_host(ranks), cores, waiting_ns, share, gain: None })
            }
        }
    }
}

/// Calls that begin within the interval and around which threads had no core: how long within the interval, and the rank.
pub(crate) fn lacking(graph: &Graph, interval: WorkInterval) -> impl Iterator<Item = (u32, OffCore)> {
    graph.off_core.iter().filter_map(move |off_core| {
        let step = &graph.steps[off_core.step as usize];
        if step.start < interval.begin || step.start >= interval.end {
            return None;
        }
        let before = off_core.before.min(step.start - interval.begin);
        let length = step.length();
        let inside = match interval.part(step.start, step.end) {
            part if part < length => off_core.inside.scaled(part.0 as f64 / length.0 as f64),
            _ => off_core.inside,
        };
        // Strands of a rank lie together, and begin where the one before them does or behind it.
        let behind = graph.strands.partition_point(|strand| strand.first_step <= off_core.step);
        Some((graph.strands[behind.max(1) - 1].rank.0, OffCore { before, inside, ..*off_core }))
    })
}

/// How much of the computation of each rank it had no core.
pub(crate) fn without_core(graph: &Graph, interval: WorkInterval) -> Vec<Length> {
    let mut by_rank = vec![Length::ZERO; graph.ranks() as usize];
    for (rank, off_core) in lacking(graph, interval) {
        if let Some(sum) = by_rank.get_mut(rank as usize) {
            *sum = sum.saturating_add(off_core.before);
        }
    }
    by_rank
}

/// What is different if every thread has its own core between starting and ending MPI.
pub(crate) fn own_cores(
    graph: &Graph,
    interval: WorkInterval,
    waits: &[LongWait],
    by_step: &ByStep,
) -> Vec<(u64, StepChange)> {
    let change = |(_, off_core): (u32, OffCore)| {
        let length = graph.steps[off_core.step as usize].length();
        let waited = by_step.find(off_core.step).map_or(Length::ZERO, |wait| waits[wait as usize].length());
        let own = length.saturating_sub(waited).at_least_zero();
        let part = if length > Length::ZERO { own.0 as f64 / length.0 as f64 } else { 0.0 };
        let inside = off_core.inside.min(length).scaled(part);
        let change = StepChange {
            before: Length::ZERO - off_core.before,
            inside: Length::ZERO - inside,
            ..StepChange::default()
        };
        (off_core.step, change)
    };
    lacking(graph, interval).map(change).collect()
}

/// Ranks and cores of the host on which a rank has the least of a core, where cores are known.
fn most_crowded(ranks: &[RankInfo]) -> Option<(u32, u32)> {
    let mut hosts: BTreeMap<u32, (u32, BTreeSet<u32>)> = BTreeMap::new();
    for rank in ranks {
        let host = hosts.entry(rank.host?).or_default();
        host.0 += 1;
        host.1.extend(listed(rank.cores.as_deref()?));
    }
    let crowds = hosts.into_values().map(|(ranks, cores)| (ranks, cores.len() as u32));
    crowds.max_by(|(a, of), (b, among)| {
        (u64::from(*a) * u64::from(*among)).cmp(&(u64::from(*b) * u64::from(*of)))
    })
}

/// The cores of a list as the kernel writes it, such as `0-3,8`. What is no such list names none.
fn listed(list: &str) -> impl Iterator<Item = u32> + '_ {
    /// More than any host has: a damaged list must not ask for much.
    const MOST: u32 = 1 << 16;
    list.split(',').flat_map(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let range = from.trim().parse().ok().zip(to.trim().parse::<u32>().ok());
        range.into_iter().flat_map(|(from, to): (u32, u32)| from..=to.min(MOST))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::Rank;

    fn rank(rank: u32, host: u32, cores: &str) -> RankInfo {
        RankInfo { host: Some(host), cores: Some(cores.to_owned()), ..RankInfo::absent(Rank(rank)) }
    }

    #[test]
    fn cores_of_a_list() {
        assert_eq!(listed("0-3,8").collect::<Vec<_>>(), [0, 1, 2, 3, 8]);
        assert_eq!(listed("5").collect::<Vec<_>>(), [5]);
        for wrong in ["", "a-b", "3-1"] {
            assert_eq!(listed(wrong).count(), 0, "{wrong}");
        }
    }

    #[test]
    fn the_most_crowded_host_is_named() {
        let bound =
            [rank(0, 0, "0"), rank(1, 0, "1"), rank(2, 1, "0-1"), rank(3, 1, "0-1"), rank(4, 1, "0-1")];
        assert_eq!(most_crowded(&bound), Some((3, 2)));
        assert_eq!(most_crowded(&bound[..2]), Some((2, 2)));
        let unknown = RankInfo { cores: None, ..rank(0, 0, "") };
        assert_eq!(most_crowded(&[unknown]), None);
    }
}
