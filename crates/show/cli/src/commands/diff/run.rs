//! Comparing two runs, and judging by the conditions.

use super::arguments::DiffArguments;
use super::condition::Condition;
use super::show;
use crate::distributed::{self, Together};
use crate::input;
use crate::live;
use crate::show::json;
use crate::show::say;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::Result;
use kizami_explain::Report;
use kizami_explain::diff::Diff;
use std::io::Write;
use std::path::Path;

/// Exit code if a condition is true.
const CONDITION_TRUE: u8 = 3;
/// Changes shown unless all are asked for.
const ROWS_SHOWN: usize = 15;

/// Compares two traces.
pub fn run(arguments: &DiffArguments) -> Result<u8> {
    distributed::by_threads(arguments, arguments.threads, |together| {
        let before = explain(&arguments.before, arguments, together)?;
        let after = explain(&arguments.after, arguments, together)?;
        let code = match (before, after) {
            (Some(before), Some(after)) => print(arguments, &Diff::of(&before, &after))?,
            _ => 0,
        };
        // Launchers end all as soon as one ends with another code than the rest.
        Ok(together.said_by_first(code))
    })
}

/// What is to be said of one of them; nothing if it is another process that says it.
fn explain(path: &Path, arguments: &DiffArguments, together: Together) -> Result<Option<Report>> {
    let trace = input::open_together(&live::readable(path)?, together, arguments)?;
    let followed = input::follow_together(trace, arguments.threads, arguments.memory, together)?;
    let analysis = input::analyse(&followed, together.workers(arguments.threads))?;
    Ok(together.is_first().then(|| analysis.report(&followed.trace)))
}

fn print(arguments: &DiffArguments, diff: &Diff) -> Result<u8> {
    let mut out = text::stdout();
    if arguments.json {
        json::print(json::DIFF, diff)?;
    } else {
        show::print(&mut out, diff, Paint::stdout(), if arguments.all { usize::MAX } else { ROWS_SHOWN })?;
    }
    out.flush()?;
    Ok(judge(diff, &arguments.fail_if))
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
    say(&said);
    CONDITION_TRUE
}
