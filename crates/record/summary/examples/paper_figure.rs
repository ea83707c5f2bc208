//! The experiment of Kamoshida and Taura on made-up ranks: durations before and after, for their schemes and ours.
//!
//!     cargo run --release -p kizami-summary --example paper_figure -- RANKS [JSON] [CALLS]
//!
//! Rank after rank, so any number of them takes the same memory. Every rank has a seed of its own: 1,000 ranks
//! are 1,000 seeds. `bench/reduction.py` draws the figure.

#[allow(dead_code)] // Tests and other examples use the rest.
mod stream;

#[allow(dead_code)] // Tests use the rest.
#[path = "../tests/summary/estimate.rs"]
mod estimate;

use kizami_rng::SplitMix64;
use kizami_stats::counted_quantile;
use kizami_summary::paper::{self, Importance};
use kizami_summary::sample::Series;
use kizami_summary::{Block, Reducer, Row, Settings, read};
use std::fmt::Write;

/// The paper's n and x: so many are collected, so many sampled of them.
const COLLECTED: usize = 10_000;
const SAMPLED: usize = 10;
/// Columns of the figure: ten a decade, from 100 ns on.
const COLUMNS: usize = 62;
const FIRST_NS: f64 = 100.0;
const LONG_NS: u64 = 10_000_000;
const SCHEMES: [(&str, Importance); 3] =
    [("f=1", Importance::One), ("f=h", Importance::H), ("f=h2", Importance::H2)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let ranks: u32 = arguments.next().map_or(8, |text| text.parse().expect("ranks"));
    let path = arguments.next();
    let calls: usize = arguments.next().map_or(440_000, |text| text.parse().expect("calls"));
    let mut figure = Figure::default();
    let mut block = Block::boxed();
    for rank in 0..ranks {
        let rows: Vec<Row> = stream::Paper::new(u64::from(rank), rank, 13).take(calls).collect();
        figure.before.add(rows.iter());
        for (index, (_, importance)) in SCHEMES.iter().enumerate() {
            figure.schemes[index].add(theirs(&rows, *importance, u64::from(rank)).into_iter());
        }
        figure.ours(&rows, &mut block);
    }
    figure.report(ranks, calls);
    if let Some(path) = path {
        std::fs::write(path, figure.json(ranks, calls)).expect("written");
    }
}

/// Time this thread spent on a core so far: others may be using the machine.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("a number") / 1e9
}

/// How many rows have a duration of each column, and how many are long.
struct Counts {
    columns: [f64; COLUMNS],
    rows: u64,
    long: u64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts { columns: [0.0; COLUMNS], rows: 0, long: 0 }
    }
}

fn column(duration_ns: u64) -> usize {
    ((duration_ns.max(1) as f64 / FIRST_NS).log10() * 10.0).clamp(0.0, COLUMNS as f64 - 1.0) as usize
}

impl Counts {
    fn add<'a>(&mut self, rows: impl Iterator<Item = &'a Row>) {
        for row in rows {
            self.add_duration(row.duration_ticks, 1.0);
        }
    }

    fn add_duration(&mut self, duration: u64, stands_for: f64) {
        self.columns[column(duration)] += stands_for;
        self.rows += 1;
        self.long += u64::from(duration > LONG_NS);
    }
}

#[derive(Default)]
struct Figure {
    before: Counts,
    schemes: [Counts; 3],
    ours: Counts,
    /// Rows by what they stand for.
    ours_weighted: Counts,
    seconds: f64,
    bytes: usize,
    inexact: u32,
    ranks_without_all_long: u32,
    ranges: u32,
    ranges_beyond_three: u32,
    widest: f64,
    worst_quantile: f64,
}

fn theirs(rows: &[Row], importance: Importance, seed: u64) -> Vec<&Row> {
    let (mut keys, mut counts) = (vec![(0.0, 0); COLLECTED], [0; paper::PAPER_DECADES as usize]);
    let mut sampled = [0; SAMPLED];
    let mut kept = Vec::new();
    for (window, rows) in rows.chunks(COLLECTED).enumerate() {
        let classes: Vec<u32> = rows.iter().map(|row| paper::decade(row.duration_ticks) as u32).collect();
        let seed = seed << 20 | window as u64;
        let count = paper::sample(&classes, importance, seed, &mut keys, &mut counts, &mut sampled);
        kept.extend(sampled[..count].iter().map(|&index| &rows[index as usize]));
    }
    kept
}

