//! Receives that are posted late: sends wait for them. In the replay they are posted early, so that such sends do not
//! wait. Where messages are only just too large for MPI to take them from their sender, a larger limit does the same.

use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use crate::who::Who;
use kizami_blame::LongWait;
use kizami_blame::Pattern;
use kizami_graph::TieKind;
use kizami_model::{Length, Op};
use kizami_trace::SourceLine;
use kizami_whatif::{Change, Changes};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Waits for receives posted at one place.
#[derive(Default)]
struct Late {
    waiting: Length,
    receivers: FxHashSet<u32>,
    senders: FxHashSet<u32>,
    /// Where they waited.
    at: FxHashMap<(Op, u32), Length>,
}

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let graph = evidence.graph;
    let mut places: FxHashMap<(Op, u32), Late> = FxHashMap::default();
    for wait in evidence.waits.long.iter().filter(|wait| waits_for_room(evidence, wait)) {
        let (posts, waits) = (&graph.steps[wait.of as usize], &graph.steps[wait.step as usize]);
        let (Some(posted_at), Some(waited_at)) = (posts.site(), waits.site()) else { continue };
        let late = places.entry((posts.op(), posted_at)).or_default();
        late.waiting += wait.length();
        late.receivers.insert(graph.strands[wait.of_strand as usize].rank.0);
        late.senders.insert(graph.strands[wait.strand as usize].rank.0);
        *late.at.entry((waits.op(), waited_at)).or_default() += wait.length();
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by_key(|((_, site), late)| (std::cmp::Reverse(late.waiting), *site));
    let worst = places.into_iter().next();
    let worst = worst.filter(|(_, late)| evidence.share(late.waiting.0 as f64) >= THRESHOLDS.least_gain);
    worst.map(|((op, site), late)| suspect(evidence, op, site, late)).into_iter().collect()
}

/// Whether a send waited only because MPI had no room for its message.
fn waits_for_room(evidence: &Evidence<'_>, wait: &LongWait) -> bool {
    let graph = evidence.graph;
    let ties = graph.ties_of(&graph.steps[wait.step as usize]);
    wait.pattern == Pattern::LateReceiver && ties.iter().any(|tie| tie.kind() == TieKind::AwaitsPost)
}

fn suspect(evidence: &Evidence<'_>, op: Op, site: u32, late: Late) -> Suspect {
    let mut receivers: Vec<u32> = late.receivers.into_iter().collect();
    receivers.sort_unstable();
    let most = late.at.iter().max_by_key(|((_, site), time)| (**time, std::cmp::Reverse(*site)));
    let waiting_in = most.map(|((op, site), _)| (op.name().to_owned(), evidence.place(Some(*site))));
    let who = Who::of(receivers, THRESHOLDS.few_receivers);
    let ranks = who.ranks().to_vec();
    let mut finding = about_call(evidence, Diagnosis::LateReceiver { who }, op, Some(site));
    finding.ranks = ranks;
    finding.waiting_ranks = late.senders.len();
    finding.share = evidence.share(late.waiting.0 as f64);
    let places: BTreeSet<SourceLine> = late.at.keys().map(|(_, site)| evidence.place(Some(*site))).collect();
    finding.option = Changes::at(&places, Change::PostEarly);
    finding.waiting_in = waiting_in;
    let sites = evidence.sites_at_places_of(late.at.keys().map(|(_, site)| *site));
    let without = evidence.changed(Change::PostEarly(sites));
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}
