//! Reducing a full trace afterwards: the same as is done while a program is recorded, rank by rank.
//!
//! A rank is read twice: once through the reducers, once for the rows that were kept. Ticks are nanoseconds, so nothing is
//! rounded. Memory is what reducers take for a few ranks at a time, and the rows that are kept.

use super::of_state::{Meaning, missing, rows_of, sum_missing, sums_by_function};
use super::paper::Chosen;
use super::sample_keys::SampleKeys;
use super::sequences::SequenceWriter;
use super::signature::Neighbourhood;
use super::thread::{HandedOver, Memory, ThreadReducer};
use kizami_model::{Call, Moment, Rank, ThreadIndex};
use kizami_sequence::{FoldedSequence, Sizes};
use kizami_summary::paper::Scheme;
use kizami_summary::sample::Series;
use kizami_summary::{BLOCK_BYTES, PeerSums, Settings, read};
use kizami_trace::columns::{ChecksumFile, WrittenFile};
use kizami_trace::definitions::Definitions;
use kizami_trace::reduced_tables::{PeerRow, ReducedRows, ReducedTables};
use kizami_trace::rewrite::copy_tables;
use kizami_trace::run::{BY_CLASSES, FileEntry, Missing, Reduced, Totals};
use kizami_trace::schema::{COUNTERS_FOLDER, EVENTS_FOLDER, ORDER};
use kizami_trace::write::{OpTotals, PartWriter, Row as TableRow, Shared, StagingDir, WINDOW_ROWS, summary};
use kizami_trace::{RankSelection, RunInfo, Trace, TraceError};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a full recording takes for a call: what a fraction is a fraction of.
const RECORD_BYTES: u32 = 32;
const TICKS_PER_SECOND: u64 = 1_000_000_000;
/// Ranks whose results are in memory at a time, for each worker.
const RANKS_PER_WORKER: usize = 16;
/// So many threads are believed without a look, and so many are reduced at most: each takes close to a megabyte.
const FEW_THREADS: u32 = 64;
const MOST_THREADS: usize = 1 << 10;
/// Rows between two reports of progress.
const PROGRESS_EVERY: u64 = 1 << 16;

/// How to reduce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceOptions {
    /// How much is to be kept.
    pub keep: Keep,
    /// What chance is made from.
    pub seed: u64,
    /// By what rows are chosen.
    pub importance: Importance,
    /// If every thread has fewer calls than this, all are kept, and nothing is reduced. Not of what the paper does.
    pub all_below: u64,
}

/// With fewer calls in every thread all are kept, unless it is asked for otherwise: nothing has to be reconstructed then,
/// and a thread takes 128 KiB of records.
pub const ALL_BELOW: u64 = 4_096;

/// How much is to be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keep {
    /// Of the bytes that full records take.
    Fraction(f64),
    /// Bytes in a second of each thread.
    BytesPerSecond(f64),
}

/// As it is typed.
impl fmt::Display for Keep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Few digits: a hundred times a fraction is seldom the number that was typed.
            Keep::Fraction(part) => write!(out, "{}%", (1e10 * part).round() / 1e8),
            Keep::BytesPerSecond(bytes) => write!(out, "{bytes}B/s"),
        }
    }
}

/// By what rows are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Importance {
    /// Rare and long ones first, the others with known probability, beside exact sums.
    Classes,
    /// As the paper does, to compare with: of every n rows x are sampled, and nothing else is kept.
    Paper(Scheme),
}

impl Importance {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Importance::Classes => BY_CLASSES,
            Importance::Paper(scheme) => scheme.f.name(),
        }
    }
}

impl ReduceOptions {
    /// What `run.json` says of it.
    pub fn provenance(&self) -> Reduced {
        let scheme = match self.importance {
            Importance::Classes => None,
            Importance::Paper(scheme) => Some(scheme),
        };
        Reduced {
            keep: Some(self.keep.to_string()),
            importance: self.importance.name().to_owned(),
            seed: Some(self.seed),
            paper_n: scheme.map(|scheme| scheme.n as u64),
            paper_x: scheme.map(|scheme| scheme.x as u64),
            ..Reduced::default()
        }
    }
}

