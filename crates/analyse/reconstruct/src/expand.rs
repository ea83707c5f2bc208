//! From a reduced trace to one with a row for every call again, with times that its sums allow.
//!
//! The order of calls is exact, with all that rows say beside times: peers, tags, bytes, requests and which calls completed
//! them. How long each call took, and how long was computed before it, is sampled from what is known
//! of its place, function and size on its thread: over the run, durations come out as in the sketches, within their
//! 1 %, and computation adds up to what it was. Which call of a kind took how long is not known, nor which ranks
//! were slow at the same moment. So rows of several ranks do not fit together in time: a replay must follow.

use kizami_model::{Call, Length, Moment, Rank, ThreadIndex};
use kizami_reduced::{SequenceCall, Sequences, sequences_of};
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::Stop;
use kizami_trace::provenance::RECONSTRUCTED;
use kizami_trace::reduced_tables::{GapRow, KindOfCall, PeerRow, SketchRow, SumRow, What};
use kizami_trace::rewrite::copy_tables;
use kizami_trace::run::{ReplayedFrom, RunInfo, Totals};
use kizami_trace::schema::{COUNTERS_FOLDER, EVENTS_FOLDER, ORDER, REGIONS_FOLDER, Record};
use kizami_trace::write::{OpTotals, PartWriter, Row as TableRow, Shared, StagingDir, WINDOW_ROWS, summary};
use kizami_trace::{Trace, TraceError};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::Arc;

/// How often progress is reported.
const PROGRESS_EVERY: u64 = 1 << 16;

/// Writes a trace with a row for every call of a reduced one into the directory `output`, which must not exist.
/// `progress` is called with how many rows are done.
pub fn expand(trace: &Trace, output: &Path, progress: &dyn Fn(u64)) -> Result<RunInfo, TraceError> {
    let Some(order) = sequences_of(trace)? else {
        return Err(TraceError::damaged(trace.path(), "it has no order of calls to go by"));
    };
    let staging = StagingDir::make(output)?;
    let without = [SumRow::PATH, SketchRow::PATH, GapRow::PATH, PeerRow::PATH, ORDER, Stop::PATH];
    let left_out = |name: &Path| {
        name.starts_with(EVENTS_FOLDER)
            || name.starts_with(COUNTERS_FOLDER)
            || name.starts_with(REGIONS_FOLDER)
            || without.iter().any(|file| name == Path::new(file))
    };
    let mut files = copy_tables(trace, staging.folder(), left_out)?;
    let mut sampler = Sampler::of(&trace.sums()?, &trace.sketches()?, &trace.gaps()?);
    let (totals, mut written) = write(&order, &mut sampler, staging.folder(), progress)?;
    // Delays by the tracer have no place among sampled times.
    written.push(Stop::write(&[], staging.folder())?);
    files.extend(written.iter().map(|file| summary::entry(file, staging.folder())));
    let recorded = trace.run().clone();
    let sum = totals.sum();
    let run = RunInfo {
        counters: Vec::new(),
        functions: totals.by_function(),
        reduced: None,
        replayed: Some(ReplayedFrom {
            made_from: trace.path().display().to_string(),
            setting: vec![RECONSTRUCTED.to_owned()],
            recorded_ns: recorded.span_ns,
            replayed_ns: recorded.span_ns,
            ..ReplayedFrom::default()
        }),
        totals: Totals {
            events: sum.rows,
            calls: sum.calls,
            bytes_out: sum.bytes_out,
            bytes_in: sum.bytes_in,
            mpi_ns: sum.total_ns,
            overhead_ns: 0,
            ..recorded.totals
        },
        files,
        ..recorded
    };
    staging.commit(&run, false)?;
    Ok(run)
}

