//! Who sends how much to whom, on a map of bounded size.

use kizami_explain::Report;

/// From 1 to this: how much of the highest cell.
pub const LEVELS: u8 = 5;

/// Bytes by sender and receiver; many ranks share a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// Cells along each side.
    pub side: usize,
    /// Ranks along each side of a cell.
    pub ranks_per_cell: u32,
    /// Most bytes of a cell.
    pub highest: u64,
    /// Row by row, a sender each.
    cells: Vec<Cell>,
}

/// What the ranks of a cell send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub messages: u64,
    pub bytes: u64,
}

impl HeatMap {
    /// With at most so many cells along each side; none if there are no messages.
    pub fn of(report: &Report, most: u32) -> Option<HeatMap> {
        let ranks = report.matrix.iter().map(|cell| cell.from.max(cell.to) + 1).max()?.max(report.ranks);
        let ranks_per_cell = ranks.div_ceil(most).max(1);
        let side = ranks.div_ceil(ranks_per_cell) as usize;
        let mut cells = vec![Cell::default(); side * side];
        for pair in &report.matrix {
            let (row, column) = ((pair.from / ranks_per_cell) as usize, (pair.to / ranks_per_cell) as usize);
            let cell = &mut cells[row * side + column];
            cell.messages += pair.messages;
            cell.bytes += pair.bytes;
        }
        let highest = cells.iter().map(|cell| cell.bytes).max()?;
        Some(HeatMap { side, ranks_per_cell, highest, cells })
    }

    /// The cells of each sender.
    pub fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunks(self.side)
    }

    /// How hot a cell is: 0 without messages, else from 1 to [`LEVELS`].
    pub fn level(&self, cell: &Cell) -> u8 {
        if cell.messages == 0 {
            return 0;
        }
        let part = cell.bytes as f64 / self.highest.max(1) as f64;
        ((part * f64::from(LEVELS)).ceil() as u8).clamp(1, LEVELS)
    }

    /// A line of characters for each sender: `.` for nothing, digits for levels.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let character = |cell: &Cell| match self.level(cell) {
            0 => ".".to_owned(),
            level => level.to_string(),
        };
        self.rows().map(move |row| row.iter().map(character).collect::<Vec<String>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::samples;
    use kizami_explain::MatrixCell;

    #[test]
    fn levels_give_the_part_of_the_highest() {
        let cell = |from, to, bytes| MatrixCell { from, to, messages: 1, bytes };
        let matrix = vec![cell(0, 1, 100), cell(1, 0, 41), cell(1, 2, 0), cell(2, 0, 1)];
        let map = HeatMap::of(&Report { ranks: 3, matrix, ..samples::empty() }, 32).unwrap();
        assert_eq!(map.lines().collect::<Vec<_>>(), [". 5 .", "3 . 1", "1 . ."]);
    }

    #[test]
    fn many_ranks_share_cells_and_no_message_is_lost() {
        let report = samples::big();
        let map = HeatMap::of(&report, 64).unwrap();
        assert_eq!((map.side, map.ranks_per_cell), (64, 16));
        let shown: u64 = map.rows().flatten().map(|cell| cell.messages).sum();
        assert_eq!(shown, report.matrix.iter().map(|cell| cell.messages).sum::<u64>());
        assert!(HeatMap::of(&samples::empty(), 64).is_none());
    }
}
