//! The ideas as a table.

use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::WhatIf;
use kizami_model::Length;
use kizami_phrases::idea;
use std::io::{self, Write};

/// Prints them, and what their errors leave out.
pub fn print(out: &mut impl Write, results: &[WhatIf<String>], paint: Paint) -> io::Result<()> {
    let columns = [
        ("gain", Align::Right),
        ("of the run", Align::Right),
        ("what if", Align::Left),
        ("kizami replay", Align::Left),
    ];
    let mut table = Table::new(&mut *out, paint, &columns);
    let noise_left_out = results.iter().any(|result| result.gain.noise_left_out);
    for result in results {
        let gain = result.gain;
        table.row(vec![
            format!(
                "{}{}",
                if result.at_most { "at most " } else { "" },
                quantity::duration(Length(gain.ns))
            ),
            format!("{:.1} % +- {:.1}", 100.0 * gain.share, 100.0 * gain.share_error),
            result.what.clone(),
            result.option.as_ref().map(ToString::to_string).unwrap_or_default(),
        ])?;
    }
    table.finish()?;
    for result in results {
        if let Some(range) = idea::range(result) {
            writeln!(out, "{range}")?;
        }
    }
    if noise_left_out {
        writeln!(out, "errors leave noise out: the run has no loop that tells how far two runs differ")?;
    }
    Ok(())
}
