//! Columns of rows that are being built.
//!
//! Rows come by the hundred million, so cells are plain numbers and a missing one is a number that no value can be.

use std::borrow::Cow;

/// Stands for a missing value in columns of 32-bit integers that are being built.
pub const NULL32: i32 = i32::MIN;
/// The same for 64 bits.
pub const NULL64: i64 = i64::MIN;

/// A column being built.
pub trait EventColumn<C> {
    fn with_capacity(rows: usize) -> Self;
    /// Takes all cells out, and the first one in.
    fn begin(&mut self, cell: C);
    /// Adds a cell behind so many.
    fn push(&mut self, rows: usize, cell: C);
    fn put_in_order(&mut self, order: &[usize]);
}

/// Cells of rows being built. Many columns have the same in all rows: as long as it is so, they hold it once, and neither
/// building nor writing them touches memory for each row.
#[derive(Debug)]
pub struct CellColumn<C> {
    /// What all rows have, if it is the same.
    same: Option<C>,
    /// What each has otherwise.
    cells: Vec<C>,
}

impl<C: Copy + PartialEq> CellColumn<C> {
    /// The cell of this row.
    #[inline(always)]
    pub fn at(&self, row: usize) -> C {
        self.same.unwrap_or_else(|| self.cells[row])
    }

    /// Changes the cell of one row of so many.
    #[inline]
    pub fn set(&mut self, rows: usize, row: usize, cell: C) {
        if self.same != Some(cell) {
            self.spread(rows);
            self.cells[row] = cell;
        }
    }

    #[inline(always)]
    fn spread(&mut self, rows: usize) {
        if let Some(same) = self.same.take() {
            self.cells.resize(rows, same);
        }
    }

    /// What all rows have, if they were never different.
    pub(crate) fn same(&self) -> Option<C> {
        self.same
    }

    /// The cells of all rows.
    pub(crate) fn all(&self, rows: usize) -> Cow<'_, [C]> {
        self.same.map_or_else(|| Cow::from(&self.cells), |same| Cow::from(vec![same; rows]))
    }
}

impl<C: Copy + PartialEq> EventColumn<C> for CellColumn<C> {
    fn with_capacity(rows: usize) -> CellColumn<C> {
        CellColumn { same: None, cells: Vec::with_capacity(rows) }
    }

    fn begin(&mut self, cell: C) {
        self.cells.clear();
        self.same = Some(cell);
    }

    #[inline(always)]
    fn push(&mut self, rows: usize, cell: C) {
        if self.same != Some(cell) {
            self.spread(rows);
            self.cells.push(cell);
        }
    }

    fn put_in_order(&mut self, order: &[usize]) {
        if self.same.is_none() {
            self.cells = order.iter().map(|row| self.cells[*row]).collect();
        }
    }
}

/// The cell of a list: its values are put into the column before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct List;

/// A column of lists being built.
#[derive(Debug, Default)]
pub struct ListColumn {
    /// The values of all rows one behind the other.
    pub values: Vec<i64>,
    /// Where those of each row end.
    pub ends: Vec<usize>,
}

impl ListColumn {
    /// The values of the row with this index.
    pub fn of(&self, row: usize) -> &[i64] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[row]]
    }
}

impl EventColumn<List> for ListColumn {
    fn with_capacity(rows: usize) -> ListColumn {
        ListColumn { values: Vec::with_capacity(rows), ends: Vec::with_capacity(rows) }
    }

    fn begin(&mut self, _cell: List) {
        self.ends.clear();
        self.ends.push(self.values.len());
    }

    #[inline(always)]
    fn push(&mut self, _rows: usize, _cell: List) {
        self.ends.push(self.values.len());
    }

    fn put_in_order(&mut self, order: &[usize]) {
        let mut sorted = ListColumn::default();
        for row in order {
            sorted.values.extend_from_slice(self.of(*row));
            sorted.ends.push(sorted.values.len());
        }
        *self = sorted;
    }
}
