//! Where data decide: values of observed runs become rules for other numbers of ranks, or are said by the user.

#[expect(dead_code, reason = "it needs no workload")]
mod product;
#[expect(dead_code, reason = "one MPI is enough here")]
mod real_mpi;

use product::{json, kizami, ran};
use real_mpi::MPICH;
use std::path::Path;
use std::process::{Command, Output};

/// Halves a residual that begins with the number of ranks until it is small: `10 + log2 P` rounds, told by data.
const SOLVER: &str = r#"#include <mpi.h>
int main(int argc, char **argv) {
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double mine = ranks, residual = ranks;
    while (residual > 1e-3) {
        mine *= 0.5;
        MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}"#;

/// Calls of each rank besides those of the loop: `MPI_Init`, `MPI_Comm_size`, `MPI_Finalize`.
const OTHERS: u64 = 3;

fn built(folder: &Path) {
    std::fs::write(folder.join("solver.c"), SOLVER).unwrap();
    ran(Command::new(kizami())
        .args(["skeleton", "build", "-o", "skel", "--", "mpicc.mpich", "-g", "-o", "solver", "solver.c"])
        .current_dir(folder)
        .env("KIZAMI_SKELETON_STORE", folder.join("store")));
}

fn observed(folder: &Path, ranks: &str) {
    let command = ["skeleton", "observe", "skel", "--", MPICH.launcher[0], "-n", ranks, "{}"];
    ran(Command::new(kizami()).args(command).current_dir(folder));
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let command = ["skeleton", "run", "skel", "--json"];
    Command::new(kizami()).args(command).args(words).current_dir(folder).output().unwrap()
}

#[test]
fn rounds_until_convergence_follow_the_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    built(at);
    observed(at, "2");
    let one_size = run(at, &["--ranks", "16"]);
    let said = String::from_utf8_lossy(&one_size.stderr).into_owned();
    assert_eq!(one_size.status.code(), Some(1), "{said}");
    assert!(said.contains("observed at 2 ranks only") && said.contains("--set solver.c:7=12"), "{said}");
    observed(at, "4");
    let said = String::from_utf8_lossy(&run(at, &["--ranks", "16"]).stderr).into_owned();
    assert!(said.contains("no rule fits the values observed at 2, 4 ranks"), "{said}");
    observed(at, "8");
    let result = json(&run(at, &["--ranks", "1024"]));
    assert_eq!(result["calls"], 1024 * (20 + OTHERS), "{result:#}");
    let oracle = &result["oracles"][0];
    assert_eq!((oracle["line"].as_u64(), oracle["error"].as_f64()), (Some(7), Some(0.0)), "{oracle:#}");
    assert_eq!(oracle["rule"], "1 (10.000 + 1.000 log2 P times)");
    // What the rule says is what happens.
    let launch = ["record", "-o", "16.kz", "--", MPICH.launcher[0], "-n", "16", "./solver"];
    ran(Command::new(kizami()).args(launch).current_dir(at));
    let check = ["skeleton", "check", "--json", "skel", "16.kz"];
    let checked = json(&Command::new(kizami()).args(check).current_dir(at).output().unwrap());
    assert_eq!(checked["identical"], 16, "{checked:#}");
}

#[test]
fn values_are_as_they_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    built(at);
    let rounds = |words: &[&str]| {
        let result = json(&run(at, words));
        (result["calls"].as_u64().unwrap() / 4 - OTHERS, result["oracles"][0]["rule"].clone())
    };
    let said = rounds(&["--ranks", "4", "--set", "solver.c:7=1x5,0"]);
    assert_eq!(said, (5, "given by --set".into()));
    observed(at, "2");
    let near = rounds(&["--ranks", "4", "--set", "solver.c:7=observed"]);
    assert_eq!(near, (11, "as observed at 2 ranks, by --set".into()));
    let lost = run(at, &["--ranks", "4", "--set", "solver.c:8=1"]);
    let said = String::from_utf8_lossy(&lost.stderr).into_owned();
    assert!(said.contains("no value at that line depends on data"), "{said}");
}
