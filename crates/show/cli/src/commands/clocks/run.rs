//! Reading what is known of clocks, and saying it.

use super::arguments::ClocksArguments;
use super::measured::{Report, host_report};
use super::show;
use crate::input;
use crate::show::json;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::Result;
use kizami_model::Rank;
use std::collections::BTreeSet;

/// Prints how the clocks were brought together.
pub fn run(arguments: &ClocksArguments) -> Result<u8> {
    let trace = input::open(&arguments.trace)?;
    let rows = trace.clocks()?;
    let hosts = trace.definitions()?.hosts;
    let ranks: BTreeSet<Rank> = trace.repairs()?.iter().map(|repair| repair.rank).collect();
    let report = Report {
        clocks: &trace.run().clocks,
        hosts: hosts.iter().map(|host| host_report(host, &rows)).collect(),
        repaired_ranks: ranks.into_iter().map(|rank| rank.0).collect(),
    };
    let mut out = text::stdout();
    if arguments.json {
        json::print(json::CLOCKS, &report)?;
    } else {
        show::print(&mut out, &report, Paint::stdout())?;
    }
    Ok(0)
}
