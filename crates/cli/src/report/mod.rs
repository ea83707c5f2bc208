//! `kizami report`: what is wrong with a run, where, and what fixing it would gain.
//!
//! The reckoning is that of the `explain` crate; here it becomes text, Markdown, one HTML file or JSON. The verdict comes
//! first and fits on half a screen; tables follow, which all forms take from `sections`.

mod heat;
pub mod html;
mod markdown;
#[cfg(test)]
mod samples;
mod sections;
mod tables;
mod verdict;

use crate::arguments::ReportArguments;
use crate::drawn;
use crate::failure::must_be_new;
use crate::record::as_typed;
use crate::replay::all_cores;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::style::Paint;
use anyhow::{Context, Result};
use kizami_explain::{Analysis, Report};
use kizami_store::Trace;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Rows of a table unless all are asked for.
const ROWS_SHOWN: usize = 10;
/// The same on a page that can be scrolled.
const ROWS_OF_A_PAGE: usize = 12;

/// Explains a trace.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    if let Some(output) = &arguments.html {
        must_be_new(output, "--html")?;
    }
    let trace = drawn::open(&arguments.trace, arguments.threads)?;
    let mut report = analyse(&trace, arguments.threads)?.report(&trace);
    report.compare_with(&Trace::open(&arguments.trace)?)?;
    let most = |rows| if arguments.all { usize::MAX } else { rows };
    let mut out = io::stdout().lock();
    if let Some(output) = &arguments.html {
        let page = html::page(&report, most(ROWS_OF_A_PAGE));
        write_new(output, page.as_bytes())?;
        if !(arguments.markdown || arguments.json) {
            let size = quantity::bytes(page.len() as u64);
            writeln!(out, "wrote {}: {size}", as_typed(output))?;
            writeln!(out, "next: open {} in a browser", as_typed(output))?;
            return Ok(0);
        }
    }
    if arguments.markdown {
        markdown::write(&mut out, &report, most(ROWS_SHOWN))?;
    } else if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        print(&mut out, &report, Paint::stdout(), most(ROWS_SHOWN))?;
    }
    Ok(0)
}

/// Writes a file that is not there yet, even if somebody makes one of that name meanwhile.
fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let write = || File::create_new(path)?.write_all(content);
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Takes a trace apart, with a progress bar.
pub fn analyse(trace: &Trace, threads: Option<usize>) -> Result<Analysis> {
    let bar = Bar::new("explaining");
    let threads = threads.unwrap_or_else(all_cores);
    let analysis = Analysis::of(trace, &kizami_graph::scratch_folder(trace), threads, &|progress| {
        bar.set(progress.done, progress.total, || quantity::counted(progress.done / 3, "event"));
    })?;
    Ok(analysis)
}

fn print(out: &mut impl Write, report: &Report, paint: Paint, most: usize) -> io::Result<()> {
    for line in verdict::lines(report, paint) {
        writeln!(out, "{line}")?;
    }
    tables::print(out, report, paint, most)
}
