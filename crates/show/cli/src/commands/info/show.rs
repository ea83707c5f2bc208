//! A trace on one screen.

use super::quantiles::Quantiles;
use crate::show::functions;
use crate::show::provenance::{self, tracer_cost};
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_model::Length;
use kizami_trace::RunInfo;
use kizami_trace::run::{ClockInfo, Reduced};
use std::io::{self, Write};

/// Functions in the table unless all are asked for.
const FUNCTIONS_SHOWN: usize = 15;
/// Problems and ranks listed unless all are asked for.
const PROBLEMS_SHOWN: usize = 10;

/// Prints all of it; `all` leaves nothing out.
pub fn print(
    out: &mut impl Write,
    run: &RunInfo,
    quantiles: &Quantiles,
    paint: Paint,
    all: bool,
) -> io::Result<()> {
    for (label, text) in facts(run) {
        writeln!(out, "{} {text}", paint.label(&format!("{label:<9}")))?;
    }
    print_health(out, run, paint, all)?;
    print_lost(out, run, paint)?;
    writeln!(out)?;
    print_functions(out, run, quantiles, paint, all)
}

fn facts(run: &RunInfo) -> Vec<(&'static str, String)> {
    let totals = &run.totals;
    let size: u64 = run.files.iter().map(|file| file.bytes).sum();
    let threads = if run.threads > run.ranks {
        format!(", {}", quantity::counted(u64::from(run.threads), "thread"))
    } else {
        String::new()
    };
    let per_event = if totals.events > 0 {
        format!(", {:.1} bytes per event", size as f64 / totals.events as f64)
    } else {
        String::new()
    };
    let folded = if run.reduced.is_some() || totals.calls == totals.events {
        String::new()
    } else {
        format!(" for {}", quantity::counted(totals.calls, "call"))
    };
    let of_rows = if sums_are_of_rows(run) { "; in the rows kept" } else { "" };
    let rank_time = run.span_ns as f64 * f64::from(run.threads.max(run.ranks));
    let (inside, sent, received) = match is_of_mpi(run) {
        true => ("MPI", "sent", "received"),
        false => ("calls", "sent or written", "received or read"),
    };
    let mut facts = vec![
        ("command", command_line(run)),
        ("ranks", format!("{}{threads} on {}", run.ranks, hosts(run))),
        ("library", if run.mpi_library.is_empty() { "unknown".to_owned() } else { run.mpi_library.clone() }),
        ("started", run.started_utc.clone()),
        ("span", span(run)),
        ("events", format!("{}{folded}", quantity::count(totals.events))),
        (
            inside,
            format!(
                "{} over all ranks, {} of their time; {} {sent}, {} {received}{of_rows}",
                quantity::duration(Length(totals.mpi_ns)),
                quantity::share(totals.mpi_ns as f64, rank_time),
                quantity::bytes(totals.bytes_out),
                quantity::bytes(totals.bytes_in)
            ),
        ),
        ("size", format!("{}{per_event}", quantity::bytes(size))),
        ("tracer", tracer_cost(run)),
        ("clock", if run.clocks.note.is_empty() { "-".to_owned() } else { run.clocks.note.clone() }),
    ];
    if let Some(reduced) = &run.reduced {
        facts.extend(provenance::facts_of_rows(reduced));
    }
    if !run.counters.is_empty() {
        let counters = run.counters.iter().map(|counter| match &counter.refused {
            Some(why) if counter.ranks == 0 => format!("{} refused by the kernel: {why}", counter.name),
            Some(why) => format!("{} (refused on some ranks: {why})", counter.name),
            None => counter.name.clone(),
        });
        facts.push(("counters", counters.collect::<Vec<_>>().join("; ")));
    }
    facts.extend(provenance::facts_of_times(run));
    facts
}

/// How long the run is, in what its times are counted in.
fn span(run: &RunInfo) -> String {
    match run.clocks.method == ClockInfo::VIRTUAL {
        true => format!("{} units", quantity::count(run.span_ns.max(0) as u64)),
        false => quantity::duration(Length(run.span_ns)),
    }
}

/// Whether only MPI was recorded.
fn is_of_mpi(run: &RunInfo) -> bool {
    functions::are_mpi(run.functions.iter().map(|function| &function.op))
}

fn sums_are_of_rows(run: &RunInfo) -> bool {
    run.reduced.as_ref().is_some_and(Reduced::sums_are_of_rows)
}

fn command_line(run: &RunInfo) -> String {
    if run.command.is_empty() { run.executable.clone() } else { run.command.join(" ") }
}

