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
mod guard;
mod host;
mod launches;
mod merge;
mod messages;
mod names;
mod parts;
mod rank;
mod reduced;
mod requests;
mod run_end;
mod segment_file;
mod sharing;
mod snapshot;
mod source;
mod stolen;
mod summary;
mod symbols;
mod tables;
mod tasks;
mod translate;
mod under_way;

pub use error::SealError;
pub use guard::{Holder, Recording};
pub use launches::separate;
pub use run_end::RunEnd;
pub use stolen::CoreTime;

use causality::Repairs;
use clock::RunClock;
use discover::Recorded;
use guard::Sealing;
use kizami_process_group::{ProcessGroup, Single};
use kizami_reduced::{Neighbourhood, SequenceWriter, write_sequences};
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::{Definitions, RankInfo};
use kizami_trace::disturbance::Disturbance;
use kizami_trace::reduced_tables::{ReducedRows, ReducedTables};
use kizami_trace::run::{MessageOrder, RUN_JSON};
use kizami_trace::schema::{ORDER, RAW_FOLDER};
use kizami_trace::write::{StagingDir, WINDOW_ROWS};
use kizami_trace::{RunInfo, TraceError};
use names::Names;
use parts::{Sealed, seal_parts};
use rank::{RankOutcome, RankReduced};
use sharing::Sharing;
use std::path::Path;
use tracing::field::Empty;

/// Ranks whose exact sums are one row group.
const RANKS_OF_A_GROUP: usize = 256;

/// How to seal.
#[derive(Clone, Debug)]
pub struct SealOptions {
    /// Leave `raw/` in place.
    pub keep_raw: bool,
    /// Rows of one rank that are held at a time; completions further away cost a look ahead.
    pub window_rows: usize,
    /// When the run was observed to end, if it was.
    pub run_end: Option<RunEnd>,
}

