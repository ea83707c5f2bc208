//! The first lines of a report: what ran, how well, what a finding costs, and what is to be warned of.

use crate::hang;
use crate::quantity::{self, percent};
use kizami_explain::{Efficiency, Finding, Gain, Headline, Report, Threads};
use kizami_model::Length;

/// Errors are not said to be smaller than this part of the run.
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

/// Parallel efficiency in three factors.
pub fn factors(report: &Report) -> [Factor; 3] {
    let Efficiency { average_computation_ns, longest_computation_ns, ideal_ns, .. } = report.efficiency;
    let ratio = |part, whole| format!("{} / {}", duration(part), duration(whole));
    [
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
            formula: "run on an ideal network / run",
            numbers: ratio(ideal_ns, report.run_ns),
        },
    ]
}

/// What must be known before anything else is believed, sentence by sentence: what was not recorded, and why the run does not
/// go on.
pub fn warnings(report: &Report) -> impl Iterator<Item = String> {
    let stuck = report.stuck.iter().flat_map(hang::sentences);
    report.not_understood.unrecorded.iter().cloned().chain(stuck)
}

/// The program's name without its folder.
pub fn program(report: &Report) -> &str {
    program_name(&report.executable)
}

/// The name of a program, by the path of its executable.
pub fn program_name(executable: &str) -> &str {
    match executable.rsplit('/').next() {
        None | Some("") => "unknown program",
        Some(name) => name,
    }
}

/// What ran, on how many ranks, for how long.
pub fn headline(report: &Report, name: impl Fn(&str) -> String) -> String {
    let ranks = quantity::counted(u64::from(report.ranks), "rank");
    format!("{} on {ranks}: {}", name(program(report)), duration(report.run_ns))
}

/// How far efficiencies may be off, if that is more than nothing.
pub fn efficiency_error(report: &Report) -> String {
    report.efficiency.error.map_or(String::new(), |error| format!(" +- {}", percent(error)))
}

/// Parallel efficiency as a product, and the run on an ideal network.
pub fn product(report: &Report, value: impl Fn(f64) -> String) -> String {
    let factors = factors(report).map(|factor| format!("{} {}", factor.name, value(factor.value)));
    format!("= {}; {} on an ideal network", factors.join(" x "), duration(report.efficiency.ideal_ns))
}

/// How much of their time the threads of ranks compute.
pub fn threads(told: &Threads, value: impl Fn(f64) -> String) -> String {
    format!(
        "{} compute {} of their time = MPI {} x OpenMP {}; of that in parallel regions {}",
        quantity::counted(u64::from(told.threads), "thread"),
        value(told.useful),
        value(told.mpi),
        value(told.openmp),
        value(told.in_regions),
    )
}

/// Says that the run was reconstructed.
pub fn reconstructed(report: &Report) -> Option<String> {
    report.reconstructed.as_ref().map(|drawn| {
        let calls = quantity::counted(drawn.calls, "call");
        format!("drawn from {} of {calls}: +- says how far it is off", quantity::count(drawn.rows_kept))
    })
}

/// Says that not everything could be followed.
pub fn doubts(report: &Report) -> Option<String> {
    let calls = report.not_understood.unmatched + report.not_understood.not_followed;
    (calls > 0).then(|| {
        let all = quantity::count(report.events);
        format!("{} of {all} could not be followed; see the end", quantity::counted(calls, "call"))
    })
}

/// What a finding costs, and what fixing it would gain.
pub fn cost(report: &Report, finding: &Finding) -> String {
    let waiting = (finding.waiting_ns > 0).then(|| waiting(report, finding));
    let parts: Vec<String> = waiting.into_iter().chain(gain(finding)).collect();
    parts.join("; ")
}

/// How long others waited; in a run that was drawn with how far that may be off, by the time in the calls they waited in.
fn waiting(report: &Report, finding: &Finding) -> String {
    let waiting_ns = finding.all_waiting_ns();
    let error_ns = report.reconstruction_error_ns(finding.waiting_in.as_ref());
    let error = error_ns.map_or(String::new(), |ns| format!(" +- {}", duration(ns)));
    format!("{}{error} of waiting, {} of all time", duration(waiting_ns), percent(finding.share))
}

/// What fixing it would gain, if that is known: first what is to be expected.
fn gain(finding: &Finding) -> Option<String> {
    let expected = finding.expected()?;
    let most = if finding.at_most { "at most " } else { "" };
    let takes = format!("the run takes {most}{} less: {}", duration(expected.ns), gain_share(expected));
    Some(match (finding.headline, finding.gain, finding.balanced) {
        (Headline::Balanced, Some(gone), Some(_)) => {
            format!("spread over all ranks, {takes}; were it gone: {}", percent(gone.share))
        }
        // Where the replay puts work may be the wrong place: what then gains nothing says nothing.
        (Headline::Gain, _, Some(balanced)) if balanced.ns > balanced.error_ns => {
            format!("without it {takes}; spread over all ranks: {}", percent(balanced.share))
        }
        _ => format!("without it {takes}"),
    })
}

/// A gain as a part of the run, with its error.
pub fn gain_share(gain: Gain) -> String {
    let but = if gain.noise_left_out { " (noise left out)" } else { "" };
    format!("{} +- {}{but}", percent(gain.share), percent(gain.share_error.max(SMALLEST_ERROR)))
}

fn duration(ns: i64) -> String {
    quantity::duration(Length(ns))
}