impl Figure {
    fn ours(&mut self, rows: &[Row], block: &mut Block) {
        let mut reducer = Reducer::start(block, &Settings::fraction(0.001, 64, 1_000_000_000));
        let start = cpu_seconds();
        let mut parts = stream::feed(&mut reducer, rows.iter().copied());
        self.seconds += cpu_seconds() - start;
        parts.extend(stream::rest(&mut reducer));
        let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
        self.bytes += parts.iter().map(Vec::len).sum::<usize>();
        for row in &state.rows {
            self.ours.add_duration(row.duration_ticks, 1.0);
            self.ours_weighted.add_duration(row.duration_ticks, 1.0 / row.probability);
        }
        let long = |durations: &mut dyn Iterator<Item = u64>| durations.filter(|&ns| ns > LONG_NS).count();
        let before = long(&mut rows.iter().map(|row| row.duration_ticks));
        let after = long(&mut state.rows.iter().map(|row| row.duration_ticks));
        self.ranks_without_all_long += u32::from(before != after);
        let sums = state.kinds[0].sums();
        let ticks: u64 = rows.iter().map(|row| row.duration_ticks).sum();
        self.inexact +=
            u32::from(state.kinds.len() != 1 || (sums.calls, sums.ticks) != (rows.len() as u64, ticks));
        self.ranges(rows, &state);
        let mut durations: Vec<u64> = rows.iter().map(|row| row.duration_ticks).collect();
        durations.sort_unstable();
        for share in [0.5, 0.99, 0.999] {
            let truth = counted_quantile(durations.iter().map(|ns| (*ns, 1)), share).unwrap() as f64;
            let found = state.kinds[0].sketch.quantile(share).expect("calls");
            self.worst_quantile = self.worst_quantile.max((found / truth - 1.0).abs());
        }
    }

    /// Sums over ranges of time against what they are.
    fn ranges(&mut self, rows: &[Row], state: &kizami_summary::State) {
        let mut random = SplitMix64::from(Series::alone(rows[0].duration_ticks, 0));
        for _ in 0..20 {
            let mut ends = [(); 2].map(|()| random.index(rows.len()));
            ends.sort_unstable();
            let [first, beyond] = ends;
            let truth: u64 = rows[first..beyond].iter().map(|row| row.duration_ticks).sum();
            let found = estimate::in_range(state, rows[first].start_ticks, rows[beyond].start_ticks).ticks;
            self.ranges += 1;
            let off = (found.value - truth as f64).abs();
            self.ranges_beyond_three += u32::from(off > 3.0 * found.standard_error);
            if beyond - first >= 10_000 {
                self.widest = self.widest.max(found.standard_error / found.value);
            }
        }
    }

    fn report(&self, ranks: u32, calls: usize) {
        let all = f64::from(ranks) * calls as f64;
        println!("{ranks} ranks of {calls} calls");
        for (name, counts) in self.all() {
            let (rows, long) = (counts.rows, counts.long);
            println!("{name}: {rows} rows (one of {:.0}), {long} above 10 ms", all / rows.max(1) as f64);
        }
        println!("ranks with not all calls above 10 ms kept: {}", self.ranks_without_all_long);
        println!("ranks with a total that is not exact: {}", self.inexact);
        println!("worst of p50, p99, p99.9: {:.2} % off", 100.0 * self.worst_quantile);
        let (beyond, ranges) = (self.ranges_beyond_three, self.ranges);
        println!("sums over ranges of time beyond three standard errors: {beyond} of {ranges}");
        println!("largest standard error for 10,000 calls or more: {:.2} %", 100.0 * self.widest);
        let ns = self.seconds * 1e9 / all;
        println!(
            "{ns:.1} ns a call with copying rows: {:.5} % of a core at 1,300 calls a second",
            ns * 1_300.0 / 1e7
        );
        println!(
            "bytes of rows and sums over time: {:.1} KB a rank",
            self.bytes as f64 / 1e3 / f64::from(ranks)
        );
    }

    fn all(&self) -> Vec<(&'static str, &Counts)> {
        let mut all = vec![("before", &self.before)];
        all.extend(SCHEMES.iter().zip(&self.schemes).map(|((name, _), counts)| (*name, counts)));
        all.extend([("ours", &self.ours), ("ours, weighted", &self.ours_weighted)]);
        all
    }

    fn json(&self, ranks: u32, calls: usize) -> String {
        let mut text = format!(
            "{{\"ranks\": {ranks}, \"calls\": {calls}, \"columns_per_decade\": 10, \"first_ns\": {FIRST_NS},\n"
        );
        text.push_str(" \"schemes\": {");
        for (index, (name, counts)) in self.all().into_iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let (rows, long, columns) = (counts.rows, counts.long, &counts.columns);
            write!(
                text,
                "{comma}\n  \"{name}\": {{\"rows\": {rows}, \"long\": {long}, \"counts\": {columns:?}}}"
            )
            .expect("memory");
        }
        text.push_str("\n }\n}\n");
        text
    }
}
