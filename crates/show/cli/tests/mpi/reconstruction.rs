//! Runs drawn from reduced traces: but for their times they are the real runs, call by call and request by request.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi};
use crate::simulated;
use crate::truth::{assert_counts, assert_matched, assert_messages, rows};
use kizami_model::{Call, Length, Moment, Rank, ThreadIndex};
use kizami_reconstruct::expand;
use kizami_reduced::{Importance, Keep, ReduceOptions, SequenceCall, reduce};
use kizami_trace::Trace;
use std::collections::BTreeSet;
use std::path::Path;

const RANKS: u32 = 4;

/// Programs that make the same calls each time, and complete the same requests with them.
const ALIKE: [(&str, &[&str]); 10] = [
    ("stencil2d", &["32", "200"]),
    ("halo", &["300", "64"]),
    ("matmul_shift", &[]),
    ("cg", &["1000", "40"]),
    ("radix_sort", &[]),
    ("late_sender", &["1", "20"]),
    ("persistent", &["50"]),
    ("neighbours", &[]),
    ("onesided", &[]),
    ("doubling", &["100", "10000"]),
];

/// Programs whose calls and completions depend on what comes first.
const CHANGING: [(&str, &[&str]); 3] = [("wildcard", &["7"]), ("communicators", &[]), ("coverage", &[])];

fn reconstructed(trace: &Trace, folder: &Path) -> Trace {
    let out = folder.join("drawn.kz");
    expand(trace, &out, &|_| {}).expect("an order of calls");
    Trace::open(&out).expect("a drawn trace")
}

fn reduced(full: &Trace, folder: &Path) -> Trace {
    let out = folder.join("small.kz");
    let options =
        ReduceOptions { keep: Keep::Fraction(0.001), seed: 1, importance: Importance::Classes, all_below: 0 };
    reduce(full, &out, &options, &|_, _| {}).expect("a full trace");
    Trace::open(&out).expect("a reduced trace")
}

/// A recording that was reduced while it was made; the program writes what it counted into `counts`.
fn recorded(mpi: &Mpi, program: &Program, folder: &Path, counts: &Path) -> Trace {
    let out = folder.join("kept.kz");
    let mut command = mpi.record_command(RANKS, program, folder, &out);
    command.env("KIZAMI_KEEP", "0.1%").env("KIZAMI_KEEP_ALL_BELOW", "0").env("WORKLOAD_COUNTS", counts);
    let output = finish(command);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Trace::open(&out).expect("a trace")
}

/// A row without what is drawn, or not kept.
fn without_times(row: Call) -> Call {
    Call {
        start: Moment(0),
        end: Moment(0),
        inside: None,
        overhead: Length(0),
        off_core: None,
        off_core_before: None,
        ..row
    }
}

fn assert_same_rows(name: &str, real: &Trace, reconstructed: &Trace, change: impl Fn(&Trace, Call) -> Call) {
    for rank in 0..RANKS {
        let of = |trace: &Trace| -> Vec<Call> {
            rows(trace, rank).into_iter().map(|row| change(trace, without_times(row))).collect()
        };
        let (expected, found) = (of(real), of(reconstructed));
        for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(found, expected, "{name}, rank {rank}, row {index}: drawn (left), real (right)");
        }
        assert_eq!(found.len(), expected.len(), "{name}, rank {rank}");
    }
}

/// Requests are completed once at most, after they were begun.
fn assert_requests(name: &str, trace: &Trace) {
    for rank in 0..RANKS {
        let mut open = BTreeSet::new();
        for row in rows(trace, rank) {
            for request in &row.completes {
                assert!(open.remove(request), "{name}, rank {rank}: {request} is not open: {row:?}");
            }
            if let Some(request) = row.request {
                assert!(open.insert(request), "{name}, rank {rank}: {request} is begun twice");
            }
        }
    }
}

/// Line and address of a call instead of its index, which differs from one recording to the next.
fn by_place(trace: &Trace, row: Call) -> Call {
    let sites = trace.definitions().expect("definitions").callsites;
    let offset = row.callsite.map(|site| sites[site as usize].offset as u32);
    Call { callsite: offset, ..row }
}

