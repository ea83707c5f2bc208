//! Sealing a recording, and saying what came of it.

use super::arguments::SealArguments;
use crate::distributed;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::{quantity, set_sealing, text};
use anyhow::Result;
use kizami_process_group::ProcessGroup;
use kizami_seal::{RunEnd, SealError, SealOptions};
use kizami_trace::RunInfo;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Seals a recording and says what came of it.
pub fn run(arguments: &SealArguments) -> Result<u8> {
    distributed::run(|together| {
        together.agree_on(arguments)?;
        together.share_cores();
        let mut out = text::stdout();
        for (directory, run) in seal_all(&arguments.trace, arguments.keep_raw, None, together.group())? {
            report(&mut out, &directory, &run)?;
        }
        Ok(0)
    })
}

fn report(out: &mut impl Write, directory: &Path, run: &RunInfo) -> io::Result<()> {
    let name = as_typed(directory);
    writeln!(
        out,
        "sealed {name}: {} of {}",
        quantity::counted(run.totals.events, "event"),
        quantity::counted(u64::from(run.ranks), "rank")
    )?;
    for problem in &run.health.problems {
        writeln!(out, "  incomplete: {problem}")?;
    }
    writeln!(out, "next: kizami report {name}")
}

/// Seals a recording, by all processes of a group. If several programs were launched in it one after the other, each becomes a
/// trace of its own, the first one that of the recording's own name. Who only helps gets none.
pub fn seal_all(
    directory: &Path,
    keep_raw: bool,
    run_end: Option<RunEnd>,
    group: &dyn ProcessGroup,
) -> Result<Vec<(PathBuf, RunInfo)>, SealError> {
    let mut sealed = Vec::new();
    for directory in all_in(directory, group)? {
        let run = seal(&directory, keep_raw, run_end.clone(), group)?;
        sealed.extend(run.map(|run| (directory, run)));
    }
    Ok(sealed)
}

/// The recordings in a directory, which the first process makes of it and tells the others.
fn all_in(directory: &Path, group: &dyn ProcessGroup) -> Result<Vec<PathBuf>, SealError> {
    let more = if group.is_first() { kizami_seal::separate(directory)? } else { Vec::new() };
    // No name has a zero in it.
    let paths = more.iter().flat_map(|path| path.as_os_str().as_bytes().iter().chain(&[0])).copied();
    let received = group.broadcast(paths.collect());
    let more =
        received.split_inclusive(|byte| *byte == 0).map(|name| OsStr::from_bytes(&name[..name.len() - 1]));
    Ok(std::iter::once(directory.to_path_buf()).chain(more.map(PathBuf::from)).collect())
}

/// Seals the recording of one program under a progress bar; `run_end` is when its run was seen to end.
fn seal(
    directory: &Path,
    keep_raw: bool,
    run_end: Option<RunEnd>,
    group: &dyn ProcessGroup,
) -> Result<Option<RunInfo>, SealError> {
    let bar = Bar::new("sealing");
    let options = SealOptions { keep_raw, run_end, ..SealOptions::default() };
    kizami_seal::seal_together(directory, &options, group, &|progress| set_sealing(&bar, progress))
}
