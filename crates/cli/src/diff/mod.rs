//! `kizami diff`: what changed between two runs, and whether that is good enough.
//!
//! The reckoning is that of the `explain` crate; here are the conditions of `--fail-if`, and the text.

mod arguments;
mod condition;

pub use arguments::DiffArguments;

use crate::drawn;
use crate::report::analyse;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use crate::show::{self, quantity};
use anyhow::Result;
use condition::Condition;
use kizami_explain::Report;
use kizami_explain::diff::{Change, Diff, Kind, Measure, Side};
use kizami_model::Nanos;
use std::io::{self, Write};
use std::path::Path;

/// Exit code if a condition is true.
const CONDITION_TRUE: u8 = 3;
/// Changes shown unless all are asked for.
const ROWS_SHOWN: usize = 15;

/// Compares two traces.
pub fn run(arguments: &DiffArguments) -> Result<u8> {
    let report = |path: &Path| -> Result<Report> {
        let trace = drawn::open(path, arguments.threads)?;
        Ok(analyse(&trace, arguments.threads)?.report(&trace))
    };
    let diff = Diff::of(&report(&arguments.before)?, &report(&arguments.after)?);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &diff)?;
        writeln!(out)?;
    } else {
        print(&mut out, &diff, Paint::stdout(), if arguments.all { usize::MAX } else { ROWS_SHOWN })?;
    }
    out.flush()?;
    Ok(judge(&diff, &arguments.fail_if))
}

/// Says which conditions are true.
fn judge(diff: &Diff, conditions: &[Condition]) -> u8 {
    let label = Paint::stderr().bad("kizami: failed:");
    let said: Vec<String> = conditions
        .iter()
        .filter(|condition| condition.holds(diff))
        .map(|condition| format!("{label} {condition}: it is {}", condition.say(diff)))
        .collect();
    if said.is_empty() {
        return 0;
    }
    show::say(&said);
    CONDITION_TRUE
}

fn print(out: &mut impl Write, diff: &Diff, paint: Paint, most: usize) -> io::Result<()> {
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
    let name = side.executable.rsplit('/').next().unwrap_or(&side.executable);
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
        Some(place) => format!("{} at {place}", change.name),
    };
    let place = if change.kind == Kind::Computation { format!("before {place}") } else { place };
    match &change.moved_from {
        Some(from) => format!("{place} (was {from})"),
        None => place,
    }
}

fn time(ns: i64) -> String {
    quantity::duration(Nanos(ns))
}

fn signed(ns: i64) -> String {
    if ns > 0 { format!("+{}", time(ns)) } else { time(ns) }
}

fn percent(part: f64) -> String {
    // Far more than before is told by how many times as much it is.
    if part >= 10.0 { format!("x {:.0}", 1.0 + part) } else { format!("{:+.1} %", 100.0 * part) }
}
