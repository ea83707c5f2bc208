//! Rows of a rank chosen by the scheme of Kamoshida and Taura, to compare with.
//!
//! Rows are drawn window by window; they have no weights, because sums cannot be found again from them.

use kizami_model::Call;
use kizami_reduce::sample::draw::Series;
use kizami_reduce::sample::paper::{self, Importance, PAPER_DECADES};

/// Functions have numbers below this.
const OPS: u64 = 1024;

/// Collects windows of rows and draws from each.
pub(super) struct Windows {
    importance: Importance,
    rows: usize,
    drawn: usize,
    /// The same for all windows of a rank.
    seed: u64,
    windows: u64,
    first: u64,
    classes: Vec<u32>,
    keys: Vec<(f64, u32)>,
    counts: Vec<u32>,
    pub chosen: Vec<u64>,
}

impl Windows {
    /// Of every `rows` rows, `drawn` are drawn.
    pub(super) fn new(importance: Importance, rows: usize, drawn: usize, seed: u64) -> Windows {
        Windows {
            importance,
            rows: rows.max(1),
            drawn,
            seed,
            windows: 0,
            first: 0,
            classes: Vec::new(),
            keys: Vec::new(),
            counts: vec![0; (OPS * PAPER_DECADES) as usize],
            chosen: Vec::new(),
        }
    }

    /// The next row.
    pub(super) fn add(&mut self, call: &Call) {
        let duration_ns = (call.end - call.start).0.max(0) as u64;
        let class = u64::from(call.op.0) % OPS * PAPER_DECADES + paper::decade(duration_ns);
        self.classes.push(class as u32);
        if self.classes.len() == self.rows {
            self.draw(self.drawn);
        }
    }

    /// Draws from what is left: as many as it is long.
    pub(super) fn finish(&mut self) {
        let share = self.drawn as f64 * self.classes.len() as f64 / self.rows as f64;
        self.draw(share.round() as usize);
    }

    fn draw(&mut self, count: usize) {
        let mut drawn = vec![0; count.min(self.classes.len())];
        self.keys.resize(self.classes.len(), (0.0, 0));
        let seed = Series::alone(self.seed, 0).number(self.windows);
        let found =
            paper::draw(&self.classes, self.importance, seed, &mut self.keys, &mut self.counts, &mut drawn);
        self.chosen.extend(drawn[..found].iter().map(|row| self.first + u64::from(*row)));
        self.first += self.classes.len() as u64;
        self.windows += 1;
        self.classes.clear();
    }
}
