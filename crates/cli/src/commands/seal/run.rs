//! Sealing a recording, and saying what came of it.

use super::arguments::SealArguments;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::{quantity, text};
use crate::together;
use anyhow::Result;
use kizami_seal::{Progress, SealError, SealOptions, Seen};
use kizami_trace::RunInfo;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Seals a recording and says what came of it.
pub fn run(arguments: &SealArguments) -> Result<u8> {
    together::then_alone(|together| together.agree_on(arguments), || seal_and_tell(arguments))
}

fn seal_and_tell(arguments: &SealArguments) -> Result<u8> {
    let mut out = text::stdout();
    for (directory, run) in seal_all(&arguments.trace, arguments.keep_raw, None)? {
        tell(&mut out, &directory, &run)?;
    }
    Ok(0)
}

fn tell(out: &mut impl Write, directory: &Path, run: &RunInfo) -> io::Result<()> {
    let name = as_typed(directory);
    writeln!(
        out,
        "sealed {name}: {} of {}",
        quantity::counted(run.totals.events, "event"),
        quantity::counted(u64::from(run.ranks), "rank")
    )?;
    for problem in &run.health.problems {
        writeln!(out, "  not complete: {problem}")?;
    }
    writeln!(out, "next: kizami report {name}")
}

/// Seals a recording. If several programs were launched in it one after the other, each becomes a trace of its own, the
/// first one that of the recording's own name.
pub fn seal_all(
    directory: &Path,
    keep_raw: bool,
    seen: Option<Seen>,
) -> Result<Vec<(PathBuf, RunInfo)>, SealError> {
    let more = kizami_seal::separate(directory)?;
    let all = std::iter::once(directory.to_path_buf()).chain(more);
    all.map(|directory| Ok((directory.clone(), seal(&directory, keep_raw, seen.clone())?))).collect()
}

/// Seals the recording of one program under a progress bar; `seen` is when its run was seen to end.
fn seal(directory: &Path, keep_raw: bool, seen: Option<Seen>) -> Result<RunInfo, SealError> {
    let bar = Bar::new("sealing");
    let options = SealOptions { keep_raw, seen, ..SealOptions::default() };
    kizami_seal::seal(directory, &options, &|progress| show_progress(&bar, progress))
}

/// Shows how far sealing is.
pub fn show_progress(bar: &Bar, progress: Progress) {
    bar.set(progress.done_bytes, progress.total_bytes, || quantity::counted(progress.events, "event"));
}
