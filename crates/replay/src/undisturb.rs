//! The run as it would have been without the tracer: a replay in which nothing else is different, written as a trace
//! like any other.
//!
//! What was taken is taken out of each thread, and whoever waited for somebody who was held up waits less. The new
//! `run.json` says what the trace was made from, what was taken out, and how far to trust it.
//!
//! Promises: with nothing to take out, every time comes out exactly as recorded. No trace makes it fail, however odd;
//! what cannot be matched keeps its recorded length and is counted.

use crate::learned::{Learned, Passes, Progress};
use crate::setting::Setting;
use crate::times::Times;
use kizami_store::rewrite::{Gaps, Manner, Rewriting};
use kizami_store::run::Undisturbed;
use kizami_store::{RunInfo, StoreError, Trace};
use std::path::Path;

/// Part of the difference between both reconstructions that is taken for doubtful.
const DOUBTED_PART_OF_WAITS: i64 = 4;

const METHOD: &str = "the tracer's cost per call and its stops are taken out of each thread; calls that waited \
                      for a message, a receiver or a collective end as long after the last arrival as recorded";

/// Writes to `output`, which must not exist, what `trace` would have been without the tracer.
pub fn undisturb(
    trace: &Trace,
    output: &Path,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<RunInfo, StoreError> {
    let rewriting = Rewriting::begin(trace, output)?;
    let passes = Passes::new(trace, 4, progress);
    let Learned { graph, fit, losses } = Learned::from(trace, rewriting.folder(), threads, &passes)?;
    let setting = Setting { without_tracer: true, ..Setting::default() };
    let (times, replayed) =
        Times::under(&setting, &graph, &fit, threads, rewriting.folder(), &|steps| passes.tell(2, steps))?;
    let describe = |run: &mut RunInfo| {
        let span_ns = run.span_ns;
        let direct_only_ns = if graph.strands.is_empty() { span_ns } else { replayed.direct_only_ns };
        let doubtful_ns = span_ns.saturating_sub(direct_only_ns).saturating_abs() / DOUBTED_PART_OF_WAITS;
        run.undisturbed = Some(Undisturbed {
            made_from: trace.path().display().to_string(),
            method: METHOD.to_owned(),
            recorded_ns: trace.run().span_ns,
            undisturbed_ns: span_ns,
            direct_only_ns,
            removed: losses,
            error_ns: losses.error_ns.saturating_add(doubtful_ns),
            followed: replayed.followed,
            not_followed: graph.not_followed + replayed.unmatched,
        });
    };
    let manner = Manner { without_tracer: true, gaps: Gaps::CutAtTheBeginning };
    rewriting.finish(&times, manner, describe, &|rows| passes.tell(3, rows))
}
