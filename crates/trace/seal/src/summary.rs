//! What `run.json` says: who ran, what it adds up to, and what is missing.
//!
//! Problems are listed once for all ranks that share them, so that a million ranks killed together make one
//! sentence.

use super::clock::{ClockMethod, RunClock};
use super::discover::{Process, Recorded};
use super::names::{CounterUse, Names};
use super::rank::RankOutcome;
use super::tables::hosts_of;
use kizami_model::counter::{COUNTERS, Counter};
use kizami_model::{Ending, Length, Moment, Rank};
use kizami_records::Unrecorded;
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::{Pid, RankInfo};
use kizami_trace::disturbance::Disturbance;
use kizami_trace::run::{ClockInfo, CounterInfo, Health, MessageOrder, RunInfo, SCHEMA, Watched, utc};
use kizami_trace::write::{OpTotals, summary};
use std::collections::BTreeMap;
use std::path::Path;

/// Damaged ranks described one by one; the others are counted.
const DAMAGE_LISTED: usize = 20;

/// The table of ranks.
pub(crate) fn rank_infos(recorded: &Recorded, clock: &RunClock, outcomes: &[RankOutcome]) -> Vec<RankInfo> {
    let mut outcomes = outcomes.iter().peekable();
    let ranks = recorded.ranks.iter().zip(0u32..);
    ranks
        .map(|(process, rank)| {
            let outcome = outcomes.next_if(|outcome| outcome.rank == rank);
            match process {
                Some(process) => rank_info(rank, process, clock, outcome),
                None => RankInfo::absent(Rank(rank)),
            }
        })
        .collect()
}

/// `ENOBUFS`: the tracer's word for a window that was full and not to be drained.
const NO_ROOM: u32 = 105;
/// `EMSGSIZE`: its word for a call with a list of requests longer than a chunk.
const TOO_LONG: u32 = 90;

fn rank_info(rank: u32, process: &Process, clock: &RunClock, outcome: Option<&RankOutcome>) -> RankInfo {
    let headers = || process.segments().map(|segment| &segment.header);
    let ending = ending(process);
    let aborted = headers().find(|header| header.ending == Ending::Aborted);
    let lost = headers().find(|header| header.lost_calls > 0);
    let lost_reason = lost.map(|header| match header.lost_errno {
        0 => "no reason was recorded".to_owned(),
        NO_ROOM => "the memory given for the trace was full, and nothing was to be written out".to_owned(),
        TOO_LONG => "they complete more requests than one record can hold".to_owned(),
        errno => error_text(errno),
    });
    RankInfo {
        host: headers().find_map(|header| clock.host_of(header)).map(|host| host as u32),
        pid: headers().next().map(|header| Pid(header.pid)),
        threads: process.threads(),
        ending,
        abort_code: aborted.map(|header| header.abort_code),
        last_call: outcome.and_then(|outcome| Some(outcome.under_way.first()?.op.name().to_owned())),
        lost_calls: headers().map(|header| header.lost_calls).fold(0, u64::saturating_add),
        lost_reason,
        first: outcome.and_then(|outcome| outcome.first_ns).map(Moment),
        last: outcome.and_then(|outcome| outcome.last_ns).map(Moment),
        calls: outcome.map_or(0, |outcome| outcome.calls),
        mpi: Length(outcome.map_or(0, |outcome| outcome.mpi_ns)),
        overhead: outcome.map(|outcome| Length(outcome.loss().overhead_ns)),
        cores: outcome.and_then(|outcome| outcome.cores.clone()),
        off_core: outcome.and_then(|outcome| outcome.cores.as_ref().map(|_| Length(outcome.off_core_ns))),
        damage: outcome.and_then(|outcome| outcome.damage.clone()),
        ..RankInfo::absent(Rank(rank))
    }
}

/// How a process ended: whatever any of its segments knows.
fn ending(process: &Process) -> Ending {
    let endings = || process.segments().map(|segment| segment.header.ending);
    let known = [Ending::Aborted, Ending::Finalized, Ending::Exited];
    let found = known.into_iter().find(|known| endings().any(|ending| ending == *known));
    found.unwrap_or(if process.running { Ending::Running } else { Ending::Vanished })
}

