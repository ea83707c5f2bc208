//! How much of a run is to be kept, as people write it: `all`, `0.1%`, `10KB/s`.

use crate::show::quantity;
use std::fmt;
use std::str::FromStr;

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Keep {
    /// Every call.
    #[default]
    All,
    /// Part of the bytes that all of it would take.
    Fraction(f64),
    /// Bytes a second, for each rank.
    BytesPerSecond(f64),
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Keep, String> {
        const HINT: &str = "use all, a share such as 0.1%, or bytes a second of each rank such as 10KB/s";
        let text = text.trim();
        if text == "all" {
            return Ok(Keep::All);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| HINT.to_owned())?;
            return match percent {
                100.0 => Ok(Keep::All),
                percent if percent > 0.0 && percent < 100.0 => Ok(Keep::Fraction(percent / 100.0)),
                _ => Err("a share is more than 0 % and at most 100 %".to_owned()),
            };
        }
        match text.strip_suffix("/s").map(quantity::parse_size) {
            Some(Ok(bytes)) if bytes > 0 => Ok(Keep::BytesPerSecond(bytes as f64)),
            _ => Err(HINT.to_owned()),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::All => out.write_str("all"),
            // Few digits: a hundred times a fraction is seldom the number that was typed.
            Keep::Fraction(part) => write!(out, "{}%", (1e10 * part).round() / 1e8),
            Keep::BytesPerSecond(bytes) => write!(out, "{bytes}B/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        text.parse::<Keep>().expect("good").to_string()
    }

    #[test]
    fn shares_and_rates_are_understood() {
        assert_eq!("all".parse(), Ok(Keep::All));
        assert_eq!("0.1%".parse(), Ok(Keep::Fraction(0.001)));
        assert_eq!("100 %".parse(), Ok(Keep::All));
        assert_eq!(["0.1%", "0.03 %", "all", "2K/s"].map(shown), ["0.1%", "0.03%", "all", "2048B/s"]);
        assert_eq!("10K/s".parse(), Ok(Keep::BytesPerSecond(10_240.0)));
        for wrong in ["", "0%", "-1%", "101%", "x%", "10", "0/s", "nan%"] {
            assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
        }
    }
}
