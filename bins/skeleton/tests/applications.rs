//! Applications of `workloads/apps` and tables of functions: skeletons do call by call what real runs did.
//!
//! A handful that stands for the rest; `bench/skeleton.py` compares all programs at several numbers of ranks.

mod product;
mod real_mpi;

use product::{json, kizami, ran, workloads};
use real_mpi::{MPICH, Mpi, OPEN_MPI};
use std::process::Command;

/// A program: how its compiler's name begins, its sources, and how it is run.
struct Application {
    compiler: &'static str,
    sources: &'static [&'static str],
    ranks: u32,
    arguments: &'static [&'static str],
}

/// Compares all ranks with a recorded run; gives how many places depend on data.
fn oracles_of_identical(application: &Application, mpi: &Mpi) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let (here, ranks) = (workloads(), application.ranks.to_string());
    let [skeleton, binary, trace] = ["skel", "program", "run.kz"].map(|name| folder.path().join(name));
    ran(Command::new(kizami())
        .args(["skeleton", "build", "-o"])
        .arg(&skeleton)
        // Some have modes that use windows; those are not run here.
        .args(["--partial", "--", &format!("{}{}", application.compiler, mpi.ending), "-O2", "-g", "-w"])
        .args([&here, &here.join("../include")].map(|folder| format!("-I{}", folder.display())))
        .arg("-o")
        .arg(&binary)
        .args(application.sources.iter().map(|source| here.join(source)))
        .arg("-lm")
        // Fortran leaves modules where it is compiled.
        .current_dir(folder.path())
        .env("KIZAMI_SKELETON_STORE", folder.path().join("store")));
    let launched = |command: &mut Command, program: &std::path::Path| {
        command.arg("--").args(mpi.launcher).args(["-n", &ranks]).arg(program).args(application.arguments);
        ran(command);
    };
    let oracles = kizami_folder::Manifest::read(&skeleton).unwrap().oracles.len();
    if oracles > 0 {
        launched(Command::new(kizami()).args(["skeleton", "observe"]).arg(&skeleton), "{}".as_ref());
    }
    launched(Command::new(kizami()).args(["record", "-o"]).arg(&trace), &binary);
    let check =
        Command::new(kizami()).args(["skeleton", "check", "--json"]).arg(&skeleton).arg(&trace).output();
    let checked = json(&check.unwrap());
    assert_eq!(checked["identical"], application.ranks, "{checked:#}");
    oracles
}

/// Atoms move from rank to rank: sizes of messages depend on data, and receivers learn them from `MPI_Get_count`.
#[test]
fn molecules() {
    let molecules = Application {
        compiler: "mpicc",
        sources: &["apps/molecules/exchange.c", "apps/molecules/forces.c", "apps/molecules/main.c"],
        ranks: 4,
        arguments: &["2", "5"],
    };
    assert_eq!(oracles_of_identical(&molecules, &MPICH), 3);
}

/// Up to 26 neighbours; the time step depends on data, the number of steps does not but for the last.
#[test]
fn hydrodynamics() {
    let hydro =
        Application { compiler: "mpicc", sources: &["apps/hydro3d.c"], ranks: 8, arguments: &["4", "5"] };
    assert_eq!(oracles_of_identical(&hydro, &OPEN_MPI), 1);
}

const FEM: [&str; 3] = ["apps/fem/exchange.cpp", "apps/fem/main.cpp", "apps/fem/mesh.cpp"];

/// Lists of neighbours are made from integers that are received: ranks run together, and nothing is asked for.
#[test]
fn finite_elements() {
    let fem = Application { compiler: "mpicxx", sources: &FEM, ranks: 6, arguments: &["6", "4"] };
    assert_eq!(oracles_of_identical(&fem, &MPICH), 0);
}

/// A table of names and functions that call MPI, searched by `strcmp`.
#[test]
fn functions_chosen_from_a_table() {
    let arguments = &["late_sender", "1", "3", "1"];
    let waits = Application { compiler: "mpicc", sources: &["known_waits.c"], ranks: 4, arguments };
    assert_eq!(oracles_of_identical(&waits, &OPEN_MPI), 0);
}

/// Matched probes, polls and receives from anybody: nothing is asked for, and ranks come to their end. What comes when is one
/// of several orders, so only senders can be compared.
#[test]
fn matched_probes() {
    let folder = tempfile::tempdir().unwrap();
    let skeleton = folder.path().join("skel");
    let source = workloads().join("wildcard.c");
    let words = ["--", "mpicc.mpich", "-O2", "-g", "-w", "-o", "program"];
    ran(Command::new(kizami())
        .args(["skeleton", "build", "-o"])
        .arg(&skeleton)
        .args(words)
        .arg(source)
        .current_dir(folder.path())
        .env("KIZAMI_SKELETON_STORE", folder.path().join("store")));
    assert_eq!(kizami_folder::Manifest::read(&skeleton).unwrap().oracles, []);
    let run = Command::new(kizami())
        .args(["skeleton", "run", "--json", "--ranks", "4"])
        .arg(&skeleton)
        .args(["--", "6"])
        .output();
    let ran = json(&run.unwrap());
    assert_eq!((ran["together"].as_bool(), ran["failed"].as_u64()), (Some(true), Some(0)), "{ran:#}");
}

/// Arrays by descriptors, arguments of the command line, `use mpi`.
#[test]
fn fortran() {
    let sources = &["jacobi3d_usempi.f90"];
    let jacobi = Application { compiler: "mpifort", sources, ranks: 4, arguments: &["6", "3"] };
    assert_eq!(oracles_of_identical(&jacobi, &MPICH), 0);
    let sources = &["apps/counted_calls.f90", "apps/ssor.f90"];
    let ssor = Application { compiler: "mpifort", sources, ranks: 4, arguments: &[] };
    assert_eq!(oracles_of_identical(&ssor, &OPEN_MPI), 0);
}
