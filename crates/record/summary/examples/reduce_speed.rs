//! What adding a call costs: 20 million made-up calls of twelve call sites, at 1/1000.
//!
//!     cargo run --release -p kizami-summary --example reduce_speed [CALLS]

#[allow(dead_code)] // Tests and other examples use the rest.
mod stream;

use kizami_stats::counted_quantile;
use kizami_summary::{BLOCK_BYTES, Block, Reducer, Row, Settings, Sums, read};
use std::time::Instant;

fn main() {
    let calls: usize = std::env::args().nth(1).map_or(20_000_000, |text| text.parse().expect("calls"));
    let mix = Mixed::new();
    let mut laps = Laps::default();
    run(&mix, calls, &mut laps);
    laps.report("adding calls (with making rows)");
    let mut laps = Laps::default();
    bare(&mix, calls, &mut laps);
    laps.report("making rows alone");
    println!("memory per thread: {} KB", BLOCK_BYTES >> 10);
    check(calls);
}

/// Rows that are quickly made: one for each call site, with durations from a table.
struct Mixed {
    rows: [Row; 12],
    durations: Vec<u32>,
}

impl Mixed {
    fn new() -> Mixed {
        let rows: Vec<Row> = stream::Mix::new(1).take(1 << 12).collect();
        let durations = rows.iter().map(|row| row.duration_ticks as u32).collect();
        Mixed { rows: std::array::from_fn(|index| rows[index]), durations }
    }

    fn row(&self, index: usize, now: u64) -> Row {
        Row {
            start_ticks: now,
            duration_ticks: u64::from(self.durations[index & (self.durations.len() - 1)]),
            before_ticks: Some(0),
            number: (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ..self.rows[index % 12]
        }
    }
}

/// Times of many short stretches: on a machine that others use as well, the median is what it costs.
#[derive(Default)]
struct Laps {
    ns_per_call: Vec<f64>,
}

const LAP: usize = 1 << 16;

impl Laps {
    fn time(&mut self, calls: usize, mut call: impl FnMut(usize)) {
        for first in (0..calls).step_by(LAP) {
            let beyond = (first + LAP).min(calls);
            let start = Instant::now();
            (first..beyond).for_each(&mut call);
            self.ns_per_call.push(start.elapsed().as_nanos() as f64 / (beyond - first) as f64);
        }
    }

    fn report(self, what: &str) {
        let sorted = kizami_stats::sorted(&self.ns_per_call);
        let at = |share: f64| kizami_stats::quantile(&sorted, share).unwrap();
        let mean = kizami_stats::mean(sorted.iter().copied());
        let (low, median) = (at(0.1), at(0.5));
        println!(
            "{what}: {median:.2} ns a call (median of stretches; a tenth below {low:.2}, mean {mean:.2})"
        );
    }
}

fn run(mix: &Mixed, calls: usize, laps: &mut Laps) {
    let mut block = Block::boxed();
    let mut reducer = Reducer::start(&mut block, &Settings::fraction(0.001, 64, 1_000_000_000));
    let mut buffer = vec![0; 32 << 10];
    let (mut now, mut bytes) = (0, 0);
    laps.time(calls, |index| {
        let row = mix.row(index, now);
        now += row.duration_ticks + 500;
        if reducer.add(&row, || stream::payload(&row)) {
            loop {
                match reducer.take(&mut buffer) {
                    0 => break,
                    length => bytes += length,
                }
            }
        }
    });
    std::hint::black_box(bytes);
}

fn bare(mix: &Mixed, calls: usize, laps: &mut Laps) {
    let mut now = 0;
    laps.time(calls, |index| {
        let row = std::hint::black_box(mix.row(index, now));
        now += row.duration_ticks + 500;
    });
}

/// The same with fresh rows, compared with what was added.
fn check(calls: usize) {
    let mut block = Block::boxed();
    let mut reducer = Reducer::start(&mut block, &Settings::fraction(0.001, 64, 1_000_000_000));
    let (mut ticks, mut bytes, mut long) = (0u64, 0u64, Vec::new());
    let mut durations = vec![Vec::new(); 13];
    let rows = stream::Mix::new(2).take(calls).inspect(|row| {
        ticks += row.duration_ticks;
        bytes += row.bytes_out + row.bytes_in;
        durations[row.site as usize].push(row.duration_ticks);
        if row.duration_ticks > 10_000_000 {
            long.push(row.start_ticks);
        }
    });
    let mut parts = stream::feed(&mut reducer, rows);
    parts.extend(stream::rest(&mut reducer));
    let written: usize = parts.iter().map(Vec::len).sum();
    let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
    let sums = state.kinds.iter().fold(Sums::default(), |sums, kind| sums.plus(kind.sums()));
    let exact = sums.calls == calls as u64 && sums.ticks == ticks && sums.bytes_out + sums.bytes_in == bytes;
    println!("totals exact: {exact}; {:?}", state.missing);
    let kept = state.rows.len();
    println!("rows kept: {kept}, one of {:.0}", calls as f64 / kept as f64);
    let per_call = written as f64 / calls as f64;
    println!(
        "bytes written: {written} in {} parts, {:.4} a call, one of {:.0} at 64",
        parts.len(),
        per_call,
        64.0 / per_call
    );
    let there =
        long.iter().filter(|start| state.rows.binary_search_by_key(start, |row| &row.start_ticks).is_ok());
    println!("calls above 10 ms: {} of {} kept", there.count(), long.len());
    let mut worst: f64 = 0.0;
    for kind in &state.kinds {
        let all = &mut durations[kind.site.expect("one site") as usize];
        all.sort_unstable();
        for share in [0.5, 0.9, 0.99, 0.999] {
            let truth = counted_quantile(all.iter().map(|ns| (*ns, 1)), share).unwrap() as f64;
            worst = worst.max((kind.sketch.quantile(share).expect("calls") / truth - 1.0).abs());
        }
    }
    println!("worst of p50, p90, p99, p99.9 of {} kinds: {:.2} % off", state.kinds.len(), 100.0 * worst);
}
