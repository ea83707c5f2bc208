//! Messages and collectives that could be one: many of them on little data that follow each other closely. In the
//! replay all but the last of such a row are left out, and that one carries the bytes of all.

use super::calls::{InRow, rows};
use super::{Evidence, Suspect, about_call};
use crate::disease::{Diagnosis, Rows};
use crate::thresholds::THRESHOLDS;
use kizami_graph::{Graph, Step, TieKind};
use kizami_model::kind::{CollectiveKind, Form, Kind, WindowCall};
use kizami_model::{Length, Op};
use kizami_network::Fit;
use kizami_replay::StepChange;
use kizami_trace::SourceLine;
use kizami_whatif::{Change, Changes};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What is joined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum What {
    Messages,
    Collectives,
}

/// Rows of calls of one function at one place.
#[derive(Default)]
struct CallSum {
    calls: u64,
    rows: u64,
    time: Length,
    most_bytes: u64,
    /// Where the calls are that the rows are made of.
    sites: BTreeSet<u32>,
    changes: Vec<(u64, StepChange)>,
}

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    let found = find(evidence.graph, evidence.fit, |_| true);
    let mut suspects = Vec::new();
    for what in [What::Messages, What::Collectives] {
        // Rows of what belongs together: the sends of some ranks are the receives of others.
        let of_kind: Vec<_> = found.iter().filter(|((known, ..), _)| *known == what).collect();
        let time: Length = of_kind.iter().map(|(_, found)| found.time).sum();
        // The call that completes others has no messages of its own.
        let begun = of_kind.iter().filter(|(_, found)| found.calls > 0);
        let worst = begun.max_by_key(|((_, op, site), found)| (found.time, op.0, *site));
        let Some(((_, op, site), worst)) =
            worst.filter(|_| evidence.share(time.0 as f64) >= THRESHOLDS.least_gain)
        else {
            continue;
        };
        suspects.push(suspect(evidence, what, (*op, *site), worst));
    }
    suspects
}

fn suspect(evidence: &Evidence<'_>, what: What, (op, site): (Op, Option<u32>), worst: &CallSum) -> Suspect {
    let rows = Rows { most_bytes: worst.most_bytes, calls: worst.calls, rows: worst.rows };
    let diagnosis = match what {
        What::Messages => Diagnosis::SmallMessages { rows },
        What::Collectives => Diagnosis::TinyCollectives { rows },
    };
    let mut finding = about_call(evidence, diagnosis, op, site);
    finding.share = evidence.share(worst.time.0 as f64);
    let places: BTreeSet<SourceLine> = worst.sites.iter().map(|site| evidence.place(Some(*site))).collect();
    finding.option = Changes::at(&places, Change::Join);
    finding.at_most = true;
    let lines = evidence.sites_at_places_of(worst.sites.iter().copied());
    let without = evidence.changed(Change::Join(lines));
    Suspect::without(finding, without, THRESHOLDS.least_gain)
}

/// What changes if rows of small messages and collectives at some places are joined; what the other side of such messages
/// does is joined, too.
pub(crate) fn joined(graph: &Graph, fit: &Fit, sites: &[u32]) -> Vec<(u64, StepChange)> {
    let asked = find(graph, fit, |step| step.site().is_some_and(|site| sites.contains(&site)));
    let messages = asked.keys().any(|(what, ..)| *what == What::Messages);
    let moves = |step: &Step| kind_of(step) == Some(What::Messages) || begins(step);
    let all = if messages { find(graph, fit, moves) } else { asked };
    all.into_values().flat_map(|found| found.changes).collect()
}

/// Which kind of row a call may belong to.
fn kind_of(step: &Step) -> Option<What> {
    match step.op().kind() {
        Kind::Send(_, Form::Blocking) | Kind::Receive(Form::Blocking) | Kind::SendReceive(Form::Blocking) => {
            Some(What::Messages)
        }
        Kind::Collective(
            CollectiveKind::Allreduce
            | CollectiveKind::Reduce
            | CollectiveKind::Bcast
            | CollectiveKind::Allgather,
            Form::Blocking,
        ) => Some(What::Collectives),
        _ => None,
    }
}

