//! What ranks did while others waited for them: computation and calls that are to blame, put together by place.
//!
//! Blame for the same doing of different ranks is one suspect. The setting in which just those stretches are shorter,
//! each by as much as others waited for it, says what it would gain without them; for computation another one
//! spreads it over all ranks. Computation is too long only by what is beyond the baseline of its call site. Where it is
//! waited for and not longer, ranks hand work on to each other, and a third replay shows whether a pipeline fills.

use super::baseline::too_long;
use super::shape::Shape;
use super::{Evidence, Suspect, calls};
use crate::changes::without_excess;
use crate::disease::{Diagnosis, Disease};
use crate::finding::{Cause, Finding, Headline};
use crate::profile::function_at;
use crate::thresholds::THRESHOLDS;
use crate::who::{Who, stretches};
use kizami_blame::Pattern;
use kizami_blame::{Blamed, Doing, Excess, Waited};
use kizami_graph::TieKind;
use kizami_model::kind::{CollectiveKind, Form};
use kizami_model::{Kind, Length, Op, Rank};
use kizami_parallel::map_in_turns;
use kizami_replay::{Setting, communicates};
use kizami_trace::SourceLine;
use kizami_whatif::{Change, Changes, each_call, sum_error_ns};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What one doing of several ranks cost.
#[derive(Default)]
struct Group {
    direct_ns: f64,
    propagated_ns: f64,
    /// What all who were late together made others wait.
    whole_ns: f64,
    by_rank: Vec<(u32, f64)>,
    excesses: Vec<Excess>,
}

/// Puts blame together; returns at most `most` suspects.
pub(crate) fn suspects(
    evidence: &Evidence<'_>,
    blamed: &Blamed,
    most: usize,
    threads: usize,
) -> Vec<Suspect> {
    let mut groups: FxHashMap<Doing, Group> = FxHashMap::default();
    for (culprit, blame) in &blamed.culprits {
        let group = groups.entry(culprit.doing).or_default();
        group.direct_ns += blame.direct_ns;
        group.propagated_ns += blame.propagated_ns;
        group.whole_ns += blame.whole_ns;
        group.by_rank.push((culprit.rank, blame.direct_ns + blame.propagated_ns));
    }
    let begins = evidence.looped.begins(evidence.graph);
    for (doing, excesses) in too_long(evidence.graph, blamed, evidence.interval, &begins, threads) {
        if let Some(group) = groups.get_mut(&doing) {
            group.excesses = excesses;
        }
    }
    join_file_accesses(&mut groups);
    let mut order: Vec<(Doing, Group)> = groups.into_iter().collect();
    order.sort_by(|a, b| {
        let cost = |group: &Group| group.direct_ns + group.propagated_ns;
        cost(&b.1).total_cmp(&cost(&a.1)).then(a.0.cmp(&b.0))
    });
    add_up(order.iter_mut().map(|(_, group)| group));
    order.truncate(most);
    let nobody = Waited::default();
    map_in_turns(order, threads, |(doing, group)| {
        let waited = blamed.waited.get(&doing).unwrap_or(&nobody);
        Blame { evidence, doing, waited }.suspect(group)
    })
}

/// Opening, writing, syncing and closing a file are one thing to those who wait for it: all of it is where most is.
fn join_file_accesses(groups: &mut FxHashMap<Doing, Group>) {
    let is_file = |doing: &Doing| matches!(doing, Doing::Calling(op, _) if calls::is_file_access(*op));
    let cost = |group: &Group| group.direct_ns + group.propagated_ns;
    let files = groups.iter().filter(|(doing, _)| is_file(doing));
    let most =
        files.max_by(|a, b| cost(a.1).total_cmp(&cost(b.1)).then(a.0.cmp(b.0))).map(|(doing, _)| *doing);
    let Some(most) = most else { return };
    let mut others: Vec<Doing> =
        groups.keys().filter(|doing| is_file(doing) && **doing != most).copied().collect();
    others.sort_unstable();
    let others: Vec<Group> = others.iter().filter_map(|doing| groups.remove(doing)).collect();
    let Some(all) = groups.get_mut(&most) else { return };
    for other in others {
        all.direct_ns += other.direct_ns;
        all.propagated_ns += other.propagated_ns;
        all.whole_ns += other.whole_ns;
        for (rank, ns) in other.by_rank {
            match all.by_rank.iter_mut().find(|(known, _)| *known == rank) {
                Some((_, sum_ns)) => *sum_ns += ns,
                None => all.by_rank.push((rank, ns)),
            }
        }
        all.excesses.extend(other.excesses);
    }
}

