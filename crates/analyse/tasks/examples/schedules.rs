//! How long schedules take to be simulated, and what they say, of one rank's tasks.
//!
//!     cargo run --release -p kizami-tasks --example schedules -- RUN.kz [1,2,4,8,16,32,64]

use kizami_model::Rank;
use kizami_tasks::{Strategy, TaskGraph, recorded_by, schedules};
use kizami_trace::Trace;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let trace = arguments.next().ok_or("usage: schedules RUN.kz [N,...]")?;
    let processors = arguments.next().unwrap_or_else(|| "1,2,4,8,16,32,64".to_owned());
    let processors = processors.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    let trace = Trace::open(Path::new(&trace))?;
    let begin = Instant::now();
    let graph = TaskGraph::of(&trace, Rank(0))?;
    let (read, by) = (begin.elapsed(), recorded_by(&trace, Rank(0))?);
    println!("{} tasks, read in {read:?}; {by:?}, {:?}", graph.made(), graph.notice());
    for strategy in [Strategy::Oldest, Strategy::Gnu, Strategy::Llvm] {
        print!("{:8}", strategy.name());
        let begin = Instant::now();
        let lengths = schedules(&graph, &processors, strategy);
        let simulated = (graph.made() * processors.len()) as f64;
        for (number, length) in processors.iter().zip(lengths) {
            print!("  {number}: {:.3} ms", length.length.0 as f64 / 1e6);
            if let Some((low, high)) = length.range {
                print!(" ({:.3} .. {:.3})", low.0 as f64 / 1e6, high.0 as f64 / 1e6);
            }
        }
        println!("  ({:.1} M tasks/s)", simulated / begin.elapsed().as_secs_f64() / 1e6);
    }
    Ok(())
}
