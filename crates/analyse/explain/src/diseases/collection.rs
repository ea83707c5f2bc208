//! Loops in which one rank takes messages from all others one by one, or sends them so. A collective does that in log P
//! steps; in the replay only so many of the calls take time, with what is computed between them. Senders are still waited
//! for.

use super::calls::{InRow, rows};
use super::{Evidence, Suspect, about_call};
use crate::disease::Diagnosis;
use crate::thresholds::THRESHOLDS;
use kizami_graph::{Graph, Step, TieKind};
use kizami_model::kind::{Form, Kind};
use kizami_model::{Length, Op};
use kizami_replay::{Setting, StepChange};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
struct Collection {
    collectors: FxHashSet<u32>,
    partners: usize,
    rows: u64,
    /// What is spent on it beyond waiting.
    time: Length,
    changes: Vec<(u64, StepChange)>,
}

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let mut all: FxHashMap<(Op, u32), Collection> = FxHashMap::default();
    let graph = evidence.graph;
    // In most programs there is nothing to look for.
    if !evidence.profile.calls.keys().any(|(op, _)| of_message(*op).is_some()) {
        return Vec::new();
    }
    for strand in &graph.strands {
        let same_place = |last: &InRow<'_>, next: &InRow<'_>| last.step.site() == next.step.site();
        rows(
            graph,
            strand,
            |step| partner(graph, step).is_some(),
            same_place,
            |row, _| {
                let Some(site) = row.first().and_then(|call| call.step.site()) else { return };
                let sources: FxHashSet<u32> =
                    row.iter().filter_map(|call| partner(graph, call.step)).collect();
                let many =
                    sources.len() as f64 >= THRESHOLDS.most_of_the_ranks * (evidence.ranks() as f64 - 1.0);
                if sources.len() < THRESHOLDS.fewest_partners || !many {
                    return;
                }
                let found = all.entry((row[0].step.op(), site)).or_default();
                found.collectors.insert(strand.rank.0);
                found.partners = found.partners.max(sources.len());
                found.rows += 1;
                let steps = (sources.len() as f64 + 1.0).log2().ceil();
                let kept = (steps / sources.len() as f64 * row.len() as f64).ceil() as usize;
                for call in row.iter().skip(kept.max(1)) {
                    // What lies between the first waiting for a message and its end is its way, and stays.
                    let inside = (call.step.length() - waited(evidence, call.index)).at_least_zero();
                    found.time += call.gap + inside;
                    let shorter = |length: Length| Length::ZERO - length;
                    let change =
                        StepChange { before: shorter(call.gap), inside: shorter(inside), left_out: false };
                    found.changes.push((call.index, change));
                }
            },
        );
    }
    let mut all: Vec<_> = all.into_iter().collect();
    let least_ns = THRESHOLDS.least_gain * evidence.interval.length().0 as f64;
    all.retain(|(_, found)| found.time.0 as f64 >= least_ns && found.collectors.len() == 1);
    all.sort_by_key(|((_, site), found)| (std::cmp::Reverse(found.time), *site));
    all.into_iter().take(1).map(|(at, found)| suspect(evidence, at, found)).collect()
}

/// How long a step waited.
fn waited(evidence: &Evidence<'_>, index: u64) -> Length {
    let wait = evidence.by_step.find(index);
    wait.map_or(Length::ZERO, |wait| evidence.waits.long[wait as usize].length())
}

/// Which tie a blocking receive or send has, and whether it receives.
fn of_message(op: Op) -> Option<(TieKind, bool)> {
    match op.kind() {
        Kind::Receive(Form::Blocking) => Some((TieKind::Awaits, true)),
        Kind::Send(_, Form::Blocking) => Some((TieKind::Departs, false)),
        _ => None,
    }
}

/// From whom a blocking receive takes its message, or to whom a blocking send gives it.
fn partner(graph: &Graph, step: &Step) -> Option<u32> {
    let (kind, receives) = of_message(step.op())?;
    let tie = graph.ties_of(step).iter().find(|tie| tie.kind() == kind)?;
    let channel = &graph.channels[tie.place() as usize];
    Some(if receives { channel.from.0 } else { channel.to.0 })
}

fn suspect(evidence: &Evidence<'_>, (op, site): (Op, u32), found: Collection) -> Suspect {
    let diagnosis = Diagnosis::CollectionLoop {
        sends: matches!(op.kind(), Kind::Send(..)),
        partners: found.partners,
        times: found.rows,
    };
    let mut finding = about_call(evidence, diagnosis, op, Some(site));
    finding.ranks = found.collectors.into_iter().collect();
    finding.at_most = true;
    let without = Setting::of_steps(evidence.graph, found.changes);
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}
