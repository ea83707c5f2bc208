//! Receives in the wrong order: a rank waits for a message while others that it takes later are there. In the replay it
//! takes them as they come: of what it does with them, as much is done while it waits as that order allows.

use super::calls::{InRow, rows};
use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_blame::Pattern;
use kizami_graph::{Graph, Step, TieKind};
use kizami_model::kind::{Form, Kind};
use kizami_model::{Length, Moment, Op};
use kizami_network::Fit;
use kizami_replay::StepChange;
use kizami_whatif::{Change, Changes};
use rustc_hash::FxHashMap;

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut places: FxHashMap<(Op, u32), (Length, Vec<u32>)> = FxHashMap::default();
    for (key, total) in &evidence.waits.totals {
        if let (Some(site), Pattern::LateSenderWrongOrder) = (key.site, key.pattern) {
            let (time, ranks) = places.entry((key.op, site)).or_default();
            *time += total.time;
            ranks.push(evidence.graph.strands[key.strand as usize].rank.0);
        }
    }
    let mut places: Vec<_> = places.into_iter().collect();
    let least_ns = THRESHOLDS.least_waiting_of_a_rank * evidence.interval.length().0 as f64;
    places.retain(|(_, (time, _))| time.0 as f64 >= least_ns);
    places.sort_by_key(|((_, site), (time, _))| (std::cmp::Reverse(*time), *site));
    places.truncate(THRESHOLDS.most_places);
    places.into_iter().map(|(at, (time, ranks))| suspect(evidence, at, time, ranks)).collect()
}

fn suspect(evidence: &Evidence<'_>, (op, site): (Op, u32), waiting: Length, mut ranks: Vec<u32>) -> Suspect {
    ranks.sort_unstable();
    ranks.dedup();
    let place = evidence.place(Some(site));
    let mut finding = about_call(evidence, Diagnosis::WrongOrder {}, op, Some(site));
    finding.waiting_ranks = ranks.len();
    finding.ranks = ranks;
    finding.waiting_in = Some((op.name().to_owned(), place.clone()));
    finding.share = evidence.share(waiting.0 as f64);
    finding.option = Changes::at([&place], Change::TakeAsTheyCome);
    let without = evidence.changed(Change::TakeAsTheyCome(evidence.sites_at_place_of(site)));
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}

/// What changes if messages taken at `sites` are taken as they come: what is computed behind them is shorter by as much as
/// could have been done while another one was waited for.
pub(crate) fn as_they_come(graph: &Graph, fit: &Fit, sites: &[u32]) -> Vec<(u64, StepChange)> {
    let is_there =
        |step: &Step| step.site().is_some_and(|site| sites.contains(&site)) && key(graph, step).is_some();
    let together = |_: &InRow<'_>, _: &InRow<'_>| true;
    let mut rows_found: Vec<(Vec<InRow<'_>>, InRow<'_>)> = Vec::new();
    for strand in &graph.strands {
        rows(graph, strand, is_there, together, |row, behind| {
            if let (true, Some(behind)) = (row.len() > 1, behind) {
                rows_found.push((row.to_vec(), behind));
            }
        });
    }
    let sent = sent_times(graph, rows_found.iter().flat_map(|(row, _)| row));
    let mut changes = Vec::new();
    for (row, behind) in &rows_found {
        changes.extend(shortened(graph, fit, &sent, row, behind));
    }
    changes
}

/// The message that a call takes, if it takes just one.
fn key(graph: &Graph, step: &Step) -> Option<u64> {
    let takes = matches!(step.op().kind(), Kind::Receive(Form::Blocking) | Kind::Complete);
    let mut awaited = graph.ties_of(step).iter().filter(|tie| takes && tie.kind() == TieKind::Awaits);
    let first = awaited.next()?;
    awaited.next().is_none().then_some(first.key)
}

/// When the messages were sent that these calls take.
fn sent_times<'a>(graph: &Graph, calls: impl Iterator<Item = &'a InRow<'a>>) -> FxHashMap<u64, Moment> {
    let mut sent: FxHashMap<u64, Moment> =
        calls.filter_map(|call| Some((key(graph, call.step)?, call.step.start))).collect();
    if sent.is_empty() {
        return sent;
    }
    for step in graph.steps.iter() {
        for tie in graph.ties_of(step).iter().filter(|tie| tie.kind() == TieKind::Departs) {
            if let Some(at) = sent.get_mut(&tie.key) {
                *at = step.start;
            }
        }
    }
    sent
}

/// One row of calls, each followed by what is done with its message.
fn shortened(
    graph: &Graph,
    fit: &Fit,
    sent: &FxHashMap<u64, Moment>,
    row: &[InRow<'_>],
    behind: &InRow<'_>,
) -> Vec<(u64, StepChange)> {
    let next = row[1..].iter().chain([behind]);
    let mut messages: Vec<(Moment, Length)> = row
        .iter()
        .zip(next.clone())
        .filter_map(|(call, next)| {
            let tie = graph.ties_of(call.step).iter().find(|tie| tie.kind() == TieKind::Awaits)?;
            let there = *sent.get(&tie.key)? + fit.way(tie.bytes());
            let own = (call.step.end - there.max(call.step.start)).at_least_zero();
            Some((there, own.min(call.step.length()) + next.gap))
        })
        .collect();
    messages.sort_unstable();
    let mut now = row[0].step.start;
    for (there, work) in messages {
        now = now.max(there) + work;
    }
    let mut saved = (behind.step.start - now).at_least_zero();
    let mut changes = Vec::new();
    let followed: Vec<&InRow<'_>> = next.collect();
    for call in followed.into_iter().rev() {
        let shorter = saved.min(call.gap);
        saved -= shorter;
        if shorter > Length::ZERO {
            changes
                .push((call.index, StepChange { before: Length::ZERO - shorter, ..StepChange::default() }));
        }
    }
    changes
}