/// With whom a call communicates: channels without their tag, or the communicator; and how many bytes.
fn partners(graph: &Graph, step: &Step) -> (Vec<(u32, u32)>, u64) {
    let (mut partners, mut bytes) = (Vec::new(), 0);
    for tie in graph.ties_of(step) {
        match tie.kind() {
            TieKind::Departs | TieKind::Awaits => {
                let channel = &graph.channels[tie.place() as usize];
                partners.push((channel.from.0, channel.to.0));
                bytes = bytes.max(tie.bytes());
            }
            kind if kind.is_collective() && kind.announces() => {
                partners.push((u32::MAX, tie.place()));
                bytes = bytes.max(tie.bytes());
            }
            _ => {}
        }
    }
    partners.sort_unstable();
    (partners, bytes)
}

/// How many bytes the largest of its messages has, or its part in a collective.
fn most_bytes(graph: &Graph, step: &Step) -> u64 {
    let counts = |kind: TieKind| {
        matches!(kind, TieKind::Departs | TieKind::Awaits) || kind.is_collective() && kind.announces()
    };
    let ties = graph.ties_of(step).iter().filter(|tie| counts(tie.kind()));
    ties.map(|tie| tie.bytes()).max().unwrap_or(0)
}

fn find(
    graph: &Graph,
    fit: &Fit,
    wanted: impl Fn(&Step) -> bool,
) -> FxHashMap<(What, Op, Option<u32>), CallSum> {
    let mut all: FxHashMap<(What, Op, Option<u32>), CallSum> = FxHashMap::default();
    let small = |step: &Step| {
        kind_of(step).is_some() && wanted(step) && most_bytes(graph, step) <= THRESHOLDS.small_bytes
    };
    let follows = |last: &InRow<'_>, next: &InRow<'_>| {
        let close = next.gap
            <= THRESHOLDS.hardly_any.max(next.step.length().min(last.step.length()) / THRESHOLDS.close_part);
        let same = last.step.op() == next.step.op();
        close && same && partners(graph, last.step).0 == partners(graph, next.step).0
    };
    let begins_small =
        |step: &Step| begins(step) && wanted(step) && most_bytes(graph, step) <= THRESHOLDS.small_bytes;
    let exchanges_small = |step: &Step| begins_small(step) || step.op().kind() == Kind::Complete;
    let soon = |_: &InRow<'_>, next: &InRow<'_>| {
        next.gap <= THRESHOLDS.hardly_any.max(next.step.length() / THRESHOLDS.close_part)
    };
    for strand in &graph.strands {
        rows(graph, strand, exchanges_small, soon, |row, _| one_by_one(graph, fit, row, &mut all));
        let fenced = |step: &Step| is_fence(step) && wanted(step) || is_small_access(graph, step);
        rows(graph, strand, fenced, soon, |row, _| fences(graph, row, &mut all));
        rows(
            graph,
            strand,
            begins_small,
            |_, next| next.gap <= THRESHOLDS.hardly_any,
            |row, behind| {
                begun_together(graph, fit, row, behind, &mut all);
            },
        );
        rows(graph, strand, small, follows, |row, _| {
            let Some(what) = row.first().and_then(|call| kind_of(call.step)) else { return };
            let fewest = if what == What::Messages {
                THRESHOLDS.fewest_messages
            } else {
                THRESHOLDS.fewest_collectives
            };
            let [rest @ .., last] = row else { return };
            if row.len() < fewest {
                return;
            }
            let found = all.entry((what, last.step.op(), last.step.site())).or_default();
            found.rows += 1;
            found.calls += row.len() as u64;
            found.sites.extend(row.iter().filter_map(|call| call.step.site()));
            let mut bytes = 0;
            for call in rest {
                found.time += call.step.length();
                let of_call = most_bytes(graph, call.step);
                bytes += of_call;
                found.most_bytes = found.most_bytes.max(of_call);
                found.changes.push((call.index, StepChange { left_out: true, ..StepChange::default() }));
            }
            let longer = Length::from_nanos_f64(fit.per_byte_ns() * bytes as f64);
            found.changes.push((last.index, StepChange { inside: longer, ..StepChange::default() }));
        });
    }
    all
}

