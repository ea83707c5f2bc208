//! The first lines of a report: run time, efficiency, and what costs most.

use crate::show::quantity::percent;
use crate::show::style::Paint;
use crate::show::text::wrapped;
use kizami_explain::{Finding, Report};
use kizami_phrases::verdict::{
    asleep, cost, doubts, efficiency_error, headline, product, reconstructed, threads, warnings,
};
use kizami_phrases::{finding, nothing};

/// Findings that are shown.
const MOST_FINDINGS: usize = 4;
/// Efficiencies below these are doubtful, and bad.
const DOUBTFUL: f64 = 0.9;
const BAD: f64 = 0.7;

/// How good an efficiency is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    Good,
    Doubtful,
    Bad,
}

impl Grade {
    /// Of an efficiency from 0 to 1.
    pub fn of(efficiency: f64) -> Grade {
        match efficiency {
            low if low < BAD => Grade::Bad,
            low if low < DOUBTFUL => Grade::Doubtful,
            _ => Grade::Good,
        }
    }
}

/// Columns of both parts of a product that fit into a line.
const COLUMNS_OF_PRODUCT: usize = 97;

/// Headline, efficiency and findings, after the warnings.
pub fn lines(report: &Report, paint: Paint) -> Vec<String> {
    let efficiency = painted(report.efficiency.parallel, paint);
    let mut lines: Vec<String> =
        warnings(report).flat_map(|text| wrapped("", 0, &text)).map(|line| paint.bad(&line)).collect();
    let headline = headline(report, |name| paint.heading(name));
    if report.has_only_threads() {
        lines.push(headline);
    } else {
        lines.push(format!("{headline}, parallel efficiency {efficiency}{}", efficiency_error(report)));
        lines.extend(factors(report, paint));
    }
    let of_threads = report.threads.iter().map(|listed| threads(listed, |value| painted(value, paint)));
    lines.extend(of_threads.map(|text| format!("  {text}")));
    lines.extend(report.threads.iter().filter_map(asleep).map(|text| format!("  {text}")));
    lines.extend(reconstructed(report).map(|text| format!("  {}", paint.doubtful(&text))));
    let listed: Vec<&Finding> = listed(report);
    if listed.is_empty() && report.hang.is_none() {
        lines.extend(wrapped("", 0, &nothing::sentence(&report.nothing_found())));
    }
    for (number, finding) in (1..).zip(listed) {
        lines.extend(wrapped(&format!("{number}. "), 3, &finding::sentence(finding)));
        lines.extend(wrapped("   ", 3, &cost(report, finding)).iter().map(|line| paint.label(line)));
        let path = finding::path(finding).map(|path| wrapped("   ", 3, &path)).unwrap_or_default();
        lines.extend(path.iter().map(|line| paint.label(line)));
        lines.extend(wrapped("   ", 3, finding::advice(finding.disease())));
    }
    let doubts = doubts(report).flat_map(|text| wrapped("", 0, &text));
    lines.extend(doubts.map(|line| paint.doubtful(&line)));
    lines
}

/// What parallel efficiency is made of.
fn factors(report: &Report, paint: Paint) -> Vec<String> {
    let [factors, runs] = product(report, |value| painted(value, paint));
    // In one line, if it fits without its colours.
    let [plain_factors, plain_runs] = product(report, percent);
    match plain_factors.chars().count() + plain_runs.chars().count() {
        ..COLUMNS_OF_PRODUCT => vec![format!("  {factors}; {runs}")],
        _ => vec![format!("  {factors};"), format!("    {runs}")],
    }
}

/// The findings shown first, the worst of all at the top.
pub fn listed(report: &Report) -> Vec<&Finding> {
    report.findings.iter().take(MOST_FINDINGS).collect()
}

pub fn painted(efficiency: f64, paint: Paint) -> String {
    let text = percent(efficiency);
    match Grade::of(efficiency) {
        Grade::Bad => paint.bad(&text),
        Grade::Doubtful => paint.doubtful(&text),
        Grade::Good => paint.good(&text),
    }
}
