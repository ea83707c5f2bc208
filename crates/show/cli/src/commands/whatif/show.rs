//! Changes as a table.

use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_explain::WhatIf;
use kizami_model::Length;
use kizami_phrases::idea;
use std::io::{self, Write};

/// Prints those that gain more than their error, or all, and what errors do not include.
pub fn print(out: &mut impl Write, results: &[WhatIf<String>], paint: Paint, all: bool) -> io::Result<()> {
    let columns = [
        ("gain", Align::Right),
        ("of the run", Align::Right),
        ("change, and the option of kizami replay that makes it", Align::Left),
    ];
    let mut table = Table::new(&mut *out, paint, &columns);
    let noise_left_out = results.iter().any(|result| result.gain.noise_left_out);
    let shown: Vec<&WhatIf<String>> =
        results.iter().filter(|result| all || result.gain.exceeds_error()).collect();
    for result in &shown {
        let gain = result.gain;
        table.row(vec![
            format!(
                "{}{}",
                if result.at_most { "at most " } else { "" },
                quantity::duration(Length(gain.ns))
            ),
            format!("{:.1} % +- {:.1}", 100.0 * gain.share, 100.0 * gain.share_error),
            result.what.clone(),
        ])?;
        if let Some(option) = &result.option {
            table.row(vec![String::new(), String::new(), format!("  {option}")])?;
        }
    }
    table.finish()?;
    let left_out = results.len() - shown.len();
    if left_out > 0 {
        let changes = quantity::counted(left_out as u64, "change");
        writeln!(out, "{changes} below the error left out; --all shows them")?;
    }
    for result in shown {
        if let Some(range) = idea::range(result) {
            writeln!(out, "{range}")?;
        }
    }
    if noise_left_out {
        writeln!(
            out,
            "errors exclude noise: without a loop, the run does not show how much two runs differ"
        )?;
    }
    Ok(())
}
