//! A trace from definitions and calls, for producers of runs: a simulation, a skeleton, an import, a test.
//!
//! Give it what calls refer to, then every call by rank and start; it adds up what follows from them and leaves a trace
//! that everything else reads. The directory must not exist before and is gone again if anything fails. Memory is one window
//! of rows. Those who seal or rewrite many parts at once use the pieces themselves ([`super`]).

use super::part::{PartWriter, Shared, WINDOW_ROWS};
use super::tasks::TaskTables;
use super::{Row, StagingDir, summary};
use crate::TraceError;
use crate::definitions::{Definitions, Function, RankInfo, RegionSpan, Stop};
use crate::run::{ClockInfo, Health, RunInfo, SCHEMA, utc};
use crate::schema::Record;
use crate::task_tables::{NeedRow, ParallelRow, TaskRow};
use kizami_columns::WrittenFile;
use kizami_model::{Call, Ending, Length, Moment, Rank, function};
use std::path::Path;
use std::sync::Arc;

/// What ran, as `run.json` has it.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Path of the executable.
    pub executable: String,
    /// Its command line.
    pub command: Vec<String>,
    /// What made the calls: the name of an MPI library, or of what stands for it.
    pub mpi_library: String,
    /// Wall-clock time of the run's first moment, nanoseconds since 1970.
    pub started_unix_ns: u64,
}

/// A trace that is being written.
pub struct TraceWriter {
    staging: StagingDir,
    definitions: Definitions,
    about: About,
    part: PartWriter,
    stops: Vec<Stop>,
    tasks: TaskTables,
    last: Option<(Rank, Moment)>,
}

impl TraceWriter {
    /// Creates the directory. Ranks that have no entry in `definitions` get one with their first call; what is said there of
    /// calls (how many, when, how long) is worked out anew.
    pub fn create(
        directory: &Path,
        about: About,
        mut definitions: Definitions,
    ) -> Result<TraceWriter, TraceError> {
        let staging = StagingDir::make(directory)?;
        for rank in &mut definitions.ranks {
            (rank.calls, rank.mpi, rank.first, rank.last) = (0, Length::ZERO, None, None);
        }
        let part =
            PartWriter::create(staging.folder(), 0, Vec::new(), WINDOW_ROWS, Arc::new(Shared::default()))?;
        let tasks = TaskTables::new(staging.folder());
        Ok(TraceWriter { staging, definitions, about, part, stops: Vec::new(), tasks, last: None })
    }

    /// Adds a call. They come by rank, then by start.
    pub fn call(&mut self, call: &Call) -> Result<(), TraceError> {
        if self.last.is_some_and(|last| (call.rank, call.start) < last) {
            let what = format!("a call of rank {} at {} ns comes too late", call.rank, call.start.0);
            return Err(TraceError::write(self.staging.folder(), what));
        }
        self.last = Some((call.rank, call.start));
        let ranks = &mut self.definitions.ranks;
        while ranks.len() <= call.rank.0 as usize {
            ranks.push(RankInfo { threads: 1, ..RankInfo::absent(Rank(ranks.len() as u32)) });
        }
        let rank = &mut ranks[call.rank.0 as usize];
        rank.threads = rank.threads.max(call.thread.0 + 1);
        rank.first = Some(rank.first.unwrap_or(call.start));
        rank.last = rank.last.max(Some(call.end));
        rank.calls += u64::from(call.calls);
        rank.mpi += call.inside.unwrap_or(call.end - call.start);
        if rank.ending == Ending::Vanished {
            rank.ending = Ending::Finalized;
        }
        self.part.rows.completes.values.extend(call.completes.iter().map(|request| *request as i64));
        self.part.rows.push(&Row::of_call(call));
        if self.part.is_full() { self.part.flush() } else { Ok(()) }
    }

    /// Adds a stay in a region.
    pub fn region(&mut self, span: RegionSpan) {
        self.part.regions().push(span);
    }

    /// Adds a stretch in which the program was delayed or calls were lost.
    pub fn stop(&mut self, stop: Stop) {
        self.stops.push(stop);
    }