impl Default for SealOptions {
    fn default() -> SealOptions {
        SealOptions { keep_raw: false, window_rows: WINDOW_ROWS, run_end: None }
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
/// Nothing is touched while another process seals the trace or still records it: that is an error.
///
/// `progress` is called now and then, on the calling thread.
pub fn seal(
    directory: &Path,
    options: &SealOptions,
    progress: &dyn Fn(Progress),
) -> Result<RunInfo, SealError> {
    seal_first(directory, options, &Single, progress)
}

/// The same, by several processes that see the directory under the same name: all of them must call it. Rows are divided,
/// and the first process does the rest; the others get nothing.
pub fn seal_together(
    directory: &Path,
    options: &SealOptions,
    group: &dyn ProcessGroup,
    progress: &dyn Fn(Progress),
) -> Result<Option<RunInfo>, SealError> {
    if group.is_first() {
        return seal_first(directory, options, group, progress).map(Some);
    }
    sharing::help(directory, options, group)?;
    Ok(None)
}

fn seal_first(
    directory: &Path,
    options: &SealOptions,
    group: &dyn ProcessGroup,
    progress: &dyn Fn(Progress),
) -> Result<RunInfo, SealError> {
    let phase = tracing::info_span!("seal", rows = Empty).entered();
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
    // From here on no other process is at work here, and the others may look as well.
    group.broadcast(Vec::new());
    let recorded = discover::discover(directory, &raw)?;
    let staging = StagingDir::within(directory)?;
    let sharing = Sharing::agreed(directory, &recorded, group)?;
    let (run, whole) = turn(recorded, staging.folder(), options, sharing, progress)?;
    staging.commit(&run, whole && !options.keep_raw)?;
    phase.record("rows", run.totals.events);
    Ok(run)
}

/// Makes a trace of what is in the raw segments of `directory` at this moment, in the directory `output`, which must not
/// exist. Nothing in `directory` is touched, and no process that works there is delayed: ranks may still write, and a
/// recorder may seal meanwhile (then this is an error, and there is a sealed trace).
pub fn snapshot(directory: &Path, output: &Path, progress: &dyn Fn(Progress)) -> Result<RunInfo, SealError> {
    if !directory.is_dir() {
        return Err(TraceError::NoTrace { path: directory.to_path_buf() }.into());
    }
    let recorded = discover::discover_live(directory, &directory.join(RAW_FOLDER))?;
    let running = recorded.ranks.iter().flatten().any(|process| process.running);
    let run_end = running.then(RunEnd::now);
    let options = SealOptions { keep_raw: true, run_end, ..SealOptions::default() };
    let staging = StagingDir::make(output)?;
    let sharing = Sharing::agreed(directory, &recorded, &Single)?;
    let (run, _) = turn(recorded, staging.folder(), &options, sharing, progress)?;
    staging.commit(&run, false)?;
    Ok(run)
}

/// What is said of segments that only older versions write and read.
const SAMPLED_WHILE_RECORDING: &str = "calls were sampled while they were recorded (--importance paper), which this version does not read: seal the \
                     raw segments with the version that recorded them";

/// Writes all tables below `folder`; returns what `run.json` is to say, and whether all segments could be read.
fn turn(
    mut recorded: Recorded,
    folder: &Path,
    options: &SealOptions,
    sharing: Sharing<'_>,
    progress: &dyn Fn(Progress),
) -> Result<(RunInfo, bool), TraceError> {
    let mut names = names::collect(&recorded);
    if let Some(requested) = names.requested {
        let segments = recorded.ranks.iter().flatten().flat_map(|process| &process.calls);
        names.all_recorded = reduced::all_recorded(segments, requested.all_below);
    }
    let clock = RunClock::measure(&recorded.ranks, &names.questions);
    let sources = Sources { recorded: &recorded, clock: &clock, names: &names, sharing };
    let (mut sealed, order) = seal_in_order(&sources, folder, options, progress)?;
    let tasks = tasks::write_tasks(&sources, &order.repairs, folder, &mut sealed.outcomes)?;

    let mut ranks = summary::rank_infos(&recorded, &clock, &sealed.outcomes);
    note_definition_damage(&mut ranks, &names);
    if let Some(run_end) = &options.run_end {
        for (info, process) in ranks.iter_mut().zip(&recorded.ranks) {
            info.ended = process.as_ref().and_then(|process| run_end.death_of(process, &clock));
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

    recorded.problems.extend(names.sampled.then(|| SAMPLED_WHILE_RECORDING.to_owned()));
    recorded.problems.extend(tasks.counted.map(|counted| counted.sentence()));
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
        health: summary::health(&recorded, &clock, &names, &ranks),
        watched: run_end::watched(&recorded, &clock, &ranks, options.run_end.as_ref()),
        messages: order.messages,
        files: &files,
        folder,
    });
    run.counted_tasks = tasks.counted;
    run.stolen = options.run_end.as_ref().and_then(|end| end.stolen_share());
    run.reduced = sealed.kept(names.requested, &run.totals);
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
    sharing: Sharing<'a>,
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
    let seal = |repairs: &Repairs| -> Result<Sealed, TraceError> {
        sources.sharing.gathered(seal_parts(sources, repairs, folder, options, progress)?, folder)
    };
    let sealed = seal(&Repairs::default())?;
    if sources.clock.hosts.len() < 2 {
        return Ok((sealed, Order::default()));
    }
    let check = |sealed: &Sealed| {
        causality::check(&sealed.events(), sources.recorded, sources.clock, &sealed.outcomes, folder)
    };
    let (found, repairs) = check(&sealed)?;
    sources.sharing.send_repairs(&repairs);
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
    let sealed = seal(&repairs)?;
    // Messages that were not doubtful before must not have become so.
    let left = check(&sealed)?.0;
    let violations_left = left.violations + left.doubtful.saturating_sub(found.doubtful);
    let messages = Some(MessageOrder { violations_left, ..messages });
    Ok((sealed, Order { messages, repairs }))
}
