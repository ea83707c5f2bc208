//! Sealing a recording, and saying what came of it.

use super::arguments::SealArguments;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::{quantity, text};
use anyhow::Result;
use kizami_seal::{SealError, SealOptions};
use kizami_trace::RunInfo;
use std::io::Write;
use std::path::Path;

/// Seals a recording and says what came of it.
pub fn run(arguments: &SealArguments) -> Result<u8> {
    let run = seal(&arguments.trace, arguments.keep_raw)?;
    let name = as_typed(&arguments.trace);
    let mut out = text::stdout();
    writeln!(
        out,
        "sealed {name}: {} of {}",
        quantity::counted(run.totals.events, "event"),
        quantity::counted(u64::from(run.ranks), "rank")
    )?;
    for problem in &run.health.problems {
        writeln!(out, "  not complete: {problem}")?;
    }
    writeln!(out, "next: kizami report {name}")?;
    Ok(0)
}

/// Seals a recording under a progress bar.
pub fn seal(directory: &Path, keep_raw: bool) -> Result<RunInfo, SealError> {
    let bar = Bar::new("sealing");
    let options = SealOptions { keep_raw, ..SealOptions::default() };
    kizami_seal::seal(directory, &options, &|progress| {
        bar.set(progress.done_bytes, progress.total_bytes, || quantity::counted(progress.events, "event"));
    })
}
