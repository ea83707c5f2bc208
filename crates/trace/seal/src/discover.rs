//! Finding out what was recorded: all segments of `raw/`, grouped into processes, processes into ranks.
//!
//! Only headers are read here, so a million segments cost a million small reads. A segment that cannot be
//! read becomes a problem in the trace's health, never an error.

use super::guard::{self, Holder};
use super::launches;
use super::segment_file::{SegmentInfo, TASKS_EXTENSION, freeze, read_header};
use crate::SealError;
use kizami_segment::{HeaderView, named};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A world this much larger than what it left behind is a damaged header, not a world.
const BELIEVABLE_WORLD: u32 = 1 << 20;

/// All segments of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub definitions: Option<SegmentInfo>,
    /// One for each thread, in the order of thread indices.
    pub calls: Vec<SegmentInfo>,
    /// The events of a threading runtime by thread, in the order of their streams.
    pub tasks: Vec<SegmentInfo>,
    /// It still writes to them.
    pub running: bool,
}

impl Process {
    /// All segments.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &SegmentInfo> {
        self.definitions.iter().chain(&self.calls).chain(&self.tasks)
    }

    /// Bytes of its call segments: a measure of the work it makes.
    pub(crate) fn call_bytes(&self) -> u64 {
        self.calls.iter().map(|segment| segment.bytes).sum()
    }

    /// Index of each thread with events of a threading runtime: that of its calls, if it made any, or one of its own.
    pub(crate) fn task_threads(&self) -> Vec<u32> {
        let calls = || self.calls.iter().map(|segment| &segment.header);
        let mut next =
            calls().filter_map(|header| header.thread).max().map_or(0, |last| last.saturating_add(1));
        let mut index = |segment: &SegmentInfo| {
            let os_thread = segment.header.os_thread;
            let same = calls().find(|header| os_thread != 0 && header.os_thread == os_thread);
            same.and_then(|header| header.thread).unwrap_or_else(|| {
                next = next.saturating_add(1);
                next - 1
            })
        };
        self.tasks.iter().map(&mut index).collect()
    }

    /// How many threads it has.
    pub(crate) fn threads(&self) -> u32 {
        let calls = self.calls.iter().filter_map(|segment| segment.header.thread);
        calls.chain(self.task_threads()).collect::<BTreeSet<u32>>().len() as u32
    }

    /// Wall-clock time of its first sign of life.
    fn begin_ns(&self) -> u64 {
        self.segments().map(|segment| segment.header.realtime_ns).min().unwrap_or(0)
    }

    /// Whether one of its threads was inside a call at the end.
    pub(crate) fn is_inside_call(&self) -> bool {
        self.calls.iter().any(|segment| segment.header.in_call_op != 0)
    }

    /// Which world and which rank in it, and the size of that world, if `MPI_Init` was reached.
    fn place(&self) -> Option<(u64, u32, u32)> {
        self.segments()
            .map(|segment| &segment.header)
            .find_map(|header| header.rank.map(|rank| (header.world_key, rank, header.world_size)))
    }

    fn describe(&self) -> String {
        let header = self.segments().next().map(|segment| &segment.header);
        header.map_or_else(String::new, |header| format!("process {} on {}", header.pid, header.host))
    }
}

/// Everything that was recorded.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// One entry for each rank of the run, worlds one behind the other; none for ranks that left nothing.
    pub ranks: Vec<Option<Process>>,
    /// The first rank of each world, by world key.
    pub worlds: BTreeMap<u64, u32>,
    /// No process knew MPI: they are numbered by their start.
    pub without_mpi: bool,
    /// What is not as it should be.
    pub problems: Vec<String>,
    /// A file could not be read: the raw segments are worth keeping.
    pub unreadable: bool,
}

/// A segment, or why it cannot be read.
type HeaderRead = Result<SegmentInfo, String>;

