//! Sizes as typed on the command line.

use std::fmt;

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeError(String);

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SizeError {}

/// A size as typed: a number and `K`, `M` or `G`, powers of 1024 as memory is counted; bytes if there is no unit.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let bytes_per_unit = match unit.to_ascii_uppercase().trim_end_matches("IB").trim_end_matches('B') {
        "" => 1u64,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(SizeError(format!("unknown unit {unit:?}: use K, M or G"))),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok((value * bytes_per_unit as f64) as u64),
        _ => Err(SizeError("give a size such as 64M or 1.5G".to_owned())),
    }
}