fn check_afterwards(mpi: &Mpi) {
    for (name, arguments) in ALIKE.into_iter().chain(CHANGING) {
        let scratch = Scratch::new();
        let (output, full) = mpi.record(RANKS, &mpi.workload(name, arguments), scratch.path());
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let reconstructed = reconstructed(&reduced(&full, scratch.path()), scratch.path());
        assert_same_rows(name, &full, &reconstructed, |_, row| row);
    }
}

fn check_while_recording(mpi: &Mpi) {
    for (name, arguments) in ALIKE.into_iter().chain(CHANGING) {
        let scratch = Scratch::new();
        let program = mpi.workload(name, arguments);
        let counts = scratch.make("counts");
        let kept = recorded(mpi, &program, scratch.path(), &counts);
        let reconstructed = reconstructed(&kept, scratch.path());
        assert_requests(name, &reconstructed);
        if counts.join("0.counts").exists() {
            assert_counts(&reconstructed, &counts, RANKS);
            assert_messages(&reconstructed, &counts, RANKS);
        }
        assert_matched(&reconstructed, RANKS);
        if ALIKE.iter().any(|(alike, _)| *alike == name) {
            let (_, full) = mpi.record(RANKS, &program, scratch.path());
            assert_same_rows(name, &full, &reconstructed, by_place);
        }
    }
}

/// Threads of a process share the numbers of requests; each has an order of its own.
#[test]
fn threads_have_orders_of_their_own() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let (output, full) = mpi.record(2, &mpi.workload("threads", &[]), scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let order =
        kizami_reduced::sequences_of(&reduced(&full, scratch.path())).expect("readable").expect("there");
    assert!(order.threads().count() > 2);
    for (rank, thread) in order.threads() {
        let sequence = order.sequence(rank, thread).expect("undamaged").expect("there");
        let of_thread = rows(&full, rank.0).into_iter().filter(|row| row.thread == thread);
        let expected = of_thread.map(|row| SequenceCall::of(&row));
        let found = sequence.calls().map(|call| call.expect("undamaged"));
        assert!(found.eq(expected), "rank {rank}, thread {thread:?}");
    }
}

/// Order of all calls of a trace, which must be that of its rows; gives the bytes it takes.
fn order_bytes(name: &str, full: &Trace, ranks: u32) -> u64 {
    let scratch = Scratch::new();
    let small = reduced(full, scratch.path());
    let order = kizami_reduced::sequences_of(&small).expect("readable").expect("there");
    for rank in 0..ranks {
        let sequence = order.sequence(Rank(rank), ThreadIndex(0)).expect("undamaged").expect("there");
        let found = sequence.calls().map(|call| call.expect("undamaged"));
        let expected = rows(full, rank).into_iter().map(|row| SequenceCall::of(&row));
        assert!(found.eq(expected), "{name}, rank {rank} of {ranks}");
    }
    small.path().join("order.bin").metadata().expect("a file").len()
}

/// More ranks and more iterations of the same take hardly more bytes.
#[test]
fn orders_of_many_simulated_ranks_are_exact_and_shared() {
    let programs: [(&str, &[&str], &[&str]); 4] = [
        ("stencil2d", &["16", "20"], &["16", "200"]),
        ("cg", &["1000", "20"], &["1000", "200"]),
        ("radix_sort", &["100"], &["100"]),
        ("matmul_shift", &["4"], &["4"]),
    ];
    for (name, few, many) in programs {
        let of = |ranks: u32, arguments: &[&str]| {
            let scratch = Scratch::new();
            let full = simulated::record(ranks, &mpi("smpi").workload(name, arguments), &scratch);
            order_bytes(name, &full, ranks)
        };
        let (small, large, long) = (of(16, few), of(64, few), of(16, many));
        println!("{name}: {small} bytes for 16 ranks, {large} for 64, {long} for 16 and more iterations");
        assert!(long <= small + 64, "{name}: {small} bytes, {long} with more iterations");
        assert!(large < 2 * small, "{name}: {small} and {large} bytes");
    }
}

#[test]
fn open_mpi_reduced_afterwards() {
    check_afterwards(&mpi("openmpi"));
}

#[test]
fn mpich_reduced_afterwards() {
    check_afterwards(&mpi("mpich"));
}

#[test]
fn open_mpi_reduced_while_recording() {
    check_while_recording(&mpi("openmpi"));
}

#[test]
fn mpich_reduced_while_recording() {
    check_while_recording(&mpi("mpich"));
}
