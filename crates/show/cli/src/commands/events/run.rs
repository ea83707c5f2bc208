//! Reading the rows that were asked for, and printing them as they come.

use super::arguments::EventsArguments;
use super::filter::Filter;
use super::show::Rows;
use crate::input;
use crate::show::{quantity, say};
use anyhow::Result;
use kizami_model::Rank;
use kizami_rank_classes::ExpandedCalls;
use kizami_trace::RankSelection;
use std::io::{self, BufWriter};

const ROWS_OF_A_TABLE: u64 = 100;

/// Prints the rows that were asked for.
pub fn run(arguments: &EventsArguments) -> Result<u8> {
    let trace = input::open(&arguments.trace)?;
    arguments.memory.stay_within(&trace)?;
    let filter = Filter::new(arguments, &trace)?;
    let definitions = trace.definitions()?;
    let ranks = arguments.rank.map_or(RankSelection::All, |rank| RankSelection::One(Rank(rank)));
    let limit = match arguments.limit {
        Some(0) => u64::MAX,
        Some(limit) => limit,
        None if arguments.json => u64::MAX,
        None => ROWS_OF_A_TABLE,
    };
    let calls = ExpandedCalls::of(&trace, ranks)?;
    let wanted = calls.filter(|call| call.as_ref().map_or(true, |call| filter.keeps(call)));
    let mut wanted = wanted.peekable();
    let out = BufWriter::new(io::stdout().lock());
    let weighted = trace.run().reduced.is_some();
    let mut rows = match arguments.json {
        true => Rows::json(out, arguments.paths),
        false => Rows::table(out, arguments.paths, weighted),
    };
    let mut printed = 0;
    while printed < limit
        && let Some(call) = wanted.next()
    {
        rows.print(&call?, &definitions)?;
        printed += 1;
    }
    rows.finish()?;
    if printed == 0 {
        say(&[format!(
            "no matching call; the trace has {}",
            quantity::counted(trace.run().totals.events, "row")
        )]);
    } else if arguments.limit.is_none() && wanted.peek().is_some() {
        say(&[format!("first {printed} rows; --limit 0 shows all")]);
    }
    Ok(0)
}
