//! Bandwidths and latencies as people write them: `1.25GBps`, `10Gbps`, `500ns`. Written back in the largest unit that
//! reads as the same number again.

use std::ops::RangeInclusive;

/// Bytes a second of one unit; the first ones are tried first when writing.
const BANDWIDTHS: &[(&str, f64)] = &[
    ("GBps", 1e9),
    ("MBps", 1e6),
    ("kBps", 1e3),
    ("Bps", 1.0),
    ("TBps", 1e12),
    ("KiBps", 1024.0),
    ("MiBps", 1_048_576.0),
    ("GiBps", 1_073_741_824.0),
    ("Tbps", 1.25e11),
    ("Gbps", 1.25e8),
    ("Mbps", 1.25e5),
    ("kbps", 125.0),
    ("bps", 0.125),
];

/// Nanoseconds of one unit.
const TIMES: &[(&str, f64)] = &[("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0), ("ps", 1e-3)];

/// What links can have, in bytes a second: beyond it, times of whole runs would not fit into numbers.
const SENSIBLE_BANDWIDTHS: RangeInclusive<f64> = 1e-3..=1e18;
/// The same of latencies: a quarter of an hour.
const MOST_LATENCY_NS: f64 = 900e9;

/// Bytes a second; none if it is no bandwidth that a link can have.
pub(super) fn bandwidth(text: &str) -> Option<f64> {
    number(text, BANDWIDTHS).filter(|value| SENSIBLE_BANDWIDTHS.contains(value))
}

/// Nanoseconds; none if it is no latency that a link can have.
pub(super) fn latency_ns(text: &str) -> Option<f64> {
    number(text, TIMES).filter(|value| *value <= MOST_LATENCY_NS)
}

pub(super) fn show_bandwidth(bytes_per_s: f64) -> String {
    show(bytes_per_s, &BANDWIDTHS[..4])
}

pub(super) fn show_latency(ns: f64) -> String {
    show(ns, TIMES)
}

fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    // The longest unit that fits: `us` ends in `s`, too.
    let fits = units.iter().filter(|(unit, _)| text.ends_with(unit));
    let (unit, factor) = fits.max_by_key(|(unit, _)| unit.len())?;
    let value = text[..text.len() - unit.len()].trim().parse::<f64>().ok()? * factor;
    (value.is_finite() && value >= 0.0).then_some(value)
}

fn show(value: f64, units: &[(&str, f64)]) -> String {
    let texts = units.iter().map(|(unit, factor)| (format!("{}{unit}", value / factor), *factor));
    // From the largest unit on, the first that is not below 1; if none is exact, the one that is not scaled.
    let mut exact = texts
        .filter(|(text, factor)| *factor == 1.0 || (value >= *factor && number(text, units) == Some(value)));
    exact.next().map_or_else(String::new, |(text, _)| text)
}