fn write(
    order: &Sequences,
    sampler: &mut Sampler,
    folder: &Path,
    progress: &dyn Fn(u64),
) -> Result<(OpTotals, Vec<WrittenFile>), TraceError> {
    let mut part = PartWriter::create(folder, 0, Vec::new(), WINDOW_ROWS, Arc::new(Shared::default()))?;
    let mut done = 0;
    for (rank, thread) in order.threads() {
        // Rows of a rank lie in the order of time, and threads of one would have to be merged: the first stands for it.
        let Some(sequence) = order.sequence(rank, thread)?.filter(|_| thread.0 == 0) else { continue };
        let mut times = Times { now_ns: sampler.first_ns(rank, thread), last: None };
        let mut calls = sequence.calls();
        while let Some(ordered) = calls.next_counted() {
            let (ordered, bytes) = ordered?;
            let call = times.row(rank, thread, ordered, bytes, sampler);
            part.rows.completes.values.extend(call.completes.iter().map(|request| *request as i64));
            part.rows.push(&TableRow::of_call(&call));
            if part.is_full() {
                part.flush()?;
            }
            done += 1;
            if done % PROGRESS_EVERY == 0 {
                progress(done);
            }
        }
        part.end_rank(0)?;
    }
    progress(done);
    part.finish()
}

/// One thread on its way through the run.
struct Times {
    now_ns: i64,
    /// The kind of the call before.
    last: Option<KindOfCall>,
}

impl Times {
    /// The row of a call that was added up with so many bytes.
    fn row(
        &mut self,
        rank: Rank,
        thread: ThreadIndex,
        ordered: SequenceCall,
        bytes: u64,
        sampler: &mut Sampler,
    ) -> Call {
        let (before_ns, length_ns) = match ordered.calls {
            // A part of the call before.
            0 => (0, 0),
            calls => {
                let key = sampler.kind_with_sums((rank.0, thread.0, kind_of(&ordered, bytes)));
                sampler.sample(key, self.last.replace(key.2), calls)
            }
        };
        let start_ns = self.now_ns.saturating_add(before_ns);
        let end_ns = start_ns.saturating_add(length_ns);
        self.now_ns = end_ns;
        Call {
            calls: u32::try_from(ordered.calls).unwrap_or(u32::MAX),
            inside: (ordered.calls > 1).then_some(Length(length_ns)),
            comm: ordered.comm,
            peer: ordered.peer,
            tag: ordered.tag,
            recv_peer: ordered.recv_peer,
            recv_tag: ordered.recv_tag,
            any_source: ordered.any_source,
            any_tag: ordered.any_tag,
            bytes_out: ordered.bytes_out,
            bytes_in: ordered.bytes_in,
            root: ordered.root,
            request: ordered.request,
            completes: ordered.completes,
            object: ordered.object,
            callsite: ordered.callsite,
            failed: ordered.failed,
            ..Call::new(rank, thread, ordered.op, Moment(start_ns), Moment(end_ns))
        }
    }
}

/// The kind of a call that was added up with so many bytes.
fn kind_of(call: &SequenceCall, bytes: u64) -> KindOfCall {
    let size_class = Some(u64::BITS - bytes.leading_zeros());
    KindOfCall { op: Some(call.op), callsite: call.callsite, size_class }
}

/// Rank, thread and kind.
type Key = (u32, u32, KindOfCall);

/// The distributions that times are sampled from.
#[derive(Default)]
struct Sampler {
    kinds: FxHashMap<Key, Kind>,
    /// Computation before calls, by what came before; behind nothing, that of calls of which it is not known.
    gaps: FxHashMap<(Key, Option<KindOfCall>), Mean>,
    /// The same whatever came before.
    all_gaps: FxHashMap<Key, Mean>,
    first_ns: FxHashMap<(u32, u32), i64>,
}

#[derive(Default)]
struct Kind {
    /// Durations, with how many calls were at most that long.
    durations: Vec<(f64, u64)>,
    sampled: u64,
    /// If there are none.
    mean: Mean,
}

/// A mean that is given out in whole nanoseconds without losing any.
#[derive(Default)]
struct Mean {
    total_ns: i64,
    calls: u64,
    given: u64,
}

impl Mean {
    fn add(&mut self, gap: &GapRow) {
        self.total_ns = self.total_ns.saturating_add(gap.total.0);
        self.calls = self.calls.saturating_add(gap.calls);
    }

