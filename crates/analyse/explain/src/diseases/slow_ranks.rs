//! Ranks that are slower than the others, wherever they compute: a node that is throttled or shared, or ranks that have more
//! to do than the rest, several of them side by side.
//!
//! What each of them costs at one place is often nothing: where neighbours are as slow, hardly anybody waits for one of them,
//! and what the others gain without one is lost to the next. So they are tried jointly: in the replay all of them compute as
//! fast as the median of the others, at all places.

use super::{Evidence, Suspect, about_call};
use crate::cores::lacking;
use crate::disease::{Diagnosis, Disease};
use crate::finding::{Cause, Finding};
use crate::profile::function_at;
use crate::thresholds::THRESHOLDS;
use crate::who::Who;
use kizami_model::{Length, Op, Rank};
use kizami_replay::Setting;
use kizami_stats::{upper_median, variance};
use kizami_whatif::{Change, Changes, Paces, RankList};
use rustc_hash::FxHashMap;

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    suspect(evidence).into_iter().collect()
}

fn suspect(evidence: &Evidence<'_>) -> Option<Suspect> {
    // Ranks that lack cores are slow for that reason.
    let without_core: Length = lacking(evidence.graph, evidence.interval)
        .map(|(_, off_core)| off_core.before + off_core.inside)
        .sum();
    if evidence.share(without_core.0 as f64) >= THRESHOLDS.least_without_core || !is_uneven(evidence) {
        return None;
    }
    // Of ranks that stand for others, only one could be named.
    if evidence.graph.strands.iter().any(|strand| evidence.graph.weight(strand.rank) > 1) {
        return None;
    }
    let paces = Paces::of(evidence.graph, false);
    let ranks = slower(evidence, &paces.beyond_median());
    if ranks.is_empty() {
        return None;
    }
    let mut places = paces.beside_others(&ranks);
    places.sort_by_key(|(site, [own, others])| (*others - *own, *site));
    let sum = |which: usize| places.iter().map(|(_, times)| times[which]).sum::<Length>();
    let (own, others) = (sum(0), sum(1));
    let (site, [most, usual]) = *places.first()?;
    let at_one_place = (most - usual).0 as f64 >= THRESHOLDS.at_one_place * (own - others).0 as f64;
    let who = Who::Named(ranks.clone());
    let diagnosis = match at_one_place {
        true => Diagnosis::Imbalance { who },
        false => Diagnosis::SlowRanks {
            who,
            host: host(evidence, &ranks),
            factor_percent: (100.0 * own.0 as f64 / others.0.max(1) as f64).round() as u32,
        },
    };
    let op = Op::by_name(&function_at(evidence.profile, Some(site)))?;
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.cause = Cause::Computation;
    let of_rank = evidence.profile.computation.get(&(Some(site), ranks[0]));
    let after = of_rank.and_then(|computation| computation.after);
    (finding.after, finding.within) = (Some(evidence.place(after)), evidence.within(after, Some(site)));
    finding.share = evidence.share((own - others).0 as f64);
    finding.option = Some(Changes::from(Change::LikeOthers(RankList::new(ranks.clone()))));
    let setting = Setting::of_steps(evidence.graph, paces.like_others(evidence.graph, &ranks));
    finding.ranks = ranks;
    Some(Suspect::without(finding, setting, THRESHOLDS.least_gain))
}

/// Whether the computation of some rank differs enough from that of most for a closer look.
fn is_uneven(evidence: &Evidence<'_>) -> bool {
    let mut by_site: FxHashMap<Option<u32>, Vec<Length>> = FxHashMap::default();
    for ((site, _), computation) in &evidence.profile.computation {
        by_site.entry(*site).or_default().push(computation.time);
    }
    let uneven = |mut times: Vec<Length>| {
        times.sort_unstable();
        let (longest, median) = (times.last(), upper_median(&times));
        longest.zip(median).map_or(Length::ZERO, |(longest, median)| *longest - median)
    };
    let uneven: Length = by_site.into_values().map(uneven).sum();
    uneven.0 as f64 >= THRESHOLDS.least_gain * evidence.interval.length().0 as f64
}

/// Ranks that compute longer than the median in nearly all parts of the run, or from some part on: those that do so most, and
/// those that do hardly less. None if that may be chance, or if they are half of all.
fn slower(evidence: &Evidence<'_>, beyond: &[Vec<Length>]) -> Vec<u32> {
    let sum = |rank: &usize| beyond[*rank].iter().copied().sum::<Length>();
    let mut ranks: Vec<usize> = (0..beyond.len()).filter(|rank| is_no_chance(&beyond[*rank])).collect();
    let most = ranks.iter().map(sum).max().unwrap_or_default().0 as f64;
    if most < THRESHOLDS.least_gain * evidence.interval.length().0 as f64 {
        return Vec::new();
    }
    ranks.retain(|rank| sum(rank).0 as f64 >= THRESHOLDS.hardly_less * most);
    let weight: u32 = ranks.iter().map(|rank| evidence.graph.weight(Rank(*rank as u32))).sum();
    if f64::from(weight) >= THRESHOLDS.too_many_are_slow * evidence.ranks() as f64 {
        return Vec::new();
    }
    ranks.into_iter().map(|rank| rank as u32).collect()
}

