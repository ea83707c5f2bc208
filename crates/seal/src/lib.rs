//! Sealing: from the raw segments of a run that is over to the tables of a trace.
//!
//! It promises to take whatever processes left: segments that are missing, cut short or damaged become
//! sentences in the trace's health, and everything that can be believed becomes rows. Memory is bounded by
//! the window of rows each worker holds, not by the length of the run. Tables appear all at once: they are
//! written to a folder of their own and take their places at the end, `run.json` last, so sealing can be
//! interrupted at any moment and repeated.
//!
//! With several hosts it also looks whether messages seem to arrive before they were sent, and moves ranks
//! until none does. Which send belongs to which receive is not kept.

mod align;
mod causality;
mod clock;
mod clock_table;
mod communicators;
mod discover;
mod error;
mod frozen;
mod grid;
mod guard;
mod host;
mod launches;
mod merge;
mod names;
mod rank;
mod reduced;
mod requests;
mod seen;
mod segment_file;
mod shift;
mod source;
mod summary;
mod symbols;
mod tables;
mod tasks;
mod translate;
mod under_way;

pub use error::SealError;
pub use guard::{Holder, Recording};
pub use launches::separate;
pub use seen::Seen;

use causality::Repairs;
use clock::RunClock;
use discover::Recorded;
use guard::Sealing;
use kizami_reduce::sequence::Sizes;
use kizami_reduce::summary::BLOCK_BYTES;
use kizami_reduced::{
    Importance, Neighbourhood, PaperImportance, ReduceOptions, SequenceWriter, sum_missing, write_sequences,
};
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::{Definitions, RankInfo, Stop};
use kizami_trace::disturbance::Disturbance;
use kizami_trace::reduced_tables::{ReducedRows, ReducedTables};
use kizami_trace::run::{MessageOrder, Missing, RUN_JSON, Reduced, Totals};
use kizami_trace::schema::{EVENTS_FOLDER, ORDER, RAW_FOLDER};
use kizami_trace::write::{OpTotals, PartWriter, Shared, StagingDir, WINDOW_ROWS};
use kizami_trace::{RunInfo, TraceError};
use names::Names;
use rank::{RankInput, RankOutcome, RankReduced};
use rayon::prelude::*;
use requests::OpenReceives;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Segments of a part, in bytes, at most, unless a single rank has more.
const LARGEST_PART: u64 = 1 << 30;
/// Segments of a part, in bytes, below which splitting is not worth it.
const SMALLEST_PART: u64 = 1 << 20;
/// Parts for each worker, so that they end at about the same time.
const PARTS_PER_WORKER: u64 = 4;
/// Ranks whose exact sums are one row group.
const RANKS_OF_A_GROUP: usize = 256;
/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// How to seal.
#[derive(Clone, Debug)]
pub struct SealOptions {
    /// Leave `raw/` in place.
    pub keep_raw: bool,
    /// Rows of one rank that are held at a time; completions further away cost a look ahead.
    pub window_rows: usize,
    /// When the run was seen to end, if somebody saw it.
    pub seen: Option<Seen>,
}

impl Default for SealOptions {
    fn default() -> SealOptions {
        SealOptions { keep_raw: false, window_rows: WINDOW_ROWS, seen: None }
    }
}

/// How far sealing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of segments turned into rows.
    pub done_bytes: u64,
    /// Bytes of all segments.
    pub total_bytes: u64,
    /// Rows so far.
    pub events: u64,
}

