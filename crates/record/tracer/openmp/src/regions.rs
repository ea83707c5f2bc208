//! Numbers of parallel regions.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of one more region of the process, from 1.
pub fn next() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
