//! Measures how long the graph of a trace takes, by reading all its rows.
//!
//! ```text
//! cargo run --release -p kizami-graph --example graph_speed -- RUN.kz [threads] [times]
//! ```
//!
//! Prints the time, the processor time of all threads, that of the calling thread, and the most memory the process ever held.
//! With many threads the time of the calling thread is mostly serial work, also on a busy machine.

use kizami_graph::read;
use kizami_trace::Trace;
use std::path::Path;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).map_or(1, |text| text.parse().expect("a number"));
    let path = arguments.first().expect("usage: graph_speed RUN.kz [threads] [times]");
    let trace = Trace::open(Path::new(path)).expect("a trace");
    for _ in 0..number(2) {
        let (start, all, own) = (Instant::now(), processor_seconds(), own_processor_seconds());
        let (graph, _) = read(&trace, number(1), || (), &|_| {}).expect("a graph");
        let (seconds, all, own) =
            (start.elapsed().as_secs_f64(), processor_seconds() - all, own_processor_seconds() - own);
        let (steps, ties, memory) = (graph.steps.len(), graph.ties.len(), peak_megabytes());
        println!(
            "{seconds:.3} s, processors {all:.2} s, own {own:.3} s, {steps} steps, {ties} ties, {memory} MB"
        );
    }
}

/// Of all threads, in and outside the kernel.
fn processor_seconds() -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_A_SECOND
}

/// Of this thread.
fn own_processor_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    status.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) >> 10
}
