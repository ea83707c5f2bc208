//! How long a simulation will take and how much memory it needs, before it begins.
//!
//! What SimGrid does grows with the messages that calls consist of. How many those are follows from the kinds of calls; what
//! one takes was measured with some hundred ranks. It is right within a factor of three or so, which is enough to know whether
//! to wait for it.

use crate::script::{Action, Collective, Script};
use crate::supervise;
use crate::translate::Play;
use anyhow::{Result, bail};
use kizami_model::kind::CollectiveKind;

/// What a message and a call take, in seconds.
const A_MESSAGE_S: f64 = 15e-6;
const A_CALL_S: f64 = 2e-6;
/// So many messages at once on a link make each take twice as long.
const MANY_AT_ONCE: f64 = 10.0;
/// What a rank and a row need, in bytes.
const A_RANK_BYTES: f64 = 150e3;
const A_ROW_BYTES: f64 = 130.0;
/// Less is not worth a word.
const WORTH_REPORTING_S: f64 = 5.0;

/// Says it, if it will take a while or more memory than there is. Fails if it would take longer than it may.
pub fn warn(play: &Play, within_s: Option<f64>) -> Result<()> {
    let (seconds, bytes) = of(play);
    if within_s.is_some_and(|within_s| seconds > within_s) {
        bail!("the simulation would take about {}", duration(seconds));
    }
    let free = free_bytes().unwrap_or(f64::INFINITY);
    if bytes > free {
        supervise::say(&format!(
            "warning   the simulation needs about {:.1} GB, {:.1} GB are free; --fold may need less",
            bytes / 1e9,
            free / 1e9
        ));
    } else if seconds > WORTH_REPORTING_S {
        supervise::say(&format!(
            "note      the simulation will take about {} and {:.1} GB",
            duration(seconds),
            (bytes / 1e9).max(0.1)
        ));
    }
    Ok(())
}

/// Seconds and bytes.
fn of(play: &Play) -> (f64, f64) {
    let rows: usize = play.scripts.iter().map(|script| script.steps.len()).sum();
    let (calls, messages) = play
        .scripts
        .iter()
        .map(|script| work(script, play))
        .fold((0.0, 0.0), |(calls, messages), own| (calls + own.0, messages + own.1));
    let ranks = play.scripts.len() as f64;
    (calls * A_CALL_S + messages * A_MESSAGE_S, ranks * A_RANK_BYTES + rows as f64 * A_ROW_BYTES)
}

/// Calls and messages that a rank plays.
fn work(script: &Script, play: &Play) -> (f64, f64) {
    let steps = script.steps.iter().enumerate();
    let played = steps.filter(|(number, _)| !script.left_out.contains(number));
    played.fold((0.0, 0.0), |(calls, messages), (_, step)| {
        (calls + 1.0, messages + messages_of(&step.action, play))
    })
}

/// Messages that one rank's part in a call stands for.
fn messages_of(action: &Action, play: &Play) -> f64 {
    match action {
        Action::Send(..) | Action::SendLater(..) | Action::SendReceive(..) => 1.0,
        Action::Collective(collective) | Action::CollectiveLater(collective, _) => {
            messages_in(collective, play)
        }
        // All members tell all what they want.
        Action::NewCommunicator { parent, .. } => play.communicators[*parent as usize].members.len() as f64,
        Action::OnWindow(..) => 1.0,
        Action::Keep
        | Action::Look { .. }
        | Action::Receive(_)
        | Action::ReceiveLater(..)
        | Action::Probe(_)
        | Action::Complete(_) => 0.0,
    }
}

fn messages_in(collective: &Collective, play: &Play) -> f64 {
    use CollectiveKind::*;
    let members = play.communicators[collective.comm as usize].members.len().max(1) as f64;
    match collective.kind {
        // All are on their way at once and share links, which takes longer for each.
        Alltoall | Alltoallv | Alltoallw => (members - 1.0) * (1.0 + members / MANY_AT_ONCE),
        Allgather | Allgatherv | ReduceScatter => members - 1.0,
        Barrier | Allreduce | Scan | Exscan | ReduceScatterBlock => members.log2().ceil(),
        _ => 1.0,
    }
}

fn free_bytes() -> Option<f64> {
    let listed = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = listed.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<f64>().ok()? * 1024.0)
}

fn duration(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
