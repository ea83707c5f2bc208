//! Which cells of a column have values, and where lists begin: Parquet's levels, as bits.

use std::ops::Range;

/// Rows of a page, at most; a multiple of 64, so that pages begin with a word.
const PAGE_ROWS: usize = 64 << 10;
/// Values of a page of lists, about; a row is never in two pages.
const PAGE_VALUES: usize = 128 << 10;

/// The levels of a column, page by page.
#[derive(Default)]
pub(super) struct Levels {
    /// Whether there is a value.
    pub definition: Vec<u64>,
    /// Whether it belongs to the list of the one before.
    pub repetition: Vec<u64>,
    pub pages: Vec<Page>,
    pub rows: usize,
}

/// What a page holds.
pub(super) struct Page {
    /// Words of its levels.
    pub words: Range<usize>,
    /// Cells, with those that have no value.
    pub cells: usize,
    /// Its values, among those of the column.
    pub values: Range<usize>,
}

impl Levels {
    fn begin(&mut self, rows: usize) {
        self.rows = rows;
        self.definition.clear();
        self.repetition.clear();
        self.pages.clear();
    }

    /// Of a column in which every row has a value.
    pub(super) fn required(&mut self, rows: usize) {
        self.begin(rows);
        let page = |start: usize| start..rows.min(start + PAGE_ROWS);
        let pages = (0..rows).step_by(PAGE_ROWS).map(page);
        self.pages.extend(pages.map(|values| Page { words: 0..0, cells: values.len(), values }));
    }

    /// Of a column in which `null` stands for no value; returns the values that are there.
    pub(super) fn optional<V: Copy + PartialEq + Into<i64>>(
        &mut self,
        cells: &[V],
        null: V,
        values: &mut Vec<i64>,
    ) {
        self.begin(cells.len());
        values.clear();
        for page in cells.chunks(PAGE_ROWS) {
            let (first_word, first_value) = (self.definition.len(), values.len());
            for block in page.chunks(64) {
                let there = bits(block, |cell| *cell != null);
                self.definition.push(there);
                let mut kept = [0; 64];
                let mut count = 0;
                for (index, cell) in block.iter().enumerate() {
                    // Without asking: where it is depends on nothing that can be predicted.
                    kept[count & 63] = (*cell).into();
                    count += (there >> index & 1) as usize;
                }
                values.extend_from_slice(&kept[..count]);
            }
            self.pages.push(Page {
                words: first_word..self.definition.len(),
                cells: page.len(),
                values: first_value..values.len(),
            });
        }
    }

    /// Of a column of lists, which end there among the values.
    pub(super) fn lists(&mut self, ends: &[usize]) {
        self.begin(ends.len());
        let (mut start, mut rows) = (0, ends);
        while !rows.is_empty() {
            let limit = start + PAGE_VALUES;
            let most = PAGE_ROWS.min(rows.len());
            let fitting = rows[..most].partition_point(|end| *end <= limit).max(1);
            let (page, behind) = rows.split_at(fitting);
            start = self.page_of_lists(start, page);
            rows = behind;
        }
    }

    /// Adds a page of lists; returns where its values end.
    fn page_of_lists(&mut self, first: usize, ends: &[usize]) -> usize {
        let first_word = self.definition.len();
        let (mut definition, mut repetition, mut used, mut cells) = (0, 0, 0, 0);
        let mut start = first;
        for end in ends {
            let values = end - start;
            start = *end;
            let mut left = values.max(1);
            cells += left;
            let mut opens = 1;
            while left > 0 {
                let now = left.min(64 - used);
                let ones = u64::MAX >> (64 - now);
                definition |= if values > 0 { ones << used } else { 0 };
                repetition |= (ones & !opens) << used;
                (opens, used, left) = (0, used + now, left - now);
                if used == 64 {
                    self.definition.push(std::mem::take(&mut definition));
                    self.repetition.push(std::mem::take(&mut repetition));
                    used = 0;
                }
            }
        }
        if used > 0 {
            self.definition.push(definition);
            self.repetition.push(repetition);
        }
        self.pages.push(Page { words: first_word..self.definition.len(), cells, values: first..start });
        start
    }
}

/// What is true of which of these, at most 64.
#[inline(always)]
pub(super) fn bits<V>(cells: &[V], is: impl Fn(&V) -> bool) -> u64 {
    let mut word = 0;
    for (eight, shift) in cells.chunks(8).zip((0..).step_by(8)) {
        let mut flags = [0; 8];
        flags.iter_mut().zip(eight).for_each(|(flag, cell)| *flag = u8::from(is(cell)));
        // Brings the lowest bits of all bytes together in the highest.
        let together = u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= together << shift;
    }
    word
}
