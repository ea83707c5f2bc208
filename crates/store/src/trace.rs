//! Opening and reading a sealed trace.
//!
//! Opening reads `run.json` and nothing else, so it answers at once whatever the size of the trace. The file
//! list of `run.json` says which tables there are; each is checked against its checksum when it is first
//! used, because decoders of Parquet are not made for damaged files. Anything that is not as it should be is a
//! [`StoreError`] that names the file.

use crate::calls::Calls;
use crate::columns::{TableReader, checksum_of};
use crate::definition_tables as tables;
use crate::definitions::{ClockRow, Counted, Definitions, RegionSpan, Repair, Stop};
use crate::reduced::{self, GapRow, Order, PeerRow, SketchRow, SumRow};
use crate::run::{FileEntry, RUN_JSON};
use crate::schema::{
    CLOCKS, COUNTERS_FOLDER, DEFS_FOLDER, EVENTS_FOLDER, GAPS, ORDER, PEERS, RAW_FOLDER, REGIONS_FOLDER,
    REPAIRS, SKETCHES, STOPS, SUMS,
};
use crate::{RunInfo, Spans, StoreError};
use kizami_model::Rank;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A sealed trace.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    run: RunInfo,
    /// Files whose checksums were found right.
    checked: Mutex<HashSet<PathBuf>>,
}

/// Whose rows to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankSelection {
    /// Everybody's.
    All,
    /// One rank's.
    One(Rank),
    /// Those of a range of ranks.
    Range(RangeInclusive<u32>),
}

