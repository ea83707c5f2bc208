//! `kizami seal`, and the sealing at the end of `kizami record`.
//!
//! The work is the store's; here it gets its progress bar and its closing words.

use crate::arguments::SealArguments;
use crate::record::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use anyhow::Result;
use kizami_store::{RunInfo, SealOptions, StoreError};
use std::path::Path;

/// Seals a recording and says what came of it.
pub fn run(arguments: &SealArguments) -> Result<u8> {
    let run = seal(&arguments.trace, arguments.keep_raw)?;
    let name = as_typed(&arguments.trace);
    println!(
        "sealed {name}: {} of {}",
        quantity::counted(run.totals.events, "event"),
        quantity::counted(u64::from(run.ranks), "rank")
    );
    for problem in &run.health.problems {
        println!("  not complete: {problem}");
    }
    println!("next: kizami report {name}");
    Ok(0)
}

/// Seals a recording under a progress bar.
pub fn seal(directory: &Path, keep_raw: bool) -> Result<RunInfo, StoreError> {
    let bar = Bar::new("sealing");
    let options = SealOptions { keep_raw, ..SealOptions::default() };
    kizami_store::seal(directory, &options, &|progress| {
        bar.set(progress.done_bytes, progress.total_bytes, || quantity::counted(progress.events, "event"));
    })
}
