//! The report of a run, with a place on the timeline to jump to for each finding.
//!
//! The report itself is that of `kizami report`. It is kept in the trace's `derived/` folder.

use crate::insight::{Insight, WaitRow};
use kizami_explain::{Analysis, ExplainError, Finding, Report, SourceLine};
use kizami_trace::derived::{Derived, Numbers, scratch_folder};
use kizami_trace::{Definitions, Trace};
use serde::{Deserialize, Serialize};

/// Changes whenever reports do.
const VERSION: u32 = 2;
const NAME: &str = "verdict.bin";

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

/// The verdict that was kept for a trace, if it can be believed.
pub fn kept(trace: &Trace) -> Option<Verdict> {
    serde_json::from_slice(Derived::of(trace)?.read(NAME, VERSION)?.content()).ok()
}

/// Explains a run, and keeps what comes of it.
pub fn explain(
    trace: &Trace,
    insight: &Insight,
    definitions: &Definitions,
    threads: usize,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Verdict, ExplainError> {
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
    if let (Some(derived), Ok(text)) = (Derived::of(trace), serde_json::to_vec(verdict)) {
        let _ = derived.write(NAME, VERSION, Numbers::default(), &[&text]);
    }
}

/// The longest wait that shows a finding: for one of its ranks, at the place it names, where most was waited.
fn jump(finding: &Finding, insight: &Insight, definitions: &Definitions) -> Option<Jump> {
    let place = |step: u64| SourceLine::of(definitions, insight.graph.steps[step as usize].site());
    let how_well = |wait: &WaitRow| {
        let of = insight.rank_of(wait.of_strand);
        let rank = finding.ranks.is_empty() || finding.ranks.contains(&of);
        let waited = &insight.graph.steps[wait.step as usize];
        let there = finding
            .waiting_in
            .as_ref()
            .is_none_or(|(function, at)| waited.op().name() == function && place(wait.step) == *at);
        // Several things may have been done before what was waited for: its own place need not be the finding's.
        rank.then(|| (there, place(wait.of) == finding.place, wait.length()))
    };
    let all = insight.waits.iter().flat_map(|list| list.iter());
    let (_, wait) = all.filter_map(|wait| Some((how_well(wait)?, wait))).max_by_key(|(fit, _)| *fit)?;
    let step = |index: u64| &insight.graph.steps[index as usize];
    Some(Jump {
        rank: insight.rank_of(wait.of_strand),
        site: step(wait.of).site(),
        from_ns: wait.from().0,
        to_ns: step(wait.step).end.0,
        waiting_rank: insight.rank_of(wait.strand),
        waiting_site: step(wait.step).site(),
        waiting_start_ns: step(wait.step).start.0,
    })
}
