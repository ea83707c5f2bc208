//! Opening and reading a sealed trace.
//!
//! Opening reads `run.json` and nothing else, so it answers at once whatever the size of the trace. The file
//! list of `run.json` says which tables there are; each is checked against its checksum when it is first
//! used, because decoders of Parquet are not made for damaged files. Anything that is not as it should be is a
//! [`TraceError`] that names the file.

use crate::calls::{Calls, RankSelection};
use crate::definitions::{ClockRow, Counted, Definitions, RankInfo, RegionSpan, Repair, Stop};
use crate::derived::Folder;
use crate::ranks_of_run::RanksOfRun;
use crate::reduced_tables::{GapRow, PeerRow, SketchRow, SumRow};
use crate::run::{FileEntry, RUN_JSON};
use crate::schema::{COUNTERS_FOLDER, EVENTS_FOLDER, RAW_FOLDER, Record, column};
use crate::{Provenance, RunInfo, Spans, TraceError};
use kizami_columns::{TableReader, checksum_of};
use kizami_parallel::lock;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// A sealed trace.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    run: RunInfo,
    /// Files whose checksums were found right.
    checked: Mutex<HashSet<PathBuf>>,
    /// The directory itself, if it is one that is kept beside another trace.
    folder: Option<Folder>,
}

