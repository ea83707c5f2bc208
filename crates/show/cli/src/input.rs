//! The traces that commands are given: opened (as a snapshot, if they are not sealed), with all calls where waits are to be followed, and taken apart.

use crate::cores::all_cores;
use crate::distributed::Together;
use crate::live;
use crate::memory::MemoryArguments;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::{provenance, quantity};
use anyhow::{Result, bail};
use kizami_explain::{Analysis, ExactCalls};
use kizami_model::Length;
use kizami_replay::Workers;
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::run::FunctionTotal;
use std::fmt::Debug;
use std::path::Path;

/// The trace as it is; says so if it is no plain recording.
pub fn open(path: &Path) -> Result<Trace> {
    let trace = Trace::open(&live::readable(path)?)?;
    provenance::report(&trace);
    Ok(trace)
}

/// A trace with a row for every call.
pub struct Followed {
    pub trace: Trace,
    /// If it was reconstructed: what the reduced trace knows exactly.
    pub exact: Option<ExactCalls>,
}

impl Followed {
    /// Whether its times were made up.
    pub fn is_reconstructed(&self) -> bool {
        self.exact.is_some()
    }
}

/// The trace, or if it is reduced the one with a row for every call that is made from it; says so.
pub fn open_to_follow(path: &Path, threads: Option<usize>, memory: MemoryArguments) -> Result<Followed> {
    follow(Trace::open(&live::readable(path)?)?, threads, memory)
}

/// The trace of a command that several processes may do together, once all have the same one and the same arguments.
pub fn open_together(path: &Path, together: Together, arguments: &impl Debug) -> Result<Trace> {
    let trace = Trace::open(path)?;
    together.agree(arguments, &trace)?;
    Ok(trace)
}

/// The same as [`follow`] for such a command.
pub fn follow_together(
    trace: Trace,
    threads: Option<usize>,
    memory: MemoryArguments,
    together: Together,
) -> Result<Followed> {
    let memory = memory.of_each(together.processes_here());
    follow(trace, Some(together.threads(threads)), memory)
}

/// The same for a trace that is open.
pub fn follow(trace: Trace, threads: Option<usize>, memory: MemoryArguments) -> Result<Followed> {
    memory.stay_within(&trace)?;
    provenance::report_times(&trace);
    let Some(reduced) = &trace.run().reduced else { return Ok(Followed { trace, exact: None }) };
    if reduced.is_sampled() {
        bail!(
            "{} has {}, sampled by a published scheme ({}) that keeps neither order nor times of other calls, so waits \
             cannot be analysed; use info, events or export, or reduce without --importance",
            as_typed(trace.path()),
            provenance::rows_of_calls(reduced),
            reduced.importance
        );
    }
    provenance::report_reconstructed(reduced);
    let (calls, functions, exact) = (reduced.calls, trace.run().functions.clone(), ExactCalls::of(&trace)?);
    let bar = Bar::new("reconstructing");
    let progress = |rows: u64| bar.set(rows.min(calls), calls, || quantity::counted(rows.min(calls), "call"));
    let threads = threads.unwrap_or_else(all_cores);
    let drawn = kizami_reconstruct::reconstruct(trace, threads, &progress, &live::goes_away)?;
    drop(bar);
    let mpi = Length(drawn.run().totals.mpi_ns);
    provenance::report_reconstruction_error(off_ns(&functions, &drawn.run().functions), mpi);
    Ok(Followed { trace: drawn, exact })
}

/// How much time is in other functions than it was.
fn off_ns(exact: &[FunctionTotal], drawn: &[FunctionTotal]) -> f64 {
    let time_ns = |functions: &[FunctionTotal], op: &str| {
        functions.iter().find(|function| function.op == op).map_or(0, |function| function.total_ns)
    };
    let too_much =
        drawn.iter().map(|function| function.total_ns.saturating_sub(time_ns(exact, &function.op)));
    too_much.filter(|ns| *ns > 0).map(|ns| ns as f64).sum()
}

/// Refuses a trace in which one rank's rows are those of others as well, for commands that need the rows of all.
pub fn must_have_all_rows(trace: &Trace) -> Result<()> {
    if trace.run().is_stored_by_rank_class() {
        let message = format!(
            "{} is stored by rank class (one rank per class has rows), and this command needs the rows of all ranks; write \
             them with `kizami skeleton run --kinds no`. report, replay, whatif, diff, view, events and export work as is",
            as_typed(trace.path())
        );
        return Err(UsageError(message).into());
    }
    Ok(())
}

/// Takes a trace apart, with a progress bar.
pub fn analyse(followed: &Followed, workers: Workers) -> Result<Analysis> {
    let trace = &followed.trace;
    let bar = Bar::new("explaining");
    let mut analysis = Analysis::of(trace, workers, &|progress| {
        bar.set(progress.done, progress.total, || quantity::counted(progress.done / 3, "event"));
    })?;
    if let Some(exact) = &followed.exact {
        analysis.compare_with(exact);
    }
    Ok(analysis)
}
