//! The first lines of a report: program, efficiency, cost of findings, and warnings.

use crate::hang;
use crate::program;
use crate::quantity::{self, percent};
use kizami_explain::{Efficiency, Finding, Gain, Headline, Report, Threads};
use kizami_model::Length;

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

/// Warnings that precede the verdict: what was not recorded, and why the run hangs.
pub fn warnings(report: &Report) -> impl Iterator<Item = String> {
    let hang = report.hang.iter().flat_map(hang::sentences);
    report.not_understood.unrecorded.iter().cloned().chain(hang)
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

/// Parallel efficiency as a product, and the run on an ideal network.
pub fn product(report: &Report, value: impl Fn(f64) -> String) -> String {
    let factors = factors(report).map(|factor| format!("{} {}", factor.name, value(factor.value)));
    format!("= {}; {} on an ideal network", factors.join(" x "), duration(report.efficiency.ideal_ns))
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

/// Says that some calls could not be analysed.
pub fn doubts(report: &Report) -> Option<String> {
    let calls = report.not_understood.unmatched + report.not_understood.not_followed;
    (calls > 0).then(|| {
        let all = quantity::count(report.events);
        format!(
            "{} of {all} could not be analysed; see the end of the report",
            quantity::counted(calls, "call")
        )
    })
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
    let saves = format!("saves {most}{}: {}", duration(expected.ns), gain_share(expected));
    Some(match (finding.headline, finding.gain, finding.balanced) {
        (Headline::Balanced, Some(gone), Some(_)) => {
            format!("balancing it {saves}; removing it, {}", percent(gone.share))
        }
        // Where the replay puts work may be the wrong place: what then gains nothing says nothing.
        (Headline::Gain, _, Some(balanced)) if balanced.ns > balanced.error_ns => {
            format!("removing it {saves}; balancing it, {}", percent(balanced.share))
        }
        _ => format!("removing it {saves}"),
    })
}

/// A gain as a part of the run, with its error.
pub fn gain_share(gain: Gain) -> String {
    let but = if gain.noise_left_out { " (without noise)" } else { "" };
    format!("{} +- {} of the run{but}", percent(gain.share), percent(gain.share_error.max(SMALLEST_ERROR)))
}

fn duration(ns: i64) -> String {
    quantity::duration(Length(ns))
}
