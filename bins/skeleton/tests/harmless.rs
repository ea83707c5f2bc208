//! Skeletons of programs that write files and start others: files stay as they are, nothing is started, and what cannot be
//! stood in for is refused with its line.

mod outside;

use outside::{everything, said, skeleton, with_files};
use std::path::Path;
use std::process::Output;

/// Builds `skel` of sources by an MPI's compiler, beside the folder.
fn build(folder: &Path, compiler: &str, options: &[&str], file: &str, source: &str) -> Output {
    let above = folder.join("..");
    std::fs::write(above.join(file), source).expect("a source");
    let output = skeleton(folder)
        .args(["build", "-o", "../skel"])
        .args(options)
        .args(["--", compiler, "-w", "-g", "-o", "../program", &format!("../{file}")])
        .output();
    output.expect("it can be started")
}

/// The calls that a run counted.
fn calls(folder: &Path, ranks: &str) -> u64 {
    let output =
        skeleton(folder).args(["run", "--json", "-n", ranks, "../skel"]).output().expect("it starts");
    assert!(output.status.success(), "{}", said(&output));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    printed["calls"].as_u64().expect("a number")
}

/// Every call that changes a file is made, its result decides whether a barrier is, and nothing changes.
#[test]
fn files_stay_as_they_are() {
    let changes = [
        r#"(open("result.dat", O_RDWR | O_CREAT | O_TRUNC, 0644)) >= 0"#,
        r#"open("result.dat", O_WRONLY | O_APPEND) >= 0"#,
        r#"open("made.dat", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0"#,
        r#"openat(AT_FDCWD, "made.dat", O_RDWR | O_CREAT, 0600) >= 0"#,
        r#"creat("checkpoint.dat", 0644) >= 0"#,
        r#"fopen("result.dat", "w") != 0"#,
        r#"fopen("result.dat", "a+") != 0"#,
        r#"fopen("made.dat", "wx") != 0"#,
        r#"truncate("other.dat", 0) == 0"#,
        r#"unlink("checkpoint.dat") == 0"#,
        r#"remove("old.dat") == 0"#,
        r#"rename("old.dat", "new.dat") == 0"#,
        r#"rmdir("empty") == 0"#,
        r#"mkdir("made", 0755) == 0"#,
        r#"symlink("/etc/passwd", "link") == 0"#,
        r#"link("old.dat", "linked") == 0"#,
        r#"mkfifo("fifo", 0644) == 0"#,
        r#"chmod("old.dat", 0) == 0"#,
        r#"ftruncate(open("old.dat", O_RDWR), 0) == 0"#,
        r#"write(open("old.dat", O_RDWR), "gone", 4) == 4"#,
        r#"fwrite("gone", 1, 4, fopen("old.dat", "r+")) == 4"#,
        r#"mkstemp(name) >= 0"#,
        r#"tmpfile() != 0"#,
        r#"utimensat(AT_FDCWD, "old.dat", 0, 0) == 0"#,
    ];
    let each: String =
        changes.iter().map(|call| format!("    if ({call}) MPI_Barrier(MPI_COMM_WORLD);\n")).collect();
    let source = format!(
        r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {{
    int rounds = 0, more = 0;
    char name[] = "made-XXXXXX";
    MPI_Init(&argc, &argv);
    FILE *parameters = fopen("parameters", "r");
    if (!parameters || fscanf(parameters, "%d %d", &rounds, &more) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(parameters);
    for (int i = 0; i < rounds + more; i++) MPI_Barrier(MPI_COMM_WORLD);
{each}    printf("done\n");
    MPI_Finalize();
    return 0;
}}"#
    );
    let (_outer, folder) = with_files();
    let built = build(&folder, "mpicc.mpich", &[], "changes.c", &source);
    assert!(built.status.success(), "{}", said(&built));
    let before = everything(&folder);
    let each_rank = 2 + 5 + changes.len() as u64;
    assert_eq!(calls(&folder, "4"), 4 * each_rank);
    assert_eq!(everything(&folder), before);
    println!("{} ways to change a file tried by 4 ranks, {} held", changes.len(), changes.len());
}

/// Streams of C++ read what is there, and write nothing.
#[test]
fn streams_of_cxx_write_nothing() {
    let source = r#"#include <fstream>
#include <mpi.h>
#include <string>
int main(int argc, char **argv) {
    int rounds = 0, more = 0;
    MPI_Init(&argc, &argv);
    std::ifstream parameters("parameters");
    parameters >> rounds >> more;
    for (int i = 0; i < rounds + more; i++) MPI_Barrier(MPI_COMM_WORLD);
    std::ofstream result("result.dat");
    if (result.is_open()) MPI_Barrier(MPI_COMM_WORLD);
    std::ofstream made(std::string("made.dat"), std::ios::app);
    if (made.is_open()) MPI_Barrier(MPI_COMM_WORLD);
    std::ofstream later;
    later.open("other.dat");
    if (later.is_open()) MPI_Barrier(MPI_COMM_WORLD);
    std::fstream both("old.dat", std::ios::in | std::ios::out);
    if (both.is_open()) MPI_Barrier(MPI_COMM_WORLD);
    std::fstream emptied("checkpoint.dat", std::ios::in | std::ios::out | std::ios::trunc);
    if (emptied.is_open()) MPI_Barrier(MPI_COMM_WORLD);
    result << "gone" << std::endl;
    MPI_Finalize();
    return 0;
}"#;
    let (_outer, folder) = with_files();
    let built = build(&folder, "mpicxx.mpich", &[], "streams.cpp", source);
    assert!(built.status.success(), "{}", said(&built));
    let before = everything(&folder);
    assert_eq!(calls(&folder, "4"), 4 * (2 + 5 + 5));
    assert_eq!(everything(&folder), before);
}

/// Whatever Fortran would write, empty or remove stays as it is.
#[test]
fn fortran_writes_nothing() {
    let source = "program writes
  use mpi
  implicit none
  integer :: ierr, state
  call MPI_Init(ierr)
  open (unit=11, file='result.dat', status='replace', iostat=state)
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  open (unit=12, file='made.dat', iostat=state)
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  write (12, *, iostat=state) 'gone'
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  close (12, iostat=state)
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  open (unit=13, file='old.dat', status='old', iostat=state)
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  close (13, status='delete', iostat=state)
  if (state == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program
";
    let (_outer, folder) = with_files();
    let built = build(&folder, "mpifort.mpich", &[], "writes.f90", source);
    assert!(built.status.success(), "{}", said(&built));
    let before = everything(&folder);
    assert_eq!(calls(&folder, "1"), 2 + 6);
    assert_eq!(everything(&folder), before);
}

const ACTS: [(&str, &str); 14] = [
    ("system", r#"system("touch made.dat") == 0"#),
    ("popen", r#"popen("touch made.dat", "r") != 0"#),
    ("fork", r#"fork() == 12345"#),
    ("execv", r#"execv("/bin/touch", words) == 0"#),
    ("execlp", r#"execlp("touch", "touch", "made.dat", (char *)0) == 0"#),
    ("posix_spawnp", r#"posix_spawnp(0, "touch", 0, 0, words, 0) == 0"#),
    ("socket", r#"socket(AF_INET, SOCK_STREAM, 0) >= 0"#),
    ("connect", r#"connect(3, &address, sizeof address) == 0"#),
    ("kill", r#"kill(getppid(), 9) == 0"#),
    ("raise", r#"raise(9) == 0"#),
    ("syscall", r#"syscall(87, "old.dat") == 0"#),
    ("dlsym", r#"dlsym(0, "system") != 0"#),
    ("chdir", r#"chdir("empty") == 0"#),
    ("shm_open", r#"shm_open("/made", 66, 0600) >= 0"#),
];

fn acting() -> String {
    let each: String =
        ACTS.iter().map(|(_, call)| format!("    if ({call}) MPI_Barrier(MPI_COMM_WORLD);\n")).collect();
    format!(
        r#"#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv) {{
    char *words[] = {{"touch", "made.dat", 0}};
    struct sockaddr address = {{AF_INET}};
    MPI_Init(&argc, &argv);
{each}    MPI_Finalize();
    return 0;
}}"#
    )
}

/// All that acts on the outside is refused when the skeleton is built, each by its name and line.
#[test]
fn what_acts_on_the_outside_is_named_with_its_line() {
    let (_outer, folder) = with_files();
    let before = everything(&folder);
    let built = build(&folder, "mpicc.openmpi", &[], "acts.c", &acting());
    assert_eq!(built.status.code(), Some(1), "{}", said(&built));
    for ((name, _), line) in ACTS.iter().zip(15..) {
        let place = format!("acts.c:{line}  {name}: a");
        assert!(said(&built).contains(&place), "{place} is missing:\n{}", said(&built));
    }
    assert!(said(&built).contains("build with --partial"), "{}", said(&built));
    let ran = skeleton(&folder).args(["run", "-n", "4", "../skel"]).output().expect("it starts");
    assert!(!ran.status.success());
    assert_eq!(everything(&folder), before);
    println!("{} ways to act on the outside, {} refused by name and line", ACTS.len(), ACTS.len());
}

/// A skeleton that was made all the same stops where a rank comes to such a call, and says which and where.
#[test]
fn a_rank_that_reaches_such_a_call_stops() {
    let (_outer, folder) = with_files();
    let before = everything(&folder);
    let built = build(&folder, "mpicc.mpich", &["--partial"], "acts.c", &acting());
    assert!(built.status.success(), "{}", said(&built));
    let ran = skeleton(&folder).args(["run", "-n", "4", "../skel"]).output().expect("it starts");
    assert_eq!(ran.status.code(), Some(1));
    let text = said(&ran);
    assert!(text.contains("rank 0 of 4: system: a skeleton cannot start other programs"), "{text}");
    assert!(text.contains("acts.c:15)"), "{text}");
    assert_eq!(everything(&folder), before);
}

/// A rank that takes more memory than it may ends the run with an error, whichever way it takes it.
#[test]
fn memory_has_a_limit() {
    let program = |rest: &str| {
        format!(
            r#"#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {rest}
    MPI_Finalize();
    return 0;
}}"#
        )
    };
    let by_blocks = "int *count = calloc(1 << 30, 4); for (long i = 0; rank == 2 && i < 1 << 30; i += 1024) count[i] = 1;\n\
                     for (int i = 0; i < count[argc]; i++) MPI_Barrier(MPI_COMM_WORLD);";
    let by_calls = "while (rank == 2 && argc < 100) MPI_Barrier(MPI_COMM_SELF);";
    for source in [by_blocks, by_calls] {
        let (_outer, folder) = with_files();
        let built = build(&folder, "mpicc.mpich", &[], "memory.c", &program(source));
        assert!(built.status.success(), "{}", said(&built));
        let ran = skeleton(&folder).args(["run", "-n", "4", "--memory", "300M", "../skel"]).output();
        let ran = ran.expect("it starts");
        assert_eq!(ran.status.code(), Some(1));
        let text = said(&ran);
        assert!(text.contains("memory limit of 300 MiB exceeded while rank 2 of 4 was running"), "{text}");
        assert!(text.contains("--memory"), "{text}");
    }
}