    /// Adds a task. They come by rank, then by number.
    #[inline]
    pub fn task(&mut self, task: TaskRow) -> Result<(), TraceError> {
        self.tasks.task(task)
    }

    /// Adds what a task needed. They come by rank, then by number of the task.
    #[inline]
    pub fn need(&mut self, need: NeedRow) -> Result<(), TraceError> {
        self.tasks.need(need)
    }

    /// Adds one run of a parallel region. They come by rank and start.
    pub fn parallel(&mut self, region: ParallelRow) -> Result<(), TraceError> {
        self.tasks.parallel(region)
    }

    /// What calls and tasks refer to, to be added to before the end.
    pub fn definitions(&mut self) -> &mut Definitions {
        &mut self.definitions
    }

    /// Writes the rest; the trace appears. `describe` may add to `run.json` how it came to be.
    pub fn finish(mut self, describe: impl FnOnce(&mut RunInfo)) -> Result<RunInfo, TraceError> {
        let folder = self.staging.folder().to_path_buf();
        let (totals, mut files) = self.part.finish()?;
        self.stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
        files.extend(write_definitions(&self.definitions, &folder)?);
        files.push(Stop::write(&self.stops, &folder)?);
        files.push(crate::ClockRow::write(&[], &folder)?);
        files.extend(self.tasks.finish()?);
        let Definitions { ranks, hosts, .. } = &self.definitions;
        let last = ranks.iter().filter_map(|rank| rank.last).max().unwrap_or(Moment::START);
        let mut run = RunInfo {
            schema: SCHEMA.to_owned(),
            executable: self.about.executable,
            command: self.about.command,
            hosts: hosts.iter().map(|host| host.name.clone()).collect(),
            mpi_library: self.about.mpi_library,
            started_unix_ns: self.about.started_unix_ns,
            started_utc: utc(self.about.started_unix_ns),
            ranks: ranks.len() as u32,
            threads: ranks.iter().map(|rank| rank.threads).sum(),
            span_ns: last.since_start().0,
            totals: summary::sums(&totals, ranks),
            health: Health { complete: true, ..Health::default() },
            clocks: ClockInfo {
                aligned: true,
                note: "all ranks share one clock".to_owned(),
                method: "one-clock".to_owned(),
                ..ClockInfo::default()
            },
            counters: Vec::new(),
            disturbance: None,
            counted_tasks: None,
            stolen: None,
            undisturbed: None,
            replayed: None,
            reduced: None,
            watched: None,
            functions: totals.by_function(),
            rank_summaries: summary::summaries(ranks, hosts),
            files: files.iter().map(|file| summary::entry(file, &folder)).collect(),
        };
        describe(&mut run);
        self.staging.commit(&run, false)?;
        Ok(run)
    }
}

/// Writes the tables of `defs/` below `folder`.
pub fn write_definitions(definitions: &Definitions, folder: &Path) -> Result<Vec<WrittenFile>, TraceError> {
    let functions: Vec<Function> = function::functions()
        .iter()
        .map(|function| Function {
            name: function.name.to_owned(),
            family: function.family.name().to_owned(),
        })
        .collect();
    let mut files = vec![
        Record::write(&definitions.ranks, folder)?,
        Record::write(&definitions.hosts, folder)?,
        Record::write(&definitions.communicators, folder)?,
        Record::write(&definitions.callsites, folder)?,
        Record::write(&definitions.objects, folder)?,
        Record::write(&definitions.regions, folder)?,
        Record::write(&functions, folder)?,
    ];
    if !definitions.paths.is_empty() {
        files.push(Record::write(&definitions.paths, folder)?);
    }
    if !definitions.neighbours.is_empty() {
        files.push(Record::write(&definitions.neighbours, folder)?);
    }
    if !definitions.under_way.is_empty() {
        files.push(Record::write(&definitions.under_way, folder)?);
    }
    if !definitions.counts.is_empty() {
        files.push(Record::write(&definitions.counts, folder)?);
    }
    if !definitions.rank_classes.is_empty() {
        files.push(Record::write(&definitions.rank_classes, folder)?);
    }
    Ok(files)
}
