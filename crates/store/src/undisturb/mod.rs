//! The run as it would have been without the tracer: the same rows at other times.
//!
//! Three passes. `gather` turns rows into steps and knows what the tracer took around each. `walk` gives every
//! step its new time: what was taken is taken out of each thread, and whoever waited for somebody who was held up
//! waits less. `rewrite` writes the rows with their new times as a trace like any other; its `run.json` says what
//! it was made from, what was taken out, and how far to trust it.
//!
//! Promises: with nothing to take out, every time comes out exactly as recorded. No trace makes it fail, however
//! odd; what cannot be matched keeps its recorded length and is counted. Memory is bounded by what was under way in
//! the run, beside one number for each pair of ranks and tag that exchanged messages; steps lie in files.
//!
//! It does not replay: messages and collectives cost what they cost in the recorded run. `walk` with `meeting`
//! and `latency` is what a general replay engine is to take the place of.

mod collectives;
mod gather;
mod latency;
mod marks;
mod meeting;
mod rewrite;
mod spool;
mod walk;

use crate::columns::WrittenFile;
use crate::disturbance::Disturbance;
use crate::run::{FileEntry, Undisturbed};
use crate::schema::{COUNTERS_FOLDER, DEFS_FOLDER, EVENTS_FOLDER, REGIONS_FOLDER, STOPS};
use crate::seal::place::Place;
use crate::seal::{summary, tables};
use crate::{RunInfo, StoreError, Trace};
use collectives::Communicators;
use rewrite::{Rewritten, Source};
use std::path::Path;

/// Part of the difference between both reconstructions that is taken for doubtful.
const DOUBTED_PART_OF_WAITS: i64 = 4;

const METHOD: &str = "the tracer's cost per call and its stops are taken out of each thread; calls that waited \
                      for a message, a receiver or a collective end as long after the last arrival as recorded";

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows done, each counted once for each of the three passes.
    pub done: u64,
    /// The same when all is done.
    pub total: u64,
}

/// Writes to `output`, which must not exist, what `trace` would have been without the tracer.
///
/// `progress` is called now and then, on the calling thread.
pub fn undisturb(trace: &Trace, output: &Path, progress: &dyn Fn(Progress)) -> Result<RunInfo, StoreError> {
    let place = Place::make(output)?;
    let events = trace.run().totals.events;
    let total = events.saturating_mul(3);
    let tell = |pass: u64, rows: u64| {
        progress(Progress { done: events.saturating_mul(pass).saturating_add(rows).min(total), total })
    };
    let definitions = trace.definitions()?;
    let mut stops = trace.stops()?;
    stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));

    let gathered = gather::gather(trace, &definitions, &stops, place.folder(), &|rows| tell(0, rows))?;
    let gather::Gathered { mut spool, threads, parts, losses, not_followed } = gathered;
    let sizes = Communicators::sizes(&definitions);
    let walked = walk::walk(&mut spool, &threads, sizes, trace.run().span_ns, &|rows| tell(1, rows));

    let mut ranks = definitions.ranks.clone();
    let regions = trace.region_spans()?;
    let source = Source { spool: &spool, threads: &threads, parts: &parts, regions: &regions, stops: &stops };
    let rewritten = rewrite::rewrite(&source, place.folder(), &mut ranks, &|rows| tell(2, rows))?;

    let mut files = copy_tables(trace, place.folder())?;
    let small = [
        tables::ranks(&ranks).write(&place.folder().join(DEFS_FOLDER).join("ranks.parquet"))?,
        tables::stops(&rewritten.stops).write(&place.folder().join(STOPS))?,
    ];
    let written = rewritten.files.iter().chain(&small);
    files.extend(written.map(|file: &WrittenFile| summary::entry(file, place.folder())));

    let span_ns = ranks.iter().filter_map(|rank| rank.last).map(|last| last.0).max().unwrap_or(0);
    let removed = Disturbance::of(&losses);
    let direct_only_ns = if threads.is_empty() { span_ns } else { walked.direct_only_ns };
    let doubtful_ns = span_ns.saturating_sub(direct_only_ns).saturating_abs() / DOUBTED_PART_OF_WAITS;
    let undisturbed = Undisturbed {
        made_from: trace.path().display().to_string(),
        method: METHOD.to_owned(),
        recorded_ns: trace.run().span_ns,
        undisturbed_ns: span_ns,
        direct_only_ns,
        removed,
        error_ns: removed.error_ns.saturating_add(doubtful_ns),
        followed: walked.followed,
        not_followed: not_followed + walked.unmatched,
    };
    let run = run_info(trace.run(), span_ns, &ranks, &definitions.hosts, &rewritten, files, undisturbed);
    place.commit(&run, false)?;
    Ok(run)
}

/// Copies the tables that have no times of the run in them, and the clock readings it was recorded with. What was
/// counted stays with the recording: it belongs to calls as they were.
fn copy_tables(trace: &Trace, folder: &Path) -> Result<Vec<FileEntry>, StoreError> {
    let mut copied = Vec::new();
    for file in &trace.run().files {
        let name = Path::new(&file.path);
        let rewritten = name.starts_with(EVENTS_FOLDER)
            || name.starts_with(REGIONS_FOLDER)
            || name.starts_with(COUNTERS_FOLDER)
            || name == Path::new(STOPS)
            || name == Path::new(DEFS_FOLDER).join("ranks.parquet");
        if rewritten {
            continue;
        }
        let from = trace.check(file)?;
        let to = folder.join(name);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(StoreError::file("make the folder", parent))?;
        }
        std::fs::copy(&from, &to).map_err(|error| StoreError::write(&to, error))?;
        copied.push(file.clone());
    }
    Ok(copied)
}

fn run_info(
    recorded: &RunInfo,
    span_ns: i64,
    ranks: &[crate::RankInfo],
    hosts: &[crate::HostInfo],
    rewritten: &Rewritten,
    files: Vec<FileEntry>,
    undisturbed: Undisturbed,
) -> RunInfo {
    RunInfo {
        counters: Vec::new(),
        span_ns,
        totals: summary::sums(&rewritten.totals, ranks),
        // Nothing of the tracer is left in it.
        disturbance: Some(Disturbance::default()),
        undisturbed: Some(undisturbed),
        functions: rewritten.totals.by_function(),
        rank_summaries: summary::summaries(ranks, hosts),
        files,
        ..recorded.clone()
    }
}
