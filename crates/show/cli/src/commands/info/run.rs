//! Reading `run.json`, and saying what it says.

use super::arguments::InfoArguments;
use super::quantiles::Quantiles;
use super::show;
use crate::live;
use crate::show::json;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::Result;
use kizami_trace::Trace;

/// Prints what a trace holds.
pub fn run(arguments: &InfoArguments) -> Result<u8> {
    let trace = Trace::open(&live::readable(&arguments.trace)?)?;
    let mut out = text::stdout();
    if arguments.json {
        json::print_as_is(trace.run())?;
    } else {
        let quantiles = Quantiles::of(&trace)?;
        show::print(&mut out, trace.run(), &quantiles, Paint::stdout(), arguments.all)?;
    }
    Ok(0)
}
