//! Taking the tracer out of a recording.

use super::arguments::UndisturbArguments;
use super::show;
use crate::cores::all_cores;
use crate::output::must_be_new;
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::text;
use anyhow::Result;
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use std::io::Write;

/// Writes the undisturbed trace and says what came of it.
pub fn run(arguments: &UndisturbArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    let output = &arguments.output;
    must_be_new(output, "-o")?;
    if trace.run().reduced.is_some() {
        let message = format!(
            "{} is reduced, and the overhead of calls without rows cannot be removed; record without --keep",
            as_typed(&arguments.trace)
        );
        return Err(UsageError(message).into());
    }
    if trace.run().undisturbed.is_some() {
        let message = format!("the tracer's overhead is already removed from {}", as_typed(&arguments.trace));
        return Err(UsageError(message).into());
    }
    if trace.run().replayed.is_some() {
        let message = format!(
            "{} is a replay, not a recording; run undisturb on the recording, or use `kizami replay --without-tracer`",
            as_typed(&arguments.trace)
        );
        return Err(UsageError(message).into());
    }
    arguments.memory.stay_within(&trace)?;
    let bar = Bar::new("removing tracer overhead");
    let run = kizami_replay::undisturb(&trace, output, all_cores(), &|progress| {
        bar.set(progress.rows, progress.total, || quantity::counted(progress.rows, "row"));
    })?;
    drop(bar);
    let Some(undisturbed) = &run.undisturbed else { return Ok(0) };
    let mut out = text::stdout();
    if arguments.json {
        json::print(json::UNDISTURB, undisturbed)?;
        return Ok(0);
    }
    for (label, text) in show::lines(undisturbed) {
        writeln!(out, "{label:<12} {text}")?;
    }
    writeln!(out, "next: kizami info {}", as_typed(output))?;
    Ok(0)
}