/// What is missing, damaged or ended badly.
pub(crate) fn health(recorded: &Recorded, clock: &RunClock, names: &Names, ranks: &[RankInfo]) -> Health {
    let unrecorded: Vec<String> =
        names.unrecorded.iter().map(|(what, ranks)| unrecorded(what, ranks)).collect();
    let mut problems = unrecorded.clone();
    problems.extend(recorded.problems.iter().cloned());
    problems.extend(clock.problems.iter().cloned());
    let mut alike: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut lost_calls = 0;
    for rank in ranks {
        let is_well = recorded.without_mpi && rank.ending == Ending::Exited;
        if let Some(problem) = ended_badly(rank).filter(|_| !is_well) {
            alike.entry(problem).or_default().push(rank.rank.0);
        }
        if rank.lost_calls > 0 {
            let reason = rank.lost_reason.as_deref().unwrap_or("no reason was recorded");
            lost_calls += rank.lost_calls;
            let problem = format!("made calls that could not be stored ({reason})");
            alike.entry(problem).or_default().push(rank.rank.0);
        }
    }
    problems.extend(alike.into_iter().map(|(problem, ranks)| format!("{} {problem}", rank_list(&ranks))));
    if lost_calls > 0 {
        problems.push(format!("{lost_calls} calls were lost; lost_calls in defs/ranks says whose"));
    }
    let damaged = ranks.iter().filter_map(|rank| Some((rank.rank, rank.damage.as_ref()?)));
    problems
        .extend(damaged.clone().take(DAMAGE_LISTED).map(|(rank, damage)| format!("rank {rank}: {damage}")));
    let unlisted = damaged.count().saturating_sub(DAMAGE_LISTED);
    if unlisted > 0 {
        problems.push(format!("{unlisted} more ranks left damaged segments; see defs/ranks"));
    }
    let running = ranks.iter().filter(|rank| rank.ending == Ending::Running).count();
    if running > 0 {
        let all =
            if running == ranks.len() { "all".to_owned() } else { format!("{running} of {}", ranks.len()) };
        problems.push(format!("the run goes on ({all} ranks): this is a snapshot of it"));
    }
    Health { complete: problems.is_empty(), problems, unrecorded }
}

/// What was not recorded, why, and what can be done about it.
fn unrecorded((reason, module): &(Unrecorded, String), ranks: &[u32]) -> String {
    let ranks = rank_list(ranks);
    let file = module.rsplit('/').next().unwrap_or(module);
    match reason {
        Unrecorded::MpiBefore => format!(
            "MPI calls of {file} before it was noticed are not recorded ({ranks}): it was loaded while MPI was hidden from it; \
             preload the MPI library (LD_PRELOAD) to record them"
        ),
        Unrecorded::Mpi => format!("MPI calls of {file} are not recorded ({ranks}): it bypasses the tracer"),
        Unrecorded::OtherMpi => {
            format!(
                "MPI calls of {file} are not recorded ({ranks}): it uses another MPI library than the program"
            )
        }
        Unrecorded::OtherRuntime => format!(
            "OpenMP run by {file} is not recorded and counts as computation ({ranks}): \
             another OpenMP runtime of the process is recorded"
        ),
        Unrecorded::OtherTool => {
            format!(
                "OpenMP run by {file} is not recorded and counts as computation ({ranks}): another OMPT tool is active"
            )
        }
        Unrecorded::Namespace => format!(
            "MPI and OpenMP of {file} and its libraries are not recorded ({ranks}): it was loaded by dlmopen"
        ),
        Unrecorded::NoTool => format!(
            "OpenMP run by {file} is not recorded and counts as computation ({ranks}): OMP_TOOL=disabled"
        ),
        Unrecorded::OpenMp => {
            format!(
                "OpenMP of {file} is not recorded and counts as computation ({ranks}): it bypasses the tracer"
            )
        }
    }
}

fn ended_badly(rank: &RankInfo) -> Option<String> {
    let inside = rank.last_call.as_ref().map_or_else(String::new, |call| format!(" inside {call}"));
    match rank.ending {
        Ending::Finalized | Ending::Running => None,
        Ending::Vanished if rank.pid.is_none() => Some(
            "left no data: never started, not traced, or on a host whose segments are missing".to_owned(),
        ),
        Ending::Vanished => Some(format!(
            "ended{inside} without MPI_Finalize, MPI_Abort or exit: killed, crashed or left by _exit"
        )),
        Ending::Exited => Some(format!("exited{inside} without MPI_Finalize")),
        Ending::Aborted => {
            let code = rank.abort_code.unwrap_or_default();
            Some(format!("called MPI_Abort with code {code}"))
        }
    }
}