/// Reads all headers of `directory/raw`; refuses if some of the processes still write there.
pub(crate) fn discover(directory: &Path, raw: &Path) -> Result<Recorded, SealError> {
    let mut recorded = Recorded::default();
    let processes = recorded.processes(quiet_segments(directory, raw)?, raw, |_| false)?;
    recorded.place(processes.into_iter());
    Ok(recorded)
}

/// The processes of `directory/raw`; those of which nothing can be read are left out. Refuses if some still write there.
pub(crate) fn processes_in(directory: &Path, raw: &Path) -> Result<Vec<Process>, SealError> {
    Recorded::default().processes(quiet_segments(directory, raw)?, raw, |_| false)
}

fn quiet_segments(directory: &Path, raw: &Path) -> Result<Vec<HeaderRead>, SealError> {
    let files = segments_in(directory, raw)?;
    let segments: Vec<HeaderRead> = files.par_iter().map(|path| read_header(path)).collect();
    guard::refuse_live(directory, &segments.iter().flatten().collect::<Vec<_>>())?;
    Ok(segments)
}

/// Reads all segments of `directory/raw` as they are at this moment, even while they are written. Of several launches the last
/// is taken. Processes on other hosts are taken for running if their recorder is, and they have not said how they ended.
pub(crate) fn discover_live(directory: &Path, raw: &Path) -> Result<Recorded, SealError> {
    let files = segments_in(directory, raw)?;
    let recorder = matches!(Holder::of(directory), Some(Holder::Recorder(_)));
    let segments: Vec<HeaderRead> = files.par_iter().map(|path| freeze(path)).collect();
    let live = guard::writers(&segments.iter().flatten().collect::<Vec<_>>());
    let here = guard::boot_id();
    let running = |header: &HeaderView| match header.boot_id == here {
        true => live.contains(&header.pid),
        false => recorder,
    };
    let mut recorded = Recorded::default();
    let processes = recorded.processes(segments, raw, running)?;
    let mut launches = launches::launches(processes);
    let last = launches.pop().unwrap_or_default();
    if !launches.is_empty() {
        let before = launches.iter().map(|launch| launch.processes.len()).sum::<usize>();
        recorded.problems.push(format!(
            "{before} processes of programs that were recorded here before this one are left out"
        ));
    }
    recorded.place(last.processes.into_iter());
    Ok(recorded)
}

/// The files of segments, in the order of their names.
fn segments_in(directory: &Path, raw: &Path) -> Result<Vec<PathBuf>, SealError> {
    let nothing = || SealError::NothingRecorded { path: directory.to_path_buf() };
    let entries = std::fs::read_dir(raw).map_err(|_| nothing())?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension().is_some_and(|extension| {
                ["defs", "calls", TASKS_EXTENSION, named::EXTENSION].iter().any(|known| extension == *known)
            })
        })
        .collect();
    if files.is_empty() {
        return Err(nothing());
    }
    files.sort();
    Ok(files)
}

impl Recorded {
    /// Puts segments together; `running` says which processes still write to theirs.
    fn processes(
        &mut self,
        segments: Vec<HeaderRead>,
        raw: &Path,
        running: impl Fn(&HeaderView) -> bool,
    ) -> Result<Vec<Process>, SealError> {
        let files = segments.len();
        let mut processes: BTreeMap<String, Process> = BTreeMap::new();
        for segment in segments {
            match segment {
                Ok(segment) => {
                    let process = processes.entry(process_name(&segment)).or_default();
                    process.running |= running(&segment.header);
                    match segment.header.thread {
                        None => process.definitions = Some(segment),
                        Some(_) if segment.is_of_tasks() => process.tasks.push(segment),
                        Some(_) => process.calls.push(segment),
                    }
                }
                Err(problem) => {
                    self.unreadable = true;
                    self.problems.push(problem);
                }
            }
        }
        if processes.is_empty() {
            let first_problem = self.problems.first().cloned().unwrap_or_default();
            let path = raw.to_path_buf();
            return Err(SealError::NothingReadable { path, segments: files, first_problem });
        }
        for process in processes.values_mut() {
            process.calls.sort_by_key(|segment| segment.header.thread);
            process.tasks.sort_by_key(|segment| segment.header.thread);
        }
        Ok(processes.into_values().collect())
    }
}

