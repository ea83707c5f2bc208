//! `kizami whatif`: what could be done about a run, each idea replayed, the best first.

use crate::arguments::WhatifArguments;
use crate::drawn;
use crate::report::analyse;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use anyhow::Result;
use kizami_explain::what_if;
use kizami_model::Nanos;
use std::io::{self, Write};

/// Ranks what to fix.
pub fn run(arguments: &WhatifArguments) -> Result<u8> {
    let trace = drawn::open(&arguments.trace, arguments.threads)?;
    let analysis = analyse(&trace, arguments.threads)?;
    let bar = Bar::new("replaying");
    let events = trace.run().totals.events;
    let results = what_if(&analysis, &|steps| {
        bar.set(steps % events.max(1), events, || quantity::counted(steps, "event"));
    });
    drop(bar);
    let mut out = io::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &results)?;
        writeln!(out)?;
        return Ok(0);
    }
    let columns = [
        ("gain", Align::Right),
        ("of the run", Align::Right),
        ("what if", Align::Left),
        ("kizami replay", Align::Left),
    ];
    let mut table = Table::new(&mut out, Paint::stdout(), &columns);
    let noise_left_out = results.iter().any(|result| result.gain.noise_left_out);
    for result in results {
        let gain = result.gain;
        table.row(vec![
            format!("{}{}", if result.at_most { "at most " } else { "" }, quantity::duration(Nanos(gain.ns))),
            format!("{:.1} % +- {:.1}", 100.0 * gain.share, 100.0 * gain.share_error),
            result.what,
            result.option.unwrap_or_default(),
        ])?;
    }
    table.finish()?;
    if noise_left_out {
        writeln!(out, "errors leave noise out: the run has no loop that tells how far two runs differ")?;
    }
    Ok(0)
}
