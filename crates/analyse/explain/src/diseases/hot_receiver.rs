//! All-to-all exchanges in which some ranks receive far more than the others: all ranks wait until theirs has arrived. In the
//! replay every rank receives as much as the mean, so that an exchange takes that part of its time behind the last arrival,
//! unless some rank sends more.

use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use crate::who::Who;
use kizami_graph::{Exchanged, Graph, Step, TieKind};
use kizami_model::kind::{CollectiveKind, Form, Kind};
use kizami_model::{Length, Moment, Op};
use kizami_replay::{Setting, StepChange};
use kizami_whatif::{Change, Changes, each_call};
use rustc_hash::FxHashMap;

/// What ranks received in the exchanges of one place.
#[derive(Default)]
struct Exchanges {
    by_rank: FxHashMap<u32, u64>,
    time: Length,
}

/// One exchange, by all ranks that take part.
#[derive(Default)]
struct Exchange {
    ranks: u64,
    /// When the last rank entered.
    last: Moment,
    got_bytes: u64,
    most_got_bytes: u64,
    most_given_bytes: u64,
}

impl Exchange {
    /// The part of its time that remains if every rank receives the mean.
    fn remains(&self) -> f64 {
        let mean = self.got_bytes as f64 / self.ranks.max(1) as f64;
        let most = mean.max(self.most_given_bytes as f64);
        if self.most_got_bytes == 0 { 1.0 } else { (most / self.most_got_bytes as f64).min(1.0) }
    }
}

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let graph = evidence.graph;
    // In most programs there is nothing to look for.
    if !evidence.profile.calls.keys().any(|(op, _)| is_exchange(*op)) {
        return Vec::new();
    }
    let mut places: FxHashMap<(Op, u32), Exchanges> = FxHashMap::default();
    each_exchange(graph, |rank, _, step, exchanged, _| {
        let Some(site) = step.site() else { return };
        let place = places.entry((step.op(), site)).or_default();
        *place.by_rank.entry(rank).or_default() += exchanged.got_bytes;
        place.time += evidence.interval.part(step.start, step.end);
    });
    let mut places: Vec<_> = places.into_iter().collect();
    places.retain(|(_, place)| evidence.share(place.time.0 as f64) >= THRESHOLDS.least_in_calls);
    places.sort_by_key(|((_, site), place)| (std::cmp::Reverse(place.time), *site));
    places.truncate(THRESHOLDS.most_places);
    places.iter().filter_map(|((op, site), place)| suspect(evidence, *op, *site, place)).collect()
}

fn suspect(evidence: &Evidence<'_>, op: Op, site: u32, place: &Exchanges) -> Option<Suspect> {
    let all: u64 = place.by_rank.values().sum();
    let mean = all as f64 / place.by_rank.len() as f64;
    let far_more = place.by_rank.iter().filter(|(_, got)| **got as f64 > THRESHOLDS.far_more_received * mean);
    let mut ranks: Vec<u32> = far_more.clone().map(|(rank, _)| *rank).collect();
    if ranks.is_empty() {
        return None;
    }
    ranks.sort_unstable();
    let got: u64 = far_more.map(|(_, got)| *got).sum();
    let percent = (100.0 * got as f64 / all as f64).round() as u32;
    let who = Who::of(ranks, THRESHOLDS.few_receivers);
    let (named, location) = (who.ranks().to_vec(), evidence.place(Some(site)));
    let mut finding = about_call(evidence, Diagnosis::HotReceiver { who, percent }, op, Some(site));
    finding.ranks = named;
    finding.share = evidence.share(place.time.0 as f64);
    finding.at_most = true;
    finding.option = Changes::at([&location], Change::EvenExchange);
    let sites = evidence.sites_at_place_of(site);
    let setting = Setting::of_steps(evidence.graph, even(evidence.graph, &sites));
    Some(Suspect::without(finding, setting, THRESHOLDS.least_gain))
}

/// What changes if every rank receives as much as the mean in exchanges made at `sites`.
pub(crate) fn even(graph: &Graph, sites: &[u32]) -> Vec<(u64, StepChange)> {
    let is_there = |step: &Step| step.site().is_some_and(|site| sites.contains(&site));
    let mut exchanges: FxHashMap<u64, Exchange> = FxHashMap::default();
    each_exchange(graph, |_, _, step, Exchanged { given_bytes, got_bytes }, key| {
        if is_there(step) {
            let exchange = exchanges.entry(key).or_default();
            exchange.ranks += 1;
            exchange.last = exchange.last.max(step.start);
            exchange.got_bytes += got_bytes;
            exchange.most_got_bytes = exchange.most_got_bytes.max(got_bytes);
            exchange.most_given_bytes = exchange.most_given_bytes.max(given_bytes);
        }
    });
    let mut changes = Vec::new();
    each_exchange(graph, |_, index, step, _, key| {
        if let Some(exchange) = exchanges.get(&key).filter(|_| is_there(step)) {
            let completes = step.end.saturating_since(exchange.last.max(step.start)).at_least_zero();
            let inside = completes.scaled(exchange.remains()) - completes;
            if inside < Length::ZERO {
                changes.push((index, StepChange { inside, ..StepChange::default() }));
            }
        }
    });
    changes
}

/// Whether ranks exchange data with all ranks, and may give them different amounts.
fn is_exchange(op: Op) -> bool {
    use CollectiveKind::{Alltoallv, Alltoallw};
    matches!(op.kind(), Kind::Collective(Alltoallv | Alltoallw, Form::Blocking))
}

/// Tells each call of such an exchange: rank, step, bytes, and the key of the exchange.
fn each_exchange(graph: &Graph, mut tell: impl FnMut(u32, u64, &Step, Exchanged, u64)) {
    for strand in &graph.strands {
        each_call(graph, strand.first_step, |index, step| {
            if !is_exchange(step.op()) {
                return;
            }
            let ties = graph.ties_of(step);
            let exchanged = ties.iter().find_map(|tie| tie.exchanged());
            let enters = ties.iter().find(|tie| tie.kind() == TieKind::Enters);
            if let (Some(exchanged), Some(enters)) = (exchanged, enters) {
                tell(strand.rank.0, index, step, exchanged, enters.key);
            }
        });
    }
}

/// Leaves out the exchange as a whole where hot receivers explain most of its cost.
pub(crate) fn explain(suspects: &mut [Suspect]) {
    let is_it = |suspect: &&Suspect| matches!(suspect.finding.diagnosis, Diagnosis::HotReceiver { .. });
    let hot = suspects.iter().filter(is_it).filter(|hot| hot.is_worth_listing());
    let hot: Vec<_> = hot.map(|hot| (hot.finding.place.clone(), hot.gain_ns() as f64)).collect();
    for suspect in suspects.iter_mut().filter(|suspect| suspect.finding.diagnosis == Diagnosis::Alltoall {}) {
        let whole = suspect.gain_ns() as f64;
        suspect.is_part |= hot.iter().any(|(place, ns)| {
            *place == suspect.finding.place && *ns >= THRESHOLDS.hot_receiver_explains * whole
        });
    }
}
