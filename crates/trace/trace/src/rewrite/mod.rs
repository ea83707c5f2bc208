//! The same calls at other times: writes a trace like another, in which every row begins and ends when the caller
//! else has worked out that it should.
//!
//! [`Rewriting::begin`] creates the directory, [`Rewriting::finish`] fills it. Rows get the times that [`NewTimes`] has
//! for them; regions and stops move with the calls around them; ranks, sums and `run.json` follow. What has no times
//! of the run in it is copied. What was counted stays with the recording: it belongs to calls as they were.
//!
//! Promises: with the times as recorded, rows come out as they were. The directory must not exist before and is gone
//! again if it fails. Memory is for the rows of one rank whose order is not settled yet, and one group of rows.
//!
//! It works out no times; that is for who replays runs.

mod marks;
mod rows;

use crate::columns::WrittenFile;
use crate::definitions::{RankInfo, Stop, UnderWay};
use crate::disturbance::Disturbance;
use crate::run::FileEntry;
use crate::schema::{COUNTERS_FOLDER, EVENTS_FOLDER, REGIONS_FOLDER, Record};
use crate::write::{StagingDir, summary};
use crate::{LinkLoad, RunInfo, Trace, TraceError};
use kizami_model::Rank;
use rows::Source;
use std::path::Path;

/// When every row begins and ends. Rows are counted from 0, in the order of the trace.
pub trait NewTimes {
    /// Start and end of a row.
    fn of_row(&self, row: u64) -> (i64, i64);

    /// The next row of the same thread.
    fn next_row(&self, row: u64) -> Option<u64>;

    /// The threads of a rank, each with its first row.
    fn threads_of(&self, rank: Rank) -> Vec<(u32, u64)>;
}

/// What is different in the new trace, beside its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// Nothing of the tracer is left: calls cost nothing to record, and stretches in which it held threads are gone.
    pub without_tracer: bool,
    /// Threads never lack a core.
    pub own_cores: bool,
    /// Where in the time between two calls a change of its length lies.
    pub gaps: Gaps,
}

/// Where in the time between two calls a change of its length lies: it says where regions begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// At its beginning, where the tracer does its work.
    CutAtTheBeginning,
    /// Everywhere alike, as on a faster or slower processor.
    Stretched,
}

/// A trace that is being written.
pub struct Rewriting<'a> {
    trace: &'a Trace,
    staging: StagingDir,
}

impl<'a> Rewriting<'a> {
    /// Creates the directory, which must not exist.
    pub fn begin(trace: &'a Trace, output: &Path) -> Result<Rewriting<'a>, TraceError> {
        Ok(Rewriting { trace, staging: StagingDir::make(output)? })
    }

    /// A folder for what does not fit into memory on the way; it goes away.
    pub fn folder(&self) -> &Path {
        self.staging.folder()
    }

    /// Writes everything. `describe` adds to `run.json` what the trace is, once its times are known; `progress` is called with
    /// how many rows are done.
    pub fn finish(
        self,
        new: &dyn NewTimes,
        manner: Manner,
        describe: impl FnOnce(&mut RunInfo),
        progress: &dyn Fn(u64),
    ) -> Result<RunInfo, TraceError> {
        let Rewriting { trace, staging } = self;
        let folder = staging.folder();
        let definitions = trace.definitions()?;
        let mut ranks = definitions.ranks;
        let regions = trace.region_spans()?;
        let mut stops = trace.stops()?;
        stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
        let parts = trace.event_parts()?;
        let source = Source { new, manner, parts: &parts, regions: &regions, stops: &stops };
        let rewritten = rows::rewrite(&source, folder, &mut ranks, progress)?;
        if manner.without_tracer {
            ranks.iter_mut().for_each(|rank| rank.overhead = None);
        }
        ranks.iter_mut().for_each(|rank| rank.ended = None);

        let left_out = |name: &Path| {
            name.starts_with(EVENTS_FOLDER)
                || name.starts_with(REGIONS_FOLDER)
                || name.starts_with(COUNTERS_FOLDER)
                || name == Path::new(Stop::PATH)
                || name == Path::new(RankInfo::PATH)
                // At other times it is unknown what they would wait for.
                || name == Path::new(UnderWay::PATH)
                // Nor what links of a simulated network would carry then.
                || name == Path::new(LinkLoad::PATH)
        };
        let mut files = copy_tables(trace, folder, left_out)?;
        let small = [Record::write(&ranks, folder)?, Record::write(&rewritten.stops, folder)?];
        let written = rewritten.files.iter().chain(&small);
        files.extend(written.map(|file: &WrittenFile| summary::entry(file, folder)));

        let recorded = trace.run().clone();
        let mut run = RunInfo {
            counters: Vec::new(),
            span_ns: ranks.iter().filter_map(|rank| rank.last).map(|last| last.0).max().unwrap_or(0),
            totals: summary::sums(&rewritten.totals, &ranks),
            disturbance: if manner.without_tracer {
                Some(Disturbance::default())
            } else {
                recorded.disturbance
            },
            functions: rewritten.totals.by_function(),
            rank_summaries: summary::summaries(&ranks, &definitions.hosts),
            files,
            watched: None,
            ..recorded
        };
        describe(&mut run);
        staging.commit(&run, false)?;
        Ok(run)
    }
}

/// Copies the files of a trace that are not to be left out.
pub fn copy_tables(
    trace: &Trace,
    folder: &Path,
    left_out: impl Fn(&Path) -> bool,
) -> Result<Vec<FileEntry>, TraceError> {
    let mut copied = Vec::new();
    for file in &trace.run().files {
        let name = Path::new(&file.path);
        if left_out(name) {
            continue;
        }
        let from = trace.check(file)?;
        let to = folder.join(name);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(TraceError::file("make the folder", parent))?;
        }
        std::fs::copy(&from, &to).map_err(|error| TraceError::write(&to, error))?;
        copied.push(file.clone());
    }
    Ok(copied)
}
