//! Tasks: what the table of processors does not say by itself.

use crate::quantity::{duration, percent};
use kizami_model::Length;

/// Why a simulated schedule is longer than one that leaves no thread idle while a task is ready.
pub fn idle_with_tasks(strategy: &str) -> String {
    let runtime = match strategy {
        "gnu" => "GNU's runtime",
        _ => "LLVM's runtime",
    };
    format!(
        "{runtime} leaves threads idle while tasks are ready (a thread whose task waits may run only some of them), so \
         \"at most\" is little less than all tasks one after the other."
    )
}

/// How much of the work tasks slept, or waited for files, locks or other threads.
pub fn asleep(asleep: Length, work: Length) -> String {
    let share = percent(asleep.0 as f64 / work.0.max(1) as f64);
    format!("{}, {share} of the work: tasks sleep or wait in the system, and need no core", duration(asleep))
}
