//! A report as Markdown, with tables as GitHub and GitLab show them.

use crate::sections::heat::HeatMap;
use crate::sections::tables::{Kind, Part, Section, heat_caption, sections};
use crate::sections::verdict::listed;
use crate::show::quantity::percent;
use crate::show::table::Align;
use crate::show::text::visible;
use kizami_explain::Report;
use kizami_phrases::verdict::{self, efficiency_error};
use kizami_phrases::{finding, nothing};
use std::io::{self, Write};

/// Cells along each side of the heat map.
const HEAT_MAP_SIDE: u32 = 32;

/// Writes the whole report, with at most so many rows a table.
pub fn write(out: &mut impl Write, report: &Report, most: usize) -> io::Result<()> {
    writeln!(out, "# {}\n", plain(&verdict::headline(report, str::to_owned)))?;
    for sentence in verdict::warnings(report) {
        writeln!(out, "**{}**\n", plain(&sentence))?;
    }
    if !report.has_only_threads() {
        let error = efficiency_error(report);
        writeln!(out, "**Parallel efficiency {}{error}**", percent(report.efficiency.parallel))?;
        writeln!(out, "{}\n", plain(&verdict::product(report, percent).join("; ")))?;
    }
    if let Some(threads) = &report.threads {
        writeln!(out, "{}\n", plain(&verdict::threads(threads, percent)))?;
        if let Some(asleep) = verdict::asleep(threads) {
            writeln!(out, "{}\n", plain(&asleep))?;
        }
    }
    if let Some(reconstructed) = verdict::reconstructed(report) {
        writeln!(out, "*{}*\n", plain(&reconstructed))?;
    }
    let listed = listed(report);
    if listed.is_empty() && report.hang.is_none() {
        writeln!(
            out,
            "{}
",
            plain(&nothing::sentence(&report.nothing_found()))
        )?;
    }
    for (number, finding) in (1..).zip(listed) {
        writeln!(out, "{number}. {}  ", plain(&finding::sentence(finding)))?;
        writeln!(out, "   {}  ", plain(&verdict::cost(report, finding)))?;
        if let Some(path) = finding::path(finding) {
            writeln!(out, "   {}  ", plain(&path))?;
        }
        writeln!(out, "   {}\n", plain(finding::advice(finding.disease())))?;
    }
    for doubts in verdict::doubts(report) {
        writeln!(out, "{doubts}\n")?;
    }
    for section in sections(report, most) {
        writeln!(out, "## {}\n", capital(section.title))?;
        if section.part == Part::Matrix
            && let Some(map) = HeatMap::of(report, HEAT_MAP_SIDE)
        {
            heat_map(out, &map)?;
        }
        table(out, &section)?;
        for line in section.more().iter().chain(&section.notes) {
            writeln!(out, "{}\n", plain(line))?;
        }
    }
    let library = if report.mpi_library.is_empty() { "an unknown MPI" } else { &report.mpi_library };
    writeln!(out, "Trace: {}, recorded with {}", code(&report.trace), plain(library))
}

fn table(out: &mut impl Write, section: &Section) -> io::Result<()> {
    if section.rows.is_empty() {
        return Ok(());
    }
    let names = section.columns.iter().map(|column| column.name.to_owned());
    line(out, names)?;
    line(
        out,
        section.columns.iter().map(|column| match column.align() {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        }),
    )?;
    for row in &section.rows {
        let cells = row.iter().zip(&section.columns);
        line(
            out,
            cells.map(|(cell, column)| match column.kind {
                // Tables are taken apart at bars before code is looked at.
                Kind::Code => code(cell).replace('|', "\\|"),
                Kind::Number | Kind::Words => plain(cell),
            }),
        )?;
    }
    writeln!(out)
}

fn line(out: &mut impl Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    writeln!(out, "| {} |", cells.collect::<Vec<String>>().join(" | "))
}

fn heat_map(out: &mut impl Write, map: &HeatMap) -> io::Result<()> {
    writeln!(out, "{}:\n", capital(&heat_caption(map)))?;
    writeln!(out, "```text")?;
    for line in map.lines() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "```\n")
}

/// Text in which nothing is taken for Markdown or HTML. Underscores within words mean nothing and stay readable.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let characters: Vec<char> = visible(text).chars().collect();
    for (index, c) in characters.iter().enumerate() {
        let beside =
            |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphanumeric());
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' => out.extend(['\\', *c]),
            '_' if !(beside(index.checked_sub(1)) && beside(Some(index + 1))) => out.extend(['\\', '_']),
            c => out.push(*c),
        }
    }
    out
}

/// A name of the program, as it is. One with backticks needs more of them around it than it has.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text = visible(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::samples;

    fn written(report: &Report) -> String {
        let mut out = Vec::new();
        write(&mut out, report, 10).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Bars that part cells.
    fn bars(line: &str) -> usize {
        line.replace("\\|", "").matches('|').count()
    }

    #[test]
    fn every_row_of_a_table_has_as_many_cells_as_its_head() {
        let text = written(&samples::hostile());
        let lines: Vec<&str> = text.lines().collect();
        let mut tables = 0;
        for block in lines.chunk_by(|a, b| a.starts_with('|') == b.starts_with('|')) {
            if !block[0].starts_with('|') {
                continue;
            }
            tables += 1;
            assert!(block[1].replace(['-', ':', '|', ' '], "").is_empty(), "{}", block[1]);
            for line in block {
                assert_eq!(bars(line), bars(block[0]), "{line}");
            }
        }
        assert!(tables >= 7, "{tables} tables in\n{text}");
    }

    #[test]
    fn names_stay_names() {
        assert_eq!(plain("MPI_Send at <b>|_start*"), "MPI_Send at \\<b\\>\\|\\_start\\*");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`b\nc"), r"`` `b\nc ``");
        assert_eq!(plain("a\u{1b}[2J"), r"a\\u{1b}\[2J");
        let text = written(&samples::hostile());
        let prose: Vec<&str> = text.lines().filter(|line| !line.contains('`')).collect();
        assert!(!prose.iter().any(|line| line.contains("<script>")), "{text}");
    }

    #[test]
    fn a_run_without_anything_to_say_is_still_a_report() {
        let text = written(&samples::empty());
        assert!(text.contains("No MPI calls were recorded."), "{text}");
        assert!(text.contains("Not analysed"), "{text}");
    }
}
