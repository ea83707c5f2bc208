//! The parallel regions of a trace.

use crate::show::path::as_typed;
use anyhow::Result;
use kizami_explain::{RunThreads, ThreadRegions, ThreadSpans};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;

/// All that is known of the threads of a trace; none if it has no parallel regions.
pub fn threads_of(trace: &Trace) -> Result<Option<RunThreads>> {
    let Some(times) = kizami_explain::Threads::of(trace)? else { return Ok(None) };
    let regions = regions_of(trace)?;
    let spans = ThreadSpans::of(trace, &regions)?;
    Ok(Some(RunThreads { times, regions, spans }))
}

/// Refuses a trace that has none.
pub fn regions_of(trace: &Trace) -> Result<ThreadRegions> {
    Ok(ThreadRegions::of(trace)?.ok_or_else(|| {
        let path = as_typed(trace.path());
        let what =
            "the program has no OpenMP, was recorded with --openmp off, or the trace is not a recording";
        UsageError(format!("{path} has no parallel regions: {what}"))
    })?)
}
