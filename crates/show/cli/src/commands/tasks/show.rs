//! What is told of tasks, for people.

use super::run::{Place, Processors, TasksReport};
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use crate::show::text::wrapped;
use crate::show::{quantity, text};
use kizami_model::Length;
use kizami_phrases as phrases;
use std::io::{self, Write};

/// Places that are shown.
const MOST_PLACES: usize = 12;

/// A range is told if it is wider than this share.
const WORTH_A_RANGE: f64 = 0.02;

/// It is told that tasks slept for more than this share of their work.
const WORTH_A_SLEEP: f64 = 0.01;

/// Prints it.
pub fn show(report: &TasksReport) -> io::Result<()> {
    let (mut out, paint) = (text::stdout(), Paint::stdout());
    let time = |time: i64| shown(report, time);
    if report.ranks > 1 {
        writeln!(out, "{} {} of {}", paint.label("rank        "), report.rank, report.ranks)?;
    }
    let mut line = |label: &str, what: String| writeln!(out, "{} {what}", paint.label(label));
    line("work        ", format!("{}, in {}", time(report.work), quantity::counted(report.tasks, "task")))?;
    if let Some(asleep) = report.asleep.filter(|asleep| *asleep as f64 >= WORTH_A_SLEEP * report.work as f64)
    {
        line("asleep      ", phrases::tasks::asleep(Length(asleep), Length(report.work)))?;
    }
    line("span        ", format!("{}: the longest chain of tasks", time(report.span)))?;
    let peak = quantity::count(u64::from(report.peak));
    let most = match report.peak_over {
        None => format!("at most {peak} tasks at once"),
        Some(over) => format!("at most {peak} tasks at once over {}", time(over)),
    };
    line("parallelism ", format!("{:.2}, {most}", report.parallelism))?;
    if let Some(burden) = &report.burden {
        let (span, task, over) = (time(burden.span), time(burden.task), time(burden.over));
        let noticed =
            format!("{task} until a task is picked up and {over} until the end of a wait is noticed");
        let parallelism = format!("parallelism {:.2}", burden.parallelism);
        line("burdened    ", format!("span {span}, {parallelism}: with {noticed}"))?;
    }
    if let Some(counted) = &report.counted_tasks {
        line("left out    ", counted.sentence())?;
    }
    writeln!(out, "\ncritical path:")?;
    places(report, &mut out)?;
    let how = match report.strategy {
        None => "without scheduling",
        Some("gnu") => "scheduled as by GNU's runtime",
        Some("llvm") => "scheduled as by LLVM's runtime",
        Some("newest") => "newest ready task first",
        Some("longest") => "longest remaining chain first",
        Some(_) => "oldest ready task first",
    };
    writeln!(out, "\nby number of processors, {how}:")?;
    processors(report, &mut out)?;
    report.too_much.map_or(Ok(()), |bytes| {
        let bytes = quantity::bytes(bytes);
        writeln!(out, "schedules were not simulated: all tasks need {bytes} of memory; raise --memory")
    })
}

fn places(report: &TasksReport, out: &mut impl Write) -> io::Result<()> {
    let columns = [
        ("of span", Align::Right),
        ("work", Align::Right),
        ("tasks", Align::Right),
        ("waited", Align::Right),
        ("task", Align::Left),
        ("line", Align::Left),
    ];
    let mut table = Table::new(&mut *out, Paint::stdout(), &columns);
    for place in report.places.iter().take(MOST_PLACES) {
        table.row(vec![
            quantity::share(place.on_critical_path as f64, report.span as f64),
            shown(report, place.work),
            quantity::count(place.tasks),
            shown(report, place.waited),
            place.name.clone(),
            source(place),
        ])?;
    }
    table.finish()?;
    match report.places.len().saturating_sub(MOST_PLACES) {
        0 => Ok(()),
        more => writeln!(out, "and {} more", quantity::counted(more as u64, "place")),
    }
}

fn processors(report: &TasksReport, out: &mut impl Write) -> io::Result<()> {
    let simulated = report.strategy.is_some();
    let ranges = report.processors.iter().any(|on| !range(report, on).is_empty());
    let columns = [
        (true, ("processors", Align::Right)),
        (true, ("at least", Align::Right)),
        (simulated, ("simulated", Align::Right)),
        (true, ("at most", Align::Right)),
        (simulated, ("speed-up", Align::Right)),
        (!simulated, ("speed-up at most", Align::Right)),
        (ranges, ("simulated range", Align::Left)),
    ];
    let titles: Vec<_> = columns.iter().filter(|(shown, _)| *shown).map(|(_, column)| *column).collect();
    let mut table = Table::new(&mut *out, Paint::stdout(), &titles);
    for on in &report.processors {
        let speed_up = |time: i64| format!("{:.2}", report.work as f64 / time.max(1) as f64);
        let cells = [
            quantity::count(u64::from(on.processors)),
            shown(report, on.at_least),
            on.simulated.map_or(String::new(), |time| shown(report, time)),
            shown(report, on.at_most),
            on.simulated.map_or(String::new(), speed_up),
            speed_up(on.at_least),
            range(report, on),
        ];
        table.row(
            cells.into_iter().zip(&columns).filter(|(_, (shown, _))| *shown).map(|(cell, _)| cell).collect(),
        )?;
    }
    table.finish()?;
    if let Some(strategy) = report.processors.iter().find(|on| on.idle_with_tasks).and_then(|on| on.strategy)
    {
        wrapped("", 0, &phrases::tasks::idle_with_tasks(strategy))
            .iter()
            .try_for_each(|line| writeln!(out, "{line}"))?;
    }
    let otherwise = report.processors.iter().find(|on| on.strategy != report.strategy);
    match otherwise.and_then(|on| Some((report.strategy?, on.strategy?))) {
        None => Ok(()),
        Some((asked, taken)) => {
            writeln!(out, "{asked} could not be simulated to the end; {taken} first instead")
        }
    }
}

/// What chance leaves open, where it matters.
fn range(report: &TasksReport, on: &Processors) -> String {
    match (on.simulated_low, on.simulated_high) {
        (Some(low), Some(high)) if (high - low) as f64 > WORTH_A_RANGE * on.simulated.unwrap_or(0) as f64 => {
            format!("{} .. {}", shown(report, low), shown(report, high))
        }
        _ => String::new(),
    }
}

fn source(place: &Place) -> String {
    match (&place.file, place.line) {
        (Some(file), Some(line)) if line > 0 => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
        (Some(_), Some(_)) => "the query".to_owned(),
        _ => String::new(),
    }
}

fn shown(report: &TasksReport, time: i64) -> String {
    match report.unit {
        "ns" => quantity::duration(Length(time)),
        _ => quantity::count(time.max(0) as u64),
    }
}
