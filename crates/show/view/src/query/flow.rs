//! What a call waited for, what that waited for, and so on back to the cause; and who waited for it.

use crate::insight::{Insight, WaitRow};
use kizami_model::{Length, Moment};
use serde::Serialize;

/// Waits that are followed back, at most.
const MOST_LINKS: usize = 64;
/// What somebody did while others waited is told in this many pieces, at most.
const MOST_PIECES: usize = 64;
/// Others that waited, at most.
const MOST_WAITERS: usize = 256;

/// A call, or something else a rank did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "FlowStep"))]
pub struct Stage {
    /// Whose.
    pub rank: u32,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// Name of the function, or what else it was.
    pub name: String,
    /// Index of its place, or of the place that computation leads up to.
    pub site: Option<u32>,
    /// What it is.
    pub kind: StageKind,
    /// How long this one waited, or how long it was waited for.
    pub wait_ns: i64,
    /// What it has to do with the one before it, in a sentence.
    pub why: String,
}

/// What a rank did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum StageKind {
    /// It was in a call.
    Call,
    /// It computed.
    Compute,
    /// It had not made its first call.
    Start,
}

/// Everything about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Flow {
    /// The call.
    pub event: Stage,
    /// What it waited for, and so on back to the cause, which is the last.
    pub chain: Vec<Stage>,
    /// Who waited for it, the longest first.
    pub waiters: Vec<Stage>,
}

/// What somebody did while others waited for it.
struct Piece {
    from: Moment,
    to: Moment,
    /// None for computation.
    step: Option<u64>,
    /// The step it is, or leads up to.
    leads_to: u64,
    waiting: Length,
    kind: StageKind,
}

/// The flow of the call of a rank that began at a moment, or the last one before it.
pub fn flow(insight: &Insight, rank: u32, start: Moment) -> Option<Flow> {
    let range = insight.steps_of(rank);
    let steps = &insight.graph.steps[range.start as usize..range.end as usize];
    let place = steps.partition_point(|step| step.start.0 <= start.0).checked_sub(1)?;
    let begun_ns = steps[place].start.0;
    // Of several that begin at once the one that waited is meant, or else the first.
    let first = steps.partition_point(|step| step.start.0 < begun_ns);
    let candidates = range.start + first as u64..=range.start + place as u64;
    let waited = candidates.clone().find(|step| insight.wait_of(*step).is_some());
    let step = waited.unwrap_or(*candidates.start());
    let mut waiters: Vec<(&WaitRow, u32)> = Vec::new();
    let by_class = insight.graph.folding.is_some();
    let is_for_it = |wait: &&WaitRow| wait.of == step || by_class && insight.is_same_moment(wait.of, step);
    for wait in insight.waits.iter().flat_map(|list| list.iter()).filter(is_for_it) {
        insight.each_waiter(wait, rank, |waiter| waiters.push((wait, waiter)));
    }
    waiters.sort_by_key(|(wait, waiter)| (std::cmp::Reverse(wait.length()), wait.step, *waiter));
    waiters.truncate(MOST_WAITERS);
    let wait = insight.wait_of(step);
    let why = match wait {
        Some(wait) => waits_for(insight, wait, rank),
        None => "no wait state".to_owned(),
    };
    Some(Flow {
        event: stage(insight, rank, step, wait.map_or(Length::ZERO, WaitRow::length), why),
        chain: chain(insight, step, rank),
        waiters: waiters.into_iter().map(|(wait, rank)| waiting(insight, wait, rank)).collect(),
    })
}

/// A call as a stage.
fn stage(insight: &Insight, rank: u32, index: u64, wait: Length, why: String) -> Stage {
    let step = &insight.graph.steps[index as usize];
    let (start_ns, end_ns, site) = (step.start.0, step.end.0, step.site());
    Stage {
        rank,
        start_ns,
        end_ns,
        name: step.op().name().to_owned(),
        site,
        kind: StageKind::Call,
        wait_ns: wait.0,
        why,
    }
}

/// The call in which a rank waited.
fn waiting(insight: &Insight, wait: &WaitRow, rank: u32) -> Stage {
    stage(insight, rank, wait.step, wait.length(), waits_for(insight, wait, rank))
}

