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
    let most = match told.peak_over {
        None => format!("at most {peak} tasks at once"),
        Some(over) => format!("at most {peak} tasks at once over {}", time(over)),
    };
    line("parallelism ", format!("{:.2}, {most}", told.parallelism))?;
    if let Some(burden) = &told.burden {
        let (span, task, over) = (time(burden.span), time(burden.task), time(burden.over));
        let noticed =
            format!("{task} until a task is picked up and {over} until the end of a wait is noticed");
        let parallelism = format!("parallelism {:.2}", burden.parallelism);
        line("burdened    ", format!("span {span}, {parallelism}: with {noticed}"))?;
    }
    if let Some(counted) = &told.counted_tasks {
        line("left out    ", counted.told())?;
    }
    writeln!(out, "\ncritical path:")?;
    places(told, &mut out)?;
    let how = match told.strategy {
        None => "without scheduling",
        Some("gnu") => "scheduled as by GNU's runtime",
        Some("llvm") => "scheduled as by LLVM's runtime",
        Some("newest") => "newest ready task first",
        Some("longest") => "longest remaining chain first",
        Some(_) => "oldest ready task first",
    };
    writeln!(out, "\nby number of processors, {how}:")?;
    processors(told, &mut out)?;
    told.too_much.map_or(Ok(()), |bytes| {
        let bytes = quantity::bytes(bytes);
        writeln!(out, "schedules were not simulated: all tasks need {bytes} of memory; raise --memory")
    })
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
    let simulated = told.strategy.is_some();
    let ranges = told.processors.iter().any(|on| !range(told, on).is_empty());
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
    for on in &told.processors {
        let speed_up = |time: i64| format!("{:.2}", told.work as f64 / time.max(1) as f64);
        let cells = [
            quantity::count(u64::from(on.processors)),
            shown(told, on.at_least),
            on.simulated.map_or(String::new(), |time| shown(told, time)),
            shown(told, on.at_most),
            on.simulated.map_or(String::new(), speed_up),
            speed_up(on.at_least),
            range(told, on),
        ];
        table.row(
            cells.into_iter().zip(&columns).filter(|(_, (shown, _))| *shown).map(|(cell, _)| cell).collect(),
        )?;
    }
    table.finish()?;
    let otherwise = told.processors.iter().find(|on| on.strategy != told.strategy);
    match otherwise.and_then(|on| Some((told.strategy?, on.strategy?))) {
        None => Ok(()),
        Some((asked, taken)) => {
            writeln!(out, "{asked} could not be simulated to the end; {taken} first instead")
        }
    }
}

/// What chance leaves open, where it matters.
fn range(told: &Told, on: &Processors) -> String {
    match (on.simulated_low, on.simulated_high) {
        (Some(low), Some(high)) if (high - low) as f64 > WORTH_A_RANGE * on.simulated.unwrap_or(0) as f64 => {
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
