//! The clock of a process: the time-stamp counter where it can be trusted, `CLOCK_MONOTONIC` elsewhere.

use crate::{launcher, processor, simulator};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

static USE_TIME_STAMP: AtomicBool = AtomicBool::new(false);
/// How far the process's own `CLOCK_MONOTONIC` is ahead of that of its host.
static AHEAD_NS: AtomicI64 = AtomicI64::new(0);

/// Chooses the clock; before any reading.
pub fn choose() {
    AHEAD_NS.store(ahead_of_host_ns().unwrap_or(0), Ordering::Relaxed);
    let forced_off = std::env::var_os("KIZAMI_CLOCK").is_some_and(|value| value == "monotonic");
    let real = simulator::get().is_none();
    let trusted = processor::time_stamp_is_invariant() && !forced_off && distortion().is_none() && real;
    USE_TIME_STAMP.store(trusted, Ordering::Relaxed);
}

/// Whether [`now`] counts ticks of the time-stamp counter rather than nanoseconds.
pub fn is_time_stamp() -> bool {
    USE_TIME_STAMP.load(Ordering::Relaxed)
}

/// The present, in ticks.
pub fn now() -> u64 {
    if is_time_stamp() { processor::time_stamp() } else { monotonic_ns() }
}

/// `CLOCK_MONOTONIC` of the host in nanoseconds, or what a simulator or a test made of it.
pub fn monotonic_ns() -> u64 {
    if let Some(simulator) = simulator::get() {
        return simulator.now_ns();
    }
    let true_ns = read(libc::CLOCK_MONOTONIC).wrapping_sub(AHEAD_NS.load(Ordering::Relaxed) as u64);
    distortion().map_or(true_ns, |distortion| distortion.of(true_ns))
}

/// Nanoseconds since 1970.
pub fn realtime_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// How long the calling thread has run on processors, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// In a time namespace, as some containers have one, the clock is ahead or behind: ranks of one host must agree all the same.
fn ahead_of_host_ns() -> Option<i64> {
    ahead_ns(&std::fs::read_to_string("/proc/self/timens_offsets").ok()?)
}

/// Of lines such as `monotonic 86400 0`: seconds and nanoseconds.
fn ahead_ns(offsets: &str) -> Option<i64> {
    let words = offsets.lines().find_map(|line| line.trim().strip_prefix("monotonic"))?;
    let mut numbers = words.split_whitespace().map(|number| number.parse::<i64>().ok());
    let (seconds, ns) = (numbers.next()??, numbers.next()??);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
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

/// A wrong clock, as tests want it: the truth is known, so what sealing makes of it can be checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distortion {
    offset_ns: f64,
    drift_ppm: f64,
    wander_ns: f64,
    wander_period_s: f64,
}

impl Distortion {
    /// What this clock shows at a moment of the true one.
    fn of(&self, true_ns: u64) -> u64 {
        let seconds = true_ns as f64 / 1e9;
        let wander = (seconds / self.wander_period_s * std::f64::consts::TAU).sin() * self.wander_ns;
        (true_ns as i64 + (self.offset_ns + seconds * 1e3 * self.drift_ppm + wander) as i64) as u64
    }

    /// Of `rank=offset_ns,drift_ppm,wander_ns,wander_period_s;...` the one of this rank.
    fn parse(text: &str, rank: u32) -> Option<Distortion> {
        text.split(';').find_map(|entry| {
            let (whose, values) = entry.split_once('=')?;
            let values: Vec<f64> =
                values.split(',').map(|value| value.parse().ok()).collect::<Option<_>>()?;
            let [offset_ns, drift_ppm, wander_ns, wander_period_s] = values[..] else { return None };
            (whose.parse() == Ok(rank)).then_some(Distortion {
                offset_ns,
                drift_ppm,
                wander_ns,
                wander_period_s,
            })
        })
    }
}

/// The wrong clock a test gave this rank. Other ranks treat it as a host of its own.
pub fn distortion() -> Option<Distortion> {
    static DISTORTION: OnceLock<Option<Distortion>> = OnceLock::new();
    *DISTORTION.get_or_init(|| {
        let text = std::env::var("KIZAMI_TEST_CLOCK").ok()?;
        Distortion::parse(&text, launcher::place()?.0)
    })
}

/// Whether any rank has a wrong clock: all ranks say the same.
pub fn some_are_distorted() -> bool {
    std::env::var_os("KIZAMI_TEST_CLOCK").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_time_namespaces_are_set_back() {
        assert_eq!(
            ahead_ns("monotonic        1000         5\nboottime            0         0\n"),
            Some(1_000_000_000_005)
        );
        assert_eq!(ahead_ns("monotonic          -3 999000000\n"), Some(-2_001_000_000));
        assert_eq!(ahead_ns("boottime 1 0\n"), None);
        assert_eq!(ahead_ns("monotonic 9223372036854775807 0\n"), None);
    }

    #[test]
    fn a_rank_finds_its_own_distortion() {
        let text = "0=0,0,0,1;2=1000,-50,300,10";
        let expected =
            Distortion { offset_ns: 1000.0, drift_ppm: -50.0, wander_ns: 300.0, wander_period_s: 10.0 };
        assert_eq!(Distortion::parse(text, 2), Some(expected));
        assert_eq!(Distortion::parse(text, 1), None);
        // After ten seconds the wander is back where it was, and 500 us were lost.
        assert_eq!(expected.of(10_000_000_000), 10_000_000_000 + 1000 - 500_000);
    }
}
