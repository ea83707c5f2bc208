//! The few lines a user sees after a run, on standard error: the application's output is not touched.
//!
//! Never more than six. They say where the trace is, what is in it, what tracing cost, whether it is whole,
//! and what to type next.

use crate::disk;
use crate::show::path::as_typed;
use crate::show::provenance::tracer_cost;
use crate::show::quantity;
use crate::show::style::Paint;
use kizami_model::{Length, Rank};
use kizami_trace::run::Reduced;
use kizami_trace::{ParallelRow, RunInfo, Trace, UnderWay};
use std::path::Path;

/// With less than this, not even one rank's segment fits.
const FULL_DISK_BYTES: u64 = 64 << 10;

/// After a recording that was sealed.
pub fn sealed(directory: &Path, run: &RunInfo) -> Vec<String> {
    let name = as_typed(directory);
    let mut lines = vec![
        line("trace", &name),
        line("recorded", &recorded(directory, run)),
        line("tracer", &tracer_cost(run)),
    ];
    lines.extend(health(run));
    let drawn = run.reduced.as_ref().is_some_and(Reduced::is_sampled);
    // Nothing can be explained from rows that were drawn.
    let next = if drawn { "info" } else { "report" };
    let why = match ranks_inside(directory) {
        0 => String::new(),
        1 => "   (1 rank was inside MPI when it ended: shows what it waited for)".to_owned(),
        ranks => format!("   ({ranks} ranks were inside MPI when they ended: shows what they waited for)"),
    };
    lines.push(line("next", &format!("kizami {next} {name}{why}")));
    lines
}

/// Ranks that were inside a call when they ended.
fn ranks_inside(directory: &Path) -> usize {
    let calls = Trace::open(directory).and_then(|trace| trace.rows_of::<UnderWay>()).unwrap_or_default();
    let mut ranks: Vec<Rank> = calls.iter().map(|call| call.rank).collect();
    ranks.dedup();
    ranks.len()
}

/// After a recording that was left as it is.
pub fn not_sealed(directory: &Path) -> Vec<String> {
    let name = as_typed(directory);
    vec![line("recorded", &format!("{name}, not sealed yet")), line("next", &format!("kizami seal {name}"))]
}

/// Inside a launcher, after the first rank that ended, if it did not end well.
pub fn first_failure(directory: &Path, rank: u32, exit_code: u8) -> Vec<String> {
    let name = as_typed(directory);
    let text = format!(
        "rank {rank} ended with code {exit_code}; if the launcher ends the others: kizami seal {name}"
    );
    vec![line("note", &text)]
}

/// After a run that left no segment.
pub fn nothing_recorded(folder: &Path, exit_code: u8) -> Vec<String> {
    if disk::free_bytes(folder).is_some_and(|free| free < FULL_DISK_BYTES) {
        let text = format!(
            "nothing: the disk is full; free some space, or record to another directory than {}",
            as_typed(folder)
        );
        return vec![line("recorded", &text)];
    }
    if exit_code != 0 {
        // Most often the launcher itself refused; it has said why.
        let text = format!("nothing: the program ended with code {exit_code} before any MPI call was seen");
        return vec![line("recorded", &text)];
    }
    vec![
        line("recorded", "nothing: no process made an MPI call that the tracer could see"),
        line("check", "`ldd PROGRAM` lists libmpi or libmpich: statically linked MPI cannot be recorded"),
        line("check", "LD_PRELOAD reaches the ranks: `kizami doctor` tests this with every launcher"),
    ]
}

/// One line with its label.
pub fn line(label: &str, text: &str) -> String {
    format!("{} {text}", Paint::stderr().label(&format!("kizami: {label:<9}")))
}

/// Parallel regions that were run, and tasks made in them.
fn regions_and_tasks(directory: &Path) -> Option<(u64, u64)> {
    let trace = Trace::open(directory).ok()?;
    let rows = trace.parts_of::<ParallelRow>().ok()?.flatten().flatten();
    Some(rows.fold((0, 0), |(regions, tasks), row| (regions + 1, tasks + row.tasks)))
        .filter(|(regions, _)| *regions > 0)
}

fn recorded(directory: &Path, run: &RunInfo) -> String {
    let totals = &run.totals;
    let mut what = vec![quantity::counted(totals.events, "event")];
    if let Some((regions, tasks)) = regions_and_tasks(directory) {
        what.push(quantity::counted(regions, "parallel region"));
        what.extend((tasks > 0).then(|| quantity::counted(tasks, "task")));
        if totals.events == 0 {
            what.remove(0);
        }
    }
    let size: u64 = run.files.iter().map(|file| file.bytes).sum();
    let folded = if totals.calls > totals.events {
        format!(" ({} calls)", quantity::count(totals.calls))
    } else {
        String::new()
    };
    format!(
        "{}{folded} of {} in {}; {} on disk",
        what.join(", "),
        quantity::counted(u64::from(run.ranks), "rank"),
        quantity::duration(Length(run.span_ns)),
        quantity::bytes(size),
    )
}

/// One line if all is well, two at most if not.
fn health(run: &RunInfo) -> Vec<String> {
    let paint = Paint::stderr();
    let doubtful = |text: &str| line("health", &paint.doubtful(text));
    match run.health.problems.as_slice() {
        [] if run.health.complete => vec![line("health", &paint.good("complete"))],
        [] => vec![doubtful("not complete")],
        [only] => vec![doubtful(only)],
        [first, second] => vec![doubtful(first), doubtful(second)],
        [first, rest @ ..] => {
            vec![doubtful(first), doubtful(&format!("and {} more problems (see kizami info)", rest.len()))]
        }
    }
}
