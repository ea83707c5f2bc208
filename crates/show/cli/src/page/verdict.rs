//! The first screen: what ran, how well, and what costs most.

use super::frame::badge;
use super::markup::Markup;
use crate::sections::tables::time;
use crate::sections::verdict::{Grade, listed};
use crate::show::quantity::{self, percent};
use kizami_explain::{Cause, Disease, Finding, Report};
use kizami_phrases::verdict::{self, Factor, efficiency_error, factors};
use kizami_phrases::{finding, nothing};
use kizami_trace::function_name;

/// What ran; `word` says how its times came to be.
pub fn header(out: &mut Markup, report: &Report, word: Option<&'static str>) {
    out.raw("<header>\n<h1>").text(&verdict::program(report));
    badge(out, word);
    out.raw("</h1>\n");
    facts(out, report);
    out.raw("</header>\n");
    warnings(out, report, word);
}

/// What a page is made from, for its foot.
pub fn of_trace(out: &mut Markup, report: &Report) {
    out.text(&verdict::program(report)).raw(", trace <code>").text(&report.trace).raw("</code>");
}

/// What was not recorded, and why the run hangs, if it does.
fn warnings(out: &mut Markup, report: &Report, word: Option<&'static str>) {
    let mut warnings = verdict::warnings(report).peekable();
    if warnings.peek().is_none() {
        return;
    }
    let title = if report.hang.is_some() { "Why it hangs" } else { "What was not recorded" };
    out.raw("<section>\n<h2>").raw(title);
    badge(out, word);
    out.raw("</h2>\n");
    for sentence in warnings {
        out.raw("<p>").text(&sentence).raw("</p>\n");
    }
    out.raw("</section>\n");
}

/// What costs most.
pub fn findings(out: &mut Markup, report: &Report, word: Option<&'static str>) {
    out.raw("<section>\n<h2>Findings");
    badge(out, word);
    out.raw("</h2>\n");
    let listed = listed(report);
    if listed.is_empty() && report.hang.is_some() {
        out.raw(
            "<p>No other findings.</p>
",
        );
    } else if listed.is_empty() {
        out.raw("<p>").text(&nothing::sentence(&report.nothing_found())).raw(
            "</p>
",
        );
    } else {
        out.raw("<ol class=\"findings\">\n");
        for finding in listed {
            card(out, finding);
        }
        out.raw("</ol>\n");
    }
    for doubts in verdict::reconstructed(report).into_iter().chain(verdict::doubts(report)) {
        out.raw("<p class=\"doubts\">").text(&doubts).raw("</p>\n");
    }
    out.raw("</section>\n");
}

fn facts(out: &mut Markup, report: &Report) {
    let library = match short_name(&report.mpi_library) {
        "" => "not known",
        known => known,
    };
    let facts = [
        ("ranks", quantity::count(u64::from(report.ranks))),
        ("run time", time(report.run_ns)),
        ("on an ideal network, predicted", time(report.efficiency.ideal_ns)),
        ("MPI", library.to_owned()),
        ("calls", quantity::count(report.events)),
    ];
    // Without calls nothing is known of a network.
    let facts = facts.into_iter().take(if report.has_only_threads() { 2 } else { usize::MAX });
    out.raw("<dl class=\"facts\">\n");
    for (name, value) in facts {
        out.raw("<div><dt>").raw(name).raw("</dt><dd>").text(&value).raw("</dd></div>\n");
    }
    out.raw("</dl>\n");
}

/// A library's name and version without what it tells about its package.
fn short_name(library: &str) -> &str {
    let end = [", ", ". ", "\n"].iter().filter_map(|mark| library.find(mark)).min();
    library[..end.unwrap_or(library.len())].trim()
}

/// How well.
pub fn efficiency(out: &mut Markup, report: &Report, word: Option<&'static str>) {
    if report.has_only_threads() {
        return;
    }
    let parallel = report.efficiency.parallel;
    out.raw("<section class=\"efficiency\">\n<div>\n<h2>Parallel efficiency");
    badge(out, word);
    out.raw("</h2>\n<p class=\"large ");
    out.raw(grade(parallel))
        .raw("\">")
        .text(&percent(parallel))
        .text(&efficiency_error(report))
        .raw("</p>\n");
    out.raw("<p class=\"note\">average share of computation</p>\n</div>\n<div>\n<table class=\"factors\">\n");
    out.raw("<caption>= load balance × serialisation × transfer; the run on an ideal network is predicted</caption>\n<tbody>\n");
    for factor in factors(report) {
        row(out, &factor);
    }
    out.raw("</tbody>\n</table>\n</div>\n</section>\n");
}

