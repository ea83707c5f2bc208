//! Explaining a trace, in the form that was asked for.

use super::arguments::ReportArguments;
use super::{markdown, show};
use crate::commands::replay::regions_of;
use crate::distributed::{self, Together};
use crate::input;
use crate::live;
use crate::output::{must_be_new, write_new};
use crate::page;
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::Result;
use kizami_explain::{Hang, Report, RunThreads, SharedCores, ThreadSpans, Threads, Window};
use kizami_phrases::report::in_words;
use kizami_trace::{ParallelRow, TaskRow, Trace};
use std::io::Write;

/// Rows of a table unless all are asked for.
const ROWS_SHOWN: usize = 10;
/// The same on a page that can be scrolled.
const ROWS_OF_A_PAGE: usize = 12;

/// Explains a trace.
pub fn run(arguments: &ReportArguments) -> Result<u8> {
    distributed::by_threads(arguments, arguments.threads, |together| {
        if let Some(report) = explain(arguments, together)? {
            write(arguments, report)?;
        }
        Ok(0)
    })
}

/// What is to be written; nothing if it is another process that does, or there is none.
fn explain(arguments: &ReportArguments, together: Together) -> Result<Option<Report>> {
    if let Some(output) = arguments.html.as_ref().filter(|_| together.is_first()) {
        must_be_new(output, "--html")?;
    }
    let path = live::readable(&arguments.trace)?;
    let recorded = input::open_together(&path, together, arguments)?;
    if arguments.html.is_none() && !arguments.markdown && !arguments.json && has_only_tasks(&recorded)? {
        if together.is_first() {
            report_tasks(arguments, &recorded)?;
        }
        return Ok(None);
    }
    let has_calls = recorded.run().totals.events > 0;
    let (threads, memory) = (arguments.threads, arguments.memory);
    let followed = input::follow_together(Trace::open(&path)?, threads, memory, together)?;
    let trace = &followed.trace;
    let analysis = input::analyse(&followed, together.workers(threads))?;
    let mut threads = Threads::of(&recorded)?;
    let mut findings = Vec::new();
    let definitions = recorded.definitions()?;
    let mut window = None;
    if let Some(times) = threads.take_if(|_| !followed.is_reconstructed()) {
        let regions = regions_of(&recorded)?;
        // Only of tasks it is known what follows what.
        let spans = match regions.have_tasks() {
            true => ThreadSpans::of(&recorded, &regions)?,
            false => ThreadSpans::default(),
        };
        let of_run = Window::of(&recorded, &definitions.ranks, &regions)?;
        let mut of_threads = RunThreads { times, regions, spans };
        match has_calls {
            true => analysis.gains_of_threads(&mut of_threads.times, &of_threads.regions, &of_threads.spans),
            false => of_threads.gains_alone(&definitions, of_run),
        }
        let run = match has_calls {
            true => of_run.length(),
            false => of_threads.with_own_cores(&definitions, of_run),
        };
        findings = of_threads.findings(&definitions, run);
        (threads, window) = (Some(of_threads.times), Some(of_run));
    }
    // All is replayed: nobody else is needed any more.
    if !together.is_first() {
        return Ok(None);
    }
    let mut report = analysis.report(trace);
    // A program without MPI does not finalize it.
    report.hang = if has_calls { Hang::of(trace, &recorded)? } else { None };
    if let Some(threads) = &threads {
        let known = report.shared_cores.take();
        report.shared_cores = SharedCores::with_threads(known, threads, &definitions.ranks);
    }
    report.threads = threads;
    report.add_findings(findings);
    if let Some(window) = window.filter(|_| !has_calls) {
        report.run_ns = window.length().0;
    }
    if path != arguments.trace {
        // A snapshot has another name for as long as it is there.
        report.trace = arguments.trace.display().to_string();
    }
    Ok(Some(report))
}

fn report_tasks(arguments: &ReportArguments, recorded: &Trace) -> Result<()> {
    let mut out = text::stdout();
    for sentence in &recorded.run().health.unrecorded {
        writeln!(out, "{}", Paint::stdout().bad(sentence))?;
    }
    writeln!(out, "no MPI calls were recorded, but tasks were")?;
    Ok(writeln!(out, "next: kizami tasks {}", as_typed(&arguments.trace))?)
}

fn write(arguments: &ReportArguments, report: Report) -> Result<()> {
    let most = |rows| if arguments.all { usize::MAX } else { rows };
    let mut out = text::stdout();
    if let Some(output) = &arguments.html {
        let page = page::report(&report, most(ROWS_OF_A_PAGE));
        write_new(output, page.as_bytes())?;
        if !(arguments.markdown || arguments.json) {
            let size = quantity::bytes(page.len() as u64);
            writeln!(out, "wrote {}: {size}", as_typed(output))?;
            return Ok(writeln!(out, "next: open {} in a browser", as_typed(output))?);
        }
    }
    if arguments.markdown {
        markdown::write(&mut out, &report, most(ROWS_SHOWN))?;
    } else if arguments.json {
        json::print(json::REPORT, in_words(report))?;
    } else {
        show::print(&mut out, &report, Paint::stdout(), most(ROWS_SHOWN))?;
        if report.has_only_threads() {
            writeln!(out, "\nnext: kizami tasks {}", as_typed(&arguments.trace))?;
        }
    }
    Ok(())
}

/// Whether a trace tells of tasks, and of no call and no parallel region.
fn has_only_tasks(trace: &Trace) -> Result<bool> {
    let has_calls = trace.run().totals.events > 0;
    Ok(!has_calls && trace.has_parts_of::<TaskRow>() && !trace.has_parts_of::<ParallelRow>())
}
