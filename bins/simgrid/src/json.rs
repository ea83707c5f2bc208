//! What `--json` prints: one object that says first, as `schema`, whose it is and in which version of its form.

use serde::Serialize;
use std::io::{self, Write};

/// The forms, named like the commands that print them.
pub const SIMGRID: &str = "kizami-simgrid/1";
pub const CALIBRATE: &str = "kizami-simgrid-calibrate/1";

#[derive(Serialize)]
struct Versioned<T> {
    schema: &'static str,
    #[serde(flatten)]
    value: T,
}

/// Prints one object over several lines.
pub fn print(schema: &'static str, value: impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &Versioned { schema, value })?;
    writeln!(out)
}
