//! How much is to be kept, as the numbers the reducer works with.

use super::bins::OCTAVES;
use super::block::{ALL, Block, DECADES, MAGIC, SLOTS, VERSION};

/// What a user wishes to keep, and what a tick is.
///
/// Half of the bytes are for rows, half for sums over time. Half of the rows are those that all ranks keep alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Ticks of the clock in a second.
    pub ticks_per_second: u64,
    /// How many bytes to write.
    pub bytes: Bytes,
    /// Rows with a number below this share of all are kept on every rank, whatever their class. It must be the same
    /// on all ranks.
    pub common: f64,
}

/// Bytes to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bytes {
    /// For a call.
    PerCall(f64),
    /// In a second of one thread, however many calls it makes.
    PerSecond(f64),
}

/// Bytes that a kept row takes once written out, on average.
const ROW_BYTES: u64 = 80;
/// Rows that an epoch should have when it is written out: what else is in memory are the long and the slowest.
const EPOCH_ROWS: u64 = SLOTS as u64 / 2;
/// With a rate, the calls a second at which rows that all ranks keep take half of what rows may.
const RECKONED_CALLS_PER_SECOND: f64 = 100_000.0;

impl Settings {
    /// Of what a full trace takes, `record_bytes` for a call, keep this fraction.
    pub fn fraction(keep: f64, record_bytes: u32, ticks_per_second: u64) -> Settings {
        let per_call = keep.clamp(0.0, 1.0) * f64::from(record_bytes);
        let common = rows_of(per_call) / 2.0;
        Settings { ticks_per_second, bytes: Bytes::PerCall(per_call), common }
    }

    /// Write so many bytes in a second. What all ranks keep alike cannot follow the rate of calls: a thread with more
    /// than 100,000 calls a second writes more.
    pub fn rate(bytes_per_second: f64, ticks_per_second: u64) -> Settings {
        let common = rows_of(bytes_per_second / RECKONED_CALLS_PER_SECOND) / 2.0;
        Settings { ticks_per_second, bytes: Bytes::PerSecond(bytes_per_second), common }
    }

    /// Rows to keep, as a fraction of calls; with a rate, for so many calls a second.
    pub fn rows(&self, calls_per_second: f64) -> f64 {
        match self.bytes {
            Bytes::PerCall(bytes) => rows_of(bytes),
            Bytes::PerSecond(bytes) => rows_of(bytes / calls_per_second.max(1e-9)),
        }
    }

    pub(super) fn put_into(&self, block: &mut Block) {
        let fixed = |value: f64| (value.clamp(0.0, 1e9) * (1u64 << 32) as f64) as u64;
        block.ticks_per_second = self.ticks_per_second.max(1);
        block.base = (self.common.clamp(0.0, 1.0) * ALL as f64) as u64;
        match self.bytes {
            Bytes::PerCall(bytes) => wish(block, fixed(bytes)),
            Bytes::PerSecond(bytes) => {
                block.bytes_rate_wish = fixed(bytes);
                wish(block, fixed(bytes / RECKONED_CALLS_PER_SECOND));
            }
        }
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

fn rows_of(bytes_per_call: f64) -> f64 {
    (bytes_per_call / 2.0 / ROW_BYTES as f64).min(1.0)
}

/// What to keep if so many bytes, in 2^32 calls, are wished for.
pub(super) fn wish(block: &mut Block, bytes: u64) {
    block.rows_wish = (bytes / 2 / ROW_BYTES).min(1 << 32);
    block.marks_bytes_wish = (bytes / 4).max(1);
    block.slices_bytes_wish = (bytes / 4).max(1);
    block.epoch_length = (EPOCH_ROWS << 32) / block.rows_wish.max(1);
}
