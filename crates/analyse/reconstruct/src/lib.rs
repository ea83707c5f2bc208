//! A reduced trace as one with a row for every call, for all that follows waits from rank to rank.
//!
//! Every call gets a time that the sums allow (`expand`). Then ranks are made to fit together: the run is replayed with that
//! computation and messages that cost what the network model says, so every wait has a cause. The model begins with
//! what the fastest calls saw, and is then made such that the run takes as long as it did. What comes out is a *reconstructed* run: means are those of the run, single
//! moments are not. How far it is off is reported with the explanation.
//!
//! The result is kept in `derived/` of the trace it was made from, and is made again if it is not the one that was kept.

mod error;
mod expand;

pub use error::ReconstructError;
pub use expand::expand;

use kizami_graph::Graph;
use kizami_model::{Kind, Length, Shape};
use kizami_network::{Fit, LogGops};
use kizami_replay::{LaneMoment, LastEnd, Network, ReplayError, Request, Setting, replay, retime};
use kizami_trace::derived::{Derived, Scratch};
use kizami_trace::provenance::RECONSTRUCTED;
use kizami_trace::reduced_tables::{SketchRow, SumRow, quantile};
use kizami_trace::{Trace, TraceError};
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;
use tracing::field::Empty;

/// Where the result is kept, and where times that do not fit together are meanwhile.
const KEPT: &str = "drawn.kz";
const MEANWHILE: &str = "drawn-apart.kz";
/// Changes whenever other times would come out.
const VERSION: u32 = 1;
/// A network of which nothing was seen.
const LATENCY_NS: f64 = 1_000.0;
/// Messages above this many bytes wait for their receiver, as in common MPI libraries.
const EAGER_LIMIT_BYTES: u64 = 64 << 10;
/// 10 GB/s.
const PER_BYTE_NS: f64 = 0.1;
/// A run that takes as long as it did but for this part of it is good enough.
const NEAR: f64 = 0.005;
/// How often networks are tried between one that is too fast and one that is too slow.
const MOST_TRIES: usize = 8;
/// No call takes longer by itself: 100 ms.
const MOST_OVERHEAD_NS: f64 = 1e8;

/// The trace itself if it has a row for every call; else the one made from it, now or before.
///
/// If it cannot be kept it lies where temporary files do, and its reader has to take it away. `goes_away` is called with the
/// folder of all that is made before anything is in it, so that nothing stays behind however the process ends.
pub fn reconstruct(
    trace: Trace,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
    goes_away: &dyn Fn(&Path),
) -> Result<Trace, ReconstructError> {
    if trace.run().reduced.is_none() {
        return Ok(trace);
    }
    let phase = tracing::info_span!("reconstruct", calls = trace.run().totals.calls, threads, cache = Empty)
        .entered();
    let derived = Derived::of(&trace);
    // Others may want the same: one makes it, the others find it made.
    let _lock = derived.as_ref().and_then(Derived::lock);
    let kept = derived.as_ref().and_then(|derived| derived.trace(KEPT, VERSION));
    if let Some(found) = kept.filter(is_whole) {
        phase.record("cache", "hit");
        return Ok(found);
    }
    phase.record("cache", "miss");
    let making = Making { trace: &trace, threads, progress, goes_away };
    let scratch = Scratch::beside(&trace);
    match derived.filter(|_| scratch.is_beside()) {
        None => making.elsewhere(),
        Some(derived) => match making.kept(&derived, &scratch) {
            Err(error) if is_for_want_of_room(&error) => making.elsewhere(),
            made => made,
        },
    }
}

/// What a run is made from, and how progress is reported.
struct Making<'a> {
    trace: &'a Trace,
    threads: usize,
    progress: &'a (dyn Fn(u64) + Sync),
    goes_away: &'a dyn Fn(&Path),
}

impl Making<'_> {
    /// Makes it beside the trace and keeps it there.
    fn kept(&self, derived: &Derived, scratch: &Scratch) -> Result<Trace, ReconstructError> {
        let work = self.folder(scratch)?;
        self.make(work.path())?;
        Ok(derived.keep_trace(KEPT, VERSION, &work.path().join(KEPT))?)
    }

    /// Makes it where temporary files are; it stays there for its reader.
    fn elsewhere(&self) -> Result<Trace, ReconstructError> {
        let work = self.folder(&Scratch::elsewhere())?;
        self.make(work.path())?;
        let work = work.keep();
        // It is not needed, and goes with the others.
        let _ = std::fs::remove_dir_all(work.join(MEANWHILE));
        Ok(Trace::open(&work.join(KEPT))?)
    }

    fn folder(&self, scratch: &Scratch) -> Result<TempDir, TraceError> {
        let work = tempfile::Builder::new().prefix("drawn-").tempdir_in(scratch.path());
        let work = work.map_err(TraceError::file("make a folder in", scratch.path()))?;
        (self.goes_away)(work.path());
        Ok(work)
    }

    fn make(&self, work: &Path) -> Result<(), ReconstructError> {
        let Making { trace, threads, progress, .. } = *self;
        let (apart, whole) = (work.join(MEANWHILE), work.join(KEPT));
        expand(trace, &apart, progress)?;
        let unaligned = Trace::open(&apart)?;
        let took = Length(trace.run().span_ns).saturating_sub(finalizing(&trace.sums()?));
        let model = model(&trace.sketches()?);
        let request = Request {
            made_from: Some(trace.path().display().to_string()),
            clocks_unaligned: true,
            output: Some(&whole),
            threads,
            words: vec![RECONSTRUCTED.to_owned(), "model network".to_owned()],
            ..Request::default()
        };
        let setting = |graph: &Graph, fit: &Fit| {
            Ok::<_, ReplayError>(as_long_as_it_took(model, took, (graph, fit), threads, progress))
        };
        retime(&unaligned, request, setting, &|step| progress(step.rows))?;
        Ok(())
    }
}

