//! What a call waited for, what that waited for, and so on back to the cause; and who waited for it.

use crate::insight::{Insight, WaitRow};
use serde::Serialize;

/// Waits that are followed back, at most.
const MOST_LINKS: usize = 64;
/// What somebody did while others waited is told in this many pieces, at most.
const MOST_PIECES: usize = 64;
/// Others that waited, at most.
const MOST_WAITERS: usize = 256;

/// A call, or something else a rank did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// `call`, `compute`, or `start` for what was before the first call.
    pub kind: &'static str,
    /// How long this one waited, or how long it was waited for.
    pub wait_ns: i64,
    /// What it has to do with the one before it, in a sentence.
    pub why: String,
}

/// Everything about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    from_ns: i64,
    to_ns: i64,
    /// None for computation.
    step: Option<u64>,
    /// The step it is, or leads up to.
    leads_to: u64,
    waiting_ns: i64,
    kind: &'static str,
}

/// The flow of the call of a rank that began at a moment, or the last one before it.
pub fn flow(insight: &Insight, rank: u32, start_ns: i64) -> Option<Flow> {
    let range = insight.steps_of(rank);
    let steps = &insight.graph.steps[range.start as usize..range.end as usize];
    let place = steps.partition_point(|step| step.start_ns <= start_ns).checked_sub(1)?;
    let begun_ns = steps[place].start_ns;
    // Of several that begin at once the one that waited is meant, or else the first.
    let first = steps.partition_point(|step| step.start_ns < begun_ns);
    let candidates = range.start + first as u64..=range.start + place as u64;
    let waited = candidates.clone().find(|step| insight.wait_of(*step).is_some());
    let step = waited.unwrap_or(*candidates.start());
    let waiters = insight.waits.iter().flat_map(|list| list.iter()).filter(|wait| wait.of == step);
    let mut waiters: Vec<&WaitRow> = waiters.collect();
    waiters.sort_by_key(|wait| (std::cmp::Reverse(wait.length_ns()), wait.step));
    waiters.truncate(MOST_WAITERS);
    let wait = insight.wait_of(step);
    let why = match wait {
        Some(wait) => waits_for(insight, wait),
        None => "it waited for nobody".to_owned(),
    };
    Some(Flow {
        event: stage(insight, rank, step, wait.map_or(0, WaitRow::length_ns), why),
        chain: chain(insight, step),
        waiters: waiters.into_iter().map(|wait| waiting(insight, wait)).collect(),
    })
}

/// A call as a stage.
fn stage(insight: &Insight, rank: u32, index: u64, wait_ns: i64, why: String) -> Stage {
    let step = &insight.graph.steps[index as usize];
    let (start_ns, end_ns, site) = (step.start_ns, step.end_ns, step.site());
    Stage { rank, start_ns, end_ns, name: step.op().name().to_owned(), site, kind: "call", wait_ns, why }
}

/// The call that waited.
fn waiting(insight: &Insight, wait: &WaitRow) -> Stage {
    stage(insight, insight.rank_of(wait.strand), wait.step, wait.length_ns(), waits_for(insight, wait))
}

fn waits_for(insight: &Insight, wait: &WaitRow) -> String {
    let (rank, of) = (insight.rank_of(wait.strand), insight.rank_of(wait.of_strand));
    let name = |step: u64| insight.graph.steps[step as usize].op().name();
    let (inside, for_what) = (name(wait.step), name(wait.of));
    format!("rank {rank} waited {} in {inside} until rank {of} came to {for_what}", length(wait.length_ns()))
}

/// Follows waits back.
fn chain(insight: &Insight, step: u64) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut next = insight.wait_of(step);
    let mut links = 0;
    while let Some(wait) = next {
        links += 1;
        let of = insight.rank_of(wait.of_strand);
        stages.push(stage(insight, of, wait.of, wait.length_ns(), waits_for(insight, wait)));
        let pieces = meanwhile(insight, wait);
        // The wait of the other that took most of this one goes on; if it did not wait, what took longest is the cause.
        let waited = pieces.iter().filter(|piece| piece.waiting_ns > 0).max_by_key(|piece| piece.waiting_ns);
        let own = |piece: &&Piece| piece.to_ns - piece.from_ns - piece.waiting_ns;
        let did = pieces.iter().max_by_key(own);
        next = match (waited, did) {
            (Some(waited), did)
                if did.is_none_or(|did| own(&did) < waited.waiting_ns) && links < MOST_LINKS =>
            {
                waited.step.and_then(|step| insight.wait_of(step))
            }
            (_, Some(did)) => {
                stages.push(cause(insight, of, did));
                None
            }
            _ => None,
        };
        stages.extend(next.map(|wait| waiting(insight, wait)));
    }
    stages
}

/// What the last one did while it was waited for.
fn cause(insight: &Insight, rank: u32, piece: &Piece) -> Stage {
    let step = &insight.graph.steps[piece.leads_to as usize];
    let (name, doing) = match piece.kind {
        "call" => (step.op().name().to_owned(), format!("was in {}", step.op().name())),
        "start" => ("start".to_owned(), "had not made its first call".to_owned()),
        _ => (format!("computation before {}", step.op().name()), "computed".to_owned()),
    };
    let wait_ns = piece.to_ns - piece.from_ns;
    Stage {
        rank,
        start_ns: piece.from_ns,
        end_ns: piece.to_ns,
        name,
        site: step.site(),
        kind: piece.kind,
        wait_ns,
        why: format!("rank {rank} {doing} for {} meanwhile", length(wait_ns)),
    }
}

/// Goes back over what a strand did before the step that was waited for, as long as it was waited for.
fn meanwhile(insight: &Insight, wait: &WaitRow) -> Vec<Piece> {
    let steps = &insight.graph.steps;
    let mut pieces = Vec::new();
    let (mut index, mut until_ns) = (wait.of, wait.until_ns);
    while until_ns > wait.from_ns && pieces.len() < MOST_PIECES {
        until_ns = until_ns.min(steps[index as usize].start_ns.max(wait.from_ns));
        let before = insight.before(wait.of_strand, index);
        let last_end_ns = before.map_or(i64::MIN, |before| steps[before as usize].end_ns);
        let from_ns = last_end_ns.max(wait.from_ns);
        if until_ns > from_ns {
            let kind = if before.is_some() { "compute" } else { "start" };
            pieces.push(Piece { from_ns, to_ns: until_ns, step: None, leads_to: index, waiting_ns: 0, kind });
            until_ns = from_ns;
        }
        let Some(before) = before else { break };
        let from_ns = steps[before as usize].start_ns.max(wait.from_ns);
        if until_ns > from_ns {
            let earlier = insight.wait_of(before);
            let waited = earlier.map_or(0, |wait| wait.until_ns.min(until_ns) - wait.from_ns.max(from_ns));
            let (step, waiting_ns) = (Some(before), waited.max(0));
            pieces.push(Piece { from_ns, to_ns: until_ns, step, leads_to: before, waiting_ns, kind: "call" });
            until_ns = from_ns;
        }
        index = before;
    }
    pieces
}

/// A length of time for people.
fn length(ns: i64) -> String {
    match ns {
        ..=999 => format!("{ns} ns"),
        1_000..=999_999 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}
