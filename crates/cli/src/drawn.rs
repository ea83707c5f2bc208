//! Opening a trace in which waits can be followed: one that was reduced has its calls drawn first.

use crate::record::as_typed;
use crate::replay::all_cores;
use crate::show::progress::Bar;
use crate::show::{quantity, say};
use anyhow::{Result, bail};
use kizami_store::Trace;
use kizami_store::run::FunctionTotal;
use std::path::Path;

/// The trace, or if it is reduced the one with a row for every call that is made from it; says so.
pub fn open(path: &Path, threads: Option<usize>) -> Result<Trace> {
    let trace = Trace::open(path)?;
    let Some(reduced) = &trace.run().reduced else { return Ok(trace) };
    if reduced.is_drawn() {
        bail!(
            "{} has {} of {}, drawn as a paper does ({}): of the others nothing is known, neither their order nor their times, so \
             no wait can be followed; use info, events or export, or record with --keep alone",
            as_typed(path),
            quantity::counted(reduced.rows_kept, "row"),
            quantity::counted(reduced.calls, "call"),
            reduced.importance
        );
    }
    say(&[format!(
        "kizami: drawn     {} of {} were kept: this is a run with the exact order of calls, and times drawn from exact sums",
        quantity::count(reduced.rows_kept),
        quantity::counted(reduced.calls, "call")
    )]);
    let (calls, exact) = (reduced.calls, trace.run().functions.clone());
    let bar = Bar::new("drawing times");
    let drawn = kizami_replay::with_all_calls(trace, threads.unwrap_or_else(all_cores), &|rows| {
        bar.set(rows.min(calls), calls, || quantity::counted(rows.min(calls), "call"));
    })?;
    drop(bar);
    let off = quantity::share(off_ns(&exact, &drawn.run().functions), drawn.run().totals.mpi_ns as f64);
    say(&[format!("kizami: drawn     of the time in MPI {off} is in other functions than it was")]);
    Ok(drawn)
}

/// How much time is in other functions than it was.
fn off_ns(exact: &[FunctionTotal], drawn: &[FunctionTotal]) -> f64 {
    let time_ns = |functions: &[FunctionTotal], op: &str| {
        functions.iter().find(|function| function.op == op).map_or(0, |function| function.total_ns)
    };
    let too_much = drawn.iter().map(|function| function.total_ns - time_ns(exact, &function.op));
    too_much.filter(|ns| *ns > 0).sum::<i64>() as f64
}
