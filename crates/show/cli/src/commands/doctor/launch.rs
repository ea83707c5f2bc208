//! Is there a tracer, can it be preloaded, and does it arrive in what each launcher starts?

use super::arrived::ARRIVED;
use super::finding::Finding;
use crate::launch::environment::{self, RAW_VARIABLE};
use crate::launch::hand_on::hand_on;
use crate::launch::launcher::Launcher;
use crate::launch::library::{self, Family, Library};
use crate::programs::on_path;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A launcher that takes longer than this does not work.
const PATIENCE: Duration = Duration::from_secs(30);
const LAUNCHERS: [&str; 9] = [
    "mpirun",
    "mpiexec",
    "mpirun.openmpi",
    "mpirun.mpich",
    "orterun",
    "prterun",
    "mpiexec.hydra",
    "srun",
    "mpiexec.mpich",
];

/// All checks of this kind.
pub fn check(given_library: Option<&Path>) -> Vec<Finding> {
    let library = match environment::find_library(given_library) {
        Ok(library) => library,
        Err(error) => {
            let fix = "install libkizami.so with kizami, or set KIZAMI_LIBRARY to its path";
            let mut findings = vec![Finding::problem("tracer", format!("{error:#}"), fix)];
            findings.extend(launchers().iter().flat_map(|(path, kind)| describe(path, *kind)));
            return findings;
        }
    };
    let mut findings = vec![preload(&library)];
    let launchers = launchers();
    if launchers.is_empty() {
        findings.push(Finding::warning(
            "MPI",
            "no launcher (mpirun, mpiexec, srun) on the PATH",
            "load your MPI module, or add its bin directory to the PATH; Debian: apt install openmpi-bin",
        ));
    }
    for (path, kind) in &launchers {
        findings.extend(describe(path, *kind));
        findings.push(launch(path, *kind, &library));
    }
    findings
}

/// The different launchers on the PATH: links to the same program count once.
fn launchers() -> Vec<(PathBuf, Launcher)> {
    let mut found: Vec<(PathBuf, Launcher)> = Vec::new();
    let mut seen = Vec::new();
    for name in LAUNCHERS {
        let Some(path) = on_path(Path::new(name)) else { continue };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !seen.contains(&real) {
            found.push((path.clone(), Launcher::of(path.as_os_str())));
            seen.push(real);
        }
    }
    found
}

/// Loads the tracer into a program that does nothing: the loader complains if it cannot.
fn preload(library: &Path) -> Finding {
    let place = library.display().to_string();
    let mut command = Command::new("/bin/true");
    command.env("LD_PRELOAD", library).env_remove(RAW_VARIABLE);
    match finish(&mut command) {
        Ok(outcome) if outcome.success && outcome.stderr.is_empty() => {
            Finding::good("tracer", format!("{place} can be preloaded"))
        }
        Ok(outcome) => {
            let complaint = first_line(&outcome.stderr).unwrap_or("the test program failed").to_owned();
            let fix = "the library must match this machine's C library and processor: rebuild it here";
            Finding::problem("tracer", format!("{place}: {complaint}"), fix)
        }
        Err(error) => {
            Finding::warning("tracer", format!("{place}: could not be tested: {error}"), "see above")
        }
    }
}

/// Which MPI a launcher belongs to, and its libraries.
fn describe(launcher: &Path, kind: Launcher) -> Vec<Finding> {
    let check = launcher.display().to_string();
    let Some(family) = kind.family() else {
        if kind == Launcher::Srun {
            return vec![Finding::good(check, "Slurm's launcher; variables are passed by --export")];
        }
        let fix =
            "if its ranks are not recorded, run kizami inside: mpirun ... kizami record -o run.kz -- ./app";
        return vec![Finding::warning(check, "unknown launcher; variables are inherited", fix)];
    };
    let version = library::version_text(launcher).and_then(|text| version_number(&text)).unwrap_or_default();
    let name = format!("{} {version}", family.name()).trim_end().to_owned();
    let libraries = library::libraries_of(launcher, family);
    if libraries.is_empty() {
        let fix = "C and Fortran programs are still recorded, mpi4py may not be: check that the launcher's MPI library is installed";
        return vec![Finding::warning(check, format!("{name}; its library was not found"), fix)];
    }
    libraries
        .iter()
        .map(|library| Finding::good(check.clone(), format!("{name}, {}", about(library))))
        .collect()
}

