//! Ticks of a time axis: round moments, few enough to be read, in one unit that the axis names.

use kizami_model::Moment;

/// Parts of a run that lie this many steps behind its begin are told from a moment nearby.
const MOST_STEPS: i64 = 20_000;

/// A time axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What the numbers are.
    pub title: String,
    /// Moments and their numbers.
    pub ticks: Vec<(i64, String)>,
}

const UNITS: [(i64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns")];

impl Axis {
    /// Of a part of a run, with at most so many ticks.
    pub fn new(from: Moment, to: Moment, most: usize) -> Axis {
        let (from_ns, to_ns) = (from.0, to.0);
        let length_ns = to_ns.saturating_sub(from_ns).max(1);
        let step = step(length_ns, most);
        let far = from_ns.unsigned_abs().max(to_ns.unsigned_abs()) / step.unsigned_abs() > MOST_STEPS as u64;
        // A round moment before all ticks.
        let round = if far { step.saturating_mul(10) } else { 1 };
        let base = if far { from_ns.div_euclid(round).saturating_mul(round) } else { 0 };
        let farthest = to_ns.saturating_sub(base).max(from_ns.saturating_sub(base).saturating_neg());
        let (unit, name) = unit(farthest);
        let title = match far {
            true => format!("time since {} ({name})", exact(base)),
            false => format!("time ({name})"),
        };
        let mut ticks = Vec::new();
        let mut tick = from_ns.div_euclid(step).saturating_mul(step);
        while tick <= to_ns && ticks.len() <= most {
            if tick >= from_ns {
                ticks.push((tick, number(tick.saturating_sub(base), unit, step)));
            }
            tick = match tick.checked_add(step) {
                Some(next) => next,
                None => break,
            };
        }
        Axis { title, ticks }
    }
}

/// The shortest step of 1, 2 or 5 and zeros that makes no more ticks.
fn step(length_ns: i64, most: usize) -> i64 {
    let most = most.max(1) as i64;
    let mut power = 1i64;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if length_ns / step < most {
                return step;
            }
        }
        match power.checked_mul(10).filter(|next| next.checked_mul(5).is_some()) {
            Some(next) => power = next,
            None => return power,
        }
    }
}

/// The unit that fits a length of time.
fn unit(ns: i64) -> (i64, &'static str) {
    UNITS.into_iter().find(|(unit, _)| ns.saturating_abs() >= *unit).unwrap_or(UNITS[3])
}

/// A number of units, with the digits a step needs.
fn number(ns: i64, unit: i64, step: i64) -> String {
    let mut digits = 0;
    let mut smallest = unit;
    while smallest > 1 && step % smallest != 0 {
        smallest /= 10;
        digits += 1;
    }
    format!("{:.digits$}", ns as f64 / unit as f64)
}

/// A moment to the nanosecond, without zeros that say nothing.
pub(super) fn exact(ns: i64) -> String {
    let (unit, name) = unit(ns);
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, rest) = (ns.unsigned_abs() / unit.unsigned_abs(), ns.unsigned_abs() % unit.unsigned_abs());
    let digits = unit.ilog10() as usize;
    let rest = if digits > 0 { format!(".{rest:0digits$}") } else { String::new() };
    format!("{sign}{whole}{} {name}", rest.trim_end_matches('0').trim_end_matches('.'))
}

/// A length of time in three digits.
pub(super) fn about(ns: i64) -> String {
    let (unit, name) = unit(ns);
    let value = ns as f64 / unit as f64;
    let digits = match value.abs() {
        _ if unit == 1 => 0,
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_named_in_one_unit() {
        let axis = Axis::new(Moment(0), Moment(433_000_001), 10);
        assert_eq!(axis.title, "time (ms)");
        let labels: Vec<&str> = axis.ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["0", "50", "100", "150", "200", "250", "300", "350", "400"]);
        assert_eq!(axis.ticks[3].0, 150_000_000);
        let seconds = Axis::new(Moment(1_200_000_000), Moment(1_400_000_000), 8);
        assert_eq!(seconds.title, "time (s)");
        assert_eq!(seconds.ticks[0], (1_200_000_000, "1.20".to_owned()));
        assert_eq!(seconds.ticks.last().unwrap().1, "1.40");
    }

    #[test]
    fn far_parts_are_labelled_from_a_nearby_moment() {
        let axis = Axis::new(Moment(1_234_567_890), Moment(1_234_577_890), 10);
        assert_eq!(axis.title, "time since 1.23456 s (µs)");
        assert_eq!(axis.ticks[0], (1_234_568_000, "8".to_owned()));
    }

    #[test]
    fn there_are_never_more_ticks_than_asked_for() {
        for (from, to) in
            [(0, 1), (-5, 5), (0, i64::MAX), (i64::MIN, i64::MAX), (7, 7), (0, 999), (3, 1_000_003)]
        {
            for most in [1, 2, 5, 12] {
                let axis = Axis::new(Moment(from), Moment(to), most);
                assert!(axis.ticks.len() <= most + 1, "{from} {to} {most} {axis:?}");
                assert!(axis.ticks.iter().all(|(ns, _)| (from..=to).contains(ns)));
            }
        }
    }

    #[test]
    fn moments_have_no_idle_zeros() {
        assert_eq!([exact(1_200_000_000), exact(-1_500), exact(0)], ["1.2 s", "-1.5 µs", "0 ns"]);
        assert_eq!([about(312_456_789), about(1_234_567_890), about(17)], ["312 ms", "1.23 s", "17 ns"]);
    }
}
