//! Whole programs, compiled with the headers of each MPI, do call by call what real runs of them with that MPI did.
//!
//! The programs are those of `workloads/`, recorded at 4 ranks by the product itself; the stand-in's answers are also put to
//! `workloads/coverage`, which checks what MPI answers.

use kizami_execute::{CheckOptions, Library, RunOptions, Skeleton, check, run};
use std::path::{Path, PathBuf};
use std::process::Command;

fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../workloads")
}

/// Directories with the headers of an MPI, as its own compiler says.
fn headers(library: Library) -> Vec<String> {
    let (compiler, question) = match library {
        Library::Mpich => ("mpicc.mpich", "-show"),
        _ => ("mpicc.openmpi", "--showme:compile"),
    };
    let answer = Command::new(compiler).arg(question).output().expect("both MPIs are installed: .ci/prepare");
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    text.split_whitespace().filter(|word| word.starts_with("-I")).map(str::to_owned).collect()
}

fn compile(library: Library, source: &Path, into: &Path) {
    let status = Command::new("clang-19")
        .args(["-O1", "-fPIC", "-emit-llvm", "-c", "-w"])
        .args(headers(library))
        .arg(format!("-I{}", workloads().display()))
        .arg(format!("-I{}", workloads().join("../include").display()))
        .arg(source)
        .arg("-o")
        .arg(into)
        .status()
        .expect("clang-19 is installed");
    assert!(status.success(), "{} compiles", source.display());
}

/// The product's own command, which stands beside this test.
fn kizami() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let found =
        test.ancestors().nth(2).map(|folder| folder.join("kizami")).expect("it is in a folder of cargo's");
    assert!(found.exists(), "{} is missing: cargo build --release", found.display());
    found
}

fn record(library: Library, program: &str, output: &Path) {
    let built = std::env::var_os("KIZAMI_TEST_DIR").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/kizami");
    let built = built.unwrap_or_else(home).join("workloads");
    let (launcher, options, folder): (&str, &[&str], &str) = match library {
        Library::Mpich => ("mpirun.mpich", &[], "mpich"),
        _ => ("mpirun.openmpi", &["--oversubscribe"], "openmpi"),
    };
    let printed = Command::new(kizami())
        .arg("record")
        .arg("-o")
        .arg(output)
        .arg(launcher)
        .args(options)
        .args(["-n", "4"])
        .arg(built.join(folder).join(program))
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .output()
        .expect("kizami runs");
    assert!(printed.status.success(), "{program} is recorded: {}", String::from_utf8_lossy(&printed.stderr));
}

fn compare(library: Library, programs: &[&str]) {
    let folder = tempfile::tempdir().expect("a place for files");
    for program in programs {
        let bitcode = folder.path().join(format!("{program}.bc"));
        compile(library, &workloads().join(format!("{program}.c")), &bitcode);
        let trace = folder.path().join(format!("{program}.kz"));
        record(library, program, &trace);
        let skeleton = Skeleton::open(&bitcode, Some(library)).expect("bitcode opens");
        let options = CheckOptions { every_call: true, ..CheckOptions::default() };
        let checked = check(&skeleton, &trace, &options, &|_| {}).expect("it runs");
        assert_eq!(checked.identical, 4, "{program}: {:#?}", checked.differences);
        assert!(checked.compared >= 36, "{program}: {} calls", checked.compared);
    }
}

const PROGRAMS: [&str; 6] = ["stencil2d", "persistent", "neighbours", "radix_sort", "matmul_shift", "cg"];

#[test]
fn programs_with_the_headers_of_mpich_do_what_was_recorded() {
    compare(Library::Mpich, &PROGRAMS);
}

#[test]
fn programs_with_the_headers_of_open_mpi_do_what_was_recorded() {
    compare(Library::OpenMpi, &PROGRAMS);
}

/// Runs families of `workloads/coverage`, whose exit code says whether an answer is wrong.
fn answers(library: Library) {
    let folder = tempfile::tempdir().expect("a place for files");
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(workloads().join("coverage")).expect("the program is there").flatten() {
        let source = entry.path();
        if source.extension().is_some_and(|ending| ending == "c") {
            let part = folder.path().join(source.with_extension("bc").file_name().expect("it has a name"));
            compile(library, &source, &part);
            parts.push(part);
        }
    }
    let whole = folder.path().join("coverage.linked");
    let status = Command::new("llvm-link-19").args(&parts).arg("-o").arg(&whole).status();
    assert!(status.expect("llvm-link-19 is installed").success());
    let skeleton = Skeleton::open(&whole, Some(library)).expect("bitcode opens");
    let file = folder.path().join("file").display().to_string();
    let arguments = [&file, "groups", "collectives", "topologies"].map(str::to_owned).to_vec();
    let ran = run(&skeleton, &RunOptions { ranks: 4, arguments, ..RunOptions::default() }, &|_| {});
    assert_eq!(ran.expect("it runs").failed, 0);
}

#[test]
fn mpich_and_the_stub_agree() {
    answers(Library::Mpich);
}

#[test]
fn open_mpi_and_the_stub_agree() {
    answers(Library::OpenMpi);
}
