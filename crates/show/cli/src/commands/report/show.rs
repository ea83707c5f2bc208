//! A report for a terminal: the verdict first, then its sections.

use crate::sections::heat::HeatMap;
use crate::sections::tables::{Part, Section, heat_caption, lost_by_threads, sections};
use crate::sections::verdict;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::{Report, Threads};
use kizami_phrases as phrases;
use std::io::{self, Write};

/// Cells along each side of the heat map.
const HEAT_MAP_SIDE: u32 = 32;

/// Prints all of it, with at most so many rows a section.
pub fn print(out: &mut impl Write, report: &Report, paint: Paint, most: usize) -> io::Result<()> {
    for line in verdict::lines(report, paint) {
        writeln!(out, "{line}")?;
    }
    for section in sections(report, most) {
        writeln!(out, "\n{}", paint.heading(section.title))?;
        if section.part == Part::Matrix
            && let Some(map) = HeatMap::of(report, HEAT_MAP_SIDE)
        {
            heat_map(out, &map)?;
        }
        table(out, &section, paint)?;
        for line in section.more().map(|more| format!("({more})")).iter().chain(&section.notes) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Prints what threads did, where nothing else is known.
pub fn print_threads(out: &mut impl Write, threads: &Threads, paint: Paint, most: usize) -> io::Result<()> {
    writeln!(out, "{}", phrases::verdict::threads(threads, |value| verdict::painted(value, paint)))?;
    let section = lost_by_threads(threads, most);
    writeln!(out, "\n{}", paint.heading(section.title))?;
    table(out, &section, paint)?;
    section.more().map_or(Ok(()), |more| writeln!(out, "({more})"))
}

fn table(out: &mut impl Write, section: &Section, paint: Paint) -> io::Result<()> {
    if section.rows.is_empty() {
        return Ok(());
    }
    let columns: Vec<(&str, Align)> =
        section.columns.iter().map(|column| (column.name, column.align())).collect();
    let mut table = Table::new(out, paint, &columns);
    for row in &section.rows {
        table.row(row.clone())?;
    }
    table.finish()
}

fn heat_map(out: &mut impl Write, map: &HeatMap) -> io::Result<()> {
    writeln!(out, "{}", heat_caption(map))?;
    for line in map.lines() {
        writeln!(out, "{line}")?;
    }
    writeln!(out)
}