fn about(library: &Library) -> String {
    let abi = match (library.standard_abi, library.family) {
        (true, _) => "the standard ABI",
        (false, Family::OpenMpi) => "Open MPI's ABI",
        (false, Family::Mpich) => "MPICH's ABI",
    };
    let known = kizami_model::function::mpi_functions().len();
    format!("{} ({abi}, {} of {known} known functions)", library.path.display(), library.functions)
}

/// `4.1.4` from whatever a launcher says about itself.
fn version_number(text: &str) -> Option<String> {
    let is_version = |word: &str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    text.split_whitespace().find(|word| is_version(word)).map(|word| word.trim_end_matches(',').to_owned())
}

/// Launches this program through a launcher, as `record` would, to see what arrives.
fn launch(launcher: &Path, kind: Launcher, library: &Path) -> Finding {
    let check = launcher.display().to_string();
    let Ok(kizami) = std::env::current_exe() else {
        return Finding::warning(
            check,
            "cannot determine the path of kizami, so no launch was tested",
            "run kizami by its full path",
        );
    };
    let words: [OsString; 5] = [launcher.into(), "-n".into(), "1".into(), kizami.into(), "arrived".into()];
    // The tracer records MPI calls only, and `arrived` makes none: nothing is written to the folder.
    let folder = std::env::temp_dir().join("kizami-doctor");
    let variables = environment::variables(kind, library, &folder, Vec::new());
    let launch = hand_on(kind, &words, &variables);
    let mut command = Command::new(&launch.command[0]);
    command.args(&launch.command[1..]);
    if launch.needs_environment {
        command.envs(variables);
    }
    match finish(&mut command) {
        Ok(outcome) if outcome.stdout.contains(ARRIVED) => {
            Finding::good(check, "launches processes with the tracer loaded")
        }
        Ok(outcome) => refused(check, &outcome),
        Err(error) => {
            Finding::problem(check, format!("cannot be run: {error}"), "reinstall the MPI, or fix the PATH")
        }
    }
}

fn refused(check: String, outcome: &Outcome) -> Finding {
    let all = format!("{}\n{}", outcome.stderr, outcome.stdout);
    if all.contains("run as root") || all.contains("as root") {
        let fix = "run as another user, or: export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
        return Finding::problem(check, "refuses to run as root", fix);
    }
    if outcome.timed_out {
        let fix = "run the launcher on its own: it must end within seconds";
        return Finding::problem(check, format!("did not end in {} seconds", PATIENCE.as_secs()), fix);
    }
    if outcome.success {
        let fix = "run kizami inside the launcher: mpirun ... kizami record -o run.kz -- ./app";
        return Finding::problem(check, "does not pass LD_PRELOAD to its processes", fix);
    }
    let complaint =
        all.lines().map(str::trim).find(|line| line.chars().any(char::is_alphabetic)).unwrap_or("");
    Finding::problem(check, format!("cannot launch a process: {complaint}"), "fix the launcher first")
}

struct Outcome {
    success: bool,
    timed_out: bool,
    stdout: String,
    stderr: String,
}

/// Runs a command to its end, or to the end of our patience.
fn finish(command: &mut Command) -> std::io::Result<Outcome> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let read_all = |mut stream: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = child.stdout.take().map(|stream| read_all(Box::new(stream)));
    let stderr = child.stderr.take().map(|stream| read_all(Box::new(stream)));
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let text = |reader: Option<std::thread::JoinHandle<String>>| match (reader, status) {
        // What a killed launcher started may still hold the other end of the pipe.
        (Some(reader), Some(_)) => reader.join().unwrap_or_default(),
        _ => String::new(),
    };
    Ok(Outcome {
        success: status.is_some_and(|status| status.success()),
        timed_out: status.is_none(),
        stdout: text(stdout),
        stderr: text(stderr),
    })
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_launchers_print() {
        assert_eq!(version_number("mpirun (Open MPI) 4.1.4\n\nReport bugs").as_deref(), Some("4.1.4"));
        assert_eq!(version_number("HYDRA build details:\n  Version:   4.0.2\n").as_deref(), Some("4.0.2"));
        assert_eq!(version_number("no number"), None);
    }

    #[test]
    fn a_refusal_gives_its_reason() {
        let outcome = |stderr: &str| Outcome {
            success: false,
            timed_out: false,
            stdout: String::new(),
            stderr: stderr.to_owned(),
        };
        let root = refused("mpirun".into(), &outcome("mpirun has detected an attempt to run as root."));
        assert!(root.fix.unwrap().contains("OMPI_ALLOW_RUN_AS_ROOT"));
        let other = refused("mpirun".into(), &outcome("------\nno slots available\n"));
        assert!(other.found.contains("no slots available"));
    }
}