impl Trace {
    /// Opens a trace. Only `run.json` is read.
    pub fn open(path: &Path) -> Result<Trace, StoreError> {
        if !path.is_dir() {
            return Err(StoreError::NoTrace { path: path.to_path_buf() });
        }
        if !path.join(RUN_JSON).is_file() {
            let path = path.to_path_buf();
            return Err(match path.join(RAW_FOLDER).is_dir() {
                true => StoreError::NotSealed { path },
                false => StoreError::NoTrace { path },
            });
        }
        let run = RunInfo::read(path)?;
        Ok(Trace { path: path.to_path_buf(), run, checked: Mutex::default() })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What `run.json` says.
    pub fn run(&self) -> &RunInfo {
        &self.run
    }

    /// Reads the tables of `defs/`.
    pub fn definitions(&self) -> Result<Definitions, StoreError> {
        Ok(Definitions {
            ranks: tables::ranks(&self.table("defs/ranks.parquet")?)?,
            hosts: tables::hosts(&self.table("defs/hosts.parquet")?)?,
            communicators: tables::communicators(&self.table("defs/communicators.parquet")?)?,
            callsites: tables::callsites(&self.table("defs/callsites.parquet")?)?,
            objects: tables::objects(&self.table("defs/objects.parquet")?)?,
            regions: tables::regions(&self.table("defs/regions.parquet")?)?,
            neighbours: match self.files(DEFS_FOLDER).any(|file| file.path.ends_with("neighbours.parquet")) {
                true => tables::neighbours(&self.table("defs/neighbours.parquet")?)?,
                false => Vec::new(),
            },
        })
    }

    /// The rows of the selected ranks, by rank, then by start.
    pub fn calls(&self, ranks: RankSelection) -> Result<Calls, StoreError> {
        Ok(Calls::new(self.checked_files(EVENTS_FOLDER)?, &ranks))
    }

    /// When which call was made, and from where: the same rows, much faster.
    pub fn spans(&self) -> Result<Spans, StoreError> {
        Spans::open(&self.checked_files(EVENTS_FOLDER)?)
    }

    /// All stays in regions, by rank, then by start.
    pub fn region_spans(&self) -> Result<Vec<RegionSpan>, StoreError> {
        let mut spans = Vec::new();
        for path in self.checked_files(REGIONS_FOLDER)? {
            tables::region_spans(&TableReader::open(&path)?, &mut spans)?;
        }
        spans.sort_by_key(|span| (span.rank, span.start, span.thread, span.depth));
        Ok(spans)
    }

    /// What was counted with each call, by rank, then by start; nothing if the run had no counters.
    pub fn counted(&self) -> Result<Vec<Counted>, StoreError> {
        let counters = self.run.counters.iter().filter(|counter| counter.ranks > 0);
        let columns: Vec<String> = counters
            .flat_map(|counter| [counter.column.clone(), format!("{}_before", counter.column)])
            .collect();
        let mut lines = Vec::new();
        for path in self.checked_files(COUNTERS_FOLDER)? {
            tables::counted(&TableReader::open(&path)?, &columns, &mut lines)?;
        }
        lines.sort_by_key(|line| (line.rank, line.start, line.thread));
        Ok(lines)
    }

    /// All stops, by rank, then by start.
    pub fn stops(&self) -> Result<Vec<Stop>, StoreError> {
        tables::stops(&self.table(STOPS)?)
    }

    /// The parts of `events/`, in order.
    pub(crate) fn event_parts(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.checked_files(EVENTS_FOLDER)
    }

    /// What the run-wide clock was made from: readings by rank, then epochs and offsets by host.
    pub fn clocks(&self) -> Result<Vec<ClockRow>, StoreError> {
        tables::clocks(&self.table(CLOCKS)?)
    }

    /// All repairs of the order of messages, by rank, then by time.
    pub fn repairs(&self) -> Result<Vec<Repair>, StoreError> {
        match self.run.files.iter().any(|file| file.path == REPAIRS) {
            true => tables::repairs(&self.table(REPAIRS)?),
            false => Ok(Vec::new()),
        }
    }

    /// Exact sums over all calls of a reduced trace; nothing if it has a row for every call.
    pub fn sums(&self) -> Result<Vec<SumRow>, StoreError> {
        if self.has(SUMS) { reduced::sums(&self.table(SUMS)?) } else { Ok(Vec::new()) }
    }

    /// Durations of all calls of a reduced trace, in bins of 1 %.
    pub fn sketches(&self) -> Result<Vec<SketchRow>, StoreError> {
        if self.has(SKETCHES) { reduced::sketches(&self.table(SKETCHES)?) } else { Ok(Vec::new()) }
    }

    /// Computation between calls that follow each other of a reduced trace, exact.
    pub fn gaps(&self) -> Result<Vec<GapRow>, StoreError> {
        if self.has(GAPS) { reduced::gaps(&self.table(GAPS)?) } else { Ok(Vec::new()) }
    }

    /// Messages by rank and peer of a reduced trace, exact.
    pub fn peers(&self) -> Result<Vec<PeerRow>, StoreError> {
        if self.has(PEERS) { reduced::peers(&self.table(PEERS)?) } else { Ok(Vec::new()) }
    }

    /// The order of all calls of a reduced trace; none if it has a row for every call.
    pub fn order(&self) -> Result<Option<Order>, StoreError> {
        let Some(file) = self.run.files.iter().find(|file| file.path == ORDER) else { return Ok(None) };
        let path = self.check(file)?;
        let bytes = std::fs::read(&path).map_err(StoreError::file("read", &path))?;
        reduced::order(&path, bytes, &self.definitions()?).map(Some)
    }

    fn has(&self, name: &str) -> bool {
        self.run.files.iter().any(|file| file.path == name)
    }

    fn files(&self, folder: &str) -> impl Iterator<Item = &FileEntry> {
        self.run.files.iter().filter(move |file| Path::new(&file.path).starts_with(folder))
    }

    fn checked_files(&self, folder: &str) -> Result<Vec<PathBuf>, StoreError> {
        let mut files: Vec<&FileEntry> = self.files(folder).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.into_iter().map(|file| self.check(file)).collect()
    }

    fn table(&self, name: &str) -> Result<TableReader, StoreError> {
        let path = self.path.join(RUN_JSON);
        let listed = self.run.files.iter().find(|file| file.path == name);
        let file = listed.ok_or_else(|| StoreError::damaged(&path, format!("it does not list {name}")))?;
        TableReader::open(&self.check(file)?)
    }

    /// The path of a file of the trace, if the file is as it was written.
    pub(crate) fn check(&self, file: &FileEntry) -> Result<PathBuf, StoreError> {
        let inside = Path::new(&file.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            let what = format!("it lists {:?}, which is not inside the trace", file.path);
            return Err(StoreError::damaged(&self.path.join(RUN_JSON), what));
        }
        let path = self.path.join(&file.path);
        let known = |checked: &Mutex<HashSet<PathBuf>>| {
            checked.lock().unwrap_or_else(PoisonError::into_inner).contains(&path)
        };
        if !known(&self.checked) {
            if checksum_of(&path)? != file.crc32 {
                return Err(StoreError::damaged(&path, "its checksum does not match run.json"));
            }
            self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        }
        Ok(path)
    }
}