/// Whether something could not be written, and might be elsewhere.
fn is_for_want_of_room(error: &ReconstructError) -> bool {
    use ReconstructError::{Replay, Trace};
    let (Trace(of_file) | Replay(ReplayError::Trace(of_file))) = error else {
        return matches!(error, Replay(ReplayError::Write { .. }));
    };
    matches!(of_file, TraceError::Write { .. } | TraceError::File { .. })
}

/// Whether all tables are as they were written. One that is damaged is made again.
fn is_whole(trace: &Trace) -> bool {
    trace.run().files.iter().all(|file| trace.check(file).is_ok())
}

/// How long the last rank that entered `MPI_Finalize` was in it: a network model knows nothing of what is done there.
fn finalizing(sums: &[SumRow]) -> Length {
    let mut by_rank: BTreeMap<u32, Length> = BTreeMap::new();
    for row in sums.iter().filter(|row| row.op.is_some_and(|op| op.kind() == Kind::Finalize)) {
        let sum = by_rank.entry(row.rank.0).or_default();
        *sum = sum.saturating_add(row.total);
    }
    by_rank.into_values().min().unwrap_or_default()
}

/// The network that the fastest calls saw.
fn model(sketches: &[SketchRow]) -> LogGops {
    let fastest = |shape: Shape| {
        let mut by_op: BTreeMap<u16, Vec<&SketchRow>> = BTreeMap::new();
        for row in sketches {
            let op = row.op.filter(|op| op.function().is_some_and(|function| function.shape == shape));
            if let Some(op) = op {
                by_op.entry(op.0).or_default().push(row);
            }
        }
        by_op.into_values().filter_map(|rows| quantile(rows, 0.05)).reduce(f64::min)
    };
    let receive = fastest(Shape::Receive).or_else(|| fastest(Shape::Completion));
    let overhead_ns = fastest(Shape::Send).unwrap_or(LATENCY_NS / 4.0).max(1.0);
    LogGops {
        latency_ns: receive.unwrap_or(LATENCY_NS).min(100.0 * LATENCY_NS),
        overhead_ns,
        gap_ns: 0.0,
        per_byte_ns: PER_BYTE_NS,
        overhead_per_byte_ns: 0.0,
        eager_limit_bytes: EAGER_LIMIT_BYTES,
    }
}

/// The network with which the run ends when it did, as far as there is one.
///
/// A run that is too short is given time in calls, not on the way: what is missing is mostly that ranks waited for a core,
/// which delays the calling rank. A run that is too long had faster messages than any single call shows.
fn as_long_as_it_took(
    model: LogGops,
    took: Length,
    (graph, fit): (&Graph, &Fit),
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Setting {
    let with = |factor: f64| Setting {
        network: Network::Model(LogGops {
            latency_ns: model.latency_ns * factor.min(1.0),
            overhead_ns: model.overhead_ns * factor,
            ..model
        }),
        ..Setting::default()
    };
    let too_long_ns = |factor: f64| {
        let start = || LastEnd(LaneMoment::default());
        let replayed = replay(graph, [&with(factor)], fit, threads, start, progress);
        let end = replayed.observers.iter().map(|last| last.0).max().unwrap_or_default();
        end.as_moment().since_start().saturating_sub(took).0 as f64
    };
    let near = |beyond_ns: f64| beyond_ns.abs() <= NEAR * took.0 as f64;
    let mut low = (0.0, too_long_ns(0.0));
    let mut high = (1.0, too_long_ns(1.0));
    while high.1 < 0.0 && !near(high.1) && high.0 * model.overhead_ns < MOST_OVERHEAD_NS {
        low = high;
        high.0 *= 8.0;
        high.1 = too_long_ns(high.0);
    }
    for _ in 0..MOST_TRIES {
        if near(low.1) || near(high.1) || low.1 >= 0.0 || high.1 <= 0.0 {
            break;
        }
        let middle = low.0 + (high.0 - low.0) * -low.1 / (high.1 - low.1);
        let tried = (middle, too_long_ns(middle));
        *(if tried.1 < 0.0 { &mut low } else { &mut high }) = tried;
    }
    with(if low.1.abs() < high.1.abs() { low.0 } else { high.0 })
}
