//! What changed between two runs, as tables.

use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::diff::{Change, Diff, Kind, Measure, Side};
use kizami_model::Length;
use kizami_phrases::location::call_at;
use kizami_phrases::program;
use std::io::{self, Write};

/// Prints them, with at most so many changes.
pub fn print(out: &mut impl Write, diff: &Diff, paint: Paint, most: usize) -> io::Result<()> {
    for (name, side) in [("before", &diff.before), ("after", &diff.after)] {
        writeln!(out, "{}  {}", paint.label(&format!("{name:<6}")), describe(side))?;
    }
    writeln!(out)?;
    measures(out, diff, paint)?;
    if diff.changes.is_empty() {
        return writeln!(out, "\nNo time changed.");
    }
    writeln!(out, "\n{}", paint.heading("what changed, average per rank"))?;
    let columns = [
        ("change", Align::Right),
        ("", Align::Right),
        ("before", Align::Right),
        ("after", Align::Right),
        ("kind", Align::Left),
        ("what", Align::Left),
    ];
    let mut table = Table::new(&mut *out, paint, &columns);
    for change in diff.changes.iter().take(most) {
        let kind = match change.kind {
            Kind::Waiting => "waiting",
            Kind::Call => "call",
            Kind::Computation => "computation",
        };
        table.row(vec![
            signed(change.change_ns),
            change.relative().map_or(String::new(), percent),
            time(change.before_ns),
            time(change.after_ns),
            kind.to_owned(),
            what(change),
        ])?;
    }
    table.finish()?;
    match diff.changes.len().saturating_sub(most) {
        0 => Ok(()),
        left => writeln!(out, "({left} more; --all shows them)"),
    }
}

fn describe(side: &Side) -> String {
    let name = program::name(&side.executable, &side.command);
    let ranks = quantity::counted(u64::from(side.ranks), "rank");
    format!("{}: {name} on {ranks}, {}", side.trace, time(side.run_ns))
}

fn measures(out: &mut impl Write, diff: &Diff, paint: Paint) -> io::Result<()> {
    let columns = [
        ("measure", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("", Align::Right),
    ];
    let mut table = Table::new(&mut *out, paint, &columns);
    for change in &diff.measures {
        let say = |value: f64| match change.measure {
            Measure::RunTime => time((value * 1e9).round() as i64),
            _ => format!("{:.1} %", 100.0 * value),
        };
        let difference = change.after - change.before;
        let (changed, relative) = match change.measure {
            Measure::RunTime => (signed((difference * 1e9).round() as i64), percent(change.relative())),
            // Shares of a run are compared by their difference: percent of percent mislead.
            _ => (format!("{:+.1} points", 100.0 * difference), String::new()),
        };
        let name = change.measure.name().replace('_', " ");
        table.row(vec![name, say(change.before), say(change.after), changed, relative])?;
    }
    table.finish()
}

fn what(change: &Change) -> String {
    let place = match &change.place {
        None => return change.name.clone(),
        Some(place) => call_at(&change.name, place),
    };
    let place = if change.kind == Kind::Computation { format!("before {place}") } else { place };
    match &change.moved_from {
        Some(from) => format!("{place} (was {from})"),
        None => place,
    }
}

fn time(ns: i64) -> String {
    quantity::duration(Length(ns))
}

fn signed(ns: i64) -> String {
    if ns > 0 { format!("+{}", time(ns)) } else { time(ns) }
}

fn percent(part: f64) -> String {
    // Far more than before is told by how many times as much it is.
    if part >= 10.0 { format!("x {:.0}", 1.0 + part) } else { format!("{:+.1} %", 100.0 * part) }
}
