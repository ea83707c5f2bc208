//! Skeletons of real programs, run under real MPIs, must make the very calls that the programs make.
//!
//! Program and skeleton are linked with the same small library of wrappers, made from the project's table of functions:
//! each rank writes down every call that communicates, with its numbers, the sizes of its datatypes and of its communicator.
//! The two lists must be equal, line by line.

mod wrappers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RANKS: usize = 4;

#[derive(Clone, Copy)]
enum Mpi {
    OpenMpi,
    Mpich,
}

impl Mpi {
    fn tool(self, name: &str) -> String {
        match self {
            Mpi::OpenMpi => format!("{name}.openmpi"),
            Mpi::Mpich => format!("{name}.mpich"),
        }
    }

    fn launcher(self) -> Command {
        let mut command = Command::new(self.tool("mpirun"));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        if let Mpi::OpenMpi = self {
            command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        }
        command.args(["-n", &RANKS.to_string()]);
        command
    }
}

fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads").canonicalize().unwrap()
}

fn succeeded(command: &mut Command) -> Output {
    let mut patient = Command::new("timeout");
    patient.arg("60").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        patient.env(name, value.unwrap_or_default());
    }
    let result = patient.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        result.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&result.stdout),
        String::from_utf8_lossy(&result.stderr)
    );
    result
}

/// Builds a program and its skeleton, runs both, and compares what every rank called; gives the manifest.
fn check(program: &str, arguments: &[&str], mpi: Mpi) -> kizami_folder::Manifest {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let here = workloads();
    let source = here.join(format!("{program}.c"));
    let wrappers = at.join("wrappers.c");
    std::fs::write(&wrappers, wrappers::source(matches!(mpi, Mpi::OpenMpi))).unwrap();
    let skeleton = at.join("skel");
    let includes = [format!("-I{}", here.display()), format!("-I{}", here.join("../include").display())];
    succeeded(
        Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"))
            .args(["build", "-o"])
            .arg(&skeleton)
            .args(["--", &mpi.tool("mpicc"), "-std=gnu11", "-O1", "-g", "-w"])
            .args(&includes)
            .arg("-o")
            .arg(at.join("program"))
            .arg(&source)
            .args(["-lm", "-lpthread"])
            .env("KIZAMI_SKELETON_STORE", at.join("store")),
    );
    let manifest = kizami_folder::Manifest::read(&skeleton).unwrap();
    if !manifest.oracles.is_empty() {
        let launcher = mpi.launcher();
        let words: Vec<_> = launcher.get_args().map(|word| word.to_owned()).collect();
        succeeded(
            Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"))
                .args(["observe"])
                .arg(&skeleton)
                .args(["--", &mpi.tool("mpirun")])
                .args(words)
                .arg("{}")
                .args(arguments)
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        );
    }
    let link = |input: &Path, output: &Path| {
        let mut command = Command::new(mpi.tool("mpicc"));
        command.env("OMPI_CC", "clang-19").env("MPICH_CC", "clang-19").args(["-w", "-O1", "-rdynamic"]);
        command.args(&includes).arg(input).arg(&wrappers).arg("-o").arg(output).args(["-lm", "-lpthread"]);
        succeeded(&mut command);
    };
    link(&source, &at.join("whole"));
    link(&skeleton.join("skeleton.bc"), &at.join("sliced"));
    let calls = |program: &str| -> Vec<String> {
        let log = at.join(format!("{program}.log"));
        std::fs::create_dir(&log).unwrap();
        let mut command = mpi.launcher();
        let observed = skeleton.join("observed");
        command.arg(at.join(program)).args(arguments).env("CALLS", &log).env("OBSERVED", observed);
        succeeded(&mut command);
        (0..RANKS)
            .map(|rank| std::fs::read_to_string(log.join(rank.to_string())).unwrap_or_default())
            .collect()
    };
    let (whole, sliced) = (calls("whole"), calls("sliced"));
    for rank in 0..RANKS {
        assert!(!whole[rank].is_empty(), "{program}: rank {rank} called nothing");
        let mut pairs = whole[rank].lines().zip(sliced[rank].lines()).enumerate();
        if let Some((line, (left, right))) = pairs.find(|(_, (left, right))| left != right) {
            panic!("{program}, rank {rank}, call {line}: the program says {left}, its skeleton {right}");
        }
        assert_eq!(
            whole[rank].lines().count(),
            sliced[rank].lines().count(),
            "{program}, rank {rank}: calls"
        );
    }
    manifest
}

/// Runs programs of `workloads/` that `KIZAMI_WORKLOADS` names with their arguments, apart by commas, for trying out.
#[test]
#[ignore = "for trying out programs"]
fn programs() {
    let all = std::env::var("KIZAMI_WORKLOADS").unwrap();
    for line in all.split(',') {
        let mut words = line.split(' ');
        let program = words.next().unwrap();
        let arguments: Vec<&str> = words.collect();
        for mpi in [Mpi::Mpich, Mpi::OpenMpi] {
            let of = mpi.tool("mpicc");
            match std::panic::catch_unwind(|| check(program, &arguments, mpi)) {
                Ok(manifest) => println!(
                    "{program} {of}: alike, {} -> {}, {} sites, {} oracles, {} of {} loops",
                    manifest.instructions_before,
                    manifest.instructions_after,
                    manifest.call_sites.len(),
                    manifest.oracles.len(),
                    manifest.loops.len(),
                    manifest.loops_in_program
                ),
                Err(_) => println!("{program} {of}: NOT ALIKE"),
            }
        }
    }
}

/// Writes the wrappers to the folder that `KIZAMI_WRAPPERS` names, for programs from elsewhere.
#[test]
#[ignore = "for trying out programs"]
fn write_wrappers() {
    let folder = PathBuf::from(std::env::var("KIZAMI_WRAPPERS").unwrap());
    std::fs::write(folder.join("wrappers.openmpi.c"), wrappers::source(true)).unwrap();
    std::fs::write(folder.join("wrappers.mpich.c"), wrappers::source(false)).unwrap();
}

#[test]
fn a_stencil_on_a_grid() {
    let manifest = check("stencil2d", &["16", "5"], Mpi::Mpich);
    assert_eq!(manifest.call_sites.len(), 18);
    assert!(manifest.oracles.is_empty());
}

#[test]
fn a_solver_that_plans_its_exchanges() {
    let manifest = check("cg", &["200", "5"], Mpi::OpenMpi);
    assert!(manifest.oracles.is_empty());
    assert!(manifest.call_sites.iter().any(|site| site.carries && site.function == "MPI_Alltoall"));
}
