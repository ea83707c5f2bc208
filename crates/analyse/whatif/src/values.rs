//! Values of changes: factors, numbers of threads, sizes and parameters of a network, as typed.
//!
//! Everything is written as it can be read.

use kizami_memory::{SizeError, parse_size};
use kizami_network::LogGops;
use std::fmt;
use std::str::FromStr;

/// Why a text is not such a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub(crate) String);

impl ValueError {
    pub(crate) fn new(text: &str) -> ValueError {
        ValueError(text.to_owned())
    }
}

impl From<SizeError> for ValueError {
    fn from(error: SizeError) -> ValueError {
        ValueError(error.to_string())
    }
}

/// So many times, such as `1.2x`; above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times(pub f64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

impl FromStr for Times {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Times, ValueError> {
        match parse_factor(text) {
            Some(value) if value > 0.0 => Ok(Times(value)),
            _ => Err(ValueError::new("give a number above zero, such as 2x or 0.5x")),
        }
    }
}

/// A number that is not negative, with an `x` behind it or not.
pub(crate) fn parse_factor(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['x', 'X']).unwrap_or(text).trim();
    number.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

/// Ranks, such as `8-11,14`; in order, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankList(pub Vec<u32>);

impl RankList {
    /// The most that can be given.
    const MOST: usize = 1 << 20;

    /// Of these ranks.
    pub fn new(mut ranks: Vec<u32>) -> RankList {
        ranks.sort_unstable();
        ranks.dedup();
        RankList(ranks)
    }
}

impl fmt::Display for RankList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stretch) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            match stretch {
                [first, .., last] => write!(f, "{first}-{last}")?,
                ranks => write!(f, "{}", ranks[0])?,
            }
        }
        Ok(())
    }
}

impl FromStr for RankList {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<RankList, ValueError> {
        let wrong = || ValueError::new("give a list of ranks, such as 8-11,14");
        let mut ranks = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            if last < first || ranks.len() + (last - first) as usize >= RankList::MOST {
                return Err(wrong());
            }
            ranks.extend(first..=last);
        }
        Ok(RankList::new(ranks))
    }
}

/// How many threads a rank has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThreadCount {
    /// So many times those it has.
    Times(f64),
    /// So many.
    Exactly(u32),
}

impl ThreadCount {
    /// Instead of so many.
    pub fn instead_of(self, threads: u32) -> u32 {
        match self {
            ThreadCount::Times(times) => (f64::from(threads) * times).round().clamp(1.0, 1e6) as u32,
            ThreadCount::Exactly(threads) => threads.max(1),
        }
    }
}

impl fmt::Display for ThreadCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadCount::Times(times) => write!(f, "{times}x"),
            ThreadCount::Exactly(threads) => write!(f, "{threads}"),
        }
    }
}

/// Reads `2x` for twice as many, `16` for that many.
impl FromStr for ThreadCount {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<ThreadCount, ValueError> {
        let text = text.trim();
        let count = match text.strip_suffix(['x', 'X']) {
            Some(_) => parse_factor(text).filter(|times| *times > 0.0).map(ThreadCount::Times),
            None => text.parse().ok().filter(|threads| *threads > 0).map(ThreadCount::Exactly),
        };
        count.ok_or_else(|| ValueError::new("give a number above zero, such as 16, or 2x for twice as many"))
    }
}

/// The largest message that does not wait for its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EagerLimit {
    /// Its size.
    pub bytes: u64,
}

impl EagerLimit {
    /// No message waits.
    pub const UNLIMITED: EagerLimit = EagerLimit { bytes: u64::MAX };
}

impl fmt::Display for EagerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EagerLimit::UNLIMITED => f.write_str("unlimited"),
            EagerLimit { bytes } if bytes > 0 && bytes.is_multiple_of(1 << 30) => {
                write!(f, "{}G", bytes >> 30)
            }
            EagerLimit { bytes } if bytes > 0 && bytes.is_multiple_of(1 << 20) => {
                write!(f, "{}M", bytes >> 20)
            }
            EagerLimit { bytes } if bytes > 0 && bytes.is_multiple_of(1 << 10) => {
                write!(f, "{}K", bytes >> 10)
            }
            EagerLimit { bytes } => write!(f, "{bytes}"),
        }
    }
}

/// Reads a size, or `unlimited`.
impl FromStr for EagerLimit {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<EagerLimit, ValueError> {
        match text.trim() {
            "unlimited" => Ok(EagerLimit::UNLIMITED),
            size => parse_size(size)
                .map(|bytes| EagerLimit { bytes })
                .map_err(|error| ValueError(format!("{error}; or unlimited"))),
        }
    }
}

/// Parameters of a LogGOPS model; those that are not given are as in the recorded run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelChange {
    /// The latency.
    pub latency_ns: Option<f64>,
    /// Overhead of a send or receive.
    pub overhead_ns: Option<f64>,
    /// Gap between messages.
    pub gap_ns: Option<f64>,
    /// Time per byte.
    pub per_byte_ns: Option<f64>,
    /// Overhead per byte.
    pub overhead_per_byte_ns: Option<f64>,
    /// Largest message that does not wait for its receiver.
    pub eager_limit_bytes: Option<u64>,
}

