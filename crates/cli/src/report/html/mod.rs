//! A report as one HTML file: for a laptop's screen first, for paper too, in light and in dark.
//!
//! The page needs no script and loads nothing: the style is inside, and charts are inline SVG. Its size is bounded
//! whatever the run: ranks share columns and cells where there are many, and tables show their first rows.

mod charts;
mod columns;
mod curve;
mod guide;
mod markup;
mod snapshot;
mod verdict;

pub use curve::Curve;
pub use snapshot::{Snapshot, Timeline, snapshot};

use super::sections::{Kind, Part, Section, sections};
use super::verdict::{headline, program};
use kizami_explain::Report;
use markup::Markup;

const STYLE: &str = include_str!("style.css");

/// The whole page, with at most so many rows a table.
pub fn page(report: &Report, most: usize) -> String {
    let mut out = Markup::default();
    begin(&mut out, report);
    verdict::header(&mut out, report, None);
    verdict::efficiency(&mut out, report, None);
    verdict::findings(&mut out, report, None);
    for section in sections(report, most) {
        write_section(&mut out, report, &section);
    }
    guide::write(&mut out);
    end(&mut out, report);
    out.finish()
}

/// Everything before the first section. No script may run, and nothing is loaded but pictures inside the page.
fn begin(out: &mut Markup, report: &Report) {
    out.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ");
    out.raw("img-src data:; base-uri 'none'; form-action 'none'\">\n");
    out.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    out.text(&headline(report, str::to_owned))
        .raw("</title>\n<style>\n")
        .raw(STYLE)
        .raw("</style>\n</head>\n");
    out.raw("<body>\n<main>\n");
}

/// Everything behind the last section.
fn end(out: &mut Markup, report: &Report) {
    out.raw("</main>\n<footer>").text(program(report)).raw(", trace <code>").text(&report.trace);
    out.raw("</code>; written by Kizami ")
        .raw(env!("CARGO_PKG_VERSION"))
        .raw("</footer>\n</body>\n</html>\n");
}

/// Says how figures came to be: recorded, corrected or predicted.
fn badge(out: &mut Markup, word: Option<&'static str>) {
    if let Some(word) = word {
        out.raw(" <span class=\"badge ").raw(word).raw("\">").raw(word).raw("</span>");
    }
}

fn write_section(out: &mut Markup, report: &Report, section: &Section) {
    open_section(out, Some(section.part));
    out.text(section.title).raw("</h2>\n");
    if let Some(lead) = lead(section.part) {
        out.raw("<p class=\"lead\">").raw(lead).raw("</p>\n");
    }
    out.raw("<div class=\"beside\">\n");
    match section.part {
        Part::Ranks => charts::ranks(out, report),
        Part::Path => charts::path(out, report),
        Part::Matrix => charts::matrix(out, report),
        Part::Sizes => charts::sizes(out, report),
        Part::Waits
        | Part::Completions
        | Part::Drawn
        | Part::Functions
        | Part::Places
        | Part::Loops
        | Part::NotUnderstood => (),
    }
    table(out, section);
    out.raw("</div>\n");
    for line in section.more().iter().chain(&section.note) {
        out.raw("<p class=\"note\">").text(line).raw("</p>\n");
    }
    out.raw("</section>\n");
}

/// Everything before the title of a section.
fn open_section(out: &mut Markup, part: Option<Part>) {
    // Both tables of calls are narrow: they stand side by side where there is room.
    let narrow = matches!(part, Some(Part::Functions | Part::Places));
    out.raw(if narrow { "<section class=\"narrow\">\n<h2>" } else { "<section>\n<h2>" });
}

/// What a section shows, for who sees it for the first time.
fn lead(part: Part) -> Option<&'static str> {
    match part {
        Part::Ranks => Some(
            "What each rank did between <code>MPI_Init</code> and <code>MPI_Finalize</code>; in the table, those that \
             compute longest come first.",
        ),
        Part::Waits => Some("Time in calls that could not go on because another rank had not come yet."),
        Part::Completions => {
            Some("What collectives took when nobody was waited for any more: no rank is to blame for it.")
        }
        Part::Drawn => Some(
            "The calls were drawn from a reduced trace, which knows exactly how long those of each place took together. How \
             far the drawn run is off says how far what is told of a place may be off.",
        ),
        Part::Path => Some(
            "The chain of computation and calls that made the run as long as it is. Shortening anything else gains \
             nothing at first. Imbalance is what a perfect balance would take away.",
        ),
        Part::Matrix => Some("Point-to-point messages; collectives are not in it."),
        Part::Loops => Some("Found by the calls the first rank makes again and again."),
        Part::Functions | Part::Places | Part::Sizes | Part::NotUnderstood => None,
    }
}

fn table(out: &mut Markup, section: &Section) {
    if section.rows.is_empty() {
        return;
    }
    let numbered = section.part == Part::Path;
    out.raw("<div class=\"scroll\"><table").raw(if numbered { " class=\"numbered\"" } else { "" });
    out.raw(">\n<thead><tr>");
    for column in &section.columns {
        out.raw("<th scope=\"col\"").raw(class(column.kind)).raw(">").text(column.name).raw("</th>");
    }
    out.raw("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        out.raw("<tr>");
        for (cell, column) in row.iter().zip(&section.columns) {
            out.raw("<td").raw(class(column.kind)).raw(">").text(cell).raw("</td>");
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody>\n</table></div>\n");
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => " class=\"n\"",
        Kind::Words => "",
        Kind::Code => " class=\"c\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    const MOST: usize = 12;

    #[test]
    fn a_name_never_becomes_markup() {
        let page = page(&samples::hostile(), MOST);
        assert!(!page.contains("<script"), "a script came through");
        assert!(page.contains("f&lt;script&gt;alert(&quot;1|2&quot;)&lt;/script&gt;&amp;&#39;`"));
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let page = page(&samples::hostile(), MOST);
        for load in ["src=", "href=", "url(", "@import", "http:", "https:", "<link", "<iframe"] {
            assert!(!page.contains(load), "{load}");
        }
    }

    #[test]
    fn a_big_run_makes_a_small_file() {
        let page = page(&samples::big(), MOST);
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
    }

    /// Every element that is opened is closed, in the right order.
    #[test]
    fn elements_are_nested() {
        for report in [samples::empty(), samples::hostile(), samples::big()] {
            let page = page(&report, MOST);
            let mut open: Vec<&str> = Vec::new();
            for tag in page.split('<').skip(1).map(|piece| piece.split('>').next().unwrap_or_default()) {
                let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default();
                if tag.starts_with('!') || tag.ends_with('/') || name == "meta" || name == "br" {
                    continue;
                }
                match tag.strip_prefix('/') {
                    Some(closed) => assert_eq!(open.pop(), Some(closed)),
                    None => open.push(name),
                }
            }
            assert!(open.is_empty(), "{open:?}");
        }
    }

    #[test]
    fn an_empty_run_is_still_a_page() {
        let page = page(&samples::empty(), MOST);
        assert!(page.contains(super::super::verdict::NO_FINDINGS));
        assert!(!page.contains("NaN"));
    }
}
