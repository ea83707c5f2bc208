//! Collectives between parts of a step, where ranks compute for different times in each part and for the same time in all: what
//! a rank waits in one of them, others wait in the next. In the replay only every second, third, ... of them is left, where
//! waiting is least; so the others must not be needed for data.
//!
//! Small sums, barriers and fences that all ranks take part in are looked at. Where it is not most of the waiting that goes
//! away, ranks differ in all parts, or at random: others say that.

use super::{Evidence, Suspect, about_call};
use crate::disease::{Diagnosis, Disease};
use crate::finding::Finding;
use crate::thresholds::THRESHOLDS;
use kizami_graph::{Graph, Step, Strand, TieKind};
use kizami_model::kind::{CollectiveKind, Form, Kind, WindowCall};
use kizami_model::{Length, Moment, Op};
use kizami_replay::{Setting, StepChange};
use kizami_whatif::each_call;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) fn suspects(evidence: &Evidence<'_>) -> Vec<Suspect> {
    suspect(evidence).into_iter().collect()
}

fn suspect(evidence: &Evidence<'_>) -> Option<Suspect> {
    let graph = evidence.graph;
    // Without a loop, meetings that follow each other have nothing to do with each other.
    let has_loop = evidence.looped.in_step && evidence.looped.marks.len() >= THRESHOLDS.fewest_iterations;
    let waited: Length =
        evidence.waits.totals.iter().filter(|(key, _)| meets(key.op)).map(|(_, total)| total.time).sum();
    let worth = evidence.share(waited.0 as f64) >= THRESHOLDS.least_in_calls;
    if graph.folding.is_some() || !has_loop || !worth {
        return None;
    }
    let meetings = Meetings::of(graph)?;
    let parts = meetings.parts_that_cancel()?;
    let mut changes = Vec::new();
    let mut waiting: FxHashMap<(Op, Option<u32>), Length> = FxHashMap::default();
    let mut waiting_ranks = FxHashSet::default();
    for strand in &graph.strands {
        each_meeting(graph, strand, |key, index, step| {
            if meetings.numbers.get(&key).is_none_or(|number| parts.ends_at(*number)) {
                return;
            }
            changes.push((index, StepChange { left_out: true, ..StepChange::default() }));
            if let Some(wait) = evidence.by_step.find(index) {
                *waiting.entry((step.op(), step.site())).or_default() +=
                    evidence.waits.long[wait as usize].length();
                waiting_ranks.insert(strand.rank);
            }
        });
    }
    let all: Length = waiting.values().copied().sum();
    let most = waiting.into_iter().max_by_key(|((_, site), time)| (*time, std::cmp::Reverse(*site)));
    let ((op, site), _) = most.filter(|_| evidence.share(all.0 as f64) >= THRESHOLDS.least_in_calls)?;
    // What is waited for must be computation: messages are as late without the meeting.
    let explained_ns = meetings.waiting_ns(Parts { count: 1, last: 0 }) as f64;
    if explained_ns < THRESHOLDS.explained_by_computation * all.0 as f64 {
        return None;
    }
    let diagnosis = Diagnosis::NeedlessCollective { of: parts.count };
    let mut finding = about_call(evidence, diagnosis, op, site);
    finding.share = evidence.share(all.0 as f64);
    finding.waiting_ranks = waiting_ranks.len();
    finding.at_most = true;
    let setting = Setting::of_steps(graph, changes);
    Some(Suspect::without(finding, setting, THRESHOLDS.least_gain_by_chance))
}

/// Meetings of all ranks, in order.
struct Meetings {
    /// The number of each, by key.
    numbers: FxHashMap<u64, usize>,
    ranks: usize,
    /// By meeting and rank: how long it computed since the one before.
    times: Vec<Length>,
}

/// How many meetings make a step, and which of them comes last in it.
#[derive(Clone, Copy)]
struct Parts {
    count: usize,
    last: usize,
}

impl Parts {
    fn ends_at(self, number: usize) -> bool {
        number % self.count == self.last
    }
}

impl Meetings {
    /// Meetings beyond so many times are not compared.
    const MOST_TIMES: usize = 1 << 20;
    /// Parts that a step has at most.
    const MOST_PARTS: usize = 8;