/// A function, and between whom it moves messages.
type Exchange = (Op, Vec<(u32, u32)>);

/// Whether a call only begins to send or receive.
fn begins(step: &Step) -> bool {
    matches!(step.op().kind(), Kind::Send(_, Form::NonBlocking) | Kind::Receive(Form::NonBlocking))
}

fn is_fence(step: &Step) -> bool {
    step.op().kind() == Kind::Window(WindowCall::Fence)
}

fn is_small_access(graph: &Graph, step: &Step) -> bool {
    step.op().kind() == Kind::Window(WindowCall::Access) && most_bytes(graph, step) <= THRESHOLDS.small_bytes
}

/// Fences with hardly anything but small accesses between them: the last one could complete all of these.
fn fences(graph: &Graph, row: &[InRow<'_>], all: &mut FxHashMap<(What, Op, Option<u32>), CallSum>) {
    let fences: Vec<&InRow<'_>> = row.iter().filter(|call| is_fence(call.step)).collect();
    let [rest @ .., last] = &fences[..] else { return };
    if fences.len() < THRESHOLDS.fewest_collectives {
        return;
    }
    let found = all.entry((What::Collectives, last.step.op(), last.step.site())).or_default();
    found.rows += 1;
    found.calls += fences.len() as u64;
    found.sites.extend(fences.iter().filter_map(|fence| fence.step.site()));
    let accesses = row.iter().filter(|call| !is_fence(call.step));
    found.most_bytes = accesses.map(|call| most_bytes(graph, call.step)).fold(found.most_bytes, u64::max);
    for fence in rest {
        found.time += fence.step.length();
        found.changes.push((fence.index, StepChange { left_out: true, ..StepChange::default() }));
    }
}

/// Exchanges with the same partners that follow each other, each begun and completed by itself: the last one could carry
/// the data of all.
fn one_by_one(
    graph: &Graph,
    fit: &Fit,
    row: &[InRow<'_>],
    all: &mut FxHashMap<(What, Op, Option<u32>), CallSum>,
) {
    let completes = |call: &InRow<'_>| call.step.op().kind() == Kind::Complete;
    let exchanges: Vec<&[InRow<'_>]> = row.split_inclusive(completes).collect();
    if exchanges.len() < THRESHOLDS.fewest_messages {
        return;
    }
    let with = |exchange: &[InRow<'_>]| {
        let mut with: Vec<Exchange> = exchange
            .iter()
            .filter(|call| !completes(call))
            .map(|call| (call.step.op(), partners(graph, call.step).0))
            .collect();
        with.sort_unstable();
        with
    };
    for alike in exchanges.chunk_by(|a, b| with(a) == with(b)) {
        let [rest @ .., last] = alike else { continue };
        let sends = |exchange: &&[InRow<'_>]| {
            let sends = |call: &&InRow<'_>| matches!(call.step.op().kind(), Kind::Send(..));
            exchange.iter().filter(sends).count() as u64
        };
        let first_send = last.iter().find(|call| matches!(call.step.op().kind(), Kind::Send(..)));
        let (Some(send), Some(end)) = (first_send, last.last().filter(|call| completes(call))) else {
            continue;
        };
        if alike.len() < THRESHOLDS.fewest_messages {
            continue;
        }
        let found = all.entry((What::Messages, send.step.op(), send.step.site())).or_default();
        found.rows += 1;
        found.calls += alike.iter().map(sends).sum::<u64>();
        let mut bytes = 0;
        for call in rest.iter().flat_map(|exchange| exchange.iter()) {
            let of_call = most_bytes(graph, call.step);
            bytes += of_call;
            found.most_bytes = found.most_bytes.max(of_call);
            found.time += call.step.length();
            found.sites.extend(call.step.site());
            found.changes.push((call.index, StepChange { left_out: true, ..StepChange::default() }));
        }
        let inside = Length::from_nanos_f64(fit.per_byte_ns() * bytes as f64);
        found.changes.push((end.index, StepChange { inside, ..StepChange::default() }));
    }
}

/// Whether a row may have enough calls with the same partner to be joined: decided without looking at all partners, since most
/// rows have one call for each.
fn may_have_enough_alike(graph: &Graph, row: &[InRow<'_>]) -> bool {
    if row.len() < THRESHOLDS.fewest_messages {
        return false;
    }
    let between = |place: u32| {
        let channel = &graph.channels[place as usize];
        u64::from(channel.from.0) << 32 | u64::from(channel.to.0)
    };
    let is_message = |kind: TieKind| matches!(kind, TieKind::Departs | TieKind::Awaits);
    let mut firsts: Vec<(u16, u64)> = row
        .iter()
        .filter_map(|call| {
            let ties = graph.ties_of(call.step).iter().filter(|tie| is_message(tie.kind()));
            Some((call.step.op().0, ties.map(|tie| between(tie.place())).min()?))
        })
        .collect();
    firsts.sort_unstable();
    firsts.chunk_by(|a, b| a == b).any(|alike| alike.len() >= THRESHOLDS.fewest_messages)
}

/// Sends and receives that are begun together, and completed by the call behind them: one for each partner is enough.
fn begun_together(
    graph: &Graph,
    fit: &Fit,
    row: &[InRow<'_>],
    behind: Option<InRow<'_>>,
    all: &mut FxHashMap<(What, Op, Option<u32>), CallSum>,
) {
    if !may_have_enough_alike(graph, row) {
        return;
    }
    let mut by_partner: FxHashMap<Exchange, Vec<&InRow<'_>>> = FxHashMap::default();
    for call in row.iter().filter(|call| !partners(graph, call.step).0.is_empty()) {
        by_partner.entry((call.step.op(), partners(graph, call.step).0)).or_default().push(call);
    }
    let (mut left_out, mut kept, mut bytes) = (0u32, 0u32, 0);
    for calls in by_partner.values().filter(|calls| calls.len() >= THRESHOLDS.fewest_messages) {
        let first = calls[0].step;
        let found = all.entry((What::Messages, first.op(), first.site())).or_default();
        found.rows += 1;
        found.calls += calls.len() as u64;
        // The row is there only with all of them.
        found.sites.extend(row.iter().filter_map(|call| call.step.site()));
        kept += 1;
        for call in &calls[1..] {
            let of_call = most_bytes(graph, call.step);
            bytes += of_call;
            left_out += 1;
            found.time += call.step.length();
            found.most_bytes = found.most_bytes.max(of_call);
            found.changes.push((call.index, StepChange { left_out: true, ..StepChange::default() }));
        }
    }
    // What completes them has that much less to do.
    let completes = behind.filter(|call| left_out > 0 && call.step.op().kind() == Kind::Complete);
    if let Some(call) = completes {
        let part = f64::from(left_out) / f64::from(left_out + kept);
        let longer = Length::from_nanos_f64(fit.per_byte_ns() * bytes as f64);
        let inside = longer - call.step.length().scaled(part);
        let found = all.entry((What::Messages, call.step.op(), call.step.site())).or_default();
        found.time += call.step.length().scaled(part);
        found.changes.push((call.index, StepChange { inside, ..StepChange::default() }));
    }
}
