//! The report of a run, with a place on the timeline to jump to for each finding.
//!
//! The report itself is that of `kizami report`. It is kept as `verdict.json` in the trace's `derived/` folder.

use crate::index::made_from;
use crate::insight::{Insight, WaitRow};
use kizami_explain::{Analysis, Finding, Place, Report};
use kizami_graph::scratch_folder;
use kizami_store::{Definitions, StoreError, Trace};
use serde::{Deserialize, Serialize};

/// Changes whenever reports do.
const VERSION: u32 = 1;
const NAME: &str = "verdict.json";

/// What is said about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The report.
    pub report: Report,
    /// Where to see each of its findings, in their order; none if no single wait shows it.
    pub jumps: Vec<Option<Jump>>,
}

/// The worst instance of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jump {
    /// The rank that was waited for.
    pub rank: u32,
    /// Index of the place of the call that was waited for.
    pub site: Option<u32>,
    /// When somebody began to wait.
    pub from_ns: i64,
    /// Until when.
    pub to_ns: i64,
    /// The rank that waited.
    pub waiting_rank: u32,
    /// Index of the place it waited at.
    pub waiting_site: Option<u32>,
    /// Start of the call it waited in.
    pub waiting_start_ns: i64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    made_from: u64,
    verdict: Verdict,
}

/// The verdict that was kept for a trace, if it can be believed.
pub fn kept(trace: &Trace) -> Option<Verdict> {
    let text = std::fs::read(trace.path().join("derived").join(NAME)).ok()?;
    let kept: Kept = serde_json::from_slice(&text).ok()?;
    ((kept.version, kept.made_from) == (VERSION, made_from(trace))).then_some(kept.verdict)
}

/// Explains a run, and keeps what comes of it.
pub fn explain(
    trace: &Trace,
    insight: &Insight,
    definitions: &Definitions,
    threads: usize,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Verdict, StoreError> {
    let analysis = Analysis::of(trace, &scratch_folder(trace), threads, &|done| {
        progress(done.done as f64 / done.total.max(1) as f64);
    })?;
    let report = analysis.report(trace);
    let jumps = report.findings.iter().map(|finding| jump(finding, insight, definitions)).collect();
    let verdict = Verdict { report, jumps };
    keep(trace, &verdict);
    Ok(verdict)
}

/// Nothing is lost if that fails.
fn keep(trace: &Trace, verdict: &Verdict) {
    let folder = scratch_folder(trace);
    let kept = Kept { version: VERSION, made_from: made_from(trace), verdict: verdict.clone() };
    if let (true, Ok(text)) = (folder.starts_with(trace.path()), serde_json::to_vec(&kept)) {
        let unfinished = folder.join(format!("{NAME}.{}.tmp", std::process::id()));
        let written =
            std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, folder.join(NAME)));
        if written.is_err() {
            std::fs::remove_file(&unfinished).unwrap_or(());
        }
    }
}

/// The longest wait that shows a finding: for one of its ranks, at the place it names, where most was waited.
fn jump(finding: &Finding, insight: &Insight, definitions: &Definitions) -> Option<Jump> {
    let place = |step: u64| Place::of(definitions, insight.graph.steps[step as usize].site());
    let how_well = |wait: &WaitRow| {
        let of = insight.rank_of(wait.of_strand);
        let rank = finding.ranks.is_empty() || finding.ranks.contains(&of);
        let waited = &insight.graph.steps[wait.step as usize];
        let there = finding
            .waiting_in
            .as_ref()
            .is_none_or(|(function, at)| waited.op().name() == function && place(wait.step) == *at);
        // Several things may have been done before what was waited for: its own place need not be the finding's.
        rank.then(|| (there, place(wait.of) == finding.place, wait.length_ns()))
    };
    let all = insight.waits.iter().flat_map(|list| list.iter());
    let (_, wait) = all.filter_map(|wait| Some((how_well(wait)?, wait))).max_by_key(|(fit, _)| *fit)?;
    let step = |index: u64| &insight.graph.steps[index as usize];
    Some(Jump {
        rank: insight.rank_of(wait.of_strand),
        site: step(wait.of).site(),
        from_ns: wait.from_ns,
        to_ns: step(wait.step).end_ns,
        waiting_rank: insight.rank_of(wait.strand),
        waiting_site: step(wait.step).site(),
        waiting_start_ns: step(wait.step).start_ns,
    })
}
