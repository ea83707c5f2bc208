//! Runs that hang, are interrupted, killed or still go on: what is kept of them, and what is said about them.

use crate::mpi::{Mpi, Program, Scratch, finish, mpi};
use kizami_model::Ending;
use kizami_trace::{Definitions, RunInfo, Trace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const RANKS: u32 = 3;

/// A recording that is under way; what it launched goes with it.
struct Running {
    recorder: Child,
    trace: PathBuf,
}

impl Running {
    fn of(mpi: &Mpi, ranks: u32, program: &Program, directory: &Path) -> Running {
        let trace = directory.join("run.kz");
        let mut command = mpi.record_command(ranks, program, directory, &trace);
        let recorder = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("runs");
        Running { recorder, trace }
    }

    fn hang(mpi: &Mpi, mode: &str, directory: &Path) -> Running {
        Running::of(mpi, RANKS, &mpi.workload("hang", &[mode]), directory)
    }

    /// What the report says of the run as it is now, once that is something.
    fn diagnosis(&self) -> Value {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is said to hang");
            let output = kizami(&["report", "--json"], &self.trace);
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if output.status.success() && report["stuck"].is_object() {
                let printed = String::from_utf8_lossy(&output.stderr);
                assert!(printed.contains("is still being recorded by process"), "{printed}");
                assert_eq!(report["stuck"]["running"], true);
                return report["stuck"].clone();
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends it by a signal to the recorder; gives what that says.
    fn end_by(mut self, signal: i32) -> (String, PathBuf) {
        send(self.recorder.id() as i32, signal);
        self.wait()
    }

    fn wait(&mut self) -> (String, PathBuf) {
        let mut printed = String::new();
        let mut pipe = self.recorder.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut printed).expect("text");
        self.recorder.wait().expect("it ends");
        (printed, self.trace.clone())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that did not has waited.
        if !matches!(self.recorder.try_wait(), Ok(Some(_))) {
            send(self.recorder.id() as i32, libc::SIGTERM);
            let _ = self.recorder.wait();
        }
    }
}

fn send(process: i32, signal: i32) {
    // SAFETY: a process that this test started, and has not waited for.
    unsafe { libc::kill(process, signal) };
}

fn kizami(words: &[&str], trace: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kizami"));
    finish({
        command.args(words).arg(trace);
        command
    })
}

fn sentences(diagnosis: &Value) -> String {
    let all = diagnosis["sentences"].as_array().expect("sentences");
    all.iter().map(|one| one.as_str().expect("text")).collect::<Vec<_>>().join("\n")
}

/// The first lines of a report.
fn verdict(trace: &Path) -> String {
    let output = kizami(&["report"], trace);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Sentences may be broken into lines.
    String::from_utf8_lossy(&output.stdout).lines().take(6).collect::<Vec<_>>().join(" ")
}

/// Names and sizes of what a recording consists of.
fn files(trace: &Path) -> BTreeMap<PathBuf, u64> {
    let of = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().collect::<Vec<_>>();
    let all = of(trace).into_iter().chain(of(&trace.join("raw")));
    all.map(|entry| {
        (entry.path(), entry.metadata().map_or(0, |file| if file.is_dir() { 0 } else { file.len() }))
    })
    .collect()
}

/// Two receives from each other: told while it hangs, and after Ctrl-C.
fn check_deadlock(mpi: &Mpi) {
    let scratch = Scratch::new();
    let run = Running::hang(mpi, "receive", scratch.path());
    let diagnosis = run.diagnosis();
    assert_eq!(
        (&diagnosis["kind"], &diagnosis["cycle"]),
        (&"deadlock".into(), &serde_json::json!([0, 1])),
        "{diagnosis}"
    );
    let (printed, trace) = run.end_by(libc::SIGINT);
    assert!(
        printed.contains("(3 ranks were inside MPI when they ended: shows what they waited for)"),
        "{printed}"
    );
    let verdict = verdict(&trace);
    for part in [
        "Deadlock: rank 0 waits in MPI_Recv at hang.c:",
        "for a message from rank 1 (tag 7); rank 1 waits in MPI_Recv at hang.c:",
        "for a message from rank 0 (tag 7); since ",
        " Rank 2 waits for them in MPI_Barrier at hang.c:",
    ] {
        assert!(verdict.contains(part), "{part:?} is not in:\n{verdict}");
    }
    let calls = Trace::open(&trace).and_then(|trace| trace.definitions()).expect("definitions").under_way;
    assert_eq!(calls.len(), RANKS as usize);
    assert!(calls.iter().all(|call| call.callsite.is_some() && call.comm == Some(0)), "{calls:?}");
}

/// A rank that leaves a loop of collectives early, one that comes to another collective, waits for requests, and large
/// sends: each is ended by SIGTERM.
fn check_other_ways(mpi: &Mpi) {
    let last = RANKS - 1;
    let cases = [
        (
            "miss",
            format!(
                "rank 0 waits in MPI_Allreduce at hang.c:38 <- miss for rank {last} to enter; rank {last} waits in MPI_Recv"
            ),
        ),
        (
            "mixed",
            "rank 0 waits in MPI_Bcast at hang.c:90 for ranks 1 and 2, which are in MPI_Barrier instead"
                .to_owned(),
        ),
        (
            "request",
            "rank 0 waits in MPI_Waitall at hang.c:72 for a message from rank 1 (tag 7); rank 1 waits"
                .to_owned(),
        ),
        ("send", "rank 2 waits in MPI_Send at hang.c:57 for rank 0 to receive (tag 7); since".to_owned()),
    ];
    for (mode, part) in cases {
        let scratch = Scratch::new();
        let run = Running::hang(mpi, mode, scratch.path());
        assert_eq!(run.diagnosis()["kind"], "deadlock", "{mode}");
        let (_, trace) = run.end_by(libc::SIGTERM);
        let verdict = verdict(&trace);
        let first = match mode {
            "mixed" => "Collective mismatch on one communicator: ",
            "request" => {
                "Tag mismatch: rank 1 waits for a message from rank 0 with tag 7, but rank 0 sent one with tag 8"
            }
            _ => "Deadlock: ",
        };
        assert!(verdict.starts_with(first) && verdict.contains(&part), "{part:?} is not in:\n{verdict}");
    }
}

/// Ranks that do not agree on what comes next.
fn check_disagreements(mpi: &Mpi) {
    let cases = [
        (
            "roots",
            "Collective mismatch on one communicator: ranks 0 and 1 call MPI_Bcast at disagree.c:35, but ranks 2 and 3 call MPI_Reduce at disagree.c:37.",
        ),
        (
            "tag",
            "Tag mismatch: rank 1 waits for a message from rank 0 with tag 7, but rank 0 sent one with tag 8 in MPI_Send at disagree.c:45",
        ),
        (
            "orders",
            "Deadlock: rank 0 waits in MPI_Barrier at disagree.c:52 for ranks 2 and 3 to enter; rank 2 waits in MPI_Barrier at disagree.c:52 for ranks 0 and 1 to enter",
        ),
        ("any", "Deadlock: rank 0 waits in MPI_Recv at disagree.c:59 for a message from any rank (tag 7)"),
        (
            "early",
            "Deadlock: rank 0 waits in MPI_Allreduce at disagree.c:67 for rank 2 to enter; rank 2 waits in MPI_Barrier",
        ),
        (
            "ring",
            "Deadlock: rank 0 waits in MPI_Waitall at disagree.c:77 for a message from rank 1 (tag 7); rank 1 waits",
        ),
    ];
    for (mode, first) in cases {
        let scratch = Scratch::new();
        let run = Running::of(mpi, 4, &mpi.workload("disagree", &[mode]), scratch.path());
        assert_eq!(run.diagnosis()["kind"], "deadlock", "{mode}");
        let (_, trace) = run.end_by(libc::SIGTERM);
        let verdict = verdict(&trace);
        assert!(verdict.starts_with(first), "{first:?} is not first in:\n{verdict}");
    }
}

/// Whom all wait for is told while the run goes on, and when that one was killed.
fn check_missing_rank(mpi: &Mpi) {
    let scratch = Scratch::new();
    let mut run = Running::hang(mpi, "busy", scratch.path());
    let diagnosis = run.diagnosis();
    assert_eq!(
        (&diagnosis["kind"], &diagnosis["causes"][0]["rank"]),
        (&"waits-for-busy".into(), &2.into()),
        "{diagnosis}"
    );
    assert_eq!(
        (&diagnosis["causes"][0]["state"], &diagnosis["causes"][0]["waiting_ranks"]),
        (&"outside".into(), &2.into())
    );
    let printed = sentences(&diagnosis);
    assert!(printed.starts_with("All others wait for rank 2, which has been outside MPI for "), "{printed}");
    assert!(printed.contains(" after MPI_Allreduce at hang.c:38."), "{printed}");
    let busy = now(&run.trace, scratch.path()).ranks[2].pid.expect("it runs").0;
    send(busy as i32, libc::SIGKILL);
    let (_, trace) = run.wait();
    let verdict = verdict(&trace);
    assert!(verdict.starts_with("Rank 2 was the first to end, "), "{verdict}");
    assert!(
        verdict.contains(
            ", outside MPI, after MPI_Allreduce at hang.c:38: it was killed, crashed or left by _exit. "
        ),
        "{verdict}"
    );
    assert!(verdict.contains(" for rank 2, which died."), "{verdict}");
    assert!(verdict.contains("wait in MPI_Barrier at hang.c:"), "{verdict}");
}

/// What the definitions of a recording are at this moment.
fn now(trace: &Path, directory: &Path) -> Definitions {
    let snapshot = directory.join("snapshot.kz");
    kizami_seal::snapshot(trace, &snapshot, &|_| {}).expect("a snapshot");
    Trace::open(&snapshot).and_then(|trace| trace.definitions()).expect("definitions")
}

/// Two launches of one script are two traces, and the script's exit code is kept.
fn check_two_launches(mpi: &Mpi) {
    let scratch = Scratch::new();
    let words = |ranks: u32, program: Program| {
        let line = mpi.launch(ranks, &program);
        line.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    };
    let first = words(2, mpi.workload("hang", &["none"]));
    let second = words(3, mpi.workload("pingpong", &["10"]));
    let out = scratch.path().join("run.kz");
    let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into(), "-o".into()];
    line.extend([out.clone().into(), "--".into(), "sh".into(), "-c".into()]);
    line.push(format!("{first}; {second}; exit 7").into());
    let output = finish(mpi.command(&line, scratch.path()));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{printed}");
    for (name, ranks, program) in [("run.kz", 2, "hang"), ("run.2.kz", 3, "pingpong")] {
        let run =
            RunInfo::read(&scratch.path().join(name)).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!((run.ranks, run.health.complete), (ranks, true), "{name}: {:?}", run.health);
        assert!(run.executable.ends_with(program) && printed.contains(name), "{printed}");
    }
}

macro_rules! on_both {
    ($($test:ident),+) => {
        mod openmpi { $(#[test] fn $test() { super::$test(&super::mpi("openmpi")); })+ }
        mod mpich { $(#[test] fn $test() { super::$test(&super::mpi("mpich")); })+ }
    };
}

on_both!(check_deadlock, check_disagreements, check_other_ways, check_missing_rank, check_two_launches);

/// Looking at a run that goes on neither changes it nor takes anything from it.
#[test]
fn a_run_that_is_looked_at_is_as_complete_as_any() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let program = mpi.workload("late_sender", &["5", "700"]);
    let (_, alone) = mpi.record(2, &mpi.workload("late_sender", &["0", "700"]), &scratch.make("alone"));
    let mut run = Running::of(&mpi, 2, &program, &scratch.make("seen"));
    let (mut seen, picture) = (0, scratch.path().join("a.png"));
    while seen < 2 && run.recorder.try_wait().expect("it can be asked").is_none() {
        let before = files(&run.trace);
        let info = kizami(&["info", "--json"], &run.trace);
        let printed = String::from_utf8_lossy(&info.stderr).into_owned();
        if !printed.contains("is still being recorded") {
            continue;
        }
        let run_now: RunInfo = serde_json::from_slice(&info.stdout).expect("run.json");
        assert!(run_now.watched.expect("it is watched").running && run_now.ranks == 2, "{printed}");
        let view = kizami(&["view", "--png", picture.to_str().expect("text")], &run.trace);
        assert!(view.status.success(), "{}", String::from_utf8_lossy(&view.stderr));
        std::fs::remove_file(&picture).expect("a picture");
        let events = kizami(&["events", "--limit", "3"], &run.trace);
        assert!(events.status.success() && kizami(&["report"], &run.trace).status.success());
        let after = files(&run.trace);
        // Segments grow, and the run may be over and sealed by now; nothing else may have come.
        let same =
            after.keys().eq(before.keys()) || run.recorder.try_wait().expect("it can be asked").is_some();
        assert!(
            same || run.trace.join("run.json").exists() || run.trace.join("sealing.tmp").exists(),
            "{after:?}"
        );
        seen += 1;
    }
    let (printed, trace) = run.wait();
    assert!(seen > 0, "it was over before anybody could look");
    let whole = RunInfo::read(&trace).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert!(whole.health.complete, "{:?}", whole.health);
    assert_eq!(whole.totals.calls, alone.run().totals.calls);
}

/// A signal while the recording is sealed does not end that, and a second one loses nothing.
#[test]
fn signals_while_sealing_lose_nothing() {
    const CALLS: u64 = 300_000;
    let mpi = mpi("mpich");
    for signals in [1, 2] {
        let scratch = Scratch::new();
        let program = mpi.workload("cheapest", &[&CALLS.to_string()]);
        let mut run = Running::of(&mpi, 1, &program, scratch.path());
        while !run.trace.join("sealing.tmp").exists()
            && run.recorder.try_wait().expect("it can be asked").is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..signals {
            send(run.recorder.id() as i32, libc::SIGTERM);
            std::thread::sleep(Duration::from_millis(5));
        }
        let (printed, trace) = run.wait();
        let sealed = trace.join("run.json").exists();
        assert!(sealed || signals == 2 && printed.contains("a second signal ends that"), "{printed}");
        if !sealed {
            assert!(kizami(&["seal"], &trace).status.success());
        }
        let run = RunInfo::read(&trace).expect("sealed");
        assert!(run.health.complete && run.totals.calls > CALLS - 200, "{:?}", run.totals);
    }
}

/// The simulator knows by itself that nobody can go on, and ends all ranks; all at the same simulated moment.
#[test]
fn a_simulated_deadlock_is_reported() {
    let mpi = mpi("smpi");
    let scratch = Scratch::new();
    crate::simulated::describe_cluster(scratch.path(), 16);
    let (_, trace) = mpi.record(16, &mpi.workload("hang", &["send"]), scratch.path());
    let verdict = verdict(trace.path());
    for part in [
        "Deadlock: rank 0 waits in MPI_Send at hang.c:57 for rank 1 to receive (tag 7); rank 1 waits",
        "and so on around 16 ranks; since ",
    ] {
        assert!(verdict.contains(part), "{part:?} is not in:\n{verdict}");
    }
}

/// A recorder that was killed leaves segments that can be read as they are, and sealed.
#[test]
fn what_a_killed_recorder_left_can_be_read() {
    let mpi = mpi("mpich");
    let scratch = Scratch::new();
    let mut run = Running::hang(&mpi, "receive", scratch.path());
    run.diagnosis();
    let ranks = now(&run.trace, scratch.path()).ranks;
    assert!(ranks.iter().all(|rank| rank.ending == Ending::Running), "{ranks:?}");
    run.recorder.kill().expect("it can be killed");
    run.recorder.wait().expect("it ends");
    ranks.iter().for_each(|rank| send(rank.pid.expect("it ran").0 as i32, libc::SIGKILL));
    let begun = Instant::now();
    while ranks.iter().any(|rank| Path::new(&format!("/proc/{}/maps", rank.pid.expect("it ran").0)).exists())
    {
        assert!(begun.elapsed() < Duration::from_secs(20), "the ranks do not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = files(&run.trace);
    let output = kizami(&["report"], &run.trace);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("is not sealed: reading raw segments; run kizami seal "), "{printed}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("Deadlock: rank 0 waits in MPI_Recv"));
    assert_eq!(files(&run.trace), before);
    assert!(kizami(&["seal"], &run.trace).status.success());
    assert!(verdict(&run.trace).starts_with("Deadlock: "));
}