/// `rank 3`, `ranks 0-5, 8`; cut after a few ranges.
fn rank_list(ranks: &[u32]) -> String {
    const SHOWN: usize = 16;
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == *rank => *end = *rank,
            _ => ranges.push((*rank, *rank)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let shown: Vec<String> = ranges.iter().take(SHOWN).map(text).collect();
    let more =
        if ranges.len() > SHOWN { format!(" and others, {} in all", ranks.len()) } else { String::new() };
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}{more}", shown.join(", "))
}

/// What `run.json` is made from.
pub(crate) struct SummaryInput<'a> {
    pub recorded: &'a Recorded,
    pub clock: &'a RunClock,
    pub names: &'a Names,
    pub ranks: &'a [RankInfo],
    pub totals: &'a OpTotals,
    pub disturbance: Disturbance,
    pub health: Health,
    /// Until when the run was watched, if that is known.
    pub watched: Option<Watched>,
    /// What was found about messages, if there are several hosts.
    pub messages: Option<MessageOrder>,
    pub files: &'a [WrittenFile],
    /// The folder `files` are in.
    pub folder: &'a Path,
}

/// Puts `run.json` together.
pub(crate) fn run_info(input: SummaryInput<'_>) -> RunInfo {
    let SummaryInput { recorded, clock, ranks, totals, .. } = input;
    let headers =
        || recorded.ranks.iter().flatten().flat_map(Process::segments).map(|segment| &segment.header);
    let first_text = |text: fn(&kizami_segment::HeaderView) -> &String| {
        headers().map(text).find(|text| !text.is_empty()).cloned().unwrap_or_default()
    };
    let mut hosts: Vec<String> = clock.hosts.iter().map(|host| host.name.clone()).collect();
    hosts.sort();
    hosts.dedup();
    RunInfo {
        schema: SCHEMA.to_owned(),
        executable: first_text(|header| &header.executable),
        command: input.names.command.clone(),
        hosts,
        mpi_library: first_text(|header| &header.library),
        started_unix_ns: clock.started_unix_ns,
        started_utc: utc(clock.started_unix_ns),
        ranks: ranks.len() as u32,
        threads: ranks.iter().map(|rank| rank.threads).fold(0, u32::saturating_add),
        span_ns: ranks.iter().filter_map(|rank| rank.last).map(|last| last.0).max().unwrap_or(0),
        totals: summary::sums(totals, ranks),
        health: input.health,
        clocks: clock_info(clock, input.messages),
        counters: counters(input.names),
        disturbance: Some(input.disturbance),
        counted_tasks: None,
        stolen: None,
        undisturbed: None,
        replayed: None,
        reduced: None,
        watched: input.watched,
        functions: totals.by_function(),
        rank_summaries: summary::summaries(ranks, &hosts_of(clock)),
        files: input.files.iter().map(|file| summary::entry(file, input.folder)).collect(),
    }
}

fn clock_info(clock: &RunClock, messages: Option<MessageOrder>) -> ClockInfo {
    let method = clock.method();
    ClockInfo {
        aligned: method != ClockMethod::WallClock,
        note: clock.note(),
        method: method.name().to_owned(),
        bound_ns: clock.bound_ns(),
        messages,
    }
}

/// What the system calls an error, without its number.
fn error_text(errno: u32) -> String {
    let text = std::io::Error::from_raw_os_error(errno as i32).to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn counters(names: &Names) -> Vec<CounterInfo> {
    let known = names.counters.iter().filter_map(|(number, used)| Some((COUNTERS.get(*number)?, used)));
    let info = |(counter, used): (&Counter, &CounterUse)| CounterInfo {
        name: counter.name.to_owned(),
        column: counter.column.to_owned(),
        ranks: used.ranks,
        refused: used.refused.map(error_text),
    };
    known.map(info).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_in_ranges() {
        assert_eq!(rank_list(&[3]), "rank 3");
        assert_eq!(rank_list(&[0, 1, 2, 5, 7, 8]), "ranks 0-2, 5, 7-8");
        let even: Vec<u32> = (0..100).map(|n| 2 * n).collect();
        assert!(rank_list(&even).ends_with("and others, 100 in all"));
    }
}
