//! The clock of a process: the time-stamp counter where it can be trusted, `CLOCK_MONOTONIC` elsewhere.

use crate::arch;
use std::sync::atomic::{AtomicBool, Ordering};

static USE_TIME_STAMP: AtomicBool = AtomicBool::new(false);

/// Chooses the clock; before any reading.
pub fn choose() {
    let forced_off = std::env::var_os("KIZAMI_CLOCK").is_some_and(|value| value == "monotonic");
    USE_TIME_STAMP.store(arch::time_stamp_is_invariant() && !forced_off, Ordering::Relaxed);
}

/// Whether [`now`] counts ticks of the time-stamp counter rather than nanoseconds.
pub fn is_time_stamp() -> bool {
    USE_TIME_STAMP.load(Ordering::Relaxed)
}

/// The present, in ticks.
#[inline(always)]
pub fn now() -> u64 {
    if USE_TIME_STAMP.load(Ordering::Relaxed) { arch::time_stamp() } else { monotonic_ns() }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and a valid place for the answer.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// One moment on both clocks: (ticks, monotonic nanoseconds). The tightest of a few tries, so that an
/// interruption between the readings does not count.
pub fn reading() -> (u64, u64) {
    let attempt = || {
        let before = now();
        let monotonic = monotonic_ns();
        let after = now();
        (after - before, before + (after - before) / 2, monotonic)
    };
    let tightest = (0..5).map(|_| attempt()).min().unwrap_or_else(attempt);
    (tightest.1, tightest.2)
}
