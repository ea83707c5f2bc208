//! A reduced trace as one with a row for every call, for all that follows waits from rank to rank.
//!
//! The store draws times for all calls ([`kizami_store::reduced::expand`]); here ranks are made to fit together: the run is
//! replayed with the computation that was drawn and messages that cost what the network model says, so every wait is
//! for somebody. The model begins with what the fastest calls saw, and is then made such that the run takes as long
//! as it did. What comes out is a prediction: means are those of the run, single moments are not.
//!
//! The result is kept in `derived/` beside the trace it was made from.

use crate::fit::Fit;
use crate::logp::LogGops;
use crate::retime::{Request, retime};
use crate::setting::{Network, Setting};
use crate::times::LastEnd;
use crate::walk::replay;
use kizami_graph::{Graph, scratch_folder};
use kizami_model::Shape;
use kizami_store::reduced::{SketchRow, SumRow, expand, quantile};
use kizami_store::{StoreError, Trace};
use std::collections::BTreeMap;
use std::path::Path;

/// Where the result is kept, and where times that do not fit together are meanwhile.
const KEPT: &str = "drawn.kz";
const MEANWHILE: &str = "drawn-apart.kz";
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
pub fn with_all_calls(
    trace: Trace,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Trace, StoreError> {
    if trace.run().reduced.is_none() {
        return Ok(trace);
    }
    let folder = scratch_folder(&trace);
    let kept = folder.join(KEPT);
    // Elsewhere it could be that of another trace.
    let beside = folder.starts_with(trace.path());
    if let Some(found) = Trace::open(&kept).ok().filter(|_| beside) {
        return Ok(found);
    }
    // Others may be making the same: each has names of its own.
    let own = |name: &str| folder.join(format!("{}-{name}", std::process::id()));
    let (apart, whole) = (own(MEANWHILE), own(KEPT));
    remove(&apart);
    remove(&whole);
    expand(&trace, &apart, progress)?;
    let drawn = Trace::open(&apart)?;
    let (model, took_ns) = (model(&trace.sketches()?), trace.run().span_ns - finalizing_ns(&trace.sums()?));
    let request = Request {
        apart: true,
        output: Some(&whole),
        threads,
        words: vec!["times drawn".to_owned(), "model network".to_owned()],
    };
    let setting =
        |graph: &Graph, fit: &Fit| Ok(as_long_as_it_took(model, took_ns, (graph, fit), threads, progress));
    let replayed = retime::<StoreError>(&drawn, request, setting, &|step| progress(step.rows));
    remove(&apart);
    replayed?;
    if !beside {
        return Trace::open(&whole);
    }
    if std::fs::rename(&whole, &kept).is_err() {
        // Somebody else was faster.
        remove(&whole);
    }
    Trace::open(&kept)
}

/// What is left of an attempt that was interrupted is in the way.
fn remove(folder: &Path) {
    // If it cannot be removed, making it anew will say why.
    let _ = std::fs::remove_dir_all(folder);
}

/// How long the last rank that came to it was in `MPI_Finalize`: a network model knows nothing of what is done there.
fn finalizing_ns(sums: &[SumRow]) -> i64 {
    let mut by_rank: BTreeMap<u32, i64> = BTreeMap::new();
    for row in sums.iter().filter(|row| row.op.is_some_and(|op| op.name() == "MPI_Finalize")) {
        *by_rank.entry(row.rank.0).or_default() += row.total.0;
    }
    by_rank.into_values().min().unwrap_or(0)
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
/// which holds up the one that calls. A run that is too long had faster messages than any single call tells.
fn as_long_as_it_took(
    model: LogGops,
    took_ns: i64,
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
        let replayed = replay(graph, [&with(factor)], fit, threads, || LastEnd(0), progress);
        (replayed.observers.iter().map(|last| last.0).max().unwrap_or(0) - took_ns) as f64
    };
    let near = |beyond_ns: f64| beyond_ns.abs() <= NEAR * took_ns as f64;
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
