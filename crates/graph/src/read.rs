//! From a trace to its graph: the one that was kept, or one made from all rows.

use crate::build::Builder;
use crate::{Clocks, Graph, GraphError, cache};
use kizami_model::{Call, Length};
use kizami_trace::{Calls, Definitions, RankSelection, Trace};
use std::path::Path;
use std::sync::mpsc::{channel, sync_channel};

/// Batches of rows that are decoded before they are needed, at most.
const BATCHES_AHEAD: usize = 32;

/// The graph of a trace: as it was kept in `derived/`, or made by reading all rows. `folder` is for what does not fit
/// into memory; `progress` hears how many rows are done.
pub fn build(
    trace: &Trace,
    folder: &Path,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Result<Graph, GraphError> {
    if let Some(graph) = cache::load(trace) {
        return Ok(graph);
    }
    let graph = read(trace, folder, threads, &mut |_| {}, progress)?;
    cache::save(trace, &graph);
    Ok(graph)
}

/// The graph of a trace in which times of different ranks do not fit together. It is not kept.
pub fn build_unaligned(
    trace: &Trace,
    folder: &Path,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Result<Graph, GraphError> {
    read_with(trace, Clocks::Unaligned, folder, threads, &mut |_| {}, progress)
}

/// The graph by reading all rows in any case; `each` sees every one of them. With more than one thread, one of them
/// decodes rows while another makes steps of them.
pub fn read(
    trace: &Trace,
    folder: &Path,
    threads: usize,
    each: &mut dyn FnMut(&Call),
    progress: &dyn Fn(u64),
) -> Result<Graph, GraphError> {
    read_with(trace, clocks(trace), folder, threads, each, progress)
}

/// The graph of rows that are in no trace, rank by rank, each in the order of their start; their times need not fit together.
pub fn of_rows<'a>(
    definitions: &Definitions,
    rows: impl IntoIterator<Item = &'a Call>,
    folder: &Path,
) -> Result<Graph, GraphError> {
    let mut builder = Builder::new(definitions, &[], folder).with_clocks(Clocks::Unaligned);
    rows.into_iter().try_for_each(|row| builder.call(row))?;
    builder.finish()
}

/// How far times of different hosts may be off.
fn clocks(trace: &Trace) -> Clocks {
    let clocks = &trace.run().clocks;
    let error = Length(clocks.bound_ns.unwrap_or(0));
    Clocks::Aligned { between_hosts: clocks.aligned.then(|| error.saturating_add(error)) }
}

fn read_with(
    trace: &Trace,
    clocks: Clocks,
    folder: &Path,
    threads: usize,
    each: &mut dyn FnMut(&Call),
    progress: &dyn Fn(u64),
) -> Result<Graph, GraphError> {
    let definitions = trace.definitions()?;
    let mut stops = trace.stops()?;
    stops.sort_by_key(|stop| (stop.rank, stop.start, stop.thread));
    let mut builder = Builder::new(&definitions, &stops, folder).with_clocks(clocks);
    let mut rows: u64 = 0;
    let mut add = |batch: &[Call]| {
        for call in batch {
            each(call);
            builder.call(call)?;
        }
        let before = rows;
        rows += batch.len() as u64;
        if before >> 16 != rows >> 16 {
            progress(rows);
        }
        Ok(())
    };
    let mut calls = trace.calls(RankSelection::All)?;
    if threads > 1 {
        read_ahead(calls, &mut add)?;
    } else {
        loop {
            match calls.next_batch()? {
                [] => break,
                batch => add(batch)?,
            }
        }
    }
    builder.finish()
}

/// Decodes rows in a thread of its own; they are added here.
fn read_ahead(
    mut calls: Calls,
    add: &mut dyn FnMut(&[Call]) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let (to_here, decoded) = sync_channel(BATCHES_AHEAD);
    let (to_decoder, used) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            loop {
                // Lists go to and fro for their memory.
                let mut batch = used.try_recv().unwrap_or_default();
                let done = calls.read_batch(&mut batch).map(|()| batch);
                let last = done.as_ref().map_or(true, |batch| batch.is_empty());
                if to_here.send(done).is_err() || last {
                    return;
                }
            }
        });
        for batch in decoded {
            let batch: Vec<Call> = batch?;
            add(&batch)?;
            to_decoder.send(batch).unwrap_or(());
        }
        Ok(())
    })
}
