//! How a program gives to others by exchanges that leave it to the program, derived from its runs.
//!
//! The largest run counts for each function: how many get something may grow with the number of ranks, and what is
//! predicted is nearer to it. Traces without such counts say nothing; then every rank gets the same.

use crate::PredictError;
use kizami_model::{Op, SpreadCount};
use kizami_network::{Spread, Spreads};
use kizami_trace::Trace;
use rustc_hash::FxHashMap;

/// Of all runs, in the order of ranks.
pub fn spreads_of(traces: &[&Trace]) -> Result<Spreads, PredictError> {
    let mut spreads = Spreads::default();
    for trace in traces {
        let mut sums: FxHashMap<Op, [Mean; 2]> = FxHashMap::default();
        for count in &trace.definitions()?.counts {
            if let Some((op, counted)) = SpreadCount::of_name(&count.name) {
                let mean = &mut sums.entry(op).or_default()[counted as usize];
                (mean.times, mean.amount) = (mean.times + count.times, mean.amount + count.amount);
            }
        }
        spreads.extend(sums.into_iter().map(|(op, [given_to, kept])| {
            (op, Spread::seen(given_to.of_each(), kept.of_each() / 1_000.0, trace.run().ranks))
        }));
    }
    Ok(spreads)
}

/// Of all ranks and calls.
#[derive(Default)]
struct Mean {
    times: u64,
    amount: u64,
}

impl Mean {
    fn of_each(&self) -> f64 {
        self.amount as f64 / self.times.max(1) as f64
    }
}