impl ModelChange {
    /// The model that is meant, where this one was fitted to the recorded run.
    pub fn apply(&self, fitted: LogGops) -> LogGops {
        LogGops {
            latency_ns: self.latency_ns.unwrap_or(fitted.latency_ns),
            overhead_ns: self.overhead_ns.unwrap_or(fitted.overhead_ns),
            gap_ns: self.gap_ns.unwrap_or(fitted.gap_ns),
            per_byte_ns: self.per_byte_ns.unwrap_or(fitted.per_byte_ns),
            overhead_per_byte_ns: self.overhead_per_byte_ns.unwrap_or(fitted.overhead_per_byte_ns),
            eager_limit_bytes: self.eager_limit_bytes.unwrap_or(fitted.eager_limit_bytes),
        }
    }
}

impl fmt::Display for ModelChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = [
            ("L", self.latency_ns),
            ("o", self.overhead_ns),
            ("g", self.gap_ns),
            ("G", self.per_byte_ns),
            ("O", self.overhead_per_byte_ns),
        ];
        let times = times.into_iter().filter_map(|(key, time)| Some(format!("{key}={}ns", time?)));
        let size = self.eager_limit_bytes.map(|bytes| format!("S={bytes}"));
        f.write_str(&times.chain(size).collect::<Vec<_>>().join(","))
    }
}

/// Reads `L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k`, in any order.
impl FromStr for ModelChange {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<ModelChange, ValueError> {
        let mut model = ModelChange::default();
        for part in text.split(',') {
            let (key, value) = part.trim().split_once('=').ok_or_else(|| {
                ValueError::new(
                    "give parameters and their values, such as L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k",
                )
            })?;
            let place = match key {
                "L" => &mut model.latency_ns,
                "o" => &mut model.overhead_ns,
                "g" => &mut model.gap_ns,
                "G" => &mut model.per_byte_ns,
                "O" => &mut model.overhead_per_byte_ns,
                "S" => {
                    let bytes = if value.trim() == "0" { Ok(0) } else { parse_size(value) };
                    model.eager_limit_bytes = Some(bytes?);
                    continue;
                }
                other => {
                    return Err(ValueError(format!("unknown parameter {other:?}: use L, o, g, G, O and S")));
                }
            };
            *place = Some(nanoseconds(value)?);
        }
        Ok(model)
    }
}

/// A length of time with its unit, in nanoseconds and parts of them; zero needs no unit.
fn nanoseconds(text: &str) -> Result<f64, ValueError> {
    let text = text.trim();
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let found = units.iter().find_map(|(unit, length)| Some((text.strip_suffix(unit)?, *length)));
    let (number, length) = found.unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 && (value == 0.0 || found.is_some()) => {
            Ok(value * length)
        }
        _ => Err(ValueError(format!("{text:?} is not a duration; give one such as 1us, 200ns or 0.1ns"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_order_and_each_once() {
        let ranks: RankList = "14, 8-11,3,9".parse().unwrap();
        assert_eq!((ranks.to_string().as_str(), &ranks.0[..]), ("3,8-11,14", &[3, 8, 9, 10, 11, 14][..]));
        for wrong in ["", "x", "3-", "5-3", "-1", "0-4294967295"] {
            assert!(RankList::from_str(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn factors_may_have_an_x() {
        assert_eq!(Times::from_str("1.2x"), Ok(Times(1.2)));
        assert_eq!(Times::from_str(" 2 "), Ok(Times(2.0)));
        for wrong in ["", "x", "0x", "-1x", "fast", "1e999"] {
            assert!(Times::from_str(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_eager_limit_is_a_size_or_none() {
        assert_eq!(EagerLimit::from_str("1M"), Ok(EagerLimit { bytes: 1 << 20 }));
        assert_eq!(EagerLimit::from_str("1M").unwrap().to_string(), "1M");
        assert_eq!(EagerLimit::from_str(" unlimited").unwrap().to_string(), "unlimited");
        for wrong in ["", "0", "-1", "1x", "none"] {
            assert!(EagerLimit::from_str(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_a_model_does_not_say_is_as_fitted() {
        let model = ModelChange::from_str("L=1us, o=200ns,G=0.1ns,g=0,S=64k").unwrap();
        assert_eq!(model.to_string(), "L=1000ns,o=200ns,g=0ns,G=0.1ns,S=65536");
        assert_eq!(ModelChange::from_str(&model.to_string()), Ok(model));
        let fitted = LogGops {
            latency_ns: 5.0,
            overhead_ns: 5.0,
            gap_ns: 5.0,
            per_byte_ns: 5.0,
            overhead_per_byte_ns: 5.0,
            eager_limit_bytes: 5,
        };
        let meant = model.apply(fitted);
        assert_eq!((meant.latency_ns, meant.overhead_per_byte_ns), (1_000.0, 5.0));
        for wrong in ["", "L", "L=1", "l=1us", "L=-1us", "S=x"] {
            assert!(ModelChange::from_str(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_are_of_what_there_is() {
        assert_eq!(ThreadCount::Times(2.0).instead_of(4), 8);
        assert_eq!(ThreadCount::Times(0.1).instead_of(4), 1);
        assert_eq!(ThreadCount::Exactly(16).instead_of(4), 16);
    }
}
