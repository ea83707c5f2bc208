//! The report of a run, with a place on the timeline to jump to for each finding.
//!
//! The report itself is that of `kizami report`. It is kept in the trace's `derived/` folder.

use crate::insight::{Insight, WaitRow};
use kizami_explain::{Analysis, ExactCalls, ExplainError, Finding, Hang, Report, SourceLine, typical};
use kizami_graph::{Step, StepKind};
use kizami_trace::derived::{Derived, Numbers};
use kizami_trace::{Definitions, Trace};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Changes whenever reports do.
const VERSION: u32 = 10;
const NAME: &str = "verdict.bin";

/// What is said about a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The report.
    pub report: Report,
    /// Where to see each of its findings, in their order; none if no single wait shows it.
    pub jumps: Vec<Option<Jump>>,
}

/// A typical instance of a finding.
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
    /// The rank that waited; none if nobody does, and the call itself is shown.
    pub waiting_rank: Option<u32>,
    /// Index of the place it waited at.
    pub waiting_site: Option<u32>,
    /// Start of the call it waited in.
    pub waiting_start_ns: Option<i64>,
}

/// The verdict that was kept for a trace, if it can be believed.
pub fn kept(trace: &Trace) -> Option<Verdict> {
    serde_json::from_slice(Derived::of(trace)?.read(NAME, VERSION)?.content()).ok()
}

/// Explains a run, and keeps what comes of it. If it was reconstructed, `exact` is what the reduced trace knows.
pub fn explain(
    trace: &Trace,
    exact: Option<&ExactCalls>,
    insight: &Insight,
    definitions: &Definitions,
    threads: usize,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<Verdict, ExplainError> {
    let mut analysis = Analysis::of(trace, threads, &|done| {
        progress(done.done as f64 / done.total.max(1) as f64);
    })?;
    if let Some(exact) = exact {
        analysis.compare_with(exact);
    }
    let mut report = analysis.report(trace);
    report.hang = Hang::of(trace, trace)?;
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

/// A wait that shows a finding: for one of its ranks, at the place it names, where most was waited; or if nobody waits
/// for it, a call there. Of all such a typical one.
fn jump(finding: &Finding, insight: &Insight, definitions: &Definitions) -> Option<Jump> {
    let step = |index: u64| &insight.graph.steps[index as usize];
    let blamed = sites_of(definitions, &finding.place);
    let Some((function, place)) = &finding.waiting_in else { return to_call(finding, insight, &blamed) };
    let waited = sites_of(definitions, place);
    let ranks: FxHashSet<u32> = finding.ranks.iter().map(|rank| insight.like(*rank)).collect();
    let how_well = |wait: &WaitRow| {
        let rank = ranks.is_empty() || ranks.contains(&insight.rank_of(wait.of_strand));
        let waiting = step(wait.step);
        let is_there = waited.contains(&waiting.site()) && waiting.op().name() == function;
        // Several things may have been done before what was waited for: its own place need not be the finding's.
        rank.then(|| (is_there, blamed.contains(&step(wait.of).site())))
    };
    let all = || insight.waits.iter().flat_map(|list| list.iter());
    let best = all().filter_map(how_well).max().filter(|(there, place)| *there || *place)?;
    let wait = typical(|| all().filter(|wait| how_well(wait) == Some(best)), |wait| wait.length())?;
    let waiting_rank = insight.rank_of(wait.strand);
    Some(Jump {
        rank: insight.waited_for(wait, waiting_rank),
        site: step(wait.of).site(),
        from_ns: wait.from().0,
        to_ns: step(wait.step).end.0,
        waiting_rank: Some(waiting_rank),
        waiting_site: step(wait.step).site(),
        waiting_start_ns: Some(step(wait.step).start.0),
    })
}

/// A call of the place a finding names.
fn to_call(finding: &Finding, insight: &Insight, sites: &FxHashSet<Option<u32>>) -> Option<Jump> {
    let steps = &insight.graph.steps;
    let is_it = |(_, step): &(u64, &Step)| {
        sites.contains(&step.site()) && step.kind() != StepKind::Part && step.op().name() == finding.function
    };
    let (index, call) =
        typical(|| (0..).zip(steps.iter()).filter(is_it), |(_, step)| step.end.saturating_since(step.start))?;
    let mut ranks = insight.graph.strands.iter().map(|strand| strand.rank.0);
    let rank = ranks.find(|rank| insight.steps_of(*rank).contains(&index))?;
    Some(Jump {
        rank,
        site: call.site(),
        from_ns: call.start.0,
        to_ns: call.end.0,
        waiting_rank: None,
        waiting_site: None,
        waiting_start_ns: None,
    })
}

/// The call sites of one line.
fn sites_of(definitions: &Definitions, place: &SourceLine) -> FxHashSet<Option<u32>> {
    let sites = (0..definitions.callsites.len() as u32).map(Some).chain([None]);
    sites.filter(|site| SourceLine::of(definitions, *site) == *place).collect()
}
