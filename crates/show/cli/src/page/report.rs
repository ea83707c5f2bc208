//! The page of a report: all sections, with charts beside their tables, and a guide to the formulas.

use super::frame::{begin, end, open_section, table};
use super::markup::Markup;
use super::{charts, guide, verdict};
use crate::sections::tables::{Part, Section, sections};
use kizami_explain::Report;
use kizami_phrases::verdict::headline;

/// The whole page, with at most so many rows a table.
pub fn report(report: &Report, most: usize) -> String {
    let mut out = Markup::default();
    begin(&mut out, &headline(report, str::to_owned));
    verdict::header(&mut out, report, None);
    verdict::efficiency(&mut out, report, None);
    verdict::findings(&mut out, report, None);
    for section in sections(report, most) {
        write_section(&mut out, report, &section);
    }
    guide::write(&mut out);
    end(&mut out, |out| verdict::of_trace(out, report));
    out.finish()
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
        Part::Threads
        | Part::Waits
        | Part::Completions
        | Part::Reconstructed
        | Part::Functions
        | Part::Places
        | Part::Loops
        | Part::NotUnderstood => (),
    }
    table(out, section);
    out.raw("</div>\n");
    for line in section.more().iter().chain(&section.notes) {
        out.raw("<p class=\"note\">").text(line).raw("</p>\n");
    }
    out.raw("</section>\n");
}

/// What a section shows, for who sees it for the first time.
fn lead(part: Part) -> Option<&'static str> {
    match part {
        Part::Threads => Some(
            "The number of threads is that of the widest parallel region. Time in which they do not compute is lost, here by cause; gains come from a replay.",
        ),
        Part::Ranks => Some(
            "Time of each rank between <code>MPI_Init</code> and <code>MPI_Finalize</code>; the table is sorted by computation.",
        ),
        Part::Waits => {
            Some("Time blocked in calls because another rank had not reached its part of the communication.")
        }
        Part::Completions => {
            Some("Time of collectives after the last rank had entered: no rank is to blame for it.")
        }
        Part::Reconstructed => Some(
            "The calls were reconstructed from a reduced trace, which has the exact total time of each call site. The difference estimates the error of all figures of that call site.",
        ),
        Part::Path => Some(
            "The chain of computation and calls that determines the run time. Imbalance is what perfect balance would remove.",
        ),
        Part::Matrix => Some("Point-to-point messages, without collectives."),
        Part::Loops => Some("Detected by repeated calls of the first rank."),
        Part::Functions | Part::Places | Part::Sizes | Part::NotUnderstood => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::samples;

    const MOST: usize = 12;

    #[test]
    fn a_name_never_becomes_markup() {
        let page = report(&samples::hostile(), MOST);
        assert!(!page.contains("<script"), "a script came through");
        assert!(page.contains("f&lt;script&gt;alert(&quot;1|2&quot;)&lt;/script&gt;&amp;&#39;`"));
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        let page = report(&samples::hostile(), MOST);
        for load in ["src=", "href=", "url(", "@import", "http:", "https:", "<link", "<iframe"] {
            assert!(!page.contains(load), "{load}");
        }
    }

    #[test]
    fn a_big_run_makes_a_small_file() {
        let page = report(&samples::big(), MOST);
        assert!(page.len() < 2_000_000, "{} bytes", page.len());
    }

    /// Every element that is opened is closed, in the right order.
    #[test]
    fn elements_are_nested() {
        for made_up in [samples::empty(), samples::hostile(), samples::big()] {
            let page = report(&made_up, MOST);
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
        let page = report(&samples::empty(), MOST);
        assert!(page.contains("No MPI calls were recorded."));
        assert!(!page.contains("NaN"));
    }
}