impl Trace {
    /// Opens a trace. Only `run.json` is read.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        if !path.is_dir() {
            return Err(TraceError::NoTrace { path: path.to_path_buf() });
        }
        if !path.join(RUN_JSON).is_file() {
            let path = path.to_path_buf();
            return Err(match path.join(RAW_FOLDER).is_dir() {
                true => TraceError::NotSealed { path },
                false => TraceError::NoTrace { path },
            });
        }
        let run = RunInfo::read(path)?;
        Ok(Trace { path: path.to_path_buf(), run, checked: Mutex::default(), folder: None })
    }

    /// Opens one that is kept beside another, which may be written below even if its name changes hands.
    pub(crate) fn open_kept(path: &Path, folder: Folder) -> Result<Trace, TraceError> {
        let run = RunInfo::read(&folder.path())?;
        Ok(Trace { path: path.to_path_buf(), run, checked: Mutex::default(), folder: Some(folder) })
    }

    pub(crate) fn folder(&self) -> Option<&Folder> {
        self.folder.as_ref()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `run.json` says.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// What makes it other than a plain recording; nothing for one.
    pub fn provenance(&self) -> Vec<Provenance<'_>> {
        self.run.provenance()
    }

    /// Reads the tables of `defs/`.
    pub fn definitions(&self) -> Result<Definitions, TraceError> {
        let ranks: Vec<RankInfo> = self.rows_of()?;
        // Whoever makes room for each rank believes `run.json`.
        if (self.run.ranks as usize) > ranks.len() {
            let (path, said, listed) = (self.path.join(RUN_JSON), self.run.ranks, ranks.len());
            let what = format!("it states {said} ranks, and {} lists {listed}", RankInfo::PATH);
            return Err(TraceError::damaged(&path, what));
        }
        let mut definitions = Definitions {
            ranks,
            hosts: self.rows_of()?,
            communicators: self.rows_of()?,
            callsites: self.rows_of()?,
            paths: self.rows_of()?,
            objects: self.rows_of()?,
            regions: self.rows_of()?,
            neighbours: self.rows_of()?,
            under_way: self.rows_of()?,
            counts: self.rows_of()?,
            rank_classes: self.rows_of()?,
            ..Definitions::default()
        };
        self.ranks().definitions(&self.path, &mut definitions)?;
        Ok(definitions)
    }

    fn ranks(&self) -> RanksOfRun {
        RanksOfRun(self.run.ranks)
    }

    /// All rows of a table that is declared in [`crate::schema`]; none if it is one that may be missing, and is.
    pub fn rows_of<R: Record>(&self) -> Result<Vec<R>, TraceError> {
        let Some(file) = self.listed(R::PATH) else {
            let path = self.path.join(RUN_JSON);
            return match R::ALWAYS {
                true => Err(TraceError::damaged(&path, format!("it does not list {}", R::PATH))),
                false => Ok(Vec::new()),
            };
        };
        R::read(&TableReader::open(&self.check(file)?)?)
    }

    /// The rows of a table that is written in parts, part by part; nothing if there is none.
    pub fn parts_of<R: Record>(
        &self,
    ) -> Result<impl Iterator<Item = Result<Vec<R>, TraceError>>, TraceError> {
        let files = self.checked_files(R::PATH)?;
        Ok(files.into_iter().map(|path| R::read(&TableReader::open(&path)?)))
    }

    /// The files of such a table, to be read column by column; nothing if there is none.
    pub fn files_of<R: Record>(&self) -> Result<Vec<PathBuf>, TraceError> {
        self.checked_files(R::PATH)
    }

    /// Whether a table that is written in parts is there.
    pub fn has_parts_of<R: Record>(&self) -> bool {
        self.files(R::PATH).next().is_some()
    }

    /// The rows of the selected ranks, by rank, then by start.
    pub fn calls(&self, ranks: RankSelection) -> Result<Calls, TraceError> {
        Ok(Calls::of_files(self.event_parts()?, &ranks).of_run(self.ranks()))
    }

    /// When which call was made, and from where: the same rows, much faster.
    pub fn spans(&self) -> Result<Spans, TraceError> {
        Spans::open(&self.event_parts()?, self.ranks())
    }

    /// All stays in regions, by rank, then by start.
    pub fn region_spans(&self) -> Result<Vec<RegionSpan>, TraceError> {
        let mut spans = Vec::new();
        for path in self.checked_files(RegionSpan::PATH)? {
            spans.extend(RegionSpan::read(&TableReader::open(&path)?)?);
        }
        self.ranks().check_all(&self.path, &spans, |span| span.rank)?;
        spans.sort_by_key(|span| (span.rank, span.start, span.thread, span.depth));
        Ok(spans)
    }

    /// What was counted with each call, by rank, then by start; nothing if the run had no counters.
    pub fn counted(&self) -> Result<Vec<Counted>, TraceError> {
        let counters = self.run.counters.iter().filter(|counter| counter.ranks > 0);
        let names: Vec<String> = counters
            .flat_map(|counter| [counter.column.clone(), format!("{}_before", counter.column)])
            .collect();
        let mut lines = Vec::new();
        for path in self.checked_files(COUNTERS_FOLDER)? {
            let table = TableReader::open(&path)?;
            let (mut rank, mut thread) = (column(&table, "rank")?, column(&table, "thread")?);
            let mut start = column(&table, "start_ns")?;
            let values: Result<Vec<_>, TraceError> =
                names.iter().map(|name| Ok((name, column::<Option<i64>>(&table, name)?))).collect();
            let mut values = values?;
            lines.extend(std::iter::from_fn(|| {
                let cells = values.iter_mut().map(|(name, cells)| Some(((*name).clone(), cells.next()?)));
                let values = cells.collect::<Option<_>>()?;
                Some(Counted { rank: rank.next()?, thread: thread.next()?, start: start.next()?, values })
            }));
        }
        lines.sort_by_key(|line| (line.rank, line.start, line.thread));
        Ok(lines)
    }

    /// All stops, by rank, then by start.
    pub fn stops(&self) -> Result<Vec<Stop>, TraceError> {
        let stops = self.rows_of()?;
        self.ranks().check_all(&self.path, &stops, |stop: &Stop| stop.rank)?;
        Ok(stops)
    }

    /// The parts of `events/`, in order.
    pub fn event_parts(&self) -> Result<Vec<PathBuf>, TraceError> {
        self.checked_files(EVENTS_FOLDER)
    }

    /// What the run-wide clock was made from: readings by rank, then epochs and offsets by host.
    pub fn clocks(&self) -> Result<Vec<ClockRow>, TraceError> {
        self.rows_of()
    }

    /// All repairs of the order of messages, by rank, then by time.
    pub fn repairs(&self) -> Result<Vec<Repair>, TraceError> {
        self.rows_of()
    }

    /// Exact sums over all calls of a reduced trace; nothing if it has a row for every call.
    pub fn sums(&self) -> Result<Vec<SumRow>, TraceError> {
        self.rows_of()
    }

    /// Durations of all calls of a reduced trace, in bins of 1 %.
    pub fn sketches(&self) -> Result<Vec<SketchRow>, TraceError> {
        self.rows_of()
    }

    /// Computation between calls that follow each other of a reduced trace, exact.
    pub fn gaps(&self) -> Result<Vec<GapRow>, TraceError> {
        self.rows_of()
    }

    /// Messages by rank and peer of a reduced trace, exact.
    pub fn peers(&self) -> Result<Vec<PeerRow>, TraceError> {
        self.rows_of()
    }

    /// The bytes of a file of the trace, if it has it; with its path, for messages.
    pub fn bytes_of(&self, name: &str) -> Result<Option<(PathBuf, Vec<u8>)>, TraceError> {
        let Some(file) = self.listed(name) else { return Ok(None) };
        let path = self.check(file)?;
        let bytes = std::fs::read(&path).map_err(TraceError::file("read", &path))?;
        Ok(Some((path, bytes)))
    }

    fn listed(&self, name: &str) -> Option<&FileEntry> {
        self.run.files.iter().find(|file| file.path == name)
    }

    fn files(&self, folder: &str) -> impl Iterator<Item = &FileEntry> {
        self.run.files.iter().filter(move |file| Path::new(&file.path).starts_with(folder))
    }

    fn checked_files(&self, folder: &str) -> Result<Vec<PathBuf>, TraceError> {
        let mut files: Vec<&FileEntry> = self.files(folder).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.into_iter().map(|file| self.check(file)).collect()
    }

    /// The path of a file of the trace, if the file is as it was written.
    pub fn check(&self, file: &FileEntry) -> Result<PathBuf, TraceError> {
        let inside = Path::new(&file.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            let what = format!("it lists {:?}, which is not inside the trace", file.path);
            return Err(TraceError::damaged(&self.path.join(RUN_JSON), what));
        }
        let path = self.path.join(&file.path);
        let is_known = lock(&self.checked).contains(&path);
        if !is_known {
            if checksum_of(&path)? != file.crc32 {
                return Err(TraceError::damaged(&path, "its checksum does not match run.json"));
            }
            lock(&self.checked).insert(path.clone());
        }
        Ok(path)
    }
}
