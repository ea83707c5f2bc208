//! Measures how fast the waits of a recorded run are blamed.
//!
//! ```text
//! cargo run --release -p kizami-blame --example blame_speed -- run.kz [threads] [times]
//! ```
//!
//! Prints how long each time took, and what was found, added up: it must not change with threads or times.

use kizami_blame::{ByStep, Waits, blame};
use kizami_graph::build;
use kizami_replay::learn;
use kizami_trace::Trace;
use std::path::Path;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("the trace to read");
    let mut number = || arguments.next().and_then(|text| text.parse::<usize>().ok());
    let (threads, times) = (number().unwrap_or(1), number().unwrap_or(3));
    let trace = Trace::open(Path::new(&path)).expect("a trace");
    let graph = build(&trace, threads, &|_| {}).expect("its graph");
    let waits = Waits::all(learn(&graph, threads, Waits::new, &|_| {}).observers);
    let by_step = ByStep::new(graph.steps.len(), &waits.long);
    println!("{} steps, {} waits", graph.steps.len(), waits.long.len());
    for _ in 0..times {
        let start = Instant::now();
        let blamed = blame(&graph, &waits.long, &by_step, threads);
        let took = start.elapsed();
        let sum_ns = |blame: &kizami_blame::Blame| blame.direct_ns + blame.propagated_ns;
        let ns: f64 = blamed.culprits.iter().map(|(_, blame)| sum_ns(blame)).sum();
        let excess: i64 = blamed.excesses.iter().map(|excess| excess.length.0).sum();
        println!(
            "{:.3} s: {} culprits for {ns:.3} ns, {} too long by {excess} ns",
            took.as_secs_f64(),
            blamed.culprits.len(),
            blamed.excesses.len()
        );
    }
}