fn hosts(run: &RunInfo) -> String {
    match run.hosts.as_slice() {
        [] => "unknown host".to_owned(),
        few @ [..] if few.len() <= 4 => few.join(", "),
        [first, .., last] => format!("{} hosts ({first} ... {last})", run.hosts.len()),
        _ => run.hosts.join(", "),
    }
}

fn print_health(out: &mut impl Write, run: &RunInfo, paint: Paint, all: bool) -> io::Result<()> {
    let label = paint.label(&format!("{:<9}", "health"));
    if run.health.complete {
        return writeln!(out, "{label} {}", paint.good("complete"));
    }
    writeln!(out, "{label} {}", paint.doubtful("incomplete"))?;
    let problems = &run.health.problems;
    let shown = if all { problems.len() } else { problems.len().min(PROBLEMS_SHOWN) };
    for problem in &problems[..shown] {
        writeln!(out, "{:10}- {problem}", "")?;
    }
    if shown < problems.len() {
        writeln!(out, "{:10}- and {} more (--all shows them)", "", problems.len() - shown)?;
    }
    Ok(())
}

/// The tracer's overhead by kind; only kinds that took time have a line.
fn print_lost(out: &mut impl Write, run: &RunInfo, paint: Paint) -> io::Result<()> {
    let Some(disturbance) = run.disturbance.filter(|disturbance| disturbance.all.total_ns > 0) else {
        return Ok(());
    };
    let columns = [
        ("tracer overhead", Align::Left),
        ("all ranks", Align::Right),
        ("worst rank", Align::Right),
        ("its time", Align::Right),
        ("of the run", Align::Right),
    ];
    writeln!(out)?;
    let mut table = Table::new(&mut *out, paint, &columns);
    let kinds = disturbance.kinds().into_iter().filter(|(_, lost)| lost.total_ns > 0);
    for (kind, lost) in kinds.chain([("all", disturbance.all)]) {
        table.row(vec![
            kind.to_owned(),
            quantity::duration(Length(lost.total_ns)),
            lost.worst_rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string()),
            quantity::duration(Length(lost.worst_ns)),
            quantity::share(lost.worst_ns as f64, run.span_ns as f64),
        ])?;
    }
    table.finish()?;
    writeln!(
        out,
        "error: {} on the worst rank, {} of the run; kizami undisturb also removes the waits caused",
        quantity::duration(Length(disturbance.error_ns)),
        quantity::share(disturbance.error_ns as f64, run.span_ns as f64)
    )
}

fn print_functions(
    out: &mut impl Write,
    run: &RunInfo,
    quantiles: &Quantiles,
    paint: Paint,
    all: bool,
) -> io::Result<()> {
    let mut columns = vec![
        ("function", Align::Left),
        (if sums_are_of_rows(run) { "rows" } else { "calls" }, Align::Right),
        ("total time", Align::Right),
        (if is_of_mpi(run) { "of MPI" } else { "of calls" }, Align::Right),
        ("mean", Align::Right),
        ("bytes out", Align::Right),
        ("bytes in", Align::Right),
    ];
    if quantiles.are_known() {
        let quantiles = [("p50", Align::Right), ("p99", Align::Right)];
        columns.splice(5..5, quantiles);
    }
    let shown = if all { run.functions.len() } else { run.functions.len().min(FUNCTIONS_SHOWN) };
    let mut table = Table::new(&mut *out, paint, &columns);
    for function in &run.functions[..shown] {
        let mean = function.total_ns.checked_div(function.calls as i64).unwrap_or(0);
        let mut cells = vec![
            function.op.clone(),
            quantity::count(function.calls),
            quantity::duration(Length(function.total_ns)),
            quantity::share(function.total_ns as f64, run.totals.mpi_ns as f64),
            quantity::duration(Length(mean)),
            size_or_nothing(function.bytes_out),
            size_or_nothing(function.bytes_in),
        ];
        if quantiles.are_known() {
            let shares = [0.5, 0.99].map(|share| quantiles.cell(&function.op, share));
            cells.splice(5..5, shares);
        }
        table.row(cells)?;
    }
    table.finish()?;
    if shown < run.functions.len() {
        let rest: u64 = run.functions[shown..].iter().map(|function| function.calls).sum();
        let left = run.functions.len() - shown;
        writeln!(
            out,
            "and {} with {} (--all shows them)",
            quantity::counted(left as u64, "function"),
            quantity::counted(rest, "call")
        )?;
    }
    Ok(())
}

fn size_or_nothing(bytes: u64) -> String {
    if bytes == 0 { "-".to_owned() } else { quantity::bytes(bytes) }
}
