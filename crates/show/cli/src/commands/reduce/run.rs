//! Reducing a trace.

use super::arguments::ReduceArguments;
use super::show::{Sizes, Summary, lines};
use crate::input::must_have_all_rows;
use crate::output::must_be_new;
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::provenance;
use crate::show::quantity;
use crate::show::text;
use anyhow::Result;
use kizami_reduced::reduce;
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::run::Reduced;
use std::io::Write;

/// Writes the reduced trace and says what was kept.
pub fn run(arguments: &ReduceArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    must_have_all_rows(&trace)?;
    must_be_new(&arguments.output, "-o")?;
    if let Some(reduced) = &trace.run().reduced {
        let message = format!(
            "{} is already reduced: it has {} for {}; give the original trace{}",
            as_typed(&arguments.trace),
            quantity::counted(reduced.rows_kept, "row"),
            quantity::counted(reduced.calls, "call"),
            reduced.made_from.as_ref().map_or_else(String::new, |from| format!(", {from}"))
        );
        return Err(UsageError(message).into());
    }
    provenance::report_times(&trace);
    let Some(options) =
        arguments.importance.options(arguments.keep, arguments.seed, arguments.keep_all_below)?
    else {
        let message = "--keep all does nothing; give a fraction such as 0.1%, or a rate such as 10K/s";
        return Err(UsageError(message.to_owned()).into());
    };
    let bar = Bar::new("reducing");
    let run = reduce(&trace, &arguments.output, &options, &|done, total| {
        bar.set(done, total, || quantity::counted(done, "row"));
    })?;
    drop(bar);
    let mut out = text::stdout();
    // Of a trace that kept all calls there is as much to say.
    let all = Reduced { rows_kept: run.totals.events, calls: run.totals.calls, ..options.provenance() };
    let reduced = run.reduced.as_ref().unwrap_or(&all);
    let sizes = Sizes::of(&trace, &run, &arguments.output)?;
    if arguments.json {
        json::print(json::REDUCE, &Summary { reduced, sizes })?;
        return Ok(0);
    }
    let mut lines = lines(reduced, &sizes, trace.run().totals.events);
    if run.reduced.is_none() {
        let few = quantity::counted(options.all_below, "call");
        let all = format!("all calls: no thread has {few} or more (--keep-all-below)");
        lines.retain(|(label, _)| *label != "exact");
        lines.push(("kept", all));
    }
    for (label, text) in lines {
        writeln!(out, "{label:<9} {text}")?;
    }
    writeln!(out, "next: kizami info {}", as_typed(&arguments.output))?;
    Ok(0)
}
