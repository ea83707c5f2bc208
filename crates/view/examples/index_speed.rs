//! Measures how long the index of a trace takes, and how much memory.
//!
//! ```text
//! cargo run --release -p kizami-view --example index_speed -- RUN.kz
//! ```

use kizami_store::Trace;
use kizami_view::Index;
use std::path::Path;
use std::time::Instant;

fn main() {
    let path = std::env::args().nth(1).expect("a trace");
    let trace = Trace::open(Path::new(&path)).expect("a sealed trace");
    let begin = Instant::now();
    let index = Index::build(&trace, &|_| {}).expect("an index");
    println!("{} rows indexed in {:.2?}; most memory {} MB", index.rows(), begin.elapsed(), most_memory_mb());
    let begin = Instant::now();
    let kept = Index::kept(&trace).expect("the index that was kept");
    println!("mapped again in {:.2?}: {} kinds of rows", begin.elapsed(), kept.kinds().len());
}

/// The most memory the process had at a time.
fn most_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
