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
use kizami_explain::{Hang, Report, SharedCores, ThreadSpans, Threads};
use kizami_phrases::cores;
use kizami_phrases::report::in_words;
use kizami_trace::{TaskRow, Trace};
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
    let (threads, memory) = (arguments.threads, arguments.memory);
    let followed = input::follow_together(Trace::open(&path)?, threads, memory, together)?;
    let trace = &followed.trace;
    let analysis = input::analyse(&followed, together.workers(threads))?;
    let mut threads = Threads::of(&recorded)?;
    if let Some(threads) = threads.as_mut().filter(|_| !followed.is_reconstructed()) {
        let regions = regions_of(&recorded)?;
        // Only of tasks it is known what follows what.
        let spans = match regions.have_tasks() {
            true => ThreadSpans::of(&recorded, &regions)?,
            false => ThreadSpans::default(),
        };
        analysis.gains_of_threads(threads, &regions, &spans);
    }
    // All is replayed: nobody else is needed any more.
    if !together.is_first() {
        return Ok(None);
    }
    let mut report = analysis.report(trace);
    report.compare_with(&recorded)?;
    report.hang = Hang::of(trace, &recorded)?;
    if let Some(threads) = &threads {
        let ranks = recorded.definitions()?.ranks;
        report.shared_cores = SharedCores::with_threads(report.shared_cores.take(), threads, &ranks);
    }
    report.threads = threads;
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
    if let Some(threads) = Threads::of(recorded)? {
        let shared = SharedCores::with_threads(None, &threads, &recorded.definitions()?.ranks);
        for sentence in shared.iter().flat_map(cores::sentences) {
            writeln!(out, "{}", Paint::stdout().bad(&sentence))?;
        }
        let most = if arguments.all { usize::MAX } else { ROWS_SHOWN };
        show::print_threads(&mut out, &threads, Paint::stdout(), most)?;
    }
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
    }
    Ok(())
}

/// Whether a trace tells of tasks, and of no call.
fn has_only_tasks(trace: &Trace) -> Result<bool> {
    Ok(trace.run().totals.events == 0 && trace.parts_of::<TaskRow>()?.next().is_some())
}