/// Writes what is kept of a full trace into the directory `output`, which must not exist. `progress` is called with how many
/// rows of how many are done, from any thread.
///
/// If there are few calls, they are all kept: the result is a trace that is not reduced.
///
/// The trace must have a row for every call: one that was reduced before would have its rows counted as all there were.
pub fn reduce(
    trace: &Trace,
    output: &Path,
    options: &ReduceOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<RunInfo, TraceError> {
    let staging = StagingDir::make(output)?;
    if options.importance == Importance::Classes && has_few_calls(trace, options.all_below)? {
        let files = copy_tables(trace, staging.folder(), |_| false)?;
        let run = RunInfo { files, ..trace.run().clone() };
        staging.commit(&run, false)?;
        return Ok(run);
    }
    let definitions = trace.definitions()?;
    let source = Source {
        trace,
        options,
        identities: definitions.communicators.iter().map(|comm| comm.identity.0).collect(),
        near: Neighbourhood::of(&definitions),
        done: AtomicU64::new(0),
        total: trace.run().totals.events,
        progress,
    };
    let left_out = |name: &Path| name.starts_with(EVENTS_FOLDER) || name.starts_with(COUNTERS_FOLDER);
    let mut files = copy_tables(trace, staging.folder(), left_out)?;
    let written = source.write(&definitions, staging.folder())?;
    files.extend(written.files);

    let recorded = trace.run().clone();
    let exact = options.importance == Importance::Classes;
    let sum = written.totals.sum();
    let of_sums = Totals {
        calls: sum.calls,
        bytes_out: sum.bytes_out,
        bytes_in: sum.bytes_in,
        mpi_ns: sum.total_ns,
        ..recorded.totals
    };
    let totals = if exact { of_sums } else { recorded.totals.clone() };
    let run = RunInfo {
        counters: Vec::new(),
        functions: if exact { written.totals.by_function() } else { recorded.functions.clone() },
        reduced: Some(Reduced {
            rows_kept: sum.rows,
            calls: totals.calls,
            sums_exact: exact,
            missing: written.missing,
            block_bytes: if exact { (BLOCK_BYTES + Sizes::default().bytes()) as u64 } else { 0 },
            made_from: Some(trace.path().display().to_string()),
            made_from_bytes: Some(recorded.files.iter().map(|file| file.bytes).sum()),
            ..options.provenance()
        }),
        totals: Totals { events: sum.rows, ..totals },
        files,
        ..recorded
    };
    staging.commit(&run, false)?;
    Ok(run)
}

/// Whether every thread has fewer calls than this.
fn has_few_calls(trace: &Trace, all_below: u64) -> Result<bool, TraceError> {
    if all_below == 0 {
        return Ok(false);
    }
    let mut by_thread: FxHashMap<(Rank, ThreadIndex), u64> = FxHashMap::default();
    for call in trace.calls(RankSelection::All)? {
        let call = call?;
        let calls = by_thread.entry((call.rank, call.thread)).or_default();
        *calls += u64::from(call.calls);
        if *calls >= all_below {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is reduced, and how.
struct Source<'a> {
    trace: &'a Trace,
    options: &'a ReduceOptions,
    identities: Vec<u64>,
    near: Neighbourhood,
    done: AtomicU64,
    total: u64,
    progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// What was written.
struct Written {
    files: Vec<FileEntry>,
    totals: OpTotals,
    missing: Missing,
}

/// What came of one rank.
#[derive(Default)]
struct RankDone {
    rows: Vec<Call>,
    tables: ReducedRows,
    peers: Vec<PeerRow>,
    orders: Vec<(u32, FoldedSequence)>,
    missing: Missing,
}

impl Source<'_> {
    fn write(&self, definitions: &Definitions, folder: &Path) -> Result<Written, TraceError> {
        let mut part = PartWriter::create(folder, 0, Vec::new(), WINDOW_ROWS, Arc::new(Shared::default()))?;
        let exact = self.options.importance == Importance::Classes;
        let mut tables = if exact { Some(ReducedTables::create(folder)?) } else { None };
        let mut order = SequenceWriter::new();
        let (mut sums, mut missing) = (OpTotals::default(), Missing::default());
        let ranks: Vec<(Rank, u32)> =
            definitions.ranks.iter().map(|rank| (rank.rank, rank.threads)).collect();
        for batch in ranks.chunks(RANKS_PER_WORKER * rayon::current_num_threads()) {
            let done: Vec<Result<RankDone, TraceError>> =
                batch.par_iter().map(|(rank, threads)| self.rank(*rank, *threads)).collect();
            let mut all = RankDone::default();
            for (done, (rank, _)) in done.into_iter().zip(batch) {
                let mut done = done?;
                write_rows(&mut part, &done.rows)?;
                for (thread, folded) in &done.orders {
                    order.add(rank.0, *thread, folded, &self.near);
                }
                sums_by_function(&done.tables, &mut sums, 0.0);
                all.tables.append(done.tables);
                all.peers.append(&mut done.peers);
                missing = sum_missing(missing, done.missing);
            }
            if let Some(tables) = &mut tables {
                tables.append(all.tables, &all.peers)?;
            }
        }
        let (mut totals, mut written) = part.finish()?;
        totals.add(&sums);
        if let Some(tables) = tables {
            written.extend(tables.finish()?);
            written.push(write_sequences(&folder.join(ORDER), &order.finish())?);
        }
        let files = written.iter().map(|file| summary::entry(file, folder)).collect();
        Ok(Written { files, totals, missing })
    }

    fn report(&self, rows: u64) {
        let done = self.done.fetch_add(rows, Ordering::Relaxed) + rows;
        (self.progress)(done, self.total);
    }

    fn rank(&self, rank: Rank, threads: u32) -> Result<RankDone, TraceError> {
        match self.options.importance {
            Importance::Classes => self.by_classes(rank, threads),
            Importance::Paper(scheme) => {
                let seed = Series::alone(self.options.seed, u64::from(rank.0)).number(0);
                let mut chosen = Chosen::new(scheme, seed);
                self.each_row(rank, |_, call| {
                    chosen.add(call);
                    Ok(())
                })?;
                let rows = chosen.finish().into_iter();
                let kept = rows.map(|row| Kept { row, weight: 1.0, poll: None }).collect();
                Ok(RankDone { rows: self.kept_rows(rank, kept)?, ..RankDone::default() })
            }
        }
    }

    fn each_row(
        &self,
        rank: Rank,
        mut each: impl FnMut(u64, &Call) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        let mut calls = self.trace.calls(RankSelection::One(rank))?;
        let mut row = 0;
        loop {
            let batch = calls.next_batch()?;
            if batch.is_empty() {
                break;
            }
            for call in batch {
                each(row, call)?;
                row += 1;
                if row.is_multiple_of(PROGRESS_EVERY) {
                    self.report(PROGRESS_EVERY);
                }
            }
        }
        self.report(row % PROGRESS_EVERY);
        Ok(())
    }

    /// How many threads of a rank have rows. Each takes memory, so what the trace says of many is not believed.
    fn threads_of(&self, rank: Rank) -> Result<u32, TraceError> {
        let mut threads = FxHashSet::default();
        for call in self.trace.calls(RankSelection::One(rank))? {
            threads.insert(call?.thread);
            if threads.len() > MOST_THREADS {
                let what = format!("rank {rank} has more than {MOST_THREADS} threads");
                return Err(TraceError::damaged(self.trace.path(), what));
            }
        }
        Ok(threads.len() as u32)
    }

    fn by_classes(&self, rank: Rank, threads: u32) -> Result<RankDone, TraceError> {
        let settings = match self.options.keep {
            Keep::Fraction(keep) => Settings::fraction(keep, RECORD_BYTES, TICKS_PER_SECOND),
            Keep::BytesPerSecond(rate) => Settings::rate(rate, TICKS_PER_SECOND),
        };
        let threads = if threads > FEW_THREADS { self.threads_of(rank)? } else { threads };
        let mut memories: Vec<Memory> = (0..threads).map(|_| Memory::new()).collect();
        let mut handed_over: Vec<HandedOver> = Vec::new();
        {
            let mut free = memories.iter_mut();
            let mut known: Vec<ThreadReducer<'_>> = Vec::new();
            let mut numbers = SampleKeys::new(self.options.seed, rank.0, &self.identities);
            self.each_row(rank, |row, call| {
                let thread = match known.iter().position(|known| known.index == call.thread.0) {
                    Some(index) => &mut known[index],
                    None => {
                        let more =
                            || TraceError::damaged(self.trace.path(), "a rank has more threads than it says");
                        let memory = free.next().ok_or_else(more)?;
                        known.push(ThreadReducer::start(call.thread.0, memory, &settings));
                        known.last_mut().ok_or_else(more)?
                    }
                };
                thread.add(row, call, &mut numbers, &self.near);
                Ok(())
            })?;
            handed_over.extend(known.into_iter().map(|thread| thread.handed_over));
        }
        let mut done = RankDone::default();
        let mut kept = Vec::new();
        let mut peers: BTreeMap<(Option<u32>, Option<u32>), PeerSums> = BTreeMap::new();
        for (handed_over, memory) in handed_over.iter().zip(&memories) {
            self.read(rank, handed_over, memory, &mut done, &mut kept, &mut peers)?;
        }
        done.peers = peers.into_iter().map(|(key, sums)| peer_row(rank, key, sums)).collect();
        kept.sort_by_key(|kept: &Kept| (kept.row, kept.poll));
        done.rows = self.kept_rows(rank, kept)?;
        Ok(done)
    }

    /// Reads what the reducers of one thread know.
    fn read(
        &self,
        rank: Rank,
        handed_over: &HandedOver,
        memory: &Memory,
        done: &mut RankDone,
        kept: &mut Vec<Kept>,
        peers: &mut BTreeMap<(Option<u32>, Option<u32>), PeerSums>,
    ) -> Result<(), TraceError> {
        let damaged = |what: String| TraceError::damaged(self.trace.path(), what);
        let parts = handed_over.parts.iter().map(Vec::as_slice);
        let state = read(memory.block.as_bytes(), parts).map_err(|error| damaged(error.to_string()))?;
        let meaning = Meaning {
            rank: rank.0,
            thread: handed_over.thread,
            site: &|site| site.checked_sub(1),
            at: &|ticks| i64::try_from(ticks).unwrap_or(i64::MAX),
            ns_per_tick: 1.0,
        };
        done.tables.append(rows_of(&state, &meaning));
        for peer in &state.peers {
            let sums = peers.entry((Some(peer.communicator), Some(peer.rank))).or_default();
            *sums = sums.plus(peer.sums);
        }
        if state.other_peers != PeerSums::default() {
            let sums = peers.entry((None, None)).or_default();
            *sums = sums.plus(state.other_peers);
        }
        let folded = FoldedSequence::read(&handed_over.order, &memory.order_bytes())
            .map_err(|damage| damaged(damage.to_string()))?;
        done.missing = sum_missing(done.missing, missing(&state));
        done.missing.calls_without_order += folded.lost();
        done.orders.push((handed_over.thread, folded));
        kept.extend(state.rows.iter().filter_map(|row| {
            let poll = row.payload[1].checked_sub(1).map(|_| (row.start_ticks, row.duration_ticks));
            Some(Kept { row: row.payload[0].checked_sub(1)?, weight: 1.0 / row.probability, poll })
        }));
        Ok(())
    }

    /// Reads the rows that are kept, which must be in order.
    fn kept_rows(&self, rank: Rank, kept: Vec<Kept>) -> Result<Vec<Call>, TraceError> {
        let mut rows: Vec<Call> = Vec::with_capacity(kept.len());
        let mut left = kept.iter().peekable();
        let mut calls = self.trace.calls(RankSelection::One(rank))?;
        let mut row = 0;
        while left.peek().is_some() {
            let batch = calls.next_batch()?;
            if batch.is_empty() {
                break;
            }
            let first = row;
            row += batch.len() as u64;
            while let Some(kept) = left.next_if(|kept| kept.row < row) {
                let mut call = batch[(kept.row - first) as usize].clone();
                call.weight = kept.weight;
                if let Some((start, duration)) = kept.poll {
                    (call.start, call.end) = (Moment(start as i64), Moment((start + duration) as i64));
                    (call.calls, call.inside) = (1, None);
                }
                rows.push(call);
            }
        }
        // Polls of one row were spread over its time.
        rows.sort_by_key(|call| call.start);
        Ok(rows)
    }
}

/// A row that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Which of the rank's rows.
    row: u64,
    weight: f64,
    /// Start and duration, if it is one of several failed polls.
    poll: Option<(u64, u64)>,
}

fn peer_row(rank: Rank, (comm, peer): (Option<u32>, Option<u32>), sums: PeerSums) -> PeerRow {
    PeerRow {
        rank,
        comm,
        peer: peer.map(Rank),
        messages_out: sums.messages_out,
        bytes_out: sums.bytes_out,
        messages_in: sums.messages_in,
        bytes_in: sums.bytes_in,
    }
}

fn write_rows(part: &mut PartWriter, rows: &[Call]) -> Result<(), TraceError> {
    for call in rows {
        part.rows.completes.values.extend(call.completes.iter().map(|request| *request as i64));
        let mut row = TableRow::of_call(call);
        row.kept = true;
        part.rows.push(&row);
        if part.is_full() {
            part.flush()?;
        }
    }
    part.end_rank(0)
}

/// Writes `order.bin`.
pub fn write_sequences(path: &Path, bytes: &[u8]) -> Result<WrittenFile, TraceError> {
    let mut file = ChecksumFile::create(path)?;
    file.write_all(bytes).map_err(|error| TraceError::write(path, error))?;
    Ok(file.finish(path)?)
}
