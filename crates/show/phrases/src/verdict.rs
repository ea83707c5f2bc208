//! The first lines of a report: program, efficiency, cost of findings, and warnings.

use crate::cores;
use crate::hang;
use crate::nothing;
use crate::program;
use crate::quantity::{self, percent};
use kizami_explain::{
    Cause, Disease, Efficiency, Finding, Gain, Headline, NothingFound, Report, SourceLine, Threads,
};
use kizami_model::Length;
use std::collections::BTreeSet;

/// The smallest error shown, as a part of the run.
const SMALLEST_ERROR: f64 = 0.0005;

/// One of the factors that parallel efficiency is made of.
pub struct Factor {
    /// As it is called.
    pub name: &'static str,
    /// From 0 to 1.
    pub value: f64,
    /// What it is a ratio of.
    pub formula: &'static str,
    /// The ratio in numbers.
    pub numbers: String,
}

/// Parallel efficiency in its factors: that of cores first, if ranks had none for a part of their time.
pub fn factors(report: &Report) -> Vec<Factor> {
    let Efficiency { average_computation_ns, longest_computation_ns, ideal_ns, .. } = report.efficiency;
    let ratio = |part, whole| format!("{} / {}", duration(part), duration(whole));
    let own_ns = report.efficiency.own_cores_ns;
    let cores = report.efficiency.cores.zip(own_ns).map(|(value, own_ns)| Factor {
        name: "core availability",
        value,
        formula: "run with own cores / run",
        numbers: ratio(own_ns, report.run_ns),
    });
    let of_run = [
        Factor {
            name: "load balance",
            value: report.efficiency.load_balance,
            formula: "average / longest computation",
            numbers: ratio(average_computation_ns, longest_computation_ns),
        },
        Factor {
            name: "serialisation",
            value: report.efficiency.serialisation,
            formula: "longest computation / run on an ideal network",
            numbers: ratio(longest_computation_ns, ideal_ns),
        },
        Factor {
            name: "transfer",
            value: report.efficiency.transfer,
            formula: if own_ns.is_some() {
                "run with own cores on an ideal network / run with own cores"
            } else {
                "run on an ideal network / run"
            },
            numbers: ratio(ideal_ns, own_ns.unwrap_or(report.run_ns)),
        },
    ];
    cores.into_iter().chain(of_run).collect()
}

/// Warnings that precede the verdict: what was not recorded, why the run hangs, or cores that ranks did not have. Ranks that
/// hang wait for each other, however many cores there are.
pub fn warnings(report: &Report) -> impl Iterator<Item = String> {
    let hang = report.hang.iter().flat_map(hang::sentences);
    let cores = report.shared_cores.iter().filter(|_| report.hang.is_none()).flat_map(cores::sentences);
    let stolen = report.stolen.map(cores::stolen);
    report.not_understood.unrecorded.iter().cloned().chain(stolen).chain(cores).chain(hang)
}

/// What the program is called.
pub fn program(report: &Report) -> String {
    program::name(&report.executable, &report.command)
}

/// What ran, on how many ranks, for how long.
pub fn headline(report: &Report, name: impl Fn(&str) -> String) -> String {
    let ranks = quantity::counted(u64::from(report.ranks), "rank");
    format!("{} on {ranks}: {}", name(&program(report)), duration(report.run_ns))
}

/// The error of efficiencies, if there is one.
pub fn efficiency_error(report: &Report) -> String {
    report.efficiency.error.map_or(String::new(), |error| format!(" +- {}", percent(error)))
}

/// Parallel efficiency as a product, and how long the run takes without what its factors stand for.
pub fn product(report: &Report, value: impl Fn(f64) -> String) -> [String; 2] {
    let factors: Vec<String> =
        factors(report).iter().map(|factor| format!("{} {}", factor.name, value(factor.value))).collect();
    let ideal = duration(report.efficiency.ideal_ns);
    let runs = match report.efficiency.own_cores_ns {
        Some(own_ns) => format!("{} with own cores, {ideal} if the network is ideal too", duration(own_ns)),
        None => format!("{ideal} on an ideal network"),
    };
    [format!("= {}", factors.join(" x ")), runs]
}

/// How much of their time the threads of ranks compute.
pub fn threads(told: &Threads, value: impl Fn(f64) -> String) -> String {
    format!(
        "{} compute {} of their time = MPI {} x OpenMP {}; {} in parallel regions",
        quantity::counted(u64::from(told.threads), "thread"),
        value(told.useful),
        value(told.mpi),
        value(told.openmp),
        value(told.in_regions),
    )
}

/// How much of the time that counts as computation threads slept; nothing if that is hardly any.
pub fn asleep(threads: &Threads) -> Option<String> {
    /// A part of all their time.
    const LEAST: f64 = 0.01;
    let share = threads.asleep_ns? as f64 / threads.all_ns.max(1) as f64;
    (share >= LEAST).then(|| {
        format!(
            "inside parallel regions they sleep or wait in the system for {} of their time, which counts as computation",
            percent(share)
        )
    })
}

/// Says that the run was reconstructed.
pub fn reconstructed(report: &Report) -> Option<String> {
    report.reconstructed.as_ref().map(|drawn| {
        let calls = quantity::counted(drawn.calls, "call");
        format!(
            "reconstructed from {} of {calls}; +- is the estimated error",
            quantity::count(drawn.rows_kept)
        )
    })
}

/// What follows the findings: that a reduced trace does not tell all, that some calls could not be analysed, or have no
/// names.
pub fn doubts(report: &Report) -> impl Iterator<Item = String> {
    unknown(report).into_iter().chain(not_analysed(report)).chain(without_names(report))
}

