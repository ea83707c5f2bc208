//! Comparing two runs, and judging by the conditions.

use super::arguments::DiffArguments;
use super::condition::Condition;
use super::show;
use crate::input;
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
    let threads = arguments.threads.unwrap_or_else(input::all_cores);
    let report = |path: &Path| -> Result<Report> {
        let followed = input::open_to_follow(path, arguments.threads, arguments.memory)?;
        Ok(input::analyse(&followed, threads.into())?.report(&followed.trace))
    };
    let diff = Diff::of(&report(&arguments.before)?, &report(&arguments.after)?);
    let mut out = text::stdout();
    if arguments.json {
        json::print(json::DIFF, &diff)?;
    } else {
        show::print(&mut out, &diff, Paint::stdout(), if arguments.all { usize::MAX } else { ROWS_SHOWN })?;
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
    say(&said);
    CONDITION_TRUE
}
