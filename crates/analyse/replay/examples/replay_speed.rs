//! Measures matching and replay on a halo exchange that is made in memory.
//!
//! ```text
//! cargo run --release -p kizami-replay --example replay_speed -- [ranks] [iterations] [threads]
//! ```
//!
//! Prints events a second for matching, for a first walk as recorded, and for a walk with one lane (an ideal network)
//! and with eight, and the most memory the process ever held.

use kizami_graph::Builder;
use kizami_model::Call;
use kizami_replay::{EndedStep, LaneMoment, Network, Observer, Setting, learn, replay};
use kizami_testing::{Costs, Stencil};
use std::hint::black_box;
use std::time::Instant;

struct End<const LANES: usize>([LaneMoment; LANES]);

impl<const LANES: usize> Observer<LANES> for End<LANES> {
    fn step(&mut self, seen: &EndedStep<'_, LANES>) {
        for (end, step) in self.0.iter_mut().zip(seen.end) {
            *end = step.max(*end);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let ranks = arguments.next().unwrap_or(1_024) as u32;
    let iterations = arguments.next().unwrap_or(1_000);
    let threads = arguments.next().unwrap_or(1) as usize;
    let stencil = Stencil::new(ranks, iterations, Costs::default());
    let definitions = kizami_testing::definitions(&[(0..ranks).collect()]);
    let events = stencil.calls() as f64;
    let tell = |what: &str, start: Instant| {
        let seconds = start.elapsed().as_secs_f64();
        println!("{what}: {seconds:.2} s, {:.1} M events/s", events / seconds / 1e6);
        seconds
    };
    let start = Instant::now();
    each(&stencil, |call| {
        black_box(call);
    });
    let making = tell(&format!("made {events} events"), start);

    let start = Instant::now();
    let mut builder = Builder::new(&definitions, &[]);
    each(&stencil, |call| builder.call(call));
    let graph = builder.finish();
    let matching = tell("made and matched", start);

    let start = Instant::now();
    let learned = learn(&graph, threads, || (), &|_| {}).learned;
    tell("first walk", start);
    let ideal = Setting { network: Network::Ideal, ..Setting::default() };
    let start = Instant::now();
    let replayed = replay(&graph, [&ideal], &learned, threads, || End([LaneMoment::default(); 1]), &|_| {});
    let walking = tell("ideal network", start);
    let both = matching - making + walking;
    println!("matched and replayed, without the making: {both:.2} s, {:.1} M events/s", events / both / 1e6);
    let ends = replayed.observers.iter().map(|end| end.0[0].0).max();
    println!("end {} ns, ideal {ends:?} ns; {} unmatched", stencil.end().0, replayed.unmatched);
    let start = Instant::now();
    let recorded = Setting::default();
    let lanes = [&recorded, &ideal, &recorded, &ideal, &recorded, &ideal, &recorded, &ideal];
    let replayed = replay(&graph, lanes, &learned, threads, || End([LaneMoment::default(); 8]), &|_| {});
    tell("eight lanes", start);
    println!("end {:?}", replayed.observers.iter().map(|end| end.0[0].0).max());
    println!("peak memory {} MB", peak_megabytes());
}

/// All rows, by rank.
fn each(stencil: &Stencil, mut tell: impl FnMut(&Call)) {
    for rank in 0..stencil.ranks {
        for iteration in 0..stencil.iterations {
            stencil.iteration(rank, iteration).iter().for_each(&mut tell);
        }
    }
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) >> 10
}
