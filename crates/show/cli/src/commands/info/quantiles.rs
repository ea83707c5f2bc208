//! How long calls of each function take, of a reduced trace.

use crate::show::quantity;
use anyhow::Result;
use kizami_model::Length;
use kizami_trace::Trace;
use kizami_trace::reduced_tables::{SketchRow, What, quantile};
use std::collections::HashMap;

/// Durations of the calls of each function of a reduced trace.
#[derive(Default)]
pub struct Quantiles {
    by_function: HashMap<&'static str, Vec<SketchRow>>,
}

impl Quantiles {
    /// Those of a trace; none if it is not reduced.
    pub fn of(trace: &Trace) -> Result<Quantiles> {
        let mut quantiles = Quantiles::default();
        for row in trace.sketches()?.into_iter().filter(|row| row.what == What::Call) {
            if let Some(op) = row.op {
                quantiles.by_function.entry(op.name()).or_default().push(row);
            }
        }
        Ok(quantiles)
    }

    /// Whether there are any.
    pub fn are_known(&self) -> bool {
        !self.by_function.is_empty()
    }

    /// The duration that this share of a function's calls are not longer than.
    pub fn cell(&self, function: &str, share: f64) -> String {
        let rows = self.by_function.get(function).map(Vec::as_slice).unwrap_or_default();
        let found = quantile(rows, share).map(|ns| quantity::duration(Length(ns.round() as i64)));
        found.unwrap_or_else(|| "-".to_owned())
    }
}
