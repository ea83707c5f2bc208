//! `kizami undisturb`: the run as it would have been without the tracer.
//!
//! The reckoning is the replay's; here it gets a progress bar and a few lines that say what was taken out and how
//! far to trust the rest. Nothing that exists is overwritten.

use crate::arguments::UndisturbArguments;
use crate::failure::{UsageError, must_be_new};
use crate::record::as_typed;
use crate::replay::all_cores;
use crate::show::progress::Bar;
use crate::show::quantity;
use anyhow::Result;
use kizami_model::Nanos;
use kizami_store::Trace;
use kizami_store::run::Undisturbed;
use std::io::{self, Write};

/// Writes the undisturbed trace and says what came of it.
pub fn run(arguments: &UndisturbArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    let output = &arguments.output;
    must_be_new(output, "-o")?;
    if trace.run().reduced.is_some() {
        let message = format!(
            "{} has not all calls, and the tracer cannot be taken out of calls that are not there; record without --keep",
            as_typed(&arguments.trace)
        );
        return Err(UsageError(message).into());
    }
    if trace.run().undisturbed.is_some() {
        let message = format!("{} is without the tracer already", as_typed(&arguments.trace));
        return Err(UsageError(message).into());
    }
    if trace.run().replayed.is_some() {
        let message = format!(
            "{} is no recording but a replay of one; take the tracer out there, or by `kizami replay --without-tracer`",
            as_typed(&arguments.trace)
        );
        return Err(UsageError(message).into());
    }
    let bar = Bar::new("taking the tracer out");
    let run = kizami_replay::undisturb(&trace, output, all_cores(), &|progress| {
        bar.set(progress.rows, progress.total, || quantity::counted(progress.rows, "row"));
    })?;
    drop(bar);
    let Some(undisturbed) = &run.undisturbed else { return Ok(0) };
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, undisturbed)?;
        writeln!(out)?;
        return Ok(0);
    }
    for (label, text) in lines(undisturbed) {
        writeln!(out, "{label:<12} {text}")?;
    }
    writeln!(out, "next: kizami info {}", as_typed(output))?;
    Ok(0)
}

/// What was recorded, what is left of it, and what was taken out by kind.
fn lines(undisturbed: &Undisturbed) -> Vec<(&'static str, String)> {
    let recorded_ns = undisturbed.recorded_ns;
    let error = format!(
        "+- {}, {} of the run",
        quantity::duration(Nanos(undisturbed.error_ns)),
        quantity::share(undisturbed.error_ns as f64, undisturbed.undisturbed_ns as f64)
    );
    let mut lines = vec![
        ("recorded", quantity::duration(Nanos(recorded_ns))),
        ("undisturbed", format!("{} {error}", quantity::duration(Nanos(undisturbed.undisturbed_ns)))),
    ];
    let kinds = undisturbed.removed.kinds().into_iter().filter(|(_, lost)| lost.total_ns > 0);
    lines.extend(kinds.map(|(kind, lost)| {
        let worst = lost.worst_rank.unwrap_or_default();
        let text = format!(
            "{} of {kind} over all ranks; most on rank {worst}: {}, {} of the run",
            quantity::duration(Nanos(lost.total_ns)),
            quantity::duration(Nanos(lost.worst_ns)),
            quantity::share(lost.worst_ns as f64, recorded_ns as f64)
        );
        ("taken out", text)
    }));
    if undisturbed.not_followed > 0 {
        let kept = quantity::counted(undisturbed.not_followed, "wait");
        lines.push(("not followed", format!("{kept} whose partner is not known kept their length")));
    }
    lines
}
