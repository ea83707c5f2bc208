//! One answer from several processes: `mpirun -n 3 kizami report run.kz` prints what `kizami report run.kz` prints, once.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi, prepared};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const KIZAMI: &str = env!("CARGO_BIN_EXE_kizami");

pub fn alone(directory: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(KIZAMI);
    command.current_dir(directory).args(words);
    finish(command)
}

/// The same command line by so many processes.
pub fn line(mpi: &Mpi, processes: u32, words: &[&str]) -> Vec<OsString> {
    let words = std::iter::once(KIZAMI).chain(words.iter().copied()).map(OsString::from);
    mpi.launch(processes, &Program(words.collect()))
}

pub fn together(mpi: &Mpi, processes: u32, directory: &Path, words: &[&str]) -> Output {
    finish(mpi.command(&line(mpi, processes, words), directory))
}

pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A run of four ranks that wait for each other, as `run.kz`.
pub fn recorded(mpi: &Mpi) -> Scratch {
    let scratch = Scratch::new();
    let (output, _) = mpi.record(4, &mpi.workload("stencil2d", &["16", "20"]), scratch.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    scratch
}

fn assert_same(mpi: &Mpi, directory: &Path, processes: &[u32], commands: &[&[&str]]) {
    for words in commands {
        let one = stdout(&alone(directory, words));
        assert!(one.len() > 100, "{one}");
        for count in processes {
            let output = together(mpi, *count, directory, words);
            assert_eq!(stdout(&output), one, "{} {count} {words:?}", mpi.name);
        }
    }
}

/// Each process has a share of it, as on hosts of their own; else threads of the first have.
const REPORT: &[&str] = &["report", "run.kz", "--json", "--threads", "1"];

fn check_all_commands(mpi: &Mpi) {
    let scratch = recorded(mpi);
    assert_same(mpi, scratch.path(), &[2, 3], &[REPORT]);
    let shared: [&[&str]; 2] =
        [&["report", "run.kz", "--threads", "2"], &["whatif", "run.kz", "--json", "--threads", "1"]];
    assert_same(mpi, scratch.path(), &[2], &shared);
    let replay: &[&str] = &["replay", "run.kz", "--network", "ideal", "--json", "--threads", "1"];
    assert_same(mpi, scratch.path(), &[3], &[replay]);
}

/// On one host the first process does all, and the others end.
fn check_one_host(mpi: &Mpi) {
    let scratch = recorded(mpi);
    assert_same(mpi, scratch.path(), &[2, 3], &[&["report", "run.kz", "--json"]]);
    assert_same(mpi, scratch.path(), &[2], &[&["whatif", "run.kz"], &["replay", "run.kz", "--cpu", "2"]]);
    let written = ["replay", "run.kz", "--cpu", "2", "-o", "faster.kz"];
    assert!(stdout(&together(mpi, 3, scratch.path(), &written)).contains("faster.kz"));
    assert!(stdout(&alone(scratch.path(), &["report", "faster.kz"])).contains("efficiency"));
}

/// More processes than ranks; one that is alone.
fn check_any_number(mpi: &Mpi) {
    let scratch = recorded(mpi);
    assert_same(mpi, scratch.path(), &[1, 4, 8], &[REPORT]);
}

/// All fail, one speaks; only one writes.
fn check_failures(mpi: &Mpi) {
    let scratch = recorded(mpi);
    let wrong: [&[&str]; 3] = [
        &["report", "missing.kz"],
        &["replay", "run.kz", "--callsite", "nowhere.c:1=2"],
        &["report", "run.kz", "--html", "run.kz"],
    ];
    let shared = wrong.map(|words| [words, &["--threads", "1"]].concat());
    for words in wrong.into_iter().chain(shared.iter().map(Vec::as_slice)) {
        let (one, several) = (alone(scratch.path(), words), together(mpi, 3, scratch.path(), words));
        assert_eq!(several.status.code(), one.status.code(), "{words:?}");
        let (one, several) = (String::from_utf8_lossy(&one.stderr), String::from_utf8_lossy(&several.stderr));
        assert!(one.starts_with("kizami: error: ") && several.contains(one.trim()), "{one}{several}");
        assert_eq!(several.matches("kizami: ").count(), 1, "{several}");
    }
    let refused = together(mpi, 2, scratch.path(), &["replay", "run.kz", "-o", "out.kz", "--threads", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!scratch.path().join("out.kz").exists());
    stdout(&together(mpi, 2, scratch.path(), &["report", "run.kz", "--html", "run.html"]));
    assert!(scratch.path().join("run.html").exists());
}

/// What a rank of another program starts is no rank, and must not wait for others.
fn check_below_a_rank(mpi: &Mpi) {
    const START: &str = "import subprocess, sys\nfrom mpi4py import MPI\n\
                         if MPI.COMM_WORLD.rank == 0: subprocess.run(sys.argv[1:], check=True)\n\
                         MPI.COMM_WORLD.barrier()";
    let scratch = recorded(mpi);
    let python = mpi.ring(&[]).0.remove(0);
    let words = ["-c", START, KIZAMI].into_iter().chain(REPORT.iter().copied()).map(OsString::from);
    let line = mpi.launch(2, &Program(std::iter::once(python).chain(words).collect()));
    let output = finish(mpi.command(&line, scratch.path()));
    assert_eq!(stdout(&output), stdout(&alone(scratch.path(), REPORT)));
}

/// Numbers of the processes that run this command and have loaded MPI.
fn working(words: &[&str]) -> Vec<i32> {
    let numbers = std::fs::read_dir("/proc").expect("processes").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let read =
        |process: &i32, what: &str| std::fs::read(format!("/proc/{process}/{what}")).unwrap_or_default();
    let line: String =
        std::iter::once(KIZAMI).chain(words.iter().copied()).map(|word| format!("{word}\0")).collect();
    numbers
        .filter(|process| read(process, "cmdline") == line.as_bytes())
        .filter(|process| String::from_utf8_lossy(&read(process, "maps")).contains("/libmpi"))
        .collect()
}

/// If one is killed, all end, and soon.
fn check_killed(mpi: &Mpi) {
    const SOON: Duration = Duration::from_secs(20);
    let scratch = Scratch::new();
    // Four ranks on fewer cores get on well only where they yield.
    let yielding = crate::mpi::mpi("openmpi");
    let (_, recorded) = yielding.record(4, &yielding.workload("stencil2d", &["16", "5000"]), scratch.path());
    assert!(recorded.run().totals.events > 100_000, "it takes a while to explain");
    let trace = scratch.path().join("run.kz").display().to_string();
    let words = ["whatif", &trace, "--threads", "1"];
    let mut command = mpi.command(&line(mpi, 2, &words), scratch.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("a launcher");
    let begun = Instant::now();
    while working(&words).len() < 2 {
        assert!(begun.elapsed() < SOON, "they did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let victim = working(&words).into_iter().max().expect("one of two");
    // SAFETY: a signal to a process that this test has started.
    unsafe { libc::kill(victim, libc::SIGKILL) };
    let killed = Instant::now();
    let output = child.wait_with_output().expect("the launcher ends");
    assert!(killed.elapsed() < SOON, "{:?}", killed.elapsed());
    // Some launchers say there what happened.
    let is_answered = String::from_utf8_lossy(&output.stdout).contains("what if");
    assert!(!output.status.success() && !is_answered, "{output:?}");
    assert!(working(&words).is_empty());
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(
    check_all_commands,
    check_one_host,
    check_any_number,
    check_failures,
    check_below_a_rank,
    check_killed
);

#[test]
fn newer_libraries_and_the_standard_abi() {
    for name in ["openmpi5", "mpich5"] {
        let mpi = mpi(name);
        let scratch = recorded(&mpi);
        assert_same(&mpi, scratch.path(), &[2, 3], &[REPORT]);
    }
    let mpi = mpi("abi");
    let scratch = recorded(&mpi);
    let library = prepared().join("python/mpich5/lib/libmpi_abi.so.1");
    let one = stdout(&alone(scratch.path(), REPORT));
    let mut command = mpi.command(&line(&mpi, 2, REPORT), scratch.path());
    command.env("KIZAMI_MPI_LIBRARY", library);
    assert_eq!(stdout(&finish(command)), one);
}
