//! Rows of a rank chosen by the scheme of Kamoshida and Taura, to compare with.
//!
//! Rows are sampled window by window; they have no weights, because sums cannot be recovered from them.

use kizami_model::Call;
use kizami_summary::paper::{Scheme, Windows};

/// The rows of a rank that were sampled so far, and those that are collected.
pub(super) struct Chosen {
    windows: Windows,
    /// The rank's row that is the first of the window.
    first: u64,
    rows: Vec<u64>,
}

impl Chosen {
    pub(super) fn new(scheme: Scheme, seed: u64) -> Chosen {
        Chosen { windows: Windows::new(scheme, seed), first: 0, rows: Vec::new() }
    }

    /// The next row.
    pub(super) fn add(&mut self, call: &Call) {
        let duration_ns = (call.end - call.start).0.max(0) as u64;
        if self.windows.add(call.op.0, duration_ns) {
            self.sample();
        }
    }

    /// All sampled rows, in order.
    pub(super) fn finish(mut self) -> Vec<u64> {
        self.sample();
        self.rows
    }

    fn sample(&mut self) {
        let rows = self.windows.rows() as u64;
        self.rows.extend(self.windows.sample().iter().map(|row| self.first + u64::from(*row)));
        self.first += rows;
    }
}