/// Says what a reduced trace does not know of the time in calls, unless the sentence of a run without findings does.
pub fn unknown(report: &Report) -> Option<String> {
    let (share, most) = report.long_unknown()?;
    let is_said =
        report.findings.is_empty() && matches!(report.nothing_found(), NothingFound::Unknown { .. });
    (!is_said).then(|| nothing::unknown(share, &most.function, &most.place))
}

fn not_analysed(report: &Report) -> Option<String> {
    let calls = report.not_understood.unmatched + report.not_understood.not_followed;
    (calls > 0).then(|| {
        let all = quantity::count(report.events);
        format!(
            "{} of {all} could not be analysed; see the end of the report",
            quantity::counted(calls, "call")
        )
    })
}

/// Says how to get names for the places of findings, or where there is none for those with the most waiting, that have none.
fn without_names(report: &Report) -> Option<String> {
    /// Places without findings that are looked at.
    const PLACES: usize = 4;
    let waits = report.waits_by_place.iter().filter_map(|wait| Some(&wait.at.as_ref()?.1)).take(PLACES);
    let places: Vec<&SourceLine> = match report.findings.as_slice() {
        [] => waits.collect(),
        findings => findings.iter().map(|finding| &finding.place).collect(),
    };
    let nameless = places.into_iter().filter(|place| !place.has_name() && !place.is_unknown());
    // An interpreter's own functions would say nothing of the program.
    let is_program = |module: &&str| !program::is_interpreter(module.strip_prefix("lib").unwrap_or(module));
    let modules: BTreeSet<&str> =
        nameless.filter_map(|place| Some(place.function.rsplit_once("+0x")?.0)).filter(is_program).collect();
    let (have, names) = match modules.len() {
        0 => return None,
        1 => ("has", modules.into_iter().collect::<String>()),
        _ => ("have", modules.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Some(format!(
        "{names} {have} no symbols, so calls are shown by their offset. Build with -g, or install debug symbols \
         (Debian: packages that end in -dbgsym), and record again."
    ))
}

/// What a finding costs, and what fixing it would gain.
pub fn cost(report: &Report, finding: &Finding) -> String {
    let waiting = (finding.waiting_ns > 0).then(|| waiting(report, finding));
    let parts: Vec<String> = waiting.into_iter().chain(gain(finding)).collect();
    parts.join("; ")
}

/// How long others waited; in a reconstructed run with its error, by the time in the calls they waited in.
fn waiting(report: &Report, finding: &Finding) -> String {
    let waiting_ns = finding.all_waiting_ns();
    let error_ns = report.reconstruction_error_ns(finding.waiting_in.as_ref());
    let error = error_ns.map_or(String::new(), |ns| format!(" +- {}", duration(ns)));
    format!("{}{error} of waiting, {} of all ranks' time", duration(waiting_ns), percent(finding.share))
}

/// What fixing it would gain, if that is known: the expected gain first.
fn gain(finding: &Finding) -> Option<String> {
    let expected = finding.expected()?;
    let most = if finding.at_most { "at most " } else { "" };
    let first = if finding.after_first { "once finding 1 is fixed, " } else { "" };
    let moved = finding.disease() == Disease::LockContention && finding.cause == Cause::Computation;
    let balancing = if moved { "doing it before the lock is taken" } else { "balancing it" };
    let removing = repairing(finding);
    let saves = format!("saves {most}{}: {}", duration(expected.ns), gain_share(expected));
    Some(match (finding.headline, finding.gain, finding.balanced) {
        (Headline::Balanced, Some(gone), Some(_)) => {
            format!("{first}{balancing} {saves}; removing it, {}", percent(gone.share))
        }
        // Where the replay puts work may be the wrong place: what then gains nothing says nothing.
        (Headline::Gain, _, Some(balanced)) if balanced.ns > balanced.error_ns => {
            format!("{removing} {saves}; {balancing}, {}", percent(balanced.share))
        }
        (Headline::Balanced, None, Some(_)) => format!("{first}{balancing} {saves}"),
        _ => format!("{first}{removing} {saves}"),
    })
}

/// What the replay does that shows the gain.
fn repairing(finding: &Finding) -> &'static str {
    match finding.disease() {
        Disease::RandomImbalance if finding.at_most => "synchronising less often",
        Disease::SlowRanks => "making them as fast as the others",
        Disease::TaskFarmTail => "ending on all workers at the same time",
        Disease::LateReceiver => "posting it early",
        Disease::WrongOrder => "receiving in the order of arrival",
        Disease::PipelineFill => "using blocks of an eighth of the size",
        Disease::SerialisedSection => "doing it on all ranks at once",
        Disease::NeedlessBarrier | Disease::NeedlessCollective => "leaving it out",
        Disease::CollectionLoop => "using a collective",
        Disease::RepeatedCommunicator => "creating it once",
        Disease::SmallMessages | Disease::TinyCollectives => "merging them",
        Disease::SystemNoise => "giving every thread its own core",
        Disease::HotReceiver => "receiving the same amount on all ranks",
        Disease::Alltoall | Disease::Transfer => "removing the transfer",
        Disease::ThreadImbalance => "dividing the work evenly",
        Disease::SerialPart => "parallelising it",
        Disease::ThreadWaits | Disease::ThreadLocks => "not waiting there",
        Disease::FewThreads => "using all threads",
        Disease::TaskChain => "making these tasks independent",
        _ => "removing it",
    }
}

/// A gain as a part of the run, with its error.
pub fn gain_share(gain: Gain) -> String {
    let but = if gain.noise_left_out { " (without noise)" } else { "" };
    format!("{} +- {} of the run{but}", percent(gain.share), percent(gain.share_error.max(SMALLEST_ERROR)))
}

fn duration(ns: i64) -> String {
    quantity::duration(Length(ns))
}