/// Makes all costs whole nanoseconds, so that they add up to what they did before.
fn add_up<'a>(groups: impl Iterator<Item = &'a mut Group>) {
    let mut sum_ns = 0.0f64;
    for ns in groups.flat_map(|group| [&mut group.direct_ns, &mut group.propagated_ns]) {
        let before_ns = sum_ns.round();
        sum_ns += *ns;
        *ns = sum_ns.round() - before_ns;
    }
}

/// What a rank did, and which ranks waited for it.
struct Blame<'a> {
    evidence: &'a Evidence<'a>,
    doing: Doing,
    waited: &'a Waited,
}

impl Blame<'_> {
    fn suspect(&self, mut group: Group) -> Suspect {
        let Evidence { graph, profile, looped, .. } = self.evidence;
        let cost_ns = group.direct_ns + group.propagated_ns;
        group.by_rank.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let begins = looped.begins(graph);
        let (cause, site, function, after, within) = match self.doing {
            Doing::Computing(site) => {
                let of_rank = profile.computation.get(&(site, group.by_rank[0].0));
                let after = of_rank.and_then(|computation| computation.after);
                let within = self.evidence.within(after, site);
                (
                    Cause::Computation,
                    site,
                    function_at(profile, site),
                    Some(self.evidence.place(after)),
                    within,
                )
            }
            Doing::Calling(op, site) => (Cause::Call, site, op.name().to_owned(), None, None),
            Doing::Starting => (Cause::Start, None, "MPI_Init".to_owned(), None, None),
        };
        let shape = Shape::of(graph, &begins, group.excesses.iter());
        let who = who(&group, &shape, self.evidence.ranks(), |rank| graph.weight(Rank(rank)) as usize);
        let ranks = who.ranks().to_vec();
        let diagnosis = self.diagnosis(who.clone(), &shape);
        let disease = diagnosis.disease();
        let mut finding = Finding {
            diagnosis,
            cause,
            ranks,
            place: self.evidence.place(site),
            path: self.evidence.path(site),
            function,
            after,
            within,
            region: self.evidence.regions.innermost(self.waited.worst).map(str::to_owned),
            waiting_ns: group.direct_ns as i64,
            propagated_ns: group.propagated_ns as i64,
            share: self.evidence.share(cost_ns),
            waiting_ranks: self.waited.ranks.weighed(|rank| graph.weight(Rank(rank))),
            waiting_in: self.waiting_in(),
            gain: None,
            balanced: None,
            headline: self.headline(disease, &who),
            at_most: false,
            after_first: false,
            option: None,
        };
        let without = self.without(&group).filter(|_| !self.is_circular(&finding));
        // The option is about computation; a call at the same place is another finding.
        let named = cause == Cause::Computation && without.is_some();
        finding.option = Changes::at([&finding.place], Change::RemoveExcess).filter(|_| named);
        // What is not replayed need not be worked out.
        let worth = finding.share >= THRESHOLDS.worth_replaying;
        let random = disease == Disease::RandomImbalance;
        let interrupted = random && self.is_rare(&group);
        if interrupted {
            finding.headline = Headline::Gain;
        }
        let balanced = if worth && without.is_some() { self.balanced(disease) } else { None };
        if balanced.is_some() && finding.headline == Headline::Balanced {
            let change = if disease == Disease::LockContention { Change::OutOfLock } else { Change::Balance };
            finding.option = Changes::at([&finding.place], change);
        }
        let mut without = without;
        if random
            && !interrupted
            && worth
            && let Some((meeting, sites)) = self.meeting()
        {
            // The work is there all the same; where ranks do not meet, long and short stretches even out.
            without = Some((self.evidence.changed(Change::LeaveOut(sites)), 0.0));
            (finding.headline, finding.at_most) = (Headline::Gain, true);
            finding.option = Changes::at([&meeting], Change::LeaveOut);
        }
        let least_share = if random { THRESHOLDS.least_gain_by_chance } else { THRESHOLDS.least_gain };
        let instead = if worth { self.pipeline(&finding, who) } else { None };
        Suspect { finding, without, balanced, instead, least_share, is_part: false }
    }

    /// Whether all it says is that ranks communicate and wait for ranks that communicate, and no rank in particular: what that
    /// costs is listed as the transfer that it is.
    fn is_circular(&self, finding: &Finding) -> bool {
        let Diagnosis::SlowCall { who } = &finding.diagnosis else { return false };
        let anybody = match who {
            Who::InTurns => true,
            Who::Named(ranks) => 2 * ranks.len() >= self.evidence.ranks(),
            Who::Many(ranks) => 2 * ranks >= self.evidence.ranks(),
        };
        anybody && matches!(self.doing, Doing::Calling(op, _) if communicates(op))
    }

    fn waiting_in(&self) -> Option<(String, SourceLine)> {
        let most = self.waited.at.iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
        most.map(|((op, site), _)| (op.name().to_owned(), self.evidence.place(*site)))
    }

    fn diagnosis(&self, who: Who, shape: &Shape) -> Diagnosis {
        match (self.doing, self.waited.most()) {
            (Doing::Starting, _) => Diagnosis::LateStart { who },
            (Doing::Calling(op, _), _) if calls::is_file_access(op) => Diagnosis::SerialisedIo { who },
            (_, Some(Pattern::LockContention)) => Diagnosis::LockContention { who },
            (Doing::Calling(..), _) => Diagnosis::SlowCall { who },
            (_, Some(Pattern::LateBroadcast)) if self.is_root(who.ranks()) => Diagnosis::LateRoot { who },
            _ => shape.diagnosis(who),
        }
    }

    /// Whether these are one rank, and that is the root wherever others wait for it: data may also pass through it.
    fn is_root(&self, ranks: &[u32]) -> bool {
        let ([rank], graph) = (ranks, self.evidence.graph) else { return false };
        let waits = |op: Op, site: Option<u32>| self.waited.at.iter().any(|(at, _)| *at == (op, site));
        let of_rank = graph.strands.iter().filter(|strand| strand.rank.0 == *rank);
        let mut is_root = true;
        for strand in of_rank {
            each_call(graph, strand.first_step, |_, step| {
                let passes = || graph.ties_of(step).iter().any(|tie| tie.kind() == TieKind::AwaitsRoot);
                is_root &= !(waits(step.op(), step.site()) && passes());
            });
        }
        is_root
    }

    fn headline(&self, disease: Disease, who: &Who) -> Headline {
        let few = matches!(who, Who::Named(ranks)
            if ranks.len() as f64 <= THRESHOLDS.few_of_the_ranks.max(1.0 / self.evidence.ranks() as f64) * self.evidence.ranks() as f64);
        match disease {
            Disease::MovingImbalance | Disease::RandomImbalance | Disease::LockContention => {
                Headline::Balanced
            }
            Disease::Imbalance | Disease::GrowingImbalance | Disease::RareImbalance if !few => {
                Headline::Balanced
            }
            _ => Headline::Gain,
        }
    }

    /// Whether few of the stretches of computation at the place are too long, as where something interrupts them.
    fn is_rare(&self, group: &Group) -> bool {
        let Doing::Computing(site) = self.doing else { return false };
        let here = self.evidence.profile.computation.iter().filter(|((at, _), _)| *at == site);
        let all: u64 = here.map(|(_, computation)| computation.times).sum();
        (group.excesses.len() as f64) < THRESHOLDS.interrupted * all as f64
    }

    /// The `MPI_Allreduce` or `MPI_Barrier` in which ranks wait most, if that is where they do: it might be called less often.
    fn meeting(&self) -> Option<(SourceLine, Vec<u32>)> {
        use CollectiveKind::{Allreduce, Barrier};
        let most = self.waited.at.iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
        let ((op, site), _) = most?;
        let is_meeting = matches!(op.kind(), Kind::Collective(Allreduce | Barrier, Form::Blocking));
        let site = site.filter(|_| is_meeting)?;
        Some((self.evidence.place(Some(site)), self.evidence.sites_at_place_of(site)))
    }

    /// The run without what was waited for, and how far that may be off.
    fn without(&self, group: &Group) -> Option<(Setting, f64)> {
        if group.excesses.is_empty() {
            return None;
        }
        let mut by_rank: FxHashMap<u32, Vec<Length>> = FxHashMap::default();
        for excess in &group.excesses {
            by_rank.entry(excess.rank).or_default().push(excess.length);
        }
        let errors = by_rank.into_values().map(|lengths| sum_error_ns(lengths.into_iter()).powi(2));
        let setting = Setting::of_steps(self.evidence.graph, without_excess(group.excesses.iter()));
        Some((setting, errors.sum::<f64>().sqrt()))
    }

    /// What else it may be, where others wait for messages: blocks that are handed on as a whole. The replay decides.
    fn pipeline(&self, finding: &Finding, who: Who) -> Option<(Finding, Setting)> {
        let sites = self.waiting_sites();
        // Neighbours that exchange wait for the same on both sides: no rank is behind.
        if finding.cause != Cause::Computation || sites.is_empty() || self.evidence.is_mutual() {
            return None;
        }
        let places: BTreeSet<SourceLine> =
            sites.iter().map(|site| self.evidence.place(Some(*site))).collect();
        let most_bytes = self.most_bytes(&sites);
        let (diagnosis, option, change) = if most_bytes <= THRESHOLDS.token_bytes || self.evidence.is_ring() {
            // There is nothing to cut into blocks, or the first rank waits for the last: the ranks take turns.
            let option = Changes::at(&places, Change::LeaveOut);
            (Diagnosis::SerialisedSection { most_bytes }, option, Change::LeaveOut(sites))
        } else {
            let option = Changes::at(&places, |line| Change::Pieces(line, THRESHOLDS.pieces));
            (Diagnosis::PipelineFill { who }, option, Change::Pieces(sites, THRESHOLDS.pieces))
        };
        let mut instead = finding.clone().with(diagnosis);
        (instead.headline, instead.at_most, instead.option) = (Headline::Gain, true, option);
        if instead.disease() == Disease::SerialisedSection {
            // All of them do it.
            instead.ranks.clear();
        }
        Some((instead, self.evidence.changed(change)))
    }

    /// Size of the largest message that is received or completed at these sites.
    fn most_bytes(&self, sites: &[u32]) -> u64 {
        let graph = self.evidence.graph;
        let there = graph.steps.iter().filter(|step| step.site().is_some_and(|site| sites.contains(&site)));
        let awaited = there.flat_map(|step| graph.ties_of(step)).filter(|tie| tie.kind() == TieKind::Awaits);
        awaited.map(|tie| tie.bytes()).max().unwrap_or(0)
    }

    /// Where others waited for messages.
    fn waiting_sites(&self) -> Vec<u32> {
        let takes = |op: Op| {
            matches!(op.kind(), Kind::Receive(_) | Kind::SendReceive(_) | Kind::Complete | Kind::Probe)
        };
        let sites = self.waited.at.iter().filter_map(|((op, site), _)| site.filter(|_| takes(*op)));
        self.evidence.sites_at_places_of(sites)
    }

    fn balanced(&self, disease: Disease) -> Option<Setting> {
        let Doing::Computing(Some(site)) = self.doing else { return None };
        let sites = self.evidence.sites_at_place_of(site);
        // The work remains to be done, but nobody need wait for it.
        let locked = disease == Disease::LockContention;
        Some(self.evidence.changed(if locked { Change::OutOfLock(sites) } else { Change::Balance(sites) }))
    }
}

