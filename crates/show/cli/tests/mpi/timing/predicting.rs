//! Machines measured under real launchers, and what is predicted from what really took its time.

use crate::mpi::{Mpi, Scratch, finish, mpi};
use crate::predicting::{bench, check_counted_work, json, kizami, number, record, words};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn check_counted_work_for_real(name: &'static str) {
    let scratch = Scratch::new();
    let [times, counts] = check_counted_work(&mpi(name), scratch.path(), [1, 2, 4, 8], 500.0);
    assert!(counts.abs() < 0.1 && times > counts.abs(), "{counts} with counts, {times} without");
}

#[test]
fn open_mpi_programs_count_their_work() {
    check_counted_work_for_real("openmpi");
}

#[test]
fn mpich_programs_count_their_work() {
    check_counted_work_for_real("mpich");
}

/// Measures with algorithms told apart; gives those of each operation.
fn algorithms(mpi: &Mpi, directory: &Path) -> impl Fn(&str) -> BTreeSet<String> {
    bench(mpi, &["--ranks", "2", "--seconds", "16", "--largest", "16k", "--algorithms"], directory);
    let machine = kizami_machine::Machine::open(&directory.join("here.kzm")).expect("a machine");
    move |operation| {
        let rows = machine.collectives.iter().filter(|row| row.operation == operation);
        rows.filter_map(|row| row.algorithm.clone()).collect()
    }
}

/// Open MPI takes the rules that are made from its algorithms, and does what they say.
#[test]
fn algorithms_of_open_mpi_become_rules() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let directory = scratch.path();
    let of = algorithms(&mpi, directory);
    for (operation, name) in
        [("MPI_Allreduce", "4 ring"), ("MPI_Bcast", "6 binomial"), ("MPI_Alltoall", "2 pairwise")]
    {
        assert!(of(operation).contains(name), "{operation}: {:?}", of(operation));
    }
    let output = kizami(&mpi, &words(&["bench", "export", "ompi-rules", "here.kzm"]), directory);
    let rules = String::from_utf8(output.stdout).expect("UTF-8");
    let run = |rules: &str| {
        std::fs::write(directory.join("rules"), rules).expect("a file");
        let mut launch = mpi.launch(4, &mpi.workload("scaling", &["sort", "4096", "2"]));
        let file = "coll_tuned_dynamic_rules_filename";
        launch.splice(1..1, words(&["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", file, "rules"]));
        finish(mpi.command(&launch, directory)).status.success()
    };
    assert!(run(&rules), "{rules}");
    // It says nothing of what it reads. An algorithm for two ranks, which four cannot do, shows that it obeys.
    let mut lines: Vec<&str> = rules.lines().collect();
    let alltoall = lines.iter().position(|line| *line == "3 # MPI_Alltoall").expect("rules for it");
    lines[alltoall + 4] = "0 5 0 0";
    assert!(!run(&(lines.join("\n") + "\n")), "{lines:#?}");
}

#[test]
fn algorithms_of_mpich_are_distinguished() {
    let scratch = Scratch::new();
    let mpi = mpi("mpich");
    let of = algorithms(&mpi, scratch.path());
    assert!(of("MPI_Allreduce").contains("recursive_doubling"), "{:?}", of("MPI_Allreduce"));
    for (operation, least) in [("MPI_Bcast", 3), ("MPI_Alltoall", 3), ("MPI_Allgather", 3)] {
        assert!(of(operation).len() >= least, "{operation}: {:?}", of(operation));
    }
}

/// A machine is measured by what runs under its launcher, and its costs foretell a run there.
fn check_machine(name: &'static str) {
    let mpi = mpi(name);
    let scratch = Scratch::new();
    let directory = scratch.path();
    bench(&mpi, &["--ranks", "2", "--seconds", "4", "--largest", "256k"], directory);
    let machines = json(&mpi, &["machines", "here.kzm", "--json"], directory);
    assert!(number(&machines["machines"][0]["rows"]) > 40.0, "{machines:#}");
    let large = machines["costs"].as_array().expect("costs").iter().filter(|cost| cost["bytes"] == 1 << 20);
    assert!(large.count() > 0, "{machines:#}");
    record(&mpi, 2, &["stencil", "1024", "10"], directory);
    let same = json(&mpi, &["predict", "run2.kz", "--machine", "here.kzm", "--json"], directory);
    let (predicted, truth) = (number(&same["points"][0]["time_s"]), number(&same["from"][0]["time_s"]));
    // Ten times 5 ms of sleep, and machines that tests share.
    assert!((predicted / truth - 1.0).abs() < 0.5, "{predicted} s told, {truth} s recorded");
}

#[test]
fn open_mpi_is_measured() {
    check_machine("openmpi");
}

#[test]
fn mpich_is_measured() {
    check_machine("mpich");
}

#[test]
fn a_load_beside_it_is_reported() {
    let mpi = mpi("openmpi");
    let scratch = Scratch::new();
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        for _ in 0..2 * std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let output = bench(&mpi, &["--ranks", "2", "--seconds", "2", "--largest", "4k"], scratch.path());
        over.store(true, Ordering::Relaxed);
        output
    });
    let predicted = String::from_utf8_lossy(&output.stdout);
    assert!(predicted.contains("disturbed"), "{predicted}");
    let machine = std::fs::read_to_string(scratch.path().join("here.kzm/machine.json")).expect("a machine");
    assert!(machine.contains("something else keeps the cores busy"), "{machine}");
}
