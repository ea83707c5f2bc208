//! Tables aligned with spaces, written as they come.
//!
//! Rows are held back in blocks to find the widths of columns, so a table of any length needs little
//! memory; a later block may be wider than an earlier one, never narrower. No frame is drawn: the output
//! can be cut with `awk` and read aloud.

use super::style::Paint;
use super::text::visible;
use std::io::{self, Write};

const BLOCK_ROWS: usize = 256;

/// On which side a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table being written.
pub struct Table<W: Write> {
    out: W,
    paint: Paint,
    aligns: Vec<Align>,
    widths: Vec<usize>,
    heading: Option<Vec<String>>,
    block: Vec<Vec<String>>,
}

impl<W: Write> Table<W> {
    /// Begins a table with these columns.
    pub fn new(out: W, paint: Paint, columns: &[(&str, Align)]) -> Table<W> {
        Table {
            out,
            paint,
            aligns: columns.iter().map(|(_, align)| *align).collect(),
            widths: columns.iter().map(|(name, _)| width(name)).collect(),
            heading: Some(columns.iter().map(|(name, _)| (*name).to_owned()).collect()),
            block: Vec::new(),
        }
    }

    /// Adds a row; it must have as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) -> io::Result<()> {
        debug_assert_eq!(cells.len(), self.aligns.len());
        // Before widths are found: what is shown of a name may be longer than the name.
        self.block.push(cells.iter().map(|cell| visible(cell).into_owned()).collect());
        if self.block.len() >= BLOCK_ROWS { self.write_block() } else { Ok(()) }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        self.write_block()?;
        self.out.flush()
    }

    fn write_block(&mut self) -> io::Result<()> {
        for row in &self.block {
            for (widest, cell) in self.widths.iter_mut().zip(row) {
                *widest = (*widest).max(width(cell));
            }
        }
        if let Some(heading) = self.heading.take() {
            let line = self.line(&heading);
            writeln!(self.out, "{}", self.paint.heading(&line))?;
        }
        for row in std::mem::take(&mut self.block) {
            let line = self.line(&row);
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = String::new();
        for (index, cell) in cells.iter().enumerate() {
            let gap = " ".repeat(self.widths[index] - width(cell));
            if index > 0 {
                line.push_str("  ");
            }
            match self.aligns[index] {
                Align::Left => line.extend([cell.as_str(), &gap]),
                Align::Right => line.extend([&gap, cell.as_str()]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Columns a text takes. Names in traces are nearly always ASCII; wide characters are not considered.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_have_no_trailing_space() {
        let mut out = Vec::new();
        let columns = [("call", Align::Left), ("count", Align::Right), ("where", Align::Left)];
        let mut table = Table::new(&mut out, Paint::plain(), &columns);
        table.row(vec!["MPI_Send".into(), "3".into(), "a.c:1".into()]).unwrap();
        table.row(vec!["MPI_Waitall".into(), "1,000".into(), String::new()]).unwrap();
        table.finish().unwrap();
        let expected = "call         count  where\nMPI_Send         3  a.c:1\nMPI_Waitall  1,000\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_table_longer_than_a_block_is_whole() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, Paint::plain(), &[("n", Align::Right)]);
        for number in 0..3 * BLOCK_ROWS {
            table.row(vec![number.to_string()]).unwrap();
        }
        table.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 3 * BLOCK_ROWS + 1);
    }
}
