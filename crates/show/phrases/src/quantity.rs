//! Formatting of durations, sizes, counts and shares; and parsing of times.
//!
//! Every function gives about three significant digits and the unit. Nothing here is meant to be read
//! back by a program: `--json` gives plain numbers.

pub use kizami_memory::parse_size;
use kizami_model::{Length, Moment};

/// Why a text is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TimeError(String);

/// A length of time, such as `1.234 s` or `87.0 us`.
pub fn duration(time: Length) -> String {
    let (sign, ns) = (if time.0 < 0 { "-" } else { "" }, time.0.unsigned_abs());
    let in_unit = |unit_ns: f64, unit: &str| format!("{sign}{} {unit}", significant(ns as f64 / unit_ns));
    match ns {
        0..1_000 => format!("{sign}{ns} ns"),
        1_000..999_500 => in_unit(1e3, "us"),
        999_500..999_500_000 => in_unit(1e6, "ms"),
        999_500_000..600_000_000_000 => in_unit(1e9, "s"),
        _ => {
            let seconds = ns / 1_000_000_000;
            format!("{sign}{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60)
        }
    }
}

/// A moment of the run in seconds, with a fixed number of digits so that columns stay comparable.
pub fn moment(time: Moment) -> String {
    format!("{:.7}", time.since_start().as_secs_f64())
}

/// A size, such as `1.25 MB`; units are powers of ten.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1_000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// A count with its thousands set apart, such as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Calls and messages that are counted together.
pub fn calls_or_messages(number: u64) -> String {
    match number {
        1 => "1 call or message".to_owned(),
        many => format!("{} calls or messages", count(many)),
    }
}

/// A count and what is counted, such as `1 rank` or `4 ranks`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// A part of a whole, such as `12.3 %`; `-` where the whole is nothing.
pub fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        return "-".to_owned();
    }
    let percent = 100.0 * part / whole;
    match percent {
        _ if percent <= 0.0 => "0 %".to_owned(),
        _ if percent < 0.001 => "< 0.001 %".to_owned(),
        _ if percent < 0.1 => format!("{percent:.3} %"),
        _ if percent < 10.0 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// A part of a whole as percent, always with one digit behind the point.
pub fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A length of time as typed: a number and `s`, `ms`, `us` or `ns`; seconds if there is no unit.
pub fn parse_time(text: &str) -> Result<Length, TimeError> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let nanos_per_unit = match unit.trim() {
        "" | "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        other => return Err(TimeError(format!("unknown unit {other:?}: use s, ms, us or ns"))),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Length((value * nanos_per_unit).round() as i64)),
        _ => Err(TimeError("give a time such as 1.5, 1.5s, 20ms or 300us".to_owned())),
    }
}

/// A moment of the run as typed: how long after its first one.
pub fn parse_moment(text: &str) -> Result<Moment, TimeError> {
    parse_time(text).map(|length| Moment::START + length)
}

/// Three significant digits, for values below 1000.
fn significant(value: f64) -> String {
    match value {
        _ if value < 10.0 => format!("{value:.2}"),
        _ if value < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        let cases = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (12_345, "12.3 us"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (123_456_789, "123 ms"),
            (1_500_000_000, "1.50 s"),
            (599_000_000_000, "599 s"),
            (3_661_000_000_000, "1:01:01 h"),
            (-5_000, "-5.00 us"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration(Length(ns)), text, "{ns} ns");
        }
    }

    #[test]
    fn sizes_are_typed_in_powers_of_1024() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("2kb"), Ok(2048));
        assert!(parse_size("M").is_err());
        assert!(parse_size("3T").is_err());
    }

    #[test]
    fn sizes_never_show_a_thousand_of_a_unit() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (999_499, "999 kB"),
            (999_999, "1.00 MB"),
            (5_250_000_000, "5.25 GB"),
            (u64::MAX, "18.4 EB"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text, "{size} bytes");
        }
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "rank"), "1 rank");
        assert_eq!(counted(64, "rank"), "64 ranks");
    }

    #[test]
    fn shares_keep_what_matters() {
        assert_eq!(share(1.0, 0.0), "-");
        assert_eq!(share(0.0, 5.0), "0 %");
        assert_eq!(share(1.0, 1e9), "< 0.001 %");
        assert_eq!(share(0.5, 1000.0), "0.050 %");
        assert_eq!(share(1.0, 3.0), "33.3 %");
    }

    #[test]
    fn times_are_read_with_and_without_unit() {
        assert_eq!(parse_time("1.5"), Ok(Length(1_500_000_000)));
        assert_eq!(parse_time("1.5s"), Ok(Length(1_500_000_000)));
        assert_eq!(parse_time("20 ms"), Ok(Length(20_000_000)));
        assert_eq!(parse_time("300us"), Ok(Length(300_000)));
        assert_eq!(parse_time("1e3ns"), Ok(Length(1_000)));
        assert!(parse_time("soon").is_err());
        assert!(parse_time("5 parsec").unwrap_err().0.contains("parsec"));
        assert!(parse_time("inf").is_err());
    }
}