/// Turns the raw segments of `directory` into the tables of a trace. The segments are removed at the end,
/// unless `options` keep them or some of them could not be read whole.
///
/// Nothing is touched while somebody else seals the trace or still records it: that is an error.
///
/// `progress` is called now and then, on the calling thread.
pub fn seal(
    directory: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<RunInfo, SealError> {
    let _sealing = Sealing::begin(directory)?;
    let raw = directory.join(RAW_FOLDER);
    if !raw.is_dir() {
        // Takes away what a sealing left that was interrupted at its very end.
        drop(StagingDir::within(directory));
        let path = directory.to_path_buf();
        return Err(match directory.join(RUN_JSON).is_file() {
            true => SealError::AlreadySealed { path },
            false => SealError::NothingRecorded { path },
        });
    }
    let recorded = discover::discover(directory, &raw)?;
    let staging = StagingDir::within(directory)?;
    let (run, whole) = turn(recorded, staging.folder(), options, progress)?;
    staging.commit(&run, whole && !options.keep_raw)?;
    Ok(run)
}

/// Makes a trace of what is in the raw segments of `directory` at this moment, in the directory `output`, which must not
/// exist. Nothing in `directory` is touched, and nobody who works there is held up: ranks may still write, and a
/// recorder may seal meanwhile (then this is an error, and there is a sealed trace).
pub fn snapshot(directory: &Path, output: &Path, progress: &dyn Fn(Progress)) -> Result<RunInfo, SealError> {
    if !directory.is_dir() {
        return Err(TraceError::NoTrace { path: directory.to_path_buf() }.into());
    }
    let recorded = discover::discover_live(directory, &directory.join(RAW_FOLDER))?;
    let running = recorded.ranks.iter().flatten().any(|process| process.running);
    let seen = running.then(Seen::now);
    let options = SealOptions { keep_raw: true, seen, ..SealOptions::default() };
    let staging = StagingDir::make(output)?;
    let (run, _) = turn(recorded, staging.folder(), &options, progress)?;
    staging.commit(&run, false)?;
    Ok(run)
}

/// Writes all tables below `folder`; gives what `run.json` is to say, and whether all segments could be read.
fn turn(
    mut recorded: Recorded,
    folder: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<(RunInfo, bool), TraceError> {
    let names = names::collect(&recorded);
    let clock = RunClock::measure(&recorded.ranks, &names.questions);
    let sources = Sources { recorded: &recorded, clock: &clock, names: &names };
    let (mut sealed, order) = seal_in_order(&sources, folder, options, progress)?;
    let tasks = tasks::write_tasks(&sources, &order.repairs, folder, &mut sealed.outcomes)?;

    let mut ranks = summary::rank_infos(&recorded, &clock, &sealed.outcomes);
    note_definition_damage(&mut ranks, &names);
    if let Some(seen) = &options.seen {
        for (info, process) in ranks.iter_mut().zip(&recorded.ranks) {
            info.ended = process.as_ref().and_then(|process| seen.death_of(process, &clock));
        }
    }
    let input = tables::TableInput {
        recorded: &recorded,
        clock: &clock,
        names: &names,
        ranks: &ranks,
        stops: &sealed.stops(),
        repairs: &order.repairs.rows(),
        outcomes: &sealed.outcomes,
        under_way: sealed.outcomes.iter().flat_map(|outcome| outcome.under_way.iter().copied()).collect(),
    };
    let mut files = sealed.files.clone();
    files.extend(tasks.files);
    files.extend(tables::write_tables(folder, input)?);

    files.extend(write_reduced(&sealed, &names, folder)?);

    recorded.problems.extend(summary::lost_windows(&sealed.outcomes));
    recorded.problems.extend(tasks.counted.map(|counted| counted.told()));
    let whole = !recorded.unreadable && ranks.iter().all(|rank| rank.damage.is_none());
    if !whole && !options.keep_raw {
        recorded.problems.push("raw/ was kept because not all of it could be read".to_owned());
    }
    let mut run = summary::run_info(summary::SummaryInput {
        recorded: &recorded,
        clock: &clock,
        names: &names,
        ranks: &ranks,
        totals: &sealed.totals,
        disturbance: Disturbance::of(&sealed.outcomes.iter().map(RankOutcome::loss).collect::<Vec<_>>()),
        health: summary::health(&recorded, &clock, &ranks),
        watched: seen::watched(&recorded, &clock, &ranks, options.seen.as_ref()),
        messages: order.messages,
        files: &files,
        folder,
    });
    run.counted_tasks = tasks.counted;
    if sealed.outcomes.iter().any(|outcome| outcome.drawn.is_some()) {
        // Rows that were drawn tell neither how many calls there were nor what recording them took.
        let outcomes = sealed.outcomes.iter();
        run.totals.calls = outcomes.clone().map(|rank| rank.calls).fold(0, u64::saturating_add);
        run.totals.overhead_ns = outcomes.map(|rank| rank.overhead_ns).fold(0, i64::saturating_add);
    }
    run.reduced = sealed.kept(names.asked, &run.totals);
    Ok((run, whole))
}

/// Writes what is known of calls without rows, if rows were kept only in part.
fn write_reduced(sealed: &Sealed, names: &Names, folder: &Path) -> Result<Vec<WrittenFile>, TraceError> {
    let reduced: Vec<(u32, &RankReduced)> = sealed
        .outcomes
        .iter()
        .filter_map(|outcome| Some((outcome.rank, outcome.reduced.as_ref()?)))
        .collect();
    if reduced.is_empty() {
        return Ok(Vec::new());
    }
    let definitions = Definitions {
        communicators: names.communicators.table(),
        objects: tables::objects_of(names),
        ..Definitions::default()
    };
    let near = Neighbourhood::of(&definitions);
    let (mut tables, mut order) = (ReducedTables::create(folder)?, SequenceWriter::new());
    for batch in reduced.chunks(RANKS_OF_A_GROUP) {
        let (mut rows, mut peers) = (ReducedRows::default(), Vec::new());
        for (rank, reduced) in batch {
            rows.append(reduced.tables.clone());
            peers.extend_from_slice(&reduced.peers);
            for (thread, folded) in &reduced.orders {
                order.add(*rank, *thread, folded, &near);
            }
        }
        tables.append(rows, &peers)?;
    }
    let mut files = tables.finish()?.to_vec();
    files.push(write_sequences(&folder.join(ORDER), &order.finish())?);
    Ok(files)
}

fn note_definition_damage(ranks: &mut [RankInfo], names: &Names) {
    for (rank, damage) in &names.damage {
        if let Some(info) = ranks.get_mut(*rank as usize) {
            info.damage = Some(match info.damage.take() {
                Some(other) => format!("{damage}; {other}"),
                None => damage.clone(),
            });
        }
    }
}

/// Everything parts are sealed from.
struct Sources<'a> {
    recorded: &'a Recorded,
    clock: &'a RunClock,
    names: &'a Names,
}

/// What became of messages that seemed to arrive before they were sent.
#[derive(Default)]
struct Order {
    /// None if there is one clock only.
    messages: Option<MessageOrder>,
    repairs: Repairs,
}

/// Seals all parts, and does it again with repaired times if messages of different hosts ask for it.
fn seal_in_order(
    sources: &Sources<'_>,
    folder: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<(Sealed, Order), TraceError> {
    let sealed = seal_parts(sources, &Repairs::default(), folder, options, progress)?;
    if sources.clock.hosts.len() < 2 {
        return Ok((sealed, Order::default()));
    }
    let check = |sealed: &Sealed| {
        causality::check(&sealed.events(), sources.recorded, sources.clock, &sealed.outcomes, folder)
    };
    let (found, repairs) = check(&sealed)?;
    let messages = MessageOrder {
        matched: found.messages,
        doubtful: found.doubtful,
        violations_wall_clock: found.by_wall_clock,
        violations: found.violations,
        repairs: repairs.count(),
        largest_repair_ns: found.largest_shift_ns,
        violations_left: found.violations,
    };
    if repairs.count() == 0 {
        return Ok((sealed, Order { messages: Some(messages), repairs }));
    }
    let sealed = seal_parts(sources, &repairs, folder, options, progress)?;
    // Messages that were not doubtful before must not have become so.
    let left = check(&sealed)?.0;
    let violations_left = left.violations + left.doubtful.saturating_sub(found.doubtful);
    let messages = Some(MessageOrder { violations_left, ..messages });
    Ok((sealed, Order { messages, repairs }))
}

/// What came of all parts.
#[derive(Default)]
struct Sealed {
    /// In the order of ranks.
    outcomes: Vec<RankOutcome>,
    totals: OpTotals,
    files: Vec<WrittenFile>,
}

impl Sealed {
    /// The parts with rows of calls.
    fn events(&self) -> Vec<PathBuf> {
        let in_events = |path: &Path| path.parent().is_some_and(|folder| folder.ends_with(EVENTS_FOLDER));
        self.files.iter().map(|file| file.path.clone()).filter(|path| in_events(path)).collect()
    }

    /// What was kept, if rows were kept only in part.
    fn kept(&self, asked: Option<ReduceOptions>, totals: &Totals) -> Option<Reduced> {
        let told = Reduced {
            rows_kept: totals.events,
            calls: totals.calls,
            ..asked.map(|asked| asked.told()).unwrap_or_default()
        };
        let drawn = self.outcomes.iter().find_map(|outcome| outcome.drawn);
        if let Some(drawn) = drawn {
            let by = PaperImportance::by_number(drawn.importance);
            let block_bytes = match asked.map(|asked| asked.importance) {
                Some(Importance::Paper(scheme)) => scheme.bytes(),
                _ => 0,
            };
            return Some(Reduced {
                importance: by.map_or("paper", PaperImportance::name).to_owned(),
                block_bytes,
                ..told
            });
        }
        let reduced = || self.outcomes.iter().filter_map(|outcome| outcome.reduced.as_ref());
        reduced().next()?;
        Some(Reduced {
            importance: Importance::Classes.name().to_owned(),
            sums_exact: reduced().all(|rank| rank.whole),
            missing: reduced().fold(Missing::default(), |sum, rank| sum_missing(sum, rank.missing)),
            block_bytes: (BLOCK_BYTES + Sizes::default().bytes()) as u64,
            ..told
        })
    }

    fn stops(&self) -> Vec<Stop> {
        let mut stops: Vec<Stop> = self.outcomes.iter().flat_map(|outcome| outcome.stops.clone()).collect();
        stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
        stops
    }
}

fn seal_parts(
    sources: &Sources<'_>,
    repairs: &Repairs,
    folder: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<Sealed, TraceError> {
    let sizes: Vec<u64> =
        sources.recorded.ranks.iter().map(|process| process.as_ref().map_or(0, |p| p.call_bytes())).collect();
    let parts = split(&sizes, rayon::current_num_threads() as u64);
    let total_bytes = sizes.iter().sum();
    let shared = Arc::new(Shared::default());
    let tell = || {
        progress(Progress {
            done_bytes: shared.done_bytes.load(Ordering::Relaxed).min(total_bytes),
            total_bytes,
            events: shared.events.load(Ordering::Relaxed),
        });
    };
    // The callback need not be shareable between threads, so the work goes elsewhere and this thread tells.
    let results: Vec<Result<Sealed, TraceError>> = std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (parts, shared) = (&parts, &shared);
        let work = scope.spawn(move || {
            let _done_when_dropped = done;
            let numbered = parts.par_iter().enumerate();
            let sealed = |(number, ranks): (usize, &Range<usize>)| {
                seal_part(sources, repairs, (folder, number), options, ranks.clone(), shared)
            };
            numbered.map(sealed).collect()
        });
        while wait.recv_timeout(TELL_EVERY) == Err(RecvTimeoutError::Timeout) {
            tell();
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let mut sealed = Sealed::default();
    for result in results {
        let part = result?;
        sealed.outcomes.extend(part.outcomes);
        sealed.totals.add(&part.totals);
        sealed.files.extend(part.files);
    }
    tell();
    Ok(sealed)
}

fn seal_part(
    sources: &Sources<'_>,
    repairs: &Repairs,
    (folder, number): (&Path, usize),
    options: &SealOptions,
    ranks: Range<usize>,
    shared: &Arc<Shared>,
) -> Result<Sealed, TraceError> {
    let counters = sources.names.counted();
    let mut part = PartWriter::create(folder, number, counters, options.window_rows.max(1), shared.clone())?;
    let mut open = OpenReceives::new();
    let mut outcomes = Vec::new();
    for rank in ranks {
        let Some(process) = &sources.recorded.ranks[rank] else { continue };
        let bytes = process.call_bytes();
        part.begin_rank(bytes / kizami_segment::SLOT_BYTES as u64)?;
        let host = sources.clock.host_of_process(process);
        let Some(host) = host.and_then(|host| sources.clock.hosts.get(host)) else { continue };
        let input = RankInput {
            rank: rank as u32,
            process,
            names: &sources.names.processes[rank],
            communicators: &sources.names.communicators,
            clock: host.rank_clock(repairs.of(rank)),
        };
        outcomes.push(rank::seal_rank(&input, &mut open, &mut part)?);
        part.end_rank(bytes)?;
    }
    let (totals, files) = part.finish()?;
    Ok(Sealed { outcomes, totals, files })
}

/// Contiguous ranges of ranks with about the same amount of work.
fn split(sizes: &[u64], workers: u64) -> Vec<Range<usize>> {
    let total: u64 = sizes.iter().sum();
    let target = (total / (workers * PARTS_PER_WORKER).max(1)).clamp(SMALLEST_PART, LARGEST_PART);
    let mut parts = Vec::new();
    let (mut start, mut filled) = (0, 0);
    for (rank, size) in sizes.iter().enumerate() {
        // Half a rank too much is better than half a rank too little.
        if rank > start && filled + size / 2 >= target {
            parts.push(start..rank);
            (start, filled) = (rank, 0);
        }
        filled += size;
    }
    parts.push(start..sizes.len());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_ranks_in_order() {
        for sizes in [vec![], vec![5 << 20; 16], vec![1; 100_000], vec![1 << 34, 1, 1, 1 << 33]] {
            let parts = split(&sizes, 2);
            let covered: Vec<usize> = parts.iter().cloned().flatten().collect();
            assert_eq!(covered, (0..sizes.len()).collect::<Vec<_>>());
            assert!(parts.len() < 100);
        }
        assert_eq!(split(&[5 << 20; 16], 2).len(), 8);
        assert_eq!(split(&[1; 100_000], 2).len(), 1);
    }
}
