//! The measuring rank under real launchers: it finds their MPI, and what it measures makes sense. The one for the
//! simulator speaks the same protocol.
//!
//! Launchers that are not installed are left out, with a word on the output.

use kizami_measure::OPERATIONS;
use kizami_stats::upper_median;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a row says.
#[derive(Debug)]
struct Row {
    first_ns: Option<u64>,
    count: usize,
    spans_ns: Vec<u64>,
}

type Key = (String, String, u64);

/// Cargo builds examples beside the tests.
fn measuring_rank() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(|deps| deps.parent()).unwrap();
    folder.join("examples/measuring_rank")
}

/// Two ranks under a launcher.
fn two_ranks(launcher: &str) -> Command {
    let mut command = Command::new(launcher);
    command.args(["-n", "2"]).arg(measuring_rank());
    command
}

/// Runs ranks with commands, and gives rank 0's output. `None` if there is no such launcher.
fn run(launcher: &mut Command, commands: &str) -> Option<String> {
    let child = launcher
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env_remove("KIZAMI_MPI_LIBRARY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("{launcher:?} cannot be started ({error}), so nothing is tested with it");
            return None;
        }
    };
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{launcher:?}: {}", output.status);
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Understands rows; all others are given back as they are.
fn understand(output: &str) -> (HashMap<Key, Row>, Vec<String>) {
    let (mut rows, mut others) = (HashMap::new(), Vec::new());
    for line in output.lines().filter_map(|line| line.strip_prefix("kizami: ")) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] != "row" {
            others.push(line.to_owned());
            continue;
        }
        let count: usize = words[5].parse().unwrap();
        let spans = if count > 200 { &words[7..] } else { &words[6..] };
        let listed: usize = if count > 200 { words[6].parse().unwrap() } else { count };
        assert_eq!(spans.len(), listed, "{line}");
        let spans_ns = spans.iter().map(|span| span.parse().unwrap()).collect();
        let key = (words[1].to_owned(), words[2].to_owned(), words[3].parse().unwrap());
        rows.insert(key, Row { first_ns: words[4].parse().ok(), count, spans_ns });
    }
    (rows, others)
}

fn median(row: &Row) -> u64 {
    let mut sorted = row.spans_ns.clone();
    sorted.sort_unstable();
    upper_median(&sorted).unwrap()
}

/// Measures all there is, and gives the rows, if all is as it should be.
fn check(launcher: &mut Command, here: &str, version: &str) -> Option<HashMap<Key, Row>> {
    let measure = |op: &str, pattern: &str, bytes: u64, most: u64| {
        format!("measure {op} {pattern} {bytes} {most} 0.004 0.05\n")
    };
    let mut commands: String =
        OPERATIONS.iter().map(|(op, pattern)| measure(op, pattern, 4096, 40)).collect();
    for bytes in [8, 1 << 20] {
        commands += &format!("measure MPI_Allreduce plain {bytes} 100 0.1 0.05\n");
    }
    commands += &measure("MPI_Barrier", "plain", 0, 1000);
    commands += &measure("MPI_Allreduce", "sideways", 8, 10);
    commands += "what is this\n";
    let output = run(launcher, &commands)?;
    let (rows, others) = understand(&output);

    assert!(others[0].starts_with(here), "{others:?}");
    assert!(others[0].contains(version), "{others:?}");
    let cannot = |op: &str, pattern: &str| {
        let start = format!("cannot {op} {pattern} ");
        others.iter().any(|line| line.starts_with(&start))
    };
    assert!(cannot("MPI_Allreduce", "sideways"), "{others:?}");
    assert!(others.contains(&"misunderstood what is this".to_owned()), "{others:?}");

    for (op, pattern) in OPERATIONS {
        let Some(row) = rows.get(&key(op, pattern, 4096)) else {
            assert!(cannot(op, pattern), "{launcher:?}: nothing was said about {op} {pattern}");
            continue;
        };
        assert!(row.count >= 1 && row.count <= 40, "{launcher:?}: {op} {pattern} {row:?}");
    }
    Some(rows)
}

fn key(op: &str, pattern: &str, bytes: u64) -> Key {
    (op.to_owned(), pattern.to_owned(), bytes)
}

/// Two ranks under a real launcher, alone: may share a core with what else the machine does, so only what differs by far is
/// compared.
mod timing {
    use super::{Row, check, key, median, two_ranks};
    use kizami_measure::OPERATIONS;
    use kizami_testing::timing::{majority_of, must};

    fn is_right(launcher: &str, version: &str) -> Result<(), String> {
        let Some(rows) = check(&mut two_ranks(launcher), "here 2 1 2 ", version) else { return Ok(()) };
        for (op, pattern) in OPERATIONS {
            let row = &rows[&key(op, pattern, 4096)];
            assert!(row.spans_ns.iter().all(|span_ns| *span_ns > 0), "{launcher}: {op} {pattern} {row:?}");
        }
        assert!(rows[&key("MPI_Bcast", "plain", 4096)].first_ns.is_some());
        let (short, long) =
            (&rows[&key("MPI_Allreduce", "plain", 8)], &rows[&key("MPI_Allreduce", "plain", 1 << 20)]);
        assert_eq!(short.first_ns, None, "it was called before");
        let fastest = |row: &Row| row.spans_ns.iter().copied().min().unwrap();
        must(fastest(long) > 5 * fastest(short), || format!("{short:?} {long:?}"))?;
        // A computation does not take much less than what it took when the pace was found.
        let spin = &rows[&key("noise", "spin", 4096)];
        must(median(spin) > 2000, || format!("{spin:?}"))
    }

    #[test]
    fn open_mpi_is_measured() {
        majority_of(3, "mpirun.openmpi", || is_right("mpirun.openmpi", "Open MPI"));
    }

    #[test]
    fn mpich_is_measured() {
        majority_of(3, "mpirun.mpich", || is_right("mpirun.mpich", "MPICH"));
    }
}

#[test]
fn the_library_may_be_named() {
    let output =
        Command::new(measuring_rank()).env("KIZAMI_MPI_LIBRARY", "/nowhere/libmpi.so").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(said.contains("set KIZAMI_MPI_LIBRARY") && said.contains("/nowhere/libmpi.so"), "{said}");
}

const PLATFORM: &str = r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n-" radical="0-3" suffix="" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"#;

#[test]
fn the_simulator_is_measured() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (platform, hosts, program) =
        (folder.join("four.xml"), folder.join("four.hosts"), folder.join("measure_smpi"));
    std::fs::write(&platform, PLATFORM).unwrap();
    std::fs::write(&hosts, "n-0\nn-1\nn-2\nn-3\n").unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/smpi/measure.c");
    let compiled = Command::new("smpicc").args(["-O2", source, "-lm", "-o"]).arg(&program).status();
    match compiled {
        Err(error) => return println!("smpicc cannot be started ({error}), so nothing is tested with it"),
        Ok(status) => assert!(status.success()),
    }
    let mut launcher = Command::new("smpirun");
    launcher.args(["-np", "4", "-platform"]).arg(platform).arg("-hostfile").arg(hosts);
    launcher.arg("--cfg=smpi/simulate-computation:no").arg(program);
    let rows = check(&mut launcher, "here 4 4 1 n-0 ", "SMPI").unwrap();
    // A byte takes a nanosecond.
    assert!(median(&rows[&key("message", "pingpong", 4096)]) > 4096);
    assert_eq!(median(&rows[&key("noise", "spin", 4096)]), 4096);
    let long = median(&rows[&key("MPI_Allreduce", "plain", 1 << 20)]);
    assert!(long > 1 << 20, "{long}");
}
