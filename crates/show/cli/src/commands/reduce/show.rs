//! What was kept of a trace, in rows and in bytes.

use crate::show::provenance::{exact, incomplete};
use crate::show::quantity;
use anyhow::Result;
use kizami_trace::run::Reduced;
use kizami_trace::{RunInfo, Trace};
use serde::Serialize;
use std::path::Path;

/// Bytes before and after, of the whole directories.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sizes {
    /// Bytes of the directory of the trace.
    bytes_before: u64,
    /// Bytes of the directory of the result.
    bytes_after: u64,
}

impl Sizes {
    /// Of a trace, and of what was made from it.
    pub fn of(trace: &Trace, run: &RunInfo, output: &Path) -> Result<Sizes> {
        let whole = |run: &RunInfo, directory: &Path| -> Result<u64> {
            let json = directory.join(kizami_trace::run::RUN_JSON).metadata()?.len();
            Ok(json + run.files.iter().map(|file| file.bytes).sum::<u64>())
        };
        Ok(Sizes { bytes_before: whole(trace.run(), trace.path())?, bytes_after: whole(run, output)? })
    }
}

/// What `--json` prints.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary<'a> {
    #[serde(flatten)]
    pub reduced: &'a Reduced,
    #[serde(flatten)]
    pub sizes: Sizes,
}

/// What was kept of so many rows.
pub fn lines(reduced: &Reduced, sizes: &Sizes, rows: u64) -> Vec<(&'static str, String)> {
    let part = |one: u64, of: u64| quantity::share(one as f64, of as f64);
    let mut lines = vec![
        (
            "rows",
            format!(
                "{} of {}, {}",
                quantity::count(reduced.rows_kept),
                quantity::count(rows),
                part(reduced.rows_kept, rows)
            ),
        ),
        (
            "bytes",
            format!(
                "{} of {}, {}",
                quantity::bytes(sizes.bytes_after),
                quantity::bytes(sizes.bytes_before),
                part(sizes.bytes_after, sizes.bytes_before)
            ),
        ),
        ("exact", exact(reduced).to_owned()),
    ];
    lines.extend(incomplete(&reduced.missing).into_iter().map(|text| ("but", text)));
    lines
}
