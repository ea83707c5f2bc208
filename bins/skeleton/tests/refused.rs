//! What cannot be sliced is said, with the line of the source, and the command fails before anything runs.

use std::path::Path;
use std::process::{Command, Output};

/// Builds a skeleton of one C source.
fn build(source: &str, folder: &Path) -> Output {
    std::fs::write(folder.join("program.c"), source).unwrap();
    Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"))
        .args([
            "build",
            "-o",
            "skel",
            "--",
            "mpicc.mpich",
            "-w",
            "-g",
            "-o",
            "program",
            "program.c",
            "-ldl",
            "-lpthread",
        ])
        .current_dir(folder)
        .env("KIZAMI_SKELETON_STORE", folder.join("store"))
        .output()
        .unwrap()
}

/// The line and the beginning of the reason for which there is no skeleton.
fn refused(source: &str) -> (u32, String) {
    let folder = tempfile::tempdir().unwrap();
    let result = build(source, folder.path());
    let said = String::from_utf8_lossy(&result.stderr).into_owned();
    assert_eq!(result.status.code(), Some(1), "{said}");
    let manifest = kizami_folder::Manifest::read(&folder.path().join("skel")).unwrap();
    let first = manifest.refused.first().expect("something is refused").clone();
    assert!(said.contains(&first.reason), "{said}");
    (first.line, first.reason)
}

#[test]
fn inline_assembly_that_communication_depends_on() {
    let (line, why) = refused(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    int n, buffer[64];
    MPI_Init(&argc, &argv);
    asm("movl $3, %0" : "=r"(n));
    MPI_Bcast(buffer, n, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!((line, why.contains("inline assembly")), (5, true), "{why}");
}

#[test]
fn calls_through_pointers_from_elsewhere() {
    let (line, why) = refused(
        r#"#include <dlfcn.h>
#include <mpi.h>
int main(int argc, char **argv) {
    int buffer[64];
    MPI_Init(&argc, &argv);
    int (*count)(void) = (int (*)(void))dlsym(0, "count");
    MPI_Bcast(buffer, count(), MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!((line, why.contains("pointer")), (7, true), "{why}");
}

#[test]
fn threads_that_call_mpi() {
    let (line, why) = refused(
        r#"#include <mpi.h>
#include <pthread.h>
static void *work(void *unused) { MPI_Barrier(MPI_COMM_WORLD); return 0; }
int main(int argc, char **argv) {
    pthread_t thread;
    MPI_Init(&argc, &argv);
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!((line, why.contains("thread")), (7, true), "{why}");
}

#[test]
fn senders_that_decide_what_happens() {
    let (line, why) = refused(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    int value;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    if (status.MPI_SOURCE == 2)
        MPI_Send(&value, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!((line, why.contains("MPI_ANY_SOURCE")), (7, true), "{why}");
}

#[test]
fn functions_that_call_mpi_handed_to_a_library() {
    let (line, why) = refused(
        r#"#include <mpi.h>
#include <stdlib.h>
static void finish(void) { MPI_Finalize(); }
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    atexit(finish);
    return 0;
}"#,
    );
    assert_eq!((line, why.contains("atexit")), (6, true), "{why}");
}

/// All calls that no rank can make are listed, with their lines.
fn cannot_be_made(source: &str) -> Vec<(u32, String)> {
    let folder = tempfile::tempdir().unwrap();
    let result = build(source, folder.path());
    let said = String::from_utf8_lossy(&result.stderr).into_owned();
    assert_eq!(result.status.code(), Some(1), "{said}");
    assert!(said.contains("--partial"), "{said}");
    let manifest = kizami_folder::Manifest::read(&folder.path().join("skel")).unwrap();
    manifest.refused.into_iter().map(|refusal| (refusal.line, refusal.reason)).collect()
}

#[test]
fn windows() {
    let refused = cannot_be_made(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    double room[4];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_create(room, sizeof room, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}"#,
    );
    let lines: Vec<u32> = refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [6, 7, 8]);
    assert!(refused[0].1.starts_with("MPI_Win_create: windows and one-sided"), "{refused:?}");
}

#[test]
fn files_of_mpi() {
    let refused = cannot_be_made(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6]);
    assert!(refused[0].1.starts_with("MPI_File_open: MPI files"), "{refused:?}");
}

#[test]
fn inter_communicators() {
    let refused = cannot_be_made(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    MPI_Barrier(both);
    MPI_Finalize();
    return 0;
}"#,
    );
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].0 == 8 && refused[0].1.contains("inter-communicators"), "{refused:?}");
}

const SPAWNING: &str = r#"#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Comm children;
    MPI_Init(&argc, &argv);
    if (argc > 5)
        MPI_Comm_spawn("worker", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}"#;

#[test]
fn spawned_processes() {
    let refused = cannot_be_made(SPAWNING);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].0 == 6 && refused[0].1.starts_with("MPI_Comm_spawn: "), "{refused:?}");
}

/// Where runs do not come to such calls, a skeleton can be made all the same; a rank that comes to one stops with its line.
#[test]
fn calls_that_runs_do_not_reach() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("program.c"), SPAWNING).unwrap();
    let own = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"));
        command.current_dir(folder.path()).env("KIZAMI_SKELETON_STORE", folder.path().join("store"));
        command
    };
    let compile =
        ["build", "-o", "skel", "--partial", "--", "mpicc.mpich", "-g", "-o", "program", "program.c"];
    let built = own().args(compile).output().unwrap();
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success() && said.contains("program.c:6  MPI_Comm_spawn"), "{said}");
    assert!(own().args(["run", "skel", "--ranks", "4"]).status().unwrap().success());
    let stopped =
        own().args(["run", "skel", "--ranks", "4", "--", "1", "2", "3", "4", "5"]).output().unwrap();
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(!stopped.status.success() && said.contains("program.c:6"), "{said}");
}