/// Whether the parts of the run agree on how much longer a rank computes.
fn is_no_chance(beyond: &[Length]) -> bool {
    let there: Vec<f64> = beyond.iter().map(|length| length.0 as f64).collect();
    if there.len() < THRESHOLDS.fewest_iterations {
        return false;
    }
    let parts = there.len() as f64;
    let mean = there.iter().sum::<f64>() / parts;
    let error = (variance(there.iter().copied()) / parts).sqrt();
    mean > THRESHOLDS.surely_slow * error && mean > 0.0
}

/// The host that these ranks are all ranks of, if others have other ranks.
fn host(evidence: &Evidence<'_>, ranks: &[u32]) -> Option<String> {
    let definitions = evidence.regions.definitions;
    let of_rank = |rank: u32| definitions.ranks.get(rank as usize)?.host;
    let host = of_rank(*ranks.first()?)?;
    let there = (0..definitions.ranks.len() as u32).filter(|rank| of_rank(*rank) == Some(host));
    let named = there.eq(ranks.iter().copied()) && ranks.len() < definitions.ranks.len();
    definitions.hosts.get(host as usize).filter(|_| named).map(|host| host.name.clone())
}

/// Whether a finding is about several ranks tried jointly.
pub(super) fn is_joint(finding: &Finding) -> bool {
    let is_it = |change: &Change| matches!(change, Change::LikeOthers(_));
    finding.option.as_ref().is_some_and(|changes| changes.0.iter().any(is_it))
}

/// Decides between slow ranks and what says a part of the same: whoever gains much more. Slow ranks have all that was waited for
/// them; `share` says which part of all ranks' time that is.
pub(crate) fn unite(suspects: &mut Vec<Suspect>, share: impl Fn(f64) -> f64) {
    let Some(joint) = suspects.iter().position(|suspect| is_joint(&suspect.finding)) else { return };
    let mut slow = suspects.swap_remove(joint);
    let gain = |suspect: &Suspect| suspect.gain_ns() as f64;
    let parts = || suspects.iter().filter(|suspect| is_part_of(&suspect.finding, &slow.finding));
    let best = |by_chance: bool| {
        let of_kind = |part: &&Suspect| (part.finding.disease() == Disease::RandomImbalance) == by_chance;
        // What is not certain either may become so with it: one of the two is enough.
        let counts = |part: &&Suspect| {
            part.is_worth_listing() || (!slow.is_worth_listing() && part.may_be_worth_listing())
        };
        parts().filter(of_kind).filter(counts).map(gain).fold(0.0, f64::max)
    };
    // What is named by rank says more than what comes by chance, if it gains about the same.
    let is_more = gain(&slow) >= THRESHOLDS.surely_joint * best(false)
        && THRESHOLDS.surely_joint * gain(&slow) >= best(true);
    if !slow.is_worth_listing() {
        // It may be certain once something else is fixed.
        suspects.extend((is_more && slow.may_be_worth_listing()).then_some(slow));
        return;
    }
    if !is_more {
        return;
    }
    let (waiting_ns, propagated_ns) = parts().fold((0, 0), |(waiting, propagated), part| {
        (waiting + part.finding.waiting_ns, propagated + part.finding.propagated_ns)
    });
    let most = parts().max_by_key(|part| part.finding.waiting_ns).map(|part| part.finding.clone());
    for part in suspects.iter_mut().filter(|suspect| is_part_of(&suspect.finding, &slow.finding)) {
        part.is_part = true;
    }
    let finding = &mut slow.finding;
    finding.share = share((waiting_ns + propagated_ns) as f64);
    (finding.waiting_ns, finding.propagated_ns) = (waiting_ns, propagated_ns);
    if let Some(most) = most {
        (finding.waiting_in, finding.waiting_ranks) = (most.waiting_in, most.waiting_ranks);
        (finding.path, finding.region) = (most.path, most.region);
    }
    suspects.push(slow);
}

/// Whether a finding says a part of what slow ranks say together.
fn is_part_of(finding: &Finding, slow: &Finding) -> bool {
    let computes = matches!(
        finding.disease(),
        Disease::Imbalance
            | Disease::GrowingImbalance
            | Disease::MovingImbalance
            | Disease::RandomImbalance
            | Disease::RareImbalance
            | Disease::LateRoot
            | Disease::PipelineFill
            | Disease::SerialisedSection
    );
    let theirs = !finding.ranks.is_empty() && finding.ranks.iter().all(|rank| slow.ranks.contains(rank));
    computes && (theirs || finding.place == slow.place)
}