/// The ranks that have most of what is too long; if nothing is, most of the blame.
/// Each stands for so many.
fn who(group: &Group, shape: &Shape, ranks: usize, weight: impl Fn(u32) -> usize) -> Who {
    let mut by_rank: Vec<(u32, f64)> = group.by_rank.clone();
    if !group.excesses.is_empty() {
        let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
        for excess in &group.excesses {
            *sums.entry(excess.rank).or_default() += excess.length.0 as f64;
        }
        by_rank = sums.into_iter().collect();
        by_rank.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let all_ns: f64 = by_rank.iter().map(|(_, ns)| ns).sum();
    let mut named = Vec::new();
    let (mut theirs, mut least) = (0.0, 0.0);
    for (rank, ns) in &by_rank {
        if theirs >= THRESHOLDS.most_of_the_blame * all_ns {
            if *ns < THRESHOLDS.hardly_less * least {
                break;
            }
        } else {
            least = *ns;
        }
        named.push(*rank);
        theirs += ns;
    }
    named.sort_unstable();
    let late_together = group.whole_ns / (group.direct_ns + group.propagated_ns);
    let together = late_together >= THRESHOLDS.late_together * named.len() as f64 || shape.always(&named);
    let all: usize = named.iter().map(|rank| weight(*rank)).sum();
    match named.len() {
        // No rank is later than the others if all are.
        _ if all == ranks && all > 1 => Who::InTurns,
        // One rank is named for all of its kind: how many they are says more.
        few if all > few => Who::Many(all),
        few if few <= THRESHOLDS.few_ranks => Who::Named(named),
        _ if !together => Who::InTurns,
        _ if stretches(&named).count() <= THRESHOLDS.few_ranks => Who::Named(named),
        many => Who::Many(many),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks that have an equal part of the blame, so many of which are late at a time.
    fn equal(ranks: impl Iterator<Item = u32>, late: f64, of: usize) -> Who {
        let by_rank: Vec<_> = ranks.map(|rank| (rank, 1.0)).collect();
        let cost_ns = by_rank.len() as f64;
        let group = Group { whole_ns: late * cost_ns, direct_ns: cost_ns, by_rank, ..Group::default() };
        who(&group, &Shape::none(), of, |_| 1)
    }

    #[test]
    fn many_ranks_are_late_together_or_take_turns() {
        assert_eq!(equal(0..4, 1.0, 8), Who::Named(vec![0, 1, 2, 3]));
        assert_eq!(equal(0..4, 1.0, 4), Who::InTurns);
        assert_eq!(equal(0..10, 1.0, 16), Who::InTurns);
        assert_eq!(equal(0..10, 10.0, 16), Who::Named((0..10).collect()));
        assert_eq!(equal((0..20).map(|rank| 2 * rank), 20.0, 64), Who::Many(20));
    }
}
