//! What `kizami replay` is told: factors, places of the program and parameters of a network, as people type them.
//!
//! Everything can be written back as it was typed, for the `run.json` of what comes out.

use crate::show::quantity;
use clap::ValueEnum;
use kizami_explain::ThreadCount;
use kizami_network::LogGops;
use std::fmt;

/// How messages and collectives travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NetworkKind {
    /// They cost what they cost in the recorded run
    Recorded,
    /// They cost nothing: only partners are waited for
    Ideal,
}

/// So many times, such as `1.2x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times(pub f64);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

/// A factor above zero.
pub fn parse_times(text: &str) -> Result<Times, String> {
    match factor(text) {
        Some(value) if value > 0.0 => Ok(Times(value)),
        _ => Err("give a number above zero, such as 2x or 0.5x".to_owned()),
    }
}

/// A number that is not negative, with an `x` behind it or not.
fn factor(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.strip_suffix(['x', 'X']).unwrap_or(text).trim();
    number.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

/// Reads how many threads a rank has: `2x` for twice as many, `16` for that many.
pub fn parse_thread_count(text: &str) -> Result<ThreadCount, String> {
    let text = text.trim();
    let count = match text.strip_suffix(['x', 'X']) {
        Some(_) => factor(text).filter(|times| *times > 0.0).map(ThreadCount::Times),
        None => text.parse().ok().filter(|threads| *threads > 0).map(ThreadCount::Exactly),
    };
    count.ok_or_else(|| "give a number above zero, such as 16, or 2x for twice as many".to_owned())
}

/// A line of the program, such as `solver.c:88`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The end of the file's path.
    pub file: String,
    pub line: u32,
}

impl Line {
    /// Whether this is meant: whole names of folders and files at the end of a path count.
    pub fn is_at(&self, file: &str, line: u32) -> bool {
        let before = file.strip_suffix(&self.file);
        line == self.line && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Reads `FILE:LINE`.
pub fn parse_line(text: &str) -> Result<Line, String> {
    let parts = text.trim().rsplit_once(':').map(|(file, line)| (file, line.parse()));
    match parts {
        Some((file, Ok(line))) if !file.is_empty() => Ok(Line { file: file.to_owned(), line }),
        _ => Err("give a file and a line, such as solver.c:88".to_owned()),
    }
}

/// A factor on the computation that leads up to calls made at a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFactor {
    pub line: Line,
    /// Only on this rank.
    pub rank: Option<u32>,
    pub factor: f64,
}

impl fmt::Display for LineFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.rank.map(|rank| format!("@{rank}")).unwrap_or_default();
        write!(f, "{}{rank}={}", self.line, self.factor)
    }
}

/// Reads `FILE:LINE[@RANK]=FACTOR`.
pub fn parse_line_factor(text: &str) -> Result<LineFactor, String> {
    let wrong = || "give a place and a factor, such as solver.c:88=0.5 or solver.c:88@3=0".to_owned();
    let (place, number) = text.rsplit_once('=').ok_or_else(wrong)?;
    let factor = factor(number).ok_or_else(wrong)?;
    let (line, rank) = match place.rsplit_once('@') {
        Some((line, rank)) => (line, Some(rank.trim().parse().map_err(|_| wrong())?)),
        None => (place, None),
    };
    Ok(LineFactor { line: parse_line(line)?, rank, factor })
}

/// What is received at a line, worked on in so many pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePieces {
    pub line: Line,
    pub pieces: u32,
}

impl fmt::Display for LinePieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.line, self.pieces)
    }
}

/// Reads `FILE:LINE=PIECES`.
pub fn parse_pieces(text: &str) -> Result<LinePieces, String> {
    let wrong = || "give a place and how many pieces, such as solver.c:88=8".to_owned();
    let (line, pieces) = text.rsplit_once('=').ok_or_else(wrong)?;
    let pieces = pieces.trim().parse().ok().filter(|pieces| *pieces > 0).ok_or_else(wrong)?;
    Ok(LinePieces { line: parse_line(line)?, pieces })
}

/// The largest message that does not wait for its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EagerLimit {
    pub bytes: u64,
}

impl EagerLimit {
    const UNLIMITED: EagerLimit = EagerLimit { bytes: u64::MAX };
}

impl fmt::Display for EagerLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EagerLimit::UNLIMITED => f.write_str("unlimited"),
            EagerLimit { bytes } => write!(f, "{bytes}"),
        }
    }
}

/// Reads a size, or `unlimited`.
pub fn parse_eager_limit(text: &str) -> Result<EagerLimit, String> {
    match text.trim() {
        "unlimited" => Ok(EagerLimit::UNLIMITED),
        size => quantity::parse_size(size)
            .map(|bytes| EagerLimit { bytes })
            .map_err(|wrong| format!("{wrong}; or unlimited")),
    }
}

