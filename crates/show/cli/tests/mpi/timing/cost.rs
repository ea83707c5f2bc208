//! The price of a call, guarded with generous margins: machines that run tests are shared and noisy.
//! `bench/cost.py` measures it properly.

use super::ATTEMPTS;
use crate::mpi::{Mpi, Scratch, mpi};
use kizami_model::Rank;
use kizami_stats::{sorted, upper_median};
use kizami_testing::timing::{majority_of, must};
use kizami_trace::RankSelection;
use std::process::Command;

fn median(values: Vec<f64>) -> f64 {
    upper_median(&sorted(&values)).unwrap()
}

fn figure(output: &std::process::Output) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split_whitespace().skip_while(|word| *word != "ns_per_call");
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no figure in {text}"))
}

/// On the cheapest call the recorder adds at most three times what the floor adds (two readings of the clock
/// and a 32-byte store), and a plain call takes 32 bytes of raw trace beside the fixed window.
#[test]
fn the_cheapest_call_stays_cheap() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let floor = scratch.path().join("floor.so");
    // Tests run in the folder of their package; a path from building would be that of whichever checkout
    // filled the shared cache.
    let source = "../../../bench/floor.c";
    let built =
        Command::new("cc").args(["-O2", "-shared", "-fPIC", source, "-ldl", "-o"]).arg(&floor).status();
    assert!(built.is_ok_and(|status| status.success()));
    let program = mpi.workload("cheapest", &["300000"]);
    let (mut bare, mut least, mut traced) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..5 {
        bare.push(figure(&mpi.run_bare(1, &program, scratch.path())));
        let mut with_floor = vec!["env".into(), format!("LD_PRELOAD={}", floor.display()).into()];
        with_floor.extend(program.0.iter().cloned());
        least.push(figure(&mpi.run_bare(1, &crate::mpi::Program(with_floor), scratch.path())));
        let directory = scratch.make(&format!("run{round}"));
        let out = directory.join("run.kz");
        let mut command = mpi.record_command(1, &program, &directory, &out);
        command.env("KIZAMI_KEEP_RAW", "true");
        traced.push(figure(&crate::mpi::finish(command)));
        let raw: u64 = std::fs::read_dir(out.join("raw"))
            .expect("raw is kept")
            .flatten()
            .filter_map(|e| e.metadata().ok())
            .map(|m| m.len())
            .sum();
        assert!(raw <= 300_000 * 32 + (2 << 20), "{raw} bytes of raw trace for 300,000 calls");
    }
    let (bare, least, traced) = (median(bare), median(least), median(traced));
    println!("bare {bare} ns, floor {least} ns, traced {traced} ns");
    assert!(traced - bare <= 3.0 * (least - bare), "bare {bare} ns, floor {least} ns, traced {traced} ns");
}

/// The first request of a rank costs no more than setting up a table: whatever the kernel has to be told for it, and may take
/// long about in a process with several threads, was told before there were any.
fn check_first_requests(mpi: &Mpi) {
    let program = mpi.workload("halo", &["20"]);
    let held_up_ns = || {
        let scratch = Scratch::new();
        let (_, trace) = mpi.record(2, &program, scratch.path());
        let rows = trace.calls(RankSelection::One(Rank(0))).expect("rows");
        let calls: Vec<_> = rows.map(|call| call.expect("a row")).collect();
        let first = calls.iter().position(|call| call.op.name() == "MPI_Irecv").expect("a request");
        calls[first + 1].start.0 - calls[first].end.0
    };
    // It takes some microseconds, and took 15 ms and more.
    majority_of(ATTEMPTS, mpi.name, || {
        let ns = held_up_ns();
        must(ns < 2_000_000, || format!("{ns} ns until the second request"))
    });
}

#[test]
fn first_requests_do_not_hold_a_rank_up_under_open_mpi() {
    check_first_requests(&mpi("openmpi"));
}

#[test]
fn first_requests_do_not_hold_a_rank_up_under_mpich() {
    check_first_requests(&mpi("mpich"));
}
