//! Writes the trace of a made-up halo exchange with as many ranks as wanted, for measurements and for tests of the page.
//!
//! ```text
//! cargo run --release -p kizami-view --example wide_trace -- RANKS ROUNDS OUT.kz
//! ```
//!
//! Each rank makes ten calls in each round, and begins and ends MPI. Ranks are written one after the other and sealed as
//! recorded ones are, so memory does not grow with rounds: 1024 ranks and 9766 rounds are 100 million rows. Segments stay
//! open until their process ends; so that neither memory nor open files grow with ranks, some at a time are written by a
//! process of their own.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{sealed, write_rank};
use kizami_model::{Call, Moment};
use kizami_segment::WindowShape;
use kizami_testing::segments::SegmentOwner;
use kizami_testing::{Costs, Stencil};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// From the end of the last round to the end of the run.
const ENDING_NS: i64 = 20_000;
/// Ranks one process writes.
const AT_A_TIME: u32 = 1_024;
/// Small: thousands of them are open at a time.
const WINDOW: WindowShape = WindowShape { chunks: 2, chunk_bytes: 8 << 10 };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| text.parse::<u32>().expect("a number");
    match &arguments[..] {
        [ranks, rounds, path] => make(number(ranks), number(rounds), Path::new(path)),
        // As `make` calls it.
        [ranks, rounds, path, first] => write(number(ranks), number(rounds), Path::new(path), number(first)),
        _ => {
            eprintln!("usage: wide_trace RANKS ROUNDS OUT.kz");
            std::process::exit(2);
        }
    }
}

fn make(ranks: u32, rounds: u32, path: &Path) {
    assert!(!path.exists(), "{} already exists", path.display());
    let begin = Instant::now();
    let program = std::env::current_exe().expect("this program");
    for first in (0..ranks).step_by(AT_A_TIME as usize) {
        let part = [ranks.to_string(), rounds.to_string(), path.display().to_string(), first.to_string()];
        let ended = Command::new(&program).args(part).status().expect("another process");
        assert!(ended.success(), "could not write ranks from {first}");
    }
    eprintln!("written after {:.1?}", begin.elapsed());
    let trace = sealed(path);
    eprintln!("{} rows sealed after {:.1?}", trace.run().totals.events, begin.elapsed());
}

/// Writes the segments of some ranks.
fn write(ranks: u32, rounds: u32, path: &Path, first: u32) {
    let stencil = Stencil::new(ranks, u64::from(rounds), Costs::default());
    for rank in first..ranks.min(first + AT_A_TIME) {
        let mut who = SegmentOwner { window: WINDOW, ..SegmentOwner::rank(rank, ranks) };
        who.last_ticks = who.base_ticks + (stencil.end().0 + ENDING_NS) as u64;
        write_rank(path, &who, rows(&stencil, rank));
    }
}

/// The rows of one rank, with the beginning and the end of MPI.
fn rows(stencil: &Stencil, rank: u32) -> impl Iterator<Item = Call> + '_ {
    let Moment(end_ns) = stencil.end();
    // Not all at once, as in real runs; rounds begin at 1000.
    let init = kizami_testing::call("MPI_Init", rank, i64::from(rank % 7) * 20, 900);
    let finalize =
        kizami_testing::call("MPI_Finalize", rank, end_ns + i64::from(rank % 5) * 100, end_ns + ENDING_NS);
    std::iter::once(init).chain(stencil.rank(rank)).chain(std::iter::once(finalize))
}
