//! Which host's clock was measured against which, and the way from each to the root.
//!
//! Representatives of hosts ask each other for the time during the run. Every host follows the one it asked
//! most often; a host that asked no other is a root. Normally there is one root, the host of rank 0. Hosts that
//! asked no other and were not asked stay roots of their own. Circles, which only damage makes, are cut.

use super::host::Host;
use kizami_clock::{Chain, ClockModel, Sample};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// One question of a process about another's clock, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Who asked.
    pub rank: u32,
    /// Who was asked.
    pub reference: u32,
    pub round: u32,
    pub sent_ticks: u64,
    pub reference_ticks: u64,
    pub received_ticks: u64,
}

/// One host's clock against another's.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Index of the other host.
    pub reference: usize,
    /// The lowest rank that asked.
    pub rank: u32,
    /// None if the two only count one clock differently.
    pub model: Option<ClockModel>,
}

/// All links, by the host that asked.
#[derive(Debug, Default)]
pub(crate) struct Links(BTreeMap<usize, Link>);

impl Links {
    /// Whether no host's clock was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.values().all(|link| link.model.is_none())
    }

    /// The link of a host that is not a root.
    pub(crate) fn get(&self, host: usize) -> Option<&Link> {
        self.0.get(&host)
    }

    /// Whose clock the host's times end up on.
    pub(crate) fn root_of(&self, host: usize) -> usize {
        std::iter::successors(Some(host), |host| Some(self.0.get(host)?.reference)).last().unwrap_or(host)
    }

    /// All roots.
    pub(crate) fn roots(&self, hosts: usize) -> Vec<usize> {
        (0..hosts).filter(|host| !self.0.contains_key(host)).collect()
    }

    /// The models from the host to its root.
    pub(crate) fn chain(&self, host: usize) -> Chain<'_> {
        let first = self.0.get(&host);
        let links = std::iter::successors(first, |link| self.0.get(&link.reference));
        Chain::new(links.filter_map(|link| link.model.as_ref()))
    }

    /// Removes one link of every circle: of the host that comes first.
    fn cut_circles(&mut self) {
        let hosts: Vec<usize> = self.0.keys().copied().collect();
        for host in hosts {
            let mut way = vec![host];
            while let Some(next) = way.last().and_then(|last| self.0.get(last)).map(|link| link.reference) {
                if let Some(begin) = way.iter().position(|seen| *seen == next) {
                    if let Some(first) = way[begin..].iter().min() {
                        self.0.remove(first);
                    }
                    break;
                }
                way.push(next);
            }
        }
    }
}

/// Samples by who asked and in which round.
type Rounds = BTreeMap<(u32, u32), Vec<Sample>>;

/// Finds out which host follows which.
pub(crate) fn link(hosts: &[Host], questions: &[Question], host_of: impl Fn(u32) -> Option<usize>) -> Links {
    let mut asked: BTreeMap<usize, BTreeMap<usize, Rounds>> = BTreeMap::new();
    for question in questions {
        let (Some(own), Some(reference)) = (host_of(question.rank), host_of(question.reference)) else {
            continue;
        };
        if own == reference {
            continue;
        }
        let sample = Sample {
            sent_ns: hosts[own].own_ns(question.sent_ticks),
            reference_ns: hosts[reference].own_ns(question.reference_ticks),
            received_ns: hosts[own].own_ns(question.received_ticks),
        };
        let rounds = asked.entry(own).or_default().entry(reference).or_default();
        rounds.entry((question.rank, question.round)).or_default().push(sample);
    }
    let measured: Vec<(usize, Option<Link>)> =
        asked.into_par_iter().map(|(own, references)| (own, most_rounds(references))).collect();
    let known = measured.into_iter().filter_map(|(own, link)| Some((own, link?)));
    let mut links = Links(known.collect());
    links.cut_circles();
    join_counters(hosts, &mut links);
    links
}

/// The link to the host that was asked in most rounds.
fn most_rounds(references: BTreeMap<usize, Rounds>) -> Option<Link> {
    let (reference, rounds) =
        references.into_iter().max_by_key(|(host, rounds)| (rounds.len(), usize::MAX - host))?;
    let rank = rounds.keys().next()?.0;
    let model = ClockModel::fit(rounds.values().map(Vec::as_slice))?;
    Some(Link { reference, rank, model: Some(model) })
}

/// Processes of one boot that read different counters are different hosts here, yet both counters were brought
/// to that boot's `CLOCK_MONOTONIC`: where one of them was measured, the other follows it.
fn join_counters(hosts: &[Host], links: &mut Links) {
    if links.is_empty() {
        return;
    }
    let mut by_boot: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (index, host) in hosts.iter().enumerate() {
        by_boot.entry((&host.boot_id, &host.name)).or_default().push(index);
    }
    for same in by_boot.into_values().filter(|same| same.len() > 1) {
        let leader = same.iter().find(|host| links.0.contains_key(host)).unwrap_or(&same[0]);
        let leader_way = links.root_of(*leader);
        for host in same.iter().filter(|host| *host != leader) {
            if !links.0.contains_key(host) && *host != leader_way {
                links.0.insert(*host, Link { reference: *leader, rank: 0, model: None });
            }
        }
    }
}
