//! Receives that are posted late: sends wait for them. In the replay they are posted early, so that such sends do not
//! wait. Where messages are only just too large for MPI to take them from their sender, a larger limit does the same.

use super::{Evidence, LEAST_SHARE, Suspect, about_call, option};
use crate::disease::Disease;
use crate::who::in_words;
use kizami_blame::LongWait;
use kizami_blame::Pattern;
use kizami_graph::TieKind;
use kizami_model::{Length, Op};
use kizami_replay::Setting;
use rustc_hash::{FxHashMap, FxHashSet};

/// Ranks that are named one by one.
const FEW_RANKS: usize = 8;

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
    let worst = worst.filter(|(_, late)| evidence.share(late.waiting.0 as f64) >= LEAST_SHARE);
    worst.map(|((op, site), late)| suspect(evidence, op, site, late)).into_iter().collect()
}

/// Whether a send waited only because MPI had no room for its message.
fn waits_for_room(evidence: &Evidence<'_>, wait: &LongWait) -> bool {
    let graph = evidence.graph;
    let ties = graph.ties_of(&graph.steps[wait.step as usize]);
    wait.pattern == Pattern::LateReceiver && ties.iter().any(|tie| tie.kind() == TieKind::AwaitsPost)
}

fn suspect(evidence: &Evidence<'_>, op: Op, site: u32, late: Late) -> Suspect {
    let place = evidence.place(Some(site));
    let mut receivers: Vec<u32> = late.receivers.into_iter().collect();
    receivers.sort_unstable();
    let most = late.at.iter().max_by_key(|((_, site), time)| (**time, std::cmp::Reverse(*site)));
    let waiting_in = most.map(|((op, site), _)| (op.name().to_owned(), evidence.place(Some(*site))));
    let who = match receivers.len() {
        few if few <= FEW_RANKS => in_words(&receivers),
        many => format!("{many} ranks"),
    };
    let verb = if receivers.len() == 1 { "posts its receive" } else { "post their receives" };
    let waiting = waiting_in.as_ref().map_or(String::new(), |(function, place)| {
        let senders = late.senders.len();
        let waits = if senders == 1 { "1 rank waits".to_owned() } else { format!("{senders} ranks wait") };
        format!("; {waits} for that in {function} at {place}")
    });
    let sentence = format!("{who} {verb} late, in {} at {place}{waiting}", op.name());
    let mut finding = about_call(evidence, Disease::LateReceiver, op, Some(site), sentence);
    finding.ranks = if receivers.len() <= FEW_RANKS { receivers } else { Vec::new() };
    finding.waiting_ranks = late.senders.len();
    finding.share = evidence.share(late.waiting.0 as f64);
    finding.option = waiting_in.as_ref().and_then(|(_, place)| option("--post-early", place));
    finding.waiting_in = waiting_in;
    let sites = late.at.keys().flat_map(|(_, site)| evidence.line_of(*site));
    let without = Setting { posted_early: sites.collect(), ..Setting::default() };
    Suspect::without(finding, without, LEAST_SHARE)
}
