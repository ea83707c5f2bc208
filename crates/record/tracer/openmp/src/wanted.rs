//! What is to be recorded.

use kizami_tracer_core::settings::{self, OpenMp};
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether OpenMP is to be recorded in this process.
pub fn openmp() -> bool {
    std::env::var_os("KIZAMI_RAW").is_some_and(|folder| !folder.is_empty())
        && settings::get().openmp != OpenMp::Off
}

/// Whether tasks are recorded.
#[inline(always)]
pub fn tasks() -> bool {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match WANTED.load(Ordering::Relaxed) {
        UNKNOWN => {
            let wanted = matches!(settings::get().openmp, OpenMp::Auto(_) | OpenMp::Tasks);
            WANTED.store(if wanted { YES } else { NO }, Ordering::Relaxed);
            wanted
        }
        known => known == YES,
    }
}
