//! `kill -9` at random moments: what was completed is in the trace.
//!
//! The program counts each of its completed calls in memory that outlives it; the trace must hold at least
//! as many of the victim's calls, and at most the one more that completed but was not counted yet.

use crate::mpi::{Mpi, Scratch, mpi};
use kizami_model::Ending;
use std::path::Path;
use std::time::Duration;

/// How many kills a test run makes per MPI; `KIZAMI_KILLS` sets more for the long run.
fn kills() -> u64 {
    std::env::var("KIZAMI_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

fn kill_at_random(mpi: &Mpi, with: &[(&str, &str)]) {
    for round in 0..kills() {
        let scratch = Scratch::new();
        let counter_file = scratch.path().join("counters");
        let out = scratch.path().join("run.kz");
        let program = mpi.workload("counted", &[counter_file.to_str().expect("UTF-8"), "60"]);
        let mut command = mpi.record_command(2, &program, scratch.path(), &out);
        command.envs(with.iter().copied());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().expect("kizami runs");
        let victim = (round % 2) as u32;
        let victim_pid = loop {
            if let Some(pid) = pid_of_rank(&out, victim) {
                break pid;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        // Spread over the first half second in steps that share no factor with anything periodic.
        std::thread::sleep(Duration::from_micros(round * 7_919 % 500_000));
        // SAFETY: the process is a rank that this test started.
        unsafe { libc::kill(victim_pid, libc::SIGKILL) };
        child.wait().expect("kizami ends when its launcher does");
        check(mpi, &out, &counter_file, victim, round);
    }
}

/// The process that writes the segments of a rank, once it has told its rank.
fn pid_of_rank(trace: &Path, rank: u32) -> Option<i32> {
    for entry in std::fs::read_dir(trace.join("raw")).ok()?.flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        if let Ok(header) = kizami_segment::HeaderView::read(&bytes)
            && header.rank == Some(rank)
        {
            return Some(header.pid as i32);
        }
    }
    None
}

fn check(mpi: &Mpi, out: &Path, counter_file: &Path, victim: u32, round: u64) {
    let trace = kizami_trace::Trace::open(out).unwrap_or_else(|e| panic!("{} round {round}: {e}", mpi.name));
    let ranks = trace.definitions().expect("definitions").ranks;
    assert_eq!(ranks[victim as usize].ending, Ending::Vanished, "{} round {round}", mpi.name);
    let counters = std::fs::read(counter_file).unwrap_or_default();
    for (index, rank) in ranks.iter().enumerate() {
        let counted = counters
            .get(index * 64..index * 64 + 8)
            .map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8")));
        let recorded = rank.calls;
        // The first three calls are made before there is a counter.
        let most = if counted == 0 { 3 } else { counted + 1 };
        assert!(
            (counted..=most).contains(&recorded),
            "{} round {round} rank {index}: {counted} calls completed, {recorded} recorded",
            mpi.name
        );
    }
}

#[test]
fn open_mpi() {
    kill_at_random(&mpi("openmpi"), &[]);
}

/// Ranks that stop together most of the time, to be killed while they do.
const STOPPING: [(&str, &str); 3] =
    [("KIZAMI_SPILL", "together"), ("KIZAMI_MEMORY", "2M"), ("KIZAMI_SUSPEND", "static:20ms")];

#[test]
fn open_mpi_while_stopped() {
    kill_at_random(&mpi("openmpi"), &STOPPING);
}

#[test]
fn mpich_while_stopped() {
    kill_at_random(&mpi("mpich"), &STOPPING);
}

#[test]
fn mpich() {
    kill_at_random(&mpi("mpich"), &[]);
}

/// Ranks that keep sums and a sample: the sums have every call.
const REDUCING: [(&str, &str); 2] = [("KIZAMI_KEEP", "0.1%"), ("KIZAMI_KEEP_ALL_BELOW", "0")];

#[test]
fn open_mpi_while_reducing() {
    kill_at_random(&mpi("openmpi"), &REDUCING);
}

#[test]
fn mpich_while_reducing() {
    kill_at_random(&mpi("mpich"), &REDUCING);
}
