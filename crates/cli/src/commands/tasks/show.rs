//! What is told of tasks, for people.

use super::run::{Place, Processors, Told};
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use crate::show::{quantity, text};
use kizami_model::Length;
use std::io::{self, Write};

/// Places that are shown.
const MOST_PLACES: usize = 12;

/// A range is told if it is wider than this share.
const WORTH_A_RANGE: f64 = 0.02;

/// Prints it.
pub fn show(told: &Told) -> io::Result<()> {
    let (mut out, paint) = (text::stdout(), Paint::stdout());
    let time = |time: i64| shown(told, time);
    if told.ranks > 1 {
        writeln!(out, "{} {} of {}", paint.label("rank        "), told.rank, told.ranks)?;
    }
    let mut line = |label: &str, what: String| writeln!(out, "{} {what}", paint.label(label));
    line("work        ", format!("{}, in {}", time(told.work), quantity::counted(told.tasks, "task")))?;
    line("span        ", format!("{}: the longest chain of tasks", time(told.span)))?;
    let peak = quantity::count(u64::from(told.peak));
    line("parallelism ", format!("{:.2}, at most {peak} tasks at once", told.parallelism))?;
    if let Some(burden) = &told.burden {
        let (span, task, over) = (time(burden.span), time(burden.task), time(burden.over));
        let noticed = format!("{task} until a task is noticed and {over} that a wait is over");
        let parallelism = format!("parallelism {:.2}", burden.parallelism);
        line("burdened    ", format!("span {span}, {parallelism}: with {noticed}"))?;
    }
    if let Some(counted) = &told.counted_tasks {
        line("left out    ", counted.told())?;
    }
    writeln!(out, "\nwhat the span is made of:")?;
    places(told, &mut out)?;
    let how = match told.strategy {
        "gnu" => "as GNU's runtime gives tasks out",
        "llvm" => "as LLVM's runtime gives tasks out",
        "newest" => "the task first that could run last",
        "longest" => "the task first that has the longest chain behind it",
        _ => "the task first that could run first",
    };
    writeln!(out, "\nwith so many processors, {how}:")?;
    processors(told, &mut out)
}

fn places(told: &Told, out: &mut impl Write) -> io::Result<()> {
    let columns = [
        ("of span", Align::Right),
        ("work", Align::Right),
        ("tasks", Align::Right),
        ("waited", Align::Right),
        ("task", Align::Left),
        ("line", Align::Left),
    ];
    let mut table = Table::new(&mut *out, Paint::stdout(), &columns);
    for place in told.places.iter().take(MOST_PLACES) {
        table.row(vec![
            quantity::share(place.on_critical_path as f64, told.span as f64),
            shown(told, place.work),
            quantity::count(place.tasks),
            shown(told, place.waited),
            place.name.clone(),
            source(place),
        ])?;
    }
    table.finish()?;
    match told.places.len().saturating_sub(MOST_PLACES) {
        0 => Ok(()),
        more => writeln!(out, "and {} more", quantity::counted(more as u64, "place")),
    }
}

fn processors(told: &Told, out: &mut impl Write) -> io::Result<()> {
    let mut columns = vec![
        ("processors", Align::Right),
        ("at least", Align::Right),
        ("simulated", Align::Right),
        ("at most", Align::Right),
        ("speed-up", Align::Right),
    ];
    if told.processors.iter().any(|on| !range(told, on).is_empty()) {
        columns.push(("simulated range", Align::Left));
    }
    let mut table = Table::new(&mut *out, Paint::stdout(), &columns);
    for on in &told.processors {
        let mut cells = vec![
            quantity::count(u64::from(on.processors)),
            shown(told, on.at_least),
            shown(told, on.simulated),
            shown(told, on.at_most),
            format!("{:.2}", told.work as f64 / on.simulated.max(1) as f64),
            range(told, on),
        ];
        cells.truncate(columns.len());
        table.row(cells)?;
    }
    table.finish()?;
    let otherwise = told.processors.iter().find(|on| on.strategy != told.strategy);
    otherwise.map_or(Ok(()), |on| {
        writeln!(out, "what {} does could not be followed to its end: {} first", told.strategy, on.strategy)
    })
}

/// What chance leaves open, where it matters.
fn range(told: &Told, on: &Processors) -> String {
    match (on.simulated_low, on.simulated_high) {
        (Some(low), Some(high)) if (high - low) as f64 > WORTH_A_RANGE * on.simulated as f64 => {
            format!("{} .. {}", shown(told, low), shown(told, high))
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

fn shown(told: &Told, time: i64) -> String {
    match told.unit {
        "ns" => quantity::duration(Length(time)),
        _ => quantity::count(time.max(0) as u64),
    }
}