/// Parameters of a LogGOPS model; those that are not given are as in the recorded run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelChange {
    pub latency_ns: Option<f64>,
    pub overhead_ns: Option<f64>,
    pub gap_ns: Option<f64>,
    pub per_byte_ns: Option<f64>,
    pub overhead_per_byte_ns: Option<f64>,
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
pub fn parse_model(text: &str) -> Result<ModelChange, String> {
    let mut model = ModelChange::default();
    for part in text.split(',') {
        let (key, value) = part.trim().split_once('=').ok_or_else(|| {
            "give parameters and their values, such as L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64k".to_owned()
        })?;
        let place = match key {
            "L" => &mut model.latency_ns,
            "o" => &mut model.overhead_ns,
            "g" => &mut model.gap_ns,
            "G" => &mut model.per_byte_ns,
            "O" => &mut model.overhead_per_byte_ns,
            "S" => {
                let bytes = if value.trim() == "0" { Ok(0) } else { quantity::parse_size(value) };
                model.eager_limit_bytes = Some(bytes?);
                continue;
            }
            other => return Err(format!("there is no parameter {other:?}: use L, o, g, G, O and S")),
        };
        *place = Some(nanoseconds(value)?);
    }
    Ok(model)
}

/// A length of time with its unit, in nanoseconds and parts of them; zero needs no unit.
fn nanoseconds(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let found = units.iter().find_map(|(unit, length)| Some((text.strip_suffix(unit)?, *length)));
    let (number, length) = found.unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 && (value == 0.0 || found.is_some()) => {
            Ok(value * length)
        }
        _ => Err(format!("{text:?} is no length of time; write it such as 1us, 200ns or 0.1ns")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_may_have_an_x() {
        assert_eq!(parse_times("1.2x"), Ok(Times(1.2)));
        assert_eq!(parse_times(" 2 "), Ok(Times(2.0)));
        for wrong in ["", "x", "0x", "-1x", "fast", "1e999"] {
            assert!(parse_times(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn places_are_lines_of_files() {
        let line = Line { file: "src/solver.c".to_owned(), line: 88 };
        assert_eq!(parse_line("src/solver.c:88"), Ok(line.clone()));
        assert!(line.is_at("/home/me/src/solver.c", 88) && line.is_at("src/solver.c", 88));
        assert!(!line.is_at("/home/me/mysrc/solver.c", 88) && !line.is_at("src/solver.c", 89));
        for wrong in ["solver.c", "solver.c:", ":88", "solver.c:x"] {
            assert!(parse_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn places_have_a_factor_and_perhaps_a_rank() {
        let line = || Line { file: "solver.c".to_owned(), line: 88 };
        let half = LineFactor { line: line(), rank: None, factor: 0.5 };
        assert_eq!(parse_line_factor("solver.c:88=0.5"), Ok(half.clone()));
        let none = LineFactor { line: line(), rank: Some(3), factor: 0.0 };
        assert_eq!(parse_line_factor("solver.c:88@3=0x"), Ok(none.clone()));
        assert_eq!([half.to_string(), none.to_string()], ["solver.c:88=0.5", "solver.c:88@3=0"]);
        for wrong in ["solver.c:88", "solver.c=1", "solver.c:88@x=1", "solver.c:88=-1"] {
            assert!(parse_line_factor(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pieces_are_at_least_one() {
        let pieces = parse_pieces("solver.c:88=8").unwrap();
        assert_eq!((pieces.pieces, pieces.to_string()), (8, "solver.c:88=8".to_owned()));
        for wrong in ["solver.c:88", "solver.c:88=0", "solver.c:88=x", "=8"] {
            assert!(parse_pieces(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_eager_limit_is_a_size_or_none() {
        assert_eq!(parse_eager_limit("1M"), Ok(EagerLimit { bytes: 1 << 20 }));
        assert_eq!(parse_eager_limit("1M").unwrap().to_string(), "1048576");
        assert_eq!(parse_eager_limit(" unlimited").unwrap().to_string(), "unlimited");
        for wrong in ["", "0", "-1", "1x", "none"] {
            assert!(parse_eager_limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_a_model_does_not_say_is_as_fitted() {
        let model = parse_model("L=1us, o=200ns,G=0.1ns,g=0,S=64k").unwrap();
        assert_eq!(model.to_string(), "L=1000ns,o=200ns,g=0ns,G=0.1ns,S=65536");
        assert_eq!(parse_model(&model.to_string()), Ok(model));
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
            assert!(parse_model(wrong).is_err(), "{wrong}");
        }
    }
}
