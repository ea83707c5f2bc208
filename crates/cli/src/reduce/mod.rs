//! `kizami reduce`: a small part of a trace that still tells all sums exactly.
//!
//! The reduction is the store's; here it gets a progress bar and a few lines that say what was kept. Nothing that
//! exists is overwritten.

mod arguments;

pub use arguments::ReduceArguments;

use crate::failure::{UsageError, must_be_new};
use crate::record::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use anyhow::Result;
use kizami_store::reduced::reduce;
use kizami_store::run::{Missing, Reduced};
use kizami_store::{RunInfo, Trace};
use serde::Serialize;
use std::io::{self, Write};

/// Writes the reduced trace and says what was kept.
pub fn run(arguments: &ReduceArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    must_be_new(&arguments.output, "-o")?;
    if let Some(reduced) = &trace.run().reduced {
        let message = format!(
            "{} is reduced already: it has {} for {}; give the trace it was made from{}",
            as_typed(&arguments.trace),
            quantity::counted(reduced.rows_kept, "row"),
            quantity::counted(reduced.calls, "call"),
            reduced.made_from.as_ref().map_or_else(String::new, |from| format!(", {from}"))
        );
        return Err(UsageError(message).into());
    }
    let Some(options) = arguments.importance.options(arguments.keep, arguments.seed)? else {
        let message = "--keep all leaves nothing to do; give a share such as 0.1%, or a rate such as 10K/s";
        return Err(UsageError(message.to_owned()).into());
    };
    let bar = Bar::new("reducing");
    let run = reduce(&trace, &arguments.output, &options, &|done, total| {
        bar.set(done, total, || quantity::counted(done, "row"));
    })?;
    drop(bar);
    let mut out = io::stdout().lock();
    let Some(reduced) = &run.reduced else { return Ok(0) };
    let sizes = Sizes::of(&trace, &run, arguments)?;
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &Summary { reduced, sizes })?;
        writeln!(out)?;
        return Ok(0);
    }
    for (label, text) in lines(reduced, &sizes, trace.run().totals.events) {
        writeln!(out, "{label:<9} {text}")?;
    }
    writeln!(out, "next: kizami info {}", as_typed(&arguments.output))?;
    Ok(0)
}

/// Bytes before and after, of the whole directories.
#[derive(Clone, Copy, Debug, Serialize)]
struct Sizes {
    bytes_before: u64,
    bytes_after: u64,
}

impl Sizes {
    fn of(trace: &Trace, run: &RunInfo, arguments: &ReduceArguments) -> Result<Sizes> {
        let whole = |run: &RunInfo, directory: &std::path::Path| -> Result<u64> {
            let json = directory.join(kizami_store::run::RUN_JSON).metadata()?.len();
            Ok(json + run.files.iter().map(|file| file.bytes).sum::<u64>())
        };
        Ok(Sizes {
            bytes_before: whole(trace.run(), trace.path())?,
            bytes_after: whole(run, &arguments.output)?,
        })
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    reduced: &'a Reduced,
    #[serde(flatten)]
    sizes: Sizes,
}

fn lines(reduced: &Reduced, sizes: &Sizes, rows: u64) -> Vec<(&'static str, String)> {
    let part = |one: u64, of: u64| quantity::share(one as f64, of as f64);
    let mut lines = vec![
        (
            "rows",
            format!(
                "{} of {}, {}",
                quantity::count(reduced.rows_kept),
                quantity::count(rows),
                part(reduced.rows_kept, rows)
            ),
        ),
        (
            "bytes",
            format!(
                "{} of {}, {}",
                quantity::bytes(sizes.bytes_after),
                quantity::bytes(sizes.bytes_before),
                part(sizes.bytes_after, sizes.bytes_before)
            ),
        ),
        ("exact", exact(reduced).to_owned()),
    ];
    lines.extend(incomplete(&reduced.missing).into_iter().map(|text| ("but", text)));
    lines
}

/// What can be believed to the last digit.
pub fn exact(reduced: &Reduced) -> &'static str {
    match () {
        () if reduced.sums_exact => {
            "counts, times, bytes, messages between ranks, and the order of all calls; quantiles are within 1 %"
        }
        () if reduced.sums_are_of_rows() => {
            "the number of calls; rows were drawn as the paper does, without weights, and times and bytes are theirs alone"
        }
        () if reduced.is_drawn() => {
            "nothing but run.json: rows were drawn as the paper does, without weights"
        }
        () => "what is there; but sums of some threads could not be read",
    }
}

/// Where room was missing, one sentence each.
pub fn incomplete(missing: &Missing) -> Vec<String> {
    let counted = [
        (
            missing.calls_without_place,
            "call",
            "are counted by function alone: there were too many places and sizes",
        ),
        (missing.calls_without_quantile, "call", "are in no quantile: there were too many durations"),
        (missing.calls_of_other_duration, "call", "are counted with those of another duration"),
        (missing.messages_without_peer, "message", "have no peer told: there were too many peers"),
        (missing.rows_lost, "row", "that should have been kept were lost"),
        (missing.calls_without_order, "call", "at the end are not in the order of calls"),
        (missing.damage, "thing", "made no sense"),
    ];
    let some = counted.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, noun, what)| format!("{} {what}", quantity::counted(count, noun))).collect()
}
