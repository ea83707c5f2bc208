//! The overview of a run as one HTML file for a colleague: the timeline as a picture, ranks that compute, and the
//! first tables of the report.
//!
//! It is made of the parts of a report. Every section says whether its figures are recorded, corrected or predicted.

use super::curve::Curve;
use super::frame::{badge, begin, end, open_section, table};
use super::markup::Markup;
use super::{charts, verdict};
use crate::sections::tables::{Part, Section, sections};
use kizami_explain::Report;
use kizami_phrases::verdict::headline;

/// Rows of a table.
const MOST_ROWS: usize = 8;

/// What is shown.
pub struct Snapshot<'a> {
    pub report: &'a Report,
    /// How its times came to be: `recorded`, `corrected` or `predicted`.
    pub word: &'static str,
    pub timelines: &'a [Timeline],
    pub curve: Curve,
}

/// A timeline as a PNG file, for light and for dark pages.
pub struct Timeline {
    /// Which part of the run it shows.
    pub part: &'static str,
    pub light: Vec<u8>,
    pub dark: Vec<u8>,
}

/// The whole page.
pub fn snapshot(of: &Snapshot<'_>) -> String {
    let (mut out, word) = (Markup::default(), Some(of.word));
    begin(&mut out, &headline(of.report, str::to_owned));
    verdict::header(&mut out, of.report, word);
    verdict::efficiency(&mut out, of.report, word);
    section(&mut out, None, "Timeline", of.word);
    of.timelines.iter().for_each(|timeline| write_timeline(&mut out, timeline));
    out.raw("</section>\n");
    section(&mut out, None, "Computing ranks", of.word);
    of.curve.write(&mut out, of.word);
    out.raw("</section>\n");
    verdict::findings(&mut out, of.report, word);
    for tables in sections(of.report, MOST_ROWS) {
        if matches!(tables.part, Part::Functions | Part::Places | Part::Matrix | Part::NotUnderstood) {
            write_section(&mut out, of, &tables);
        }
    }
    if of.report.matrix.is_empty() {
        section(&mut out, None, "Messages by sender and receiver", of.word);
        out.raw("<p>No point-to-point messages.</p>\n</section>\n");
    }
    end(&mut out, |out| verdict::of_trace(out, of.report));
    out.finish()
}

fn section(out: &mut Markup, part: Option<Part>, title: &str, word: &'static str) {
    open_section(out, part);
    out.text(title);
    badge(out, Some(word));
    out.raw("</h2>\n");
}

/// The picture that goes with the page around it.
fn write_timeline(out: &mut Markup, timeline: &Timeline) {
    const TYPE: &str = "data:image/png;base64,";
    out.raw("<figure class=\"wide\">\n<figcaption>")
        .raw(timeline.part)
        .raw("</figcaption>\n<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"");
    out.raw(TYPE)
        .base64(&timeline.dark)
        .raw("\">\n<img class=\"timeline\" alt=\"timeline of all ranks\" src=\"");
    out.raw(TYPE).base64(&timeline.light).raw("\">\n</picture></figure>\n");
}

fn write_section(out: &mut Markup, of: &Snapshot<'_>, tables: &Section) {
    section(out, Some(tables.part), tables.title, of.word);
    out.raw("<div class=\"beside\">\n");
    if tables.part == Part::Matrix {
        charts::matrix(out, of.report);
    }
    table(out, tables);
    out.raw("</div>\n");
    if tables.hidden > 0 {
        out.raw("<p class=\"note\">").text(&format!("{} more are not shown", tables.hidden)).raw("</p>\n");
    }
    for note in &tables.notes {
        out.raw("<p class=\"note\">").text(note).raw("</p>\n");
    }
    out.raw("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::samples;
    use kizami_model::Moment;

    fn page(report: &Report, ideal: Option<Vec<f32>>) -> String {
        let curve = Curve {
            from: Moment(0),
            to: Moment(1_000),
            ranks: report.ranks,
            computing: vec![1.0, 0.5],
            ideal,
        };
        let timeline = Timeline { part: "whole run", light: b"light".to_vec(), dark: b"dark".to_vec() };
        snapshot(&Snapshot { report, word: "recorded", timelines: &[timeline], curve })
    }

    #[test]
    fn a_name_never_becomes_markup_and_nothing_is_loaded_or_run() {
        let page = page(&samples::hostile(), Some(vec![1.0, 0.0]));
        for load in ["<script", "href=", "url(", "@import", "http:", "https:", "<link", "<iframe", "onload"] {
            assert!(!page.contains(load), "{load}");
        }
        assert!(page.contains("f&lt;script&gt;alert(&quot;1|2&quot;)&lt;/script&gt;&amp;&#39;`"));
        assert_eq!(page.matches("src=").count(), 1);
        assert!(page.contains("src=\"data:image/png;base64,bGlnaHQ=\""));
        assert!(page.contains("srcset=\"data:image/png;base64,ZGFyaw==\""));
        assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'; "));
    }

    #[test]
    fn huge_names_make_a_small_file() {
        let huge = "\x1b]0;<img src=x onerror=alert(1)>\x07".repeat(400_000);
        let mut report = samples::hostile();
        report.executable = huge.clone();
        report.trace = huge.clone();
        report.mpi_library = huge.clone();
        report.findings[0].region = Some(huge.clone());
        report.functions[0].function = huge;
        let page = page(&report, None);
        assert!(page.len() < 100_000, "{} bytes", page.len());
        assert!(!page.contains("<img src=x") && !page.contains('\x1b'));
    }

    #[test]
    fn every_section_explains_its_figures() {
        for report in [samples::empty(), samples::hostile(), samples::big()] {
            let page = page(&report, Some(vec![0.0, 0.0]));
            let headings = page.matches("<h2>").count();
            assert!(headings >= 5, "{headings}");
            assert_eq!(page.matches("<span class=\"badge recorded\">").count(), headings + 1);
            assert!(page.contains("predicted"));
        }
    }

    #[test]
    fn a_run_without_anything_is_still_a_page() {
        let page = page(&samples::empty(), None);
        assert!(page.contains("No MPI calls were recorded."));
        assert!(page.contains("No point-to-point messages"));
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }
}