    fn next(&mut self, times: u64) -> i64 {
        if self.calls == 0 {
            return 0;
        }
        let up_to =
            |given: u64| (i128::from(self.total_ns) * i128::from(given) / i128::from(self.calls)) as i64;
        let given = self.given.saturating_add(times);
        let share = up_to(given).saturating_sub(up_to(self.given));
        self.given = given;
        share
    }
}

impl Sampler {
    fn of(sums: &[SumRow], sketches: &[SketchRow], gaps: &[GapRow]) -> Sampler {
        let mut sampler = Sampler::default();
        for row in sketches.iter().filter(|row| row.what == What::Call) {
            let kind = sampler.kinds.entry((row.rank.0, row.thread.0, row.kind())).or_default();
            let before = kind.durations.last().map_or(0, |(_, calls)| *calls);
            kind.durations.push(((row.low_ns + row.high_ns) / 2.0, before.saturating_add(row.calls)));
        }
        for row in sums.iter().filter(|row| row.what == What::Call) {
            let first = sampler.first_ns.entry((row.rank.0, row.thread.0)).or_insert(i64::MAX);
            *first = row.from.0.min(*first);
            // Where there was no room for a sketch, calls are as long as they are on average.
            let kind = sampler.kinds.entry((row.rank.0, row.thread.0, row.kind())).or_default();
            kind.mean.total_ns = kind.mean.total_ns.saturating_add(row.total.0);
            kind.mean.calls = kind.mean.calls.saturating_add(row.calls);
        }
        for row in gaps {
            let key = (row.rank.0, row.thread.0, row.kind());
            sampler.gaps.entry((key, row.after())).or_default().add(row);
            sampler.all_gaps.entry(key).or_default().add(row);
        }
        sampler
    }

    fn first_ns(&self, rank: Rank, thread: ThreadIndex) -> i64 {
        self.first_ns.get(&(rank.0, thread.0)).copied().unwrap_or(0)
    }

    /// Where calls of this kind were added up: those for which there was no room went to their function, or to all others.
    fn kind_with_sums(&self, (rank, thread, kind): Key) -> Key {
        let of_function = KindOfCall { op: kind.op, ..KindOfCall::default() };
        let found =
            [kind, of_function].into_iter().find(|kind| self.kinds.contains_key(&(rank, thread, *kind)));
        (rank, thread, found.unwrap_or_default())
    }

    /// Computation before a call that stands for so many, and its length.
    fn sample(&mut self, key: Key, after: Option<KindOfCall>, calls: u64) -> (i64, i64) {
        // Polls in a row were added up one by one.
        let between = if calls > 1 { self.gap(key, Some(key.2), calls - 1) } else { 0 };
        let before = self.gap(key, after, 1) + between;
        (before, self.kinds.get_mut(&key).map_or(0, |kind| kind.next(calls)))
    }

    fn gap(&mut self, key: Key, after: Option<KindOfCall>, times: u64) -> i64 {
        let known = [after, None].into_iter().find(|after| self.gaps.contains_key(&(key, *after)));
        let mean = match known {
            Some(after) => self.gaps.get_mut(&(key, after)),
            None => self.all_gaps.get_mut(&key),
        };
        mean.map_or(0, |mean| mean.next(times))
    }
}

impl Kind {
    /// The time of so many calls.
    fn next(&mut self, times: u64) -> i64 {
        const ONE_BY_ONE: u64 = 1_000;
        let sampled: i64 = (0..times.min(ONE_BY_ONE)).map(|_| self.one()).sum();
        if times <= ONE_BY_ONE {
            sampled
        } else {
            (sampled as f64 * (times as f64 / ONE_BY_ONE as f64)) as i64
        }
    }

    /// Durations in an order without a rule, that has them all in their shares: steps of the golden ratio.
    fn one(&mut self) -> i64 {
        let Some((_, calls)) = self.durations.last() else { return self.mean.next(1) };
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        let share = self.sampled.wrapping_mul(GOLDEN);
        self.sampled += 1;
        let wanted = ((u128::from(share) * u128::from(*calls)) >> 64) as u64;
        let place = self.durations.partition_point(|(_, up_to)| *up_to <= wanted);
        self.durations.get(place).map_or(0, |(ns, _)| ns.round() as i64)
    }
}
