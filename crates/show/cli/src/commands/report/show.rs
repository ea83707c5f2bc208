//! A report for a terminal: the verdict first, then its sections.

use crate::sections::heat::HeatMap;
use crate::sections::tables::{Part, Section, heat_caption, sections};
use crate::sections::verdict;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::Report;
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
