//! The first lines of a report: run time, efficiency, and what costs most.

use crate::show::quantity;
use crate::show::style::Paint;
use kizami_explain::{Finding, Report};
use kizami_model::Nanos;

/// Findings that are told.
const MOST_FINDINGS: usize = 5;
/// A finding that costs less than this part of all time is not told, unless it is the first.
const WORTH_TELLING: f64 = 0.005;
/// Efficiencies below these are doubtful, and bad.
const DOUBTFUL: f64 = 0.9;
const BAD: f64 = 0.7;

/// At most 15 lines.
pub fn lines(report: &Report, paint: Paint) -> Vec<String> {
    let name = report.executable.rsplit('/').next().unwrap_or(&report.executable);
    let ranks = quantity::counted(u64::from(report.ranks), "rank");
    let efficiency = &report.efficiency;
    let mut lines = vec![
        format!(
            "{} on {ranks}: {}, parallel efficiency {}",
            paint.heading(name),
            quantity::duration(Nanos(report.run_ns)),
            painted(efficiency.parallel, paint)
        ),
        format!(
            "  = load balance {} x serialisation {} x transfer {}; {} on an ideal network",
            painted(efficiency.load_balance, paint),
            painted(efficiency.serialisation, paint),
            painted(efficiency.transfer, paint),
            quantity::duration(Nanos(efficiency.ideal_ns)),
        ),
    ];
    let told: Vec<&Finding> = told(report);
    if told.is_empty() {
        lines.push("No rank kept others waiting for long.".to_owned());
    }
    for (number, finding) in (1..).zip(told) {
        lines.push(format!("{number}. {}", finding.sentence));
        lines.push(format!("   {}", paint.label(&cost(finding))));
    }
    let left = &report.not_understood;
    if left.unmatched + left.not_followed > 0 {
        let calls = quantity::counted(left.unmatched + left.not_followed, "call");
        let all = quantity::count(report.events);
        lines.push(paint.doubtful(&format!("{calls} of {all} could not be followed; see the end")));
    }
    lines
}

/// The findings worth telling, the worst first.
pub fn told(report: &Report) -> Vec<&Finding> {
    let worth = |(number, finding): &(usize, &Finding)| *number == 0 || finding.share >= WORTH_TELLING;
    let first = report.findings.iter().take(MOST_FINDINGS).enumerate();
    first.filter(worth).map(|(_, finding)| finding).collect()
}

/// What a finding costs, and what fixing it would gain.
pub fn cost(finding: &Finding) -> String {
    let waiting_ns = finding.waiting_ns + finding.propagated_ns;
    let waiting = format!(
        "{} of waiting, {} of all time",
        quantity::duration(Nanos(waiting_ns)),
        percent(finding.share)
    );
    match finding.gain {
        Some(gain) => format!(
            "{waiting}; without it the run takes {} less: {} +- {}",
            quantity::duration(Nanos(gain.ns)),
            percent(gain.share),
            percent(gain.share_error.max(0.0005))
        ),
        None => waiting,
    }
}

/// A part as percent.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

fn painted(efficiency: f64, paint: Paint) -> String {
    let text = percent(efficiency);
    match efficiency {
        low if low < BAD => paint.bad(&text),
        low if low < DOUBTFUL => paint.doubtful(&text),
        _ => paint.good(&text),
    }
}
