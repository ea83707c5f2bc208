//! Ranks that meet for the tracer's sake: they stop together, write out, and go on, and the program is as it was.

use crate::mpi::{Mpi, Scratch, finish, mpi, sorted_lines};
use crate::trouble::SmallDisk;
use kizami_trace::Trace;
use std::path::Path;
use std::process::{Command, Output};

/// Settings under which ranks meet often: little memory, and stopping together.
pub const TOGETHER: [(&str, &str); 2] = [("KIZAMI_SPILL", "together"), ("KIZAMI_MEMORY", "2M")];

pub fn record(
    mpi: &Mpi,
    ranks: u32,
    program: (&str, &[&str]),
    directory: &Path,
    with: &[(&str, &str)],
) -> Output {
    let program = mpi.workload(program.0, program.1);
    let mut command = mpi.record_command(ranks, &program, directory, &directory.join("run.kz"));
    command.envs(with.iter().copied());
    finish(command)
}

pub fn opened(directory: &Path, output: &Output) -> Trace {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Trace::open(&directory.join("run.kz")).expect("a trace")
}

/// Collectives of some ranks, while others are elsewhere, neither hang nor meet.
#[test]
fn groups_do_not_wait_for_each_other() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let bare = mpi.run_bare(4, &mpi.workload("communicators", &[]), &scratch.make("bare"));
        let directory = scratch.make("recorded");
        let output = record(&mpi, 4, ("communicators", &[]), &directory, &TOGETHER);
        opened(&directory, &output);
        assert_eq!(sorted_lines(&bare), sorted_lines(&output));
    }
}

/// Threads that call MPI at once, while clocks differ and ranks may stop.
#[test]
fn several_threads_meet_too() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let clocks = [("KIZAMI_TEST_CLOCK", "1=5000000,20,3000,30")];
        let with: Vec<_> = TOGETHER.into_iter().chain(clocks).collect();
        let output = record(&mpi, 2, ("threads", &["3", "2000", "64"]), scratch.path(), &with);
        assert!(matches!(output.status.code(), Some(0 | 77)), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn an_abort_ends_ranks_that_would_stop() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let output = record(&mpi, 2, ("abort", &["3", "1"]), scratch.path(), &TOGETHER);
        assert!(!output.status.success());
        Trace::open(&scratch.path().join("run.kz")).expect("a trace of the aborted run");
    }
}

/// The disk fills while ranks write out together: they go on, and know what was lost.
#[test]
fn a_disk_that_fills_while_ranks_stop() {
    for name in ["openmpi", "mpich"] {
        let mpi = mpi(name);
        let scratch = Scratch::new();
        let directory = scratch.make("small");
        let _disk = SmallDisk::mount(&directory, "6m");
        let output = record(&mpi, 2, ("allreduce", &["150000"]), &directory, &TOGETHER);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What does not fit into memory, and is not to be written out, is counted to the last call.
#[test]
fn calls_that_do_not_fit_are_counted() {
    const CALLS: u64 = 200_000;
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let with = [("KIZAMI_SPILL", "never"), ("KIZAMI_MEMORY", "2M")];
    let output = record(&mpi, 1, ("cheapest", &[&CALLS.to_string(), "1"]), scratch.path(), &with);
    let trace = opened(scratch.path(), &output);
    let totals = &trace.run().totals;
    assert!(totals.lost_calls > 0 && totals.calls < CALLS);
    let background = scratch.make("background");
    let output = record(&mpi, 1, ("cheapest", &[&CALLS.to_string(), "1"]), &background, &[]);
    let all = opened(&background, &output).run().totals.calls;
    assert_eq!(totals.calls + totals.lost_calls, all, "recorded and lost are all there are");
}

/// However long the trace, a rank's memory stays within the limit.
#[test]
fn memory_stays_within_the_limit() {
    let mpi = mpi("mpich");
    let scratch = Scratch::new();
    let peak = |record: bool, directory: &Path| -> u64 {
        let program = mpi.workload("cheapest", &["12000000", "1"]);
        let timed = ["/usr/bin/python3", "-c", PEAK].map(std::ffi::OsString::from);
        let program = crate::mpi::Program(timed.into_iter().chain(program.0).collect());
        let output = if record {
            let mut command = mpi.record_command(1, &program, directory, &directory.join("run.kz"));
            finish({
                command.env("KIZAMI_MEMORY", "16M").env("KIZAMI_NO_SEAL", "true");
                command
            })
        } else {
            mpi.run_bare(1, &program, directory)
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("ns_per_call"), "{text}");
        let kilobytes = text.lines().find_map(|line| line.strip_prefix("peak_kb ")).expect("a figure");
        kilobytes.parse::<u64>().expect("a number") << 10
    };
    let bare = peak(false, &scratch.make("bare"));
    let traced = peak(true, &scratch.make("traced"));
    let grown = traced.saturating_sub(bare);
    assert!(grown <= 24 << 20, "384 MB of trace: memory grew by {grown} bytes, with a limit of 16 MiB");
}

/// Runs a program and says how much memory it had at most.
const PEAK: &str = "import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], close_fds=False)
print('peak_kb', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(code)";

#[test]
fn options_that_make_no_sense_are_refused() {
    for (option, value) in [("--memory", "lots"), ("--spill", "sometimes"), ("--suspend", "static:soon")] {
        let output = Command::new(env!("CARGO_BIN_EXE_kizami"))
            .args(["record", option, value, "--", "true"])
            .output()
            .expect("kizami runs");
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
    }
}
