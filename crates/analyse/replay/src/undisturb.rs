//! The run as it would have been without the tracer: a replay in which nothing else is different, written as a trace
//! like any other.
//!
//! The overhead is removed from each thread, and ranks that waited for a delayed rank wait less. The new
//! `run.json` says what the trace was made from, what was taken out, and how far to trust it.
//!
//! Promises: with nothing to take out, every time comes out exactly as recorded. No trace makes it fail, however odd;
//! what cannot be matched keeps its recorded length and is counted.

use crate::error::ReplayError;
use crate::learned::{Learned, Passes, Progress};
use crate::setting::Setting;
use crate::times::Times;
use kizami_graph::{RowObserver, read};
use kizami_model::{Call, Length};
use kizami_trace::disturbance::{Disturbance, RankLoss};
use kizami_trace::rewrite::{Gaps, Manner, Rewriting};
use kizami_trace::run::Undisturbed;
use kizami_trace::{RunInfo, Stop, Trace};
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
) -> Result<RunInfo, ReplayError> {
    let rewriting = Rewriting::begin(trace, output)?;
    let passes = Passes::new(trace, 4, progress);
    let mut stops = trace.stops()?;
    stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
    let losses = || Losses { stops: &stops, by_rank: Vec::new() };
    let (graph, losses) = read(trace, threads, losses, &|rows| passes.report(0, rows))?;
    let losses: Vec<RankLoss> = losses.into_iter().flat_map(|share| share.by_rank).collect();
    let losses = Disturbance::of(&losses);
    let Learned { graph, fit } = Learned::of(graph, threads, &passes);
    let setting = Setting { without_tracer: true, ..Setting::default() };
    let (times, replayed) = Times::under(&setting, &graph, &fit, threads, &|steps| passes.report(2, steps));
    let describe = |run: &mut RunInfo| {
        let span = Length(run.span_ns);
        let direct_only = if graph.strands.is_empty() { span } else { replayed.direct_only.since_start() };
        let doubtful_ns = span.saturating_sub(direct_only).0.saturating_abs() / DOUBTED_PART_OF_WAITS;
        run.undisturbed = Some(Undisturbed {
            made_from: trace.path().display().to_string(),
            method: METHOD.to_owned(),
            recorded_ns: trace.run().span_ns,
            undisturbed_ns: span.0,
            direct_only_ns: direct_only.0,
            removed: losses,
            error_ns: losses.error_ns.saturating_add(doubtful_ns),
            followed: replayed.followed,
            not_followed: graph.not_followed + replayed.unmatched,
        });
    };
    let manner = Manner { without_tracer: true, own_cores: false, gaps: Gaps::CutAtTheBeginning };
    Ok(rewriting.finish(&times, manner, describe, &|rows| passes.report(3, rows))?)
}

/// What the tracer took from each rank, added up while rows are read.
struct Losses<'a> {
    /// By rank, then by start.
    stops: &'a [Stop],
    by_rank: Vec<RankLoss>,
}

impl RowObserver for Losses<'_> {
    fn row(&mut self, call: &Call) {
        let rank = call.rank.0;
        if self.by_rank.last().is_none_or(|loss| loss.rank != rank) {
            self.by_rank.push(self.held(rank));
        }
        if let Some(loss) = self.by_rank.last_mut() {
            loss.add_call(u64::from(call.calls), call.overhead.0);
        }
    }
}

impl Losses<'_> {
    /// What a rank lost to being held.
    fn held(&self, rank: u32) -> RankLoss {
        let begin = self.stops.partition_point(|stop| stop.rank.0 < rank);
        let of_rank = self.stops[begin..].iter().take_while(|stop| stop.rank.0 == rank);
        let mut loss = RankLoss::new(rank);
        of_rank.for_each(|stop| loss.add_stop(stop));
        loss
    }
}