    /// Of a run; none if there are few.
    fn of(graph: &Graph) -> Option<Meetings> {
        let mut numbers = FxHashMap::default();
        let first = graph.strands.iter().find(|strand| strand.first_of_rank)?;
        each_meeting(graph, first, |key, _, _| {
            let number = numbers.len();
            numbers.entry(key).or_insert(number);
        });
        let ranks = graph.ranks() as usize;
        let compared = numbers.len().min(Meetings::MOST_TIMES / ranks.max(1));
        if compared < Meetings::MOST_PARTS * THRESHOLDS.fewest_repetitions {
            return None;
        }
        let mut times = vec![Length::ZERO; compared * ranks];
        for strand in graph.strands.iter().filter(|strand| strand.first_of_rank) {
            let (mut computed, mut last_end) = (Length::ZERO, None::<Moment>);
            each_call(graph, strand.first_step, |_, step| {
                computed += last_end.map_or(Length::ZERO, |end| (step.start - end).at_least_zero());
                last_end = Some(step.end);
                if let Some(key) = meeting(graph, step) {
                    let computed = std::mem::take(&mut computed);
                    if let Some(number) = numbers.get(&key).filter(|number| **number < compared) {
                        times[number * ranks + strand.rank.0 as usize] = computed;
                    }
                }
            });
        }
        Some(Meetings { numbers, ranks, times })
    }

    /// The fewest parts whose waiting cancels for the most part.
    fn parts_that_cancel(&self) -> Option<Parts> {
        let all_ns = self.waiting_ns(Parts { count: 1, last: 0 });
        let least = |count: usize| {
            let parts = (0..count).map(|last| Parts { count, last });
            parts.map(|parts| (self.waiting_ns(parts), parts)).min_by_key(|(waiting_ns, _)| *waiting_ns)
        };
        let mut candidates = (2..=Meetings::MOST_PARTS).filter_map(least);
        let cancels = |waiting_ns: i64| waiting_ns as f64 <= (1.0 - THRESHOLDS.most_cancels) * all_ns as f64;
        candidates.find(|(waiting_ns, _)| all_ns > 0 && cancels(*waiting_ns)).map(|(_, parts)| parts)
    }

    /// How long ranks would wait, all together, if they met only at the ends of steps. What lies before the first such end and
    /// behind the last one is left out.
    fn waiting_ns(&self, parts: Parts) -> i64 {
        let mut sums = vec![0i64; self.ranks];
        let mut waiting_ns = 0;
        let begin = parts.last + 1;
        let whole = (self.times.len() / self.ranks).saturating_sub(begin) / parts.count * parts.count;
        for (number, times) in self.times.chunks(self.ranks).enumerate().skip(begin).take(whole) {
            sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time.0);
            if parts.ends_at(number) {
                let longest = sums.iter().copied().max().unwrap_or(0);
                waiting_ns += sums.iter().map(|sum| longest - sum).sum::<i64>();
                sums.fill(0);
            }
        }
        waiting_ns
    }
}

/// Tells the meetings of a strand: key, step.
fn each_meeting(graph: &Graph, strand: &Strand, mut tell: impl FnMut(u64, u64, &Step)) {
    each_call(graph, strand.first_step, |index, step| {
        if let Some(key) = meeting(graph, step) {
            tell(key, index, step);
        }
    });
}

/// Whether ranks meet in such calls, and may need nothing of each other.
fn meets(op: Op) -> bool {
    matches!(
        op.kind(),
        Kind::Collective(CollectiveKind::Allreduce | CollectiveKind::Barrier, Form::Blocking)
            | Kind::Window(WindowCall::Fence)
    )
}

/// The key of a small sum, a barrier or a fence of all ranks.
fn meeting(graph: &Graph, step: &Step) -> Option<u64> {
    if !meets(step.op()) {
        return None;
    }
    let tie = graph.ties_of(step).iter().find(|tie| tie.kind() == TieKind::AwaitsAll)?;
    let of_all = graph.members.sizes.get(tie.place() as usize) == Some(&graph.ranks());
    (of_all && tie.bytes() <= THRESHOLDS.small_bytes).then_some(tie.key)
}

/// Decides between leaving collectives out and what says a part of the same: the first only where most of the waiting goes.
pub(crate) fn explain(suspects: &mut Vec<Suspect>) {
    let is_it = |suspect: &Suspect| suspect.finding.disease() == Disease::NeedlessCollective;
    let Some(found) = suspects.iter().position(is_it) else { return };
    let needless = suspects.remove(found);
    let cancels = needless.finding.gain.is_some_and(|gain| {
        gain.share >= THRESHOLDS.most_cancels * needless.finding.share && needless.is_worth_listing()
    });
    let parts = suspects.iter().filter(|suspect| may_be_part(&suspect.finding));
    let best_ns = parts.filter(|part| part.is_worth_listing()).map(Suspect::gain_ns).max().unwrap_or(0);
    if cancels && THRESHOLDS.surely_joint * needless.gain_ns() as f64 >= best_ns as f64 {
        suspects.push(needless);
    }
}

/// Whether a finding is about ranks that compute longer in some part: then it may be gone where nobody meets between parts.
pub(crate) fn may_be_part(finding: &Finding) -> bool {
    matches!(
        finding.disease(),
        Disease::Imbalance
            | Disease::MovingImbalance
            | Disease::RandomImbalance
            | Disease::RareImbalance
            | Disease::NeedlessBarrier
    )
}
