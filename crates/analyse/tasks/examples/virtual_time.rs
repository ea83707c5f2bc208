//! How fast tasks go through virtual time: `cargo run --release -p kizami-tasks --example virtual_time NAME.kz`.

use kizami_model::Rank;
use kizami_tasks::stream;
use kizami_trace::Trace;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which trace?")?;
    let trace = Trace::open(path.as_ref())?;
    let begin = Instant::now();
    let streamed = stream(&trace, Rank(0))?;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} tasks in {seconds:.2} s, {:.1} million a second; at most {} held; span {} ns",
        streamed.made,
        streamed.made as f64 / seconds / 1e6,
        streamed.held,
        streamed.span.0
    );
    Ok(())
}
