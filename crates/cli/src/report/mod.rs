//! `kizami report`: what is wrong with a run, where, and what fixing it would gain.
//!
//! The reckoning is that of the `explain` crate; here it becomes text, Markdown, one HTML file or JSON. The verdict comes
//! first and fits on half a screen; tables follow.

mod tables;
mod verdict;

use crate::arguments::ReportArguments;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::style::Paint;
use anyhow::Result;
use kizami_explain::{Analysis, Report};
use kizami_store::Trace;
use std::io::{self, Write};

/// Explains a trace.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.trace)?;
    let report = analyse(&trace, arguments.threads)?.report(&trace);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        print(&mut out, &report, Paint::stdout(), arguments.all)?;
    }
    Ok(0)
}

/// Takes a trace apart, with a progress bar.
pub fn analyse(trace: &Trace, threads: Option<usize>) -> Result<Analysis> {
    let bar = Bar::new("explaining");
    let threads = threads.unwrap_or_else(cores);
    let analysis = Analysis::of(trace, &kizami_graph::scratch_folder(trace), threads, &|progress| {
        bar.set(progress.done, progress.total, || quantity::counted(progress.done / 3, "event"));
    })?;
    Ok(analysis)
}

/// Cores this process may use.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn print(out: &mut impl Write, report: &Report, paint: Paint, all: bool) -> io::Result<()> {
    for line in verdict::lines(report, paint) {
        writeln!(out, "{line}")?;
    }
    tables::print(out, report, paint, all)
}