/// Who sent a message may decide in which order things are kept, as sorting does.
#[test]
fn senders_may_be_sorted() {
    let folder = tempfile::tempdir().unwrap();
    let result = build(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    int rank, size, value = 0, from[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        int at = i - 1;
        for (; at > 0 && from[at - 1] > status.MPI_SOURCE; at--)
            from[at] = from[at - 1];
        from[at] = status.MPI_SOURCE;
    }
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Send(&value, 1, MPI_INT, from[i - 1], 1, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}"#,
        folder.path(),
    );
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
}

/// Communication in a library without code would be missing without a word.
#[test]
fn mpi_in_a_shared_library() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let library = "#include <mpi.h>\nvoid meet(void) { MPI_Barrier(MPI_COMM_WORLD); }\n";
    std::fs::write(at.join("library.c"), library).unwrap();
    let made = Command::new("mpicc.mpich")
        .args(["-shared", "-fPIC", "-o", "libmeeting.so", "library.c"])
        .current_dir(at)
        .status();
    assert!(made.unwrap().success());
    let program = r#"#include <mpi.h>
void meet(void);
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    meet();
    MPI_Finalize();
    return 0;
}"#;
    std::fs::write(at.join("program.c"), program).unwrap();
    let result = Command::new(env!("CARGO_BIN_EXE_kizami-skeleton"))
        .args(["build", "-o", "skel", "--", "mpicc.mpich", "-g", "-o", "program", "program.c"])
        .args(["-L.", "-lmeeting"])
        .current_dir(at)
        .env("KIZAMI_SKELETON_STORE", at.join("store"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&result.stderr).into_owned();
    assert_eq!(result.status.code(), Some(1), "{said}");
    assert!(said.contains("program.c:5  meet is in ") && said.contains("libmeeting.so"), "{said}");
}

#[test]
fn data_that_decides_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let result = build(
        r#"#include <mpi.h>
int main(int argc, char **argv) {
    double mine = argc, residual = 1;
    int round = 0;
    MPI_Init(&argc, &argv);
    while (residual > 1e-3 && round < 100) {
        mine /= 3;
        MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        round++;
    }
    MPI_Finalize();
    return 0;
}"#,
        folder.path(),
    );
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let manifest = kizami_folder::Manifest::read(&folder.path().join("skel")).unwrap();
    // The count of rounds is computed; only the comparison of the residual is asked for.
    let oracles: Vec<(u32, &str)> =
        manifest.oracles.iter().map(|one| (one.line, one.variable.as_str())).collect();
    assert_eq!(oracles, [(6, "residual")]);
    let because = &manifest.oracles[0].because;
    assert!(because.last().is_some_and(|place| place.ends_with("program.c:6")), "{because:?}");
    assert!(folder.path().join("skel/observe").exists());
}