/// What the segments of one process have in common in their file names: `<host>.<pid>`.
fn process_name(segment: &SegmentInfo) -> String {
    let name = segment.file_name();
    let two_endings = segment.header.thread.is_some() || name.ends_with(named::EXTENSION);
    let parts = if two_endings { 3 } else { 2 };
    let stem = name.rsplitn(parts, '.').last().map(str::to_owned);
    stem.unwrap_or(name)
}

impl Recorded {
    /// Assigns every process its rank.
    fn place(&mut self, processes: impl Iterator<Item = Process>) {
        let mut worlds: BTreeMap<u64, World> = BTreeMap::new();
        let mut without_rank = Vec::new();
        for process in processes {
            match process.place() {
                Some((key, rank, size)) => {
                    let world = worlds.entry(key).or_default();
                    *world.claimed_sizes.entry(size).or_default() += 1;
                    world.processes.push((rank, process));
                }
                None => without_rank.push(process),
            }
        }
        if worlds.is_empty() {
            without_rank = self.place_by_start(without_rank);
        }
        let without_rank: Vec<String> = without_rank.iter().map(Process::describe).collect();
        if !without_rank.is_empty() {
            self.unreadable = true;
            self.problems.push(format!(
                "{} never learned a rank (MPI_Init was not reached or did not return); the calls are left out",
                listed(&without_rank)
            ));
        }
        for (key, world) in worlds {
            let first = self.ranks.len();
            self.worlds.insert(key, first as u32);
            self.ranks.resize_with(first + world.size() as usize, || None);
            self.settle(first, world.processes);
        }
    }

    /// Processes without MPI that record tasks are a world of their own. Returns the others.
    fn place_by_start(&mut self, processes: Vec<Process>) -> Vec<Process> {
        let (mut ranks, others): (Vec<Process>, Vec<Process>) =
            processes.into_iter().partition(|process| !process.tasks.is_empty());
        ranks.sort_by_key(Process::begin_ns);
        if !ranks.is_empty() {
            self.without_mpi = true;
            self.worlds.insert(0, 0);
            self.ranks = ranks.into_iter().map(Some).collect();
        }
        others
    }

    fn settle(&mut self, first: usize, processes: Vec<(u32, Process)>) {
        for (rank, process) in processes {
            let Some(place) = self.ranks.get_mut(first + rank as usize) else {
                self.unreadable = true;
                self.problems.push(format!(
                    "{} says it is rank {rank}, which its world does not have; its calls are left out",
                    process.describe()
                ));
                continue;
            };
            let left_out = match place {
                Some(other) if other.call_bytes() >= process.call_bytes() => Some(process),
                _ => place.replace(process),
            };
            if let Some(left_out) = left_out {
                self.unreadable = true;
                self.problems.push(format!(
                    "{} says it is rank {rank}, and so does another process; its calls are left out (do the \
                     launcher and the program use the same MPI?)",
                    left_out.describe()
                ));
            }
        }
    }
}

#[derive(Default)]
struct World {
    claimed_sizes: BTreeMap<u32, usize>,
    processes: Vec<(u32, Process)>,
}

impl World {
    /// What most of its processes say, unless that cannot be. Of as many, the smallest world that has all their ranks: one
    /// damaged header must not make it huge.
    fn size(&self) -> u32 {
        let believable = BELIEVABLE_WORLD.max((self.processes.len() as u32).saturating_mul(64));
        let ranks = self.processes.iter().map(|(rank, _)| rank.saturating_add(1));
        let needed = ranks.filter(|rank| *rank <= believable).max().unwrap_or(0);
        let trust = |(size, count): &(&u32, &usize)| (**count, **size >= needed, Reverse(**size));
        match self.claimed_sizes.iter().max_by_key(trust).map_or(0, |(size, _)| *size) {
            0 => needed,
            size => size.min(believable),
        }
    }
}

/// Names in a sentence, not more than a few of them.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
