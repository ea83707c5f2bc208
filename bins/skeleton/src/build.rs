//! `kizami skeleton build`: runs a build as it is, and makes a skeleton of what it links.

use crate::compiler::Language;
use crate::store::{self, Link};
use anyhow::{Context, Result, bail};
use kizami_folder::{BITCODE, Dialect, MANIFEST, Manifest, OBSERVE, OBSERVED, Refusal};
use kizami_slice::Request;
use kizami_terminal::{failure, say, text};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
Examples:
  kizami skeleton build -o cg.skel -- mpicc -O2 -o cg cg.c -lm
  kizami skeleton build -o solver.skel --program solver -- make -j4

The command runs unchanged and produces its usual output. In addition, Kizami compiles every source
to LLVM IR and keeps what the communication of the linked program depends on. If this includes a
call that a skeleton cannot make (it starts a program, uses the network), Kizami reports its source
line and creates no skeleton. Skeletons can read files; writes have no effect.";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Directory to write the skeleton to
    #[arg(short, long, value_name = "X.skel")]
    output: PathBuf,
    /// Program to use if the command links several
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// Create a skeleton even if the program has calls that it cannot make; a rank stops at such a call
    #[arg(long)]
    partial: bool,
    /// Also link the whole program with loop counters, to measure how many iterations a skeleton counts
    #[arg(long, hide = true)]
    rounds: bool,
    /// Build command: a compiler with its arguments, or make
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    store::folder()?;
    let working = tempfile::tempdir().context("cannot create a temporary directory")?;
    let notes = working.path().join("links");
    let status = built(arguments, working.path(), &notes)?;
    if !status.success() {
        failure::report("the build failed; no skeleton was created");
        return Ok(ExitCode::from(status.code().map_or(1, |code| code as u8)));
    }
    let link = chosen(store::links(&notes), arguments.program.as_deref())?;
    make(&link, arguments)
}

/// Runs the build with compilers that gather.
fn built(arguments: &Arguments, working: &Path, notes: &Path) -> Result<std::process::ExitStatus> {
    let own = std::env::current_exe().context("cannot locate the kizami-skeleton executable")?;
    let mut command = Command::new(&arguments.command[0]);
    command.args(&arguments.command[1..]).env(store::LINKS, notes);
    let languages = [
        (Language::C, ["OMPI_CC", "MPICH_CC"], "CC"),
        (Language::Cxx, ["OMPI_CXX", "MPICH_CXX"], "CXX"),
        (Language::Fortran, ["OMPI_FC", "MPICH_FC"], "FC"),
    ];
    for (language, variables, _) in languages {
        let compiler = working.join(language.compiler_name());
        std::os::unix::fs::symlink(&own, &compiler)
            .context("cannot create a symbolic link to this executable")?;
        for variable in variables {
            if let Some(real) = std::env::var_os(variable)
                && std::env::var_os(language.variable()).is_none()
            {
                command.env(language.variable(), real);
            }
            command.env(variable, &compiler);
        }
    }
    command.env("MPICH_F90", working.join(Language::Fortran.compiler_name()));
    command.env("OMPI_F77", working.join(Language::Fortran.compiler_name()));
    gathering_smpicc(working)?;
    let mut path = OsString::from(working);
    if let Some(before) = std::env::var_os("PATH") {
        path.push(":");
        path.push(before);
    }
    command.env("PATH", path);
    let name = arguments.command[0].to_string_lossy();
    // The command itself is looked up before it sees the new path.
    if name == "smpicc" && working.join("smpicc").exists() {
        let mut smpicc = Command::new(working.join("smpicc"));
        smpicc.args(&arguments.command[1..]).env(store::LINKS, notes);
        return smpicc.status().context("cannot run smpicc");
    }
    command.status().with_context(|| format!("cannot run {name}"))
}

/// SimGrid's `smpicc` has its compiler written into it: a copy that calls ours, first on the path.
fn gathering_smpicc(working: &Path) -> Result<()> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join("smpicc")).find(|file| file.exists());
    let Some(text) = found.and_then(|file| std::fs::read_to_string(file).ok()) else { return Ok(()) };
    let own = working.join(Language::C.compiler_name());
    let patched: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with("CC=") { format!("CC={}", own.display()) } else { line.to_owned() })
        .collect();
    let file = working.join("smpicc");
    std::fs::write(&file, patched.join("\n") + "\n")?;
    let mode: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&file, mode)?;
    Ok(())
}