fn waits_for(insight: &Insight, wait: &WaitRow, rank: u32) -> String {
    let of = insight.waited_for(wait, rank);
    let name = |step: u64| insight.graph.steps[step as usize].op().name();
    let (inside, for_what) = (name(wait.step), name(wait.of));
    format!("rank {rank} waited {} in {inside} until rank {of} entered {for_what}", length(wait.length()))
}

/// Follows the waits of a rank back.
fn chain(insight: &Insight, step: u64, rank: u32) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut next = insight.wait_of(step).map(|wait| (wait, rank));
    let mut links = 0;
    while let Some((wait, rank)) = next {
        links += 1;
        let (of, of_step) = (insight.waited_for(wait, rank), insight.step_waited_for(wait, rank));
        stages.push(stage(insight, of, of_step.1, wait.length(), waits_for(insight, wait, rank)));
        let pieces = meanwhile(insight, wait, of_step);
        // The wait of the other that took most of this one goes on; if it did not wait, what took longest is the cause.
        let waited =
            pieces.iter().filter(|piece| piece.waiting > Length::ZERO).max_by_key(|piece| piece.waiting);
        let own = |piece: &&Piece| piece.to - piece.from - piece.waiting;
        let did = pieces.iter().max_by_key(own);
        next = match (waited, did) {
            (Some(waited), did) if did.is_none_or(|did| own(&did) < waited.waiting) && links < MOST_LINKS => {
                waited.step.and_then(|step| insight.wait_of(step)).map(|wait| (wait, of))
            }
            (_, Some(did)) => {
                stages.push(cause(insight, of, did));
                None
            }
            _ => None,
        };
        stages.extend(next.map(|(wait, rank)| waiting(insight, wait, rank)));
    }
    stages
}

/// What the last one did while it was waited for.
fn cause(insight: &Insight, rank: u32, piece: &Piece) -> Stage {
    let step = &insight.graph.steps[piece.leads_to as usize];
    let (name, doing) = match piece.kind {
        StageKind::Call => (step.op().name().to_owned(), format!("was in {}", step.op().name())),
        StageKind::Start => ("start".to_owned(), "had not made its first call".to_owned()),
        StageKind::Compute => {
            (format!("computation before {}", step.op().name()), "was computing".to_owned())
        }
    };
    let wait = piece.to - piece.from;
    Stage {
        rank,
        start_ns: piece.from.0,
        end_ns: piece.to.0,
        name,
        site: step.site(),
        kind: piece.kind,
        wait_ns: wait.0,
        why: format!("rank {rank} {doing} during this wait, for {}", length(wait)),
    }
}

/// Goes back over what a strand did before its step that was waited for, as long as it was waited for.
fn meanwhile(insight: &Insight, wait: &WaitRow, (strand, of): (u32, u64)) -> Vec<Piece> {
    let steps = &insight.graph.steps;
    let begin = |step: u64| steps[step as usize].start.max(wait.from());
    let mut pieces = Vec::new();
    let (mut index, mut until) = (of, wait.until());
    while until > wait.from() && pieces.len() < MOST_PIECES {
        until = until.min(begin(index));
        let before = insight.before(strand, index);
        let last_end = before.map_or(Moment(i64::MIN), |before| steps[before as usize].end);
        let from = last_end.max(wait.from());
        if until > from {
            let kind = if before.is_some() { StageKind::Compute } else { StageKind::Start };
            let (step, waiting) = (None, Length::ZERO);
            pieces.push(Piece { from, to: until, step, leads_to: index, waiting, kind });
            until = from;
        }
        let Some(before) = before else { break };
        let from = begin(before);
        if until > from {
            let earlier = insight.wait_of(before);
            let waited = earlier.map_or(Length::ZERO, |wait| wait.until().min(until) - wait.from().max(from));
            let (step, waiting, kind) = (Some(before), waited.at_least_zero(), StageKind::Call);
            pieces.push(Piece { from, to: until, step, leads_to: before, waiting, kind });
            until = from;
        }
        index = before;
    }
    pieces
}

/// A length of time for people.
fn length(length: Length) -> String {
    let ns = length.0;
    match ns {
        ..=999 => format!("{ns} ns"),
        1_000..=999_999 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}
