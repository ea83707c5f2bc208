//! A reduced trace as one with a row for every call, for all that follows waits from rank to rank.
//!
//! The store draws times for all calls ([`kizami_store::reduced::expand`]); here ranks are made to fit together: the run is
//! replayed with the computation that was drawn and messages that cost what the network model says, so every wait is
//! for somebody. The model's latency is that of the fastest receives. What comes out is a prediction: means are those of
//! the run, single moments are not.
//!
//! The result is kept in `derived/` beside the trace it was made from.

use crate::logp::LogGops;
use crate::retime::{Request, retime};
use crate::setting::{Network, Setting};
use kizami_graph::scratch_folder;
use kizami_model::Shape;
use kizami_store::reduced::{SketchRow, expand, quantile};
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
    let model = model(&trace.sketches()?);
    let request = Request {
        output: Some(&whole),
        threads,
        words: vec!["times drawn".to_owned(), "model network".to_owned()],
    };
    let setting = |_: &_, _: &_| Ok(Setting { network: Network::Model(model), ..Setting::default() });
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
    let overhead_ns = fastest(Shape::Send).unwrap_or(LATENCY_NS / 4.0);
    LogGops {
        latency_ns: receive.unwrap_or(LATENCY_NS).min(100.0 * LATENCY_NS),
        overhead_ns,
        gap_ns: 0.0,
        per_byte_ns: PER_BYTE_NS,
        overhead_per_byte_ns: 0.0,
        eager_limit_bytes: EAGER_LIMIT_BYTES,
    }
}
