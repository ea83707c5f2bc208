//! Reads a trace: prints the longest calls of each rank, with their source lines.
//!
//! ```text
//! cargo run --release -p kizami-trace --example read_a_trace -- run.kz
//! ```

use kizami_model::{Call, Rank};
use kizami_trace::{RankSelection, SourceLine, Trace};
use std::path::Path;

/// Calls printed for each rank.
const CALLS_SHOWN: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_a_trace RUN.kz")?;
    // Opening reads `run.json` only: totals, hosts, health.
    let trace = Trace::open(Path::new(&path))?;
    println!("{} calls of {} ranks", trace.run().totals.calls, trace.run().ranks);

    // Small tables that give names to the numbers in rows.
    let definitions = trace.definitions()?;
    for rank in (0..trace.run().ranks).map(Rank) {
        // Rows of the other ranks are not decoded.
        let mut calls: Vec<Call> = trace.calls(RankSelection::One(rank))?.collect::<Result<_, _>>()?;
        calls.sort_by_key(|call| std::cmp::Reverse(call.end - call.start));
        for call in calls.iter().take(CALLS_SHOWN) {
            let place = SourceLine::of(&definitions, call.callsite);
            let microseconds = (call.end - call.start).0 as f64 / 1e3;
            println!("rank {:>4}  {microseconds:>12.1} us  {} at {place}", rank.0, call.op.name());
        }
    }
    Ok(())
}
