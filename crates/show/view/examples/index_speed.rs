//! Measures how long the index of a trace takes, how much memory, and how long pictures made from it take.
//!
//! ```text
//! cargo run --release -p kizami-view --example index_speed -- RUN.kz
//! ```

use kizami_trace::Trace;
use kizami_view::index::Index;
use kizami_view::query::timeline::timeline;
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
    println!("mapped again in {:.2?}: {} row classes", begin.elapsed(), kept.kinds().len());
    pictures(&kept);
}

/// Pictures of 2000 columns and a row for each rank, up to 1024, of shorter and shorter parts of the run.
fn pictures(index: &Index) {
    let (begin_ns, end_ns) = (index.begin_ns(), index.end_ns());
    let ranks: Vec<u32> = (0..index.ranks()).collect();
    for zoom in [1, 3, 10, 30, 100, 300, 1_000] {
        let length_ns = ((end_ns - begin_ns) / zoom).max(1);
        let mut times: Vec<_> = (0..40)
            .map(|number| {
                let from_ns = begin_ns + (end_ns - begin_ns - length_ns) / 40 * number;
                let begin = Instant::now();
                timeline(index, &ranks, from_ns, from_ns + length_ns, 2_000, 1_024);
                begin.elapsed()
            })
            .collect();
        times.sort();
        println!("1/{zoom} of the run: median {:.1?}, 95 % below {:.1?}", times[20], times[37]);
    }
}

/// The most memory the process had at a time.
fn most_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}