fn row(out: &mut Markup, factor: &Factor) {
    out.raw("<tr><th scope=\"row\">")
        .raw(factor.name)
        .raw("</th><td class=\"n\">")
        .text(&percent(factor.value));
    out.raw("</td><td class=\"bar\">");
    open_bar(out, &format!("{} {}", factor.name, percent(factor.value)));
    out.raw("<rect class=\"").raw(grade(factor.value)).raw("\" width=\"");
    out.number(100.0 * factor.value.clamp(0.0, 1.0)).raw("\" height=\"10\"/></svg></td><td class=\"note\">");
    out.raw(factor.formula).raw("<br>").text(&factor.numbers).raw("</td></tr>\n");
}

fn grade(efficiency: f64) -> &'static str {
    match Grade::of(efficiency) {
        Grade::Good => "good",
        Grade::Doubtful => "doubtful",
        Grade::Bad => "bad",
    }
}

fn card(out: &mut Markup, finding: &Finding) {
    out.raw("<li>\n<p class=\"sentence\">")
        .text(&finding::sentence(finding))
        .raw("</p>\n<p class=\"place\">");
    if finding.cause != Cause::Start {
        out.raw("<code>").text(&finding.place.to_string()).raw("</code> ");
        // The place of a finding about threads is a region, not a call.
        if !finding.disease().is_of_threads() {
            out.text(match finding.cause {
                Cause::Computation => "computation before",
                Cause::Call | Cause::Start => "inside",
            });
            out.raw(" <code>").text(&finding.function).raw("</code>");
        }
        if finding.place.line.is_some() {
            out.raw(" in <code>").text(&function_name::shown(&finding.place.function)).raw("</code>");
        }
    }
    out.raw("</p>\n<p class=\"advice\">").text(finding::advice(finding.disease())).raw("</p>\n<dl>\n");
    if finding.waiting_ns > 0 {
        out.raw("<div><dt>others wait</dt><dd>");
        out.text(&time(finding.waiting_ns + finding.propagated_ns)).raw(" <span class=\"note\">");
        out.text(&percent(finding.share)).raw(" of all ranks' time</span></dd></div>\n");
    }
    let gone = if finding.at_most { "gain at most" } else { "gain if removed" };
    let locked = finding.disease() == Disease::LockContention;
    let spread = if locked { "gain if done before the lock is taken" } else { "gain if balanced" };
    let first = if finding.after_first { ", once finding 1 is fixed" } else { "" };
    for (name, gain) in [(gone, finding.gain), (spread, finding.balanced)] {
        let Some(gain) = gain else { continue };
        out.raw("<div><dt>").text(name).text(first).raw("</dt><dd>");
        out.text(&time(gain.ns)).raw(" <span class=\"note\">").text(&verdict::gain_share(gain));
        out.raw("</span>");
        gain_bar(out, gain.share, gain.share_error);
        out.raw("</dd></div>\n");
    }
    out.raw("</dl>\n</li>\n");
}

/// The part of the run that is gained, with a paler stretch for how far off that may be.
fn gain_bar(out: &mut Markup, share: f64, error: f64) {
    let x = |part: f64| 100.0 * part.clamp(0.0, 1.0);
    let (from, to) = (x(share - error), x(share + error));
    open_bar(
        out,
        &format!(
            "gain {} of the run, from {} to {}",
            percent(share),
            percent(from / 100.0),
            percent(to / 100.0)
        ),
    );
    out.raw("<rect class=\"gain\" width=\"").number(x(share)).raw("\" height=\"10\"/>");
    out.raw("<rect class=\"error\" x=\"").number(from).raw("\" y=\"3\" width=\"").number(to - from);
    out.raw("\" height=\"4\"/></svg>");
}

/// A bar that is 100 wide and 10 high, stretched to where it stands.
fn open_bar(out: &mut Markup, label: &str) {
    out.raw(
        "<svg class=\"part\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
    );
    out.text(label)
        .raw("\"><title>")
        .text(label)
        .raw("</title><rect class=\"whole\" width=\"100\" height=\"10\"/>");
}