fn chosen(links: Vec<Link>, name: Option<&str>) -> Result<Link> {
    let fits = |link: &Link| {
        let own = link.output.file_name().and_then(|name| name.to_str());
        !link.compiled.is_empty() && name.is_none_or(|name| own == Some(name))
    };
    let mut fitting: Vec<Link> = links.into_iter().filter(fits).collect();
    fitting.dedup_by(|left, right| left.output == right.output);
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 => bail!(
            "the command linked no program from sources that LLVM can compile; compile with the MPI's compiler wrapper \
             (mpicc, mpicxx, mpifort, smpicc) or with kizami-cc, kizami-c++ or kizami-fc, and link in the same command"
        ),
        _ => {
            let names: Vec<String> = fitting.iter().map(|link| link.output.display().to_string()).collect();
            bail!("the command linked several programs: {}; choose one with --program", names.join(", "))
        }
    }
}

/// Makes the skeleton of one link.
fn make(link: &Link, arguments: &Arguments) -> Result<ExitCode> {
    let output = arguments.output.as_path();
    std::fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    for old in [BITCODE, "observe.bc", OBSERVE, MANIFEST] {
        let _ = std::fs::remove_file(output.join(old));
    }
    let _ = std::fs::remove_dir_all(output.join(OBSERVED));
    let mpi = link.compiled.iter().find_map(|one| one.mpi);
    let mpi: Dialect = mpi.context("no source was compiled with the headers of Open MPI, MPICH or SMPI")?;
    let mut languages: Vec<String> = link.compiled.iter().map(|one| one.language.clone()).collect();
    languages.sort();
    languages.dedup();
    let bitcode: Vec<PathBuf> = link.compiled.iter().map(|one| one.bitcode.clone()).collect();
    let strangers = crate::shared::functions_that_communicate(&link.libraries, &link.folder);
    let request = Request {
        bitcode: &bitcode,
        mpi,
        languages,
        refused: unknown_objects(link),
        strangers,
        cannot_run: kizami_execute::cannot_run,
        partial: arguments.partial,
        rounds: arguments.rounds,
    };
    let started = std::time::Instant::now();
    let manifest = kizami_slice::skeleton(request, output)?;
    report(&manifest, output, started.elapsed())?;
    if !manifest.refused.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if !manifest.oracles.is_empty() {
        crate::observe::link(link, output, OBSERVE, kizami_slice::observe::RUNTIME)?;
    }
    if arguments.rounds {
        crate::observe::link(link, output, "rounds", kizami_slice::rounds::RUNTIME)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_objects(link: &Link) -> Vec<Refusal> {
    let of_mpi = |name: &&String| !name.contains("/openmpi/") && !name.contains("mpich");
    let reason = |name: &String| Refusal {
        file: name.clone(),
        line: 0,
        reason: "has no LLVM IR; recompile it with this command".to_owned(),
    };
    link.unknown.iter().filter(of_mpi).map(reason).collect()
}

fn report(manifest: &Manifest, output: &Path, took: std::time::Duration) -> std::io::Result<()> {
    let mut out = text::stdout();
    writeln!(
        out,
        "{}: kept {} of {} instructions, {} MPI call sites, {:.2} s",
        output.display(),
        manifest.instructions_after,
        manifest.instructions_before,
        manifest.call_sites.len(),
        took.as_secs_f64()
    )?;
    if manifest.loops_in_program > 0 {
        let (counted, all) = (manifest.loops.len(), manifest.loops_in_program);
        writeln!(out, "iterations counted for {counted} of {all} loops between MPI calls")?;
    }
    if !manifest.oracles.is_empty() {
        writeln!(out, "Values that depend on data; run `kizami skeleton observe` once to record them:")?;
        for oracle in &manifest.oracles {
            let for_whom = oracle
                .asked_by
                .as_deref()
                .map_or(String::new(), |call| format!(", needed by the call at {call}"));
            writeln!(out, "  {}:{}  {}{for_whom}", oracle.file, oracle.line, oracle.variable)?;
        }
    }
    let listed = |heading: &str, refusals: &[Refusal]| {
        let line = |refusal: &Refusal| format!("  {}:{}  {}", refusal.file, refusal.line, refusal.reason);
        say(&[heading.to_owned()]);
        say(&refusals.iter().map(line).collect::<Vec<_>>());
    };
    if !manifest.stops.is_empty() {
        listed("A rank stops at these calls:", &manifest.stops);
    }
    if !manifest.refused.is_empty() {
        listed("Cannot create a skeleton:", &manifest.refused);
        let of_calls = |refusal: &Refusal| {
            let called = refusal.reason.split_once(": ").map(|(name, _)| name);
            called.is_some_and(|name| kizami_execute::cannot_run(name).is_some())
        };
        if manifest.refused.iter().all(of_calls) {
            say(&["If your runs do not reach these calls, build with --partial.".to_owned()]);
        }
    }
    Ok(())
}
