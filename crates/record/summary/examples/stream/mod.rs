//! Made-up streams of calls, for examples and tests. Times are in nanoseconds.

use kizami_rng::SplitMix64;
use kizami_summary::sample::Series;
use kizami_summary::{NO_PEER, Row};

/// One rank of the paper's program: local work, then an Allreduce written as MPI_Sendrecv with each of
/// `rounds` partners; 1,300 calls a second of some tens of microseconds, and once in a while one of 10 to 100 ms.
pub struct Paper {
    random: SplitMix64,
    seed: u64,
    rank: u32,
    rounds: u32,
    calls: u64,
    now: u64,
}

/// The share of calls that take more than 10 ms: about 90 of 440,000.
const OUTLIERS: f64 = 90.0 / 440_000.0;
const NS_BETWEEN_CALLS: f64 = 1e9 / 1_300.0;
pub const SENDRECV: u16 = 12;

impl Paper {
    pub fn new(seed: u64, rank: u32, rounds: u32) -> Paper {
        let random = Series::alone(seed, u64::from(rank)).into();
        Paper { random, seed, rank, rounds, calls: 0, now: 1_000_000 }
    }
}

impl Iterator for Paper {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let round = (self.calls % u64::from(self.rounds)) as u32;
        let duration = if self.random.unit() < OUTLIERS {
            1e7 * 10f64.powf(self.random.unit()).max(1.000_001)
        } else {
            (3e4 * (0.8 * self.random.normal()).exp()).min(9e6)
        };
        let partner = self.rank ^ 1 << round;
        let before = self.calls / u64::from(self.rounds);
        let (low, high) = (self.rank.min(partner), self.rank.max(partner));
        let messages = Series::of_messages(self.seed, 0, low, high, round as i32);
        let row = Row {
            site: 1,
            op: SENDRECV,
            communicator: 0,
            to: partner as i32,
            from: partner as i32,
            bytes_out: 8_192,
            bytes_in: 8_192,
            start_ticks: self.now,
            duration_ticks: duration as u64,
            before_ticks: Some(0),
            number: messages.number(before),
        };
        let gap = NS_BETWEEN_CALLS * if round == 0 { f64::from(self.rounds) } else { 0.02 };
        self.now += duration as u64 + (gap * (0.5 + self.random.unit())) as u64;
        self.calls += 1;
        Some(row)
    }
}

/// A program with several call sites, sizes and functions.
pub struct Mix {
    random: SplitMix64,
    calls: u64,
    now: u64,
}

impl Mix {
    pub fn new(seed: u64) -> Mix {
        Mix { random: Series::alone(seed, 0).into(), calls: 0, now: 1 }
    }
}

impl Iterator for Mix {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let step = (self.calls % 12) as u32;
        let rare = self.random.unit() < 92.0 / 2e7;
        let duration = if rare { 2e7 } else { 2e4 * (0.7 * self.random.normal()).exp() } as u64;
        let bytes = if step < 8 { 1_024u64 << (step % 4) } else { 8 };
        let peer = if step < 8 { step as i32 } else { NO_PEER };
        self.now += duration + 1_000;
        self.calls += 1;
        Some(Row {
            site: 1 + step,
            op: (step / 4) as u16 + 1,
            communicator: 0,
            to: if step < 4 { peer } else { NO_PEER },
            from: if step < 4 { NO_PEER } else { peer },
            bytes_out: if !(4..8).contains(&step) { bytes } else { 0 },
            bytes_in: if step >= 4 { bytes } else { 0 },
            start_ticks: self.now - duration,
            duration_ticks: duration,
            before_ticks: Some(0),
            number: self.random.bits(),
        })
    }
}

/// What a trace would hold of a row; made up as well.
pub fn payload(row: &Row) -> [u64; 8] {
    let words = [u64::from(row.op), row.start_ticks, row.duration_ticks, row.bytes_out, row.bytes_in];
    let peers = [u64::from(row.site), u64::from(row.to as u32), u64::from(row.from as u32)];
    std::array::from_fn(|word| if word < 5 { words[word] } else { peers[word - 5] })
}

/// Adds calls and takes what is due; returns the parts.
pub fn feed(reducer: &mut kizami_summary::Reducer, rows: impl Iterator<Item = Row>) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; 32 << 10];
    let mut parts = Vec::new();
    for row in rows {
        if reducer.add(&row, || payload(&row)) {
            loop {
                match reducer.take(&mut buffer) {
                    0 => break,
                    length => parts.push(buffer[..length].to_vec()),
                }
            }
        }
    }
    parts
}

/// What is left to be handed over at the end.
pub fn rest(reducer: &mut kizami_summary::Reducer) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; 32 << 10];
    let lengths = std::iter::from_fn(|| match reducer.take_rest(&mut buffer) {
        0 => None,
        length => Some(buffer[..length].to_vec()),
    });
    lengths.collect()
}
