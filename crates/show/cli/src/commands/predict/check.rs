//! `--check`: how far the method is off where the truth is known.

use super::show::seconds;
use crate::show::json;
use crate::show::text;
use anyhow::{Context, Result};
use kizami_predict::point::Where;
use kizami_predict::{PredictionInputs, Runs};
use kizami_trace::Trace;
use std::io::Write;

/// Hides the largest run, foretells it, and prints the error.
pub fn run(traces: Vec<&Trace>, place: Where, known: PredictionInputs, as_json: bool) -> Result<u8> {
    let scratch = tempfile::tempdir().context("cannot create a directory for the predicted run")?;
    let mut runs = Runs::new(traces, place, known)?;
    let checked = runs.check(&scratch.path().join("check.kz"))?;
    if as_json {
        json::print(json::PREDICT_CHECK, &checked)?;
        return Ok(0);
    }
    let from: Vec<String> = checked.from.iter().map(ToString::to_string).collect();
    let point = &checked.predicted;
    let mut out = text::stdout();
    writeln!(out, "from         {} ranks", from.join(", "))?;
    writeln!(
        out,
        "predicted    {} with {} ranks (90 %: {} .. {})",
        seconds(point.time_s),
        point.ranks,
        seconds(point.low_s),
        seconds(point.high_s)
    )?;
    let elsewhere = if checked.replayed { ", replayed on the target machine" } else { "" };
    writeln!(out, "recorded     {}{elsewhere}", seconds(checked.recorded_s))?;
    let holds = if checked.holds { "holds it" } else { "does not contain the measured time" };
    writeln!(out, "error        {:+.1} %; the interval {holds}", 100.0 * checked.error_share)?;
    Ok(0)
}
