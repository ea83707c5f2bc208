//! How much is to be kept, as the numbers the reducer works with.

use super::bins::OCTAVES;
use super::block::{ALL, Block, DECADES, MAGIC, SLOTS, VERSION};

/// What a user wishes to keep, and what a tick is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Ticks of the clock in a second.
    pub ticks_per_second: u64,
    /// Rows to keep, as a fraction of calls.
    pub rows: f64,
    /// Rows with a number below this are kept on every rank, whatever their class, as a fraction of calls.
    pub common: f64,
    /// Bytes of sums over time to write for a call.
    pub sums_bytes: f64,
}

/// Bytes that a kept row takes once written out, on average.
const ROW_BYTES: f64 = 80.0;
/// Most rows may be kept when they are written out: what else is in memory are the long and the slowest.
const EPOCH_ROWS: f64 = SLOTS as f64 / 2.0;

impl Settings {
    /// Of what a full trace takes, `record_bytes` for a call, keep this fraction: half of it in rows, half in sums
    /// over time. Half of the rows are those that all ranks keep alike.
    pub fn fraction(keep: f64, record_bytes: u32, ticks_per_second: u64) -> Settings {
        Settings::bytes_per_call(keep.clamp(0.0, 1.0) * f64::from(record_bytes), ticks_per_second)
    }

    /// Write so many bytes for a call. A rate in time becomes this by the calls a second one reckons with;
    /// all ranks must reckon with the same.
    pub fn bytes_per_call(bytes: f64, ticks_per_second: u64) -> Settings {
        let rows = (bytes / 2.0 / ROW_BYTES).min(1.0);
        Settings { ticks_per_second, rows, common: rows / 2.0, sums_bytes: bytes / 2.0 }
    }

    pub(super) fn put_into(&self, block: &mut Block) {
        let fixed = |value: f64| (value.clamp(0.0, 1e6) * (1u64 << 32) as f64) as u64;
        block.ticks_per_second = self.ticks_per_second.max(1);
        block.base = fixed(self.common).min(u64::from(ALL - 1)) as u32;
        block.rows_wish = fixed(self.rows);
        block.marks_bytes_wish = fixed(self.sums_bytes / 2.0).max(1);
        block.slices_bytes_wish = fixed(self.sums_bytes / 2.0).max(1);
        block.epoch_length = (EPOCH_ROWS / self.rows.max(1e-9)) as u64;
        let bounds: [u64; DECADES - 1] = std::array::from_fn(|decade| {
            (block.ticks_per_second.saturating_mul(10u64.pow(decade as u32)) / 1_000_000).max(1)
        });
        for octave in 0..OCTAVES {
            let (first, beyond) = (1u64 << octave, 2u64 << octave);
            block.decade_base[octave] = bounds.iter().filter(|&&bound| bound < first).count() as u8;
            let inside = bounds.iter().find(|&&bound| bound >= first && bound < beyond);
            block.decade_edge[octave] = inside.copied().unwrap_or(u64::MAX);
        }
        (block.version, block.bytes) = (VERSION, size_of::<Block>() as u32);
        block.magic = MAGIC;
    }
}
