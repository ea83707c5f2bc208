//! `kizami skeleton observe`: runs the whole program once and keeps what the skeleton cannot know.

use crate::store::Link;
use anyhow::{Context, Result, bail};
use kizami_folder::{OBSERVE, OBSERVED, keep_observed, read_observed};
use kizami_terminal::{failure, text};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names the folder that ranks write to.
const VARIABLE: &str = "KIZAMI_OBSERVED";

const HELP: &str = "\
Examples:
  kizami skeleton observe cg.skel -- mpirun -n 4 {} 1000

Needed only if `build` reports values that depend on data. Kizami runs the whole program once and
stores these values in the skeleton; another run with the same number of ranks replaces them. From
runs at two numbers of ranks, `kizami skeleton run` learns which values stay the same at others;
from three, which values scale with the number of ranks.";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Skeleton to add the values to
    #[arg(value_name = "X.skel")]
    skeleton: PathBuf,
    /// Command that starts the program, with {} in place of the program
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Compiles `NAME.bc`, the whole program with notes, and links it with what takes the notes.
pub fn link(link: &Link, skeleton: &Path, name: &str, runtime_source: &str) -> Result<()> {
    let runtime = skeleton.join(format!("{name}.c"));
    let bitcode = skeleton.join(format!("{name}.bc"));
    std::fs::write(&runtime, runtime_source)
        .with_context(|| format!("cannot write {}", runtime.display()))?;
    let cxx = link.compiled.iter().any(|one| one.language == "c++");
    let fortran = link.compiled.iter().any(|one| one.language == "fortran");
    let output = std::path::absolute(skeleton.join(name))?;
    let mut command = Command::new(if cxx { "clang++-19" } else { "clang-19" });
    let mut includes: Vec<&String> = link.compiled.iter().flat_map(|one| &one.includes).collect();
    includes.sort();
    includes.dedup();
    command.args(["-O2", "-w", "-x", "ir"]).arg(std::path::absolute(&bitcode)?);
    command.args(["-x", "c"]).arg(std::path::absolute(&runtime)?).args(["-x", "none"]).args(includes);
    command.args(&link.libraries).arg("-lm").current_dir(&link.folder).arg("-o").arg(&output);
    if fortran {
        command.args(["-L/usr/lib/llvm-19/lib", "-lFortranRuntime", "-lFortranDecimal", "-lstdc++"]);
    }
    let result = command.output().context("cannot run clang 19")?;
    if !result.status.success() {
        bail!("cannot link the instrumented program:\n{}", String::from_utf8_lossy(&result.stderr));
    }
    std::fs::remove_file(runtime)?;
    std::fs::remove_file(bitcode)?;
    Ok(())
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let program = std::path::absolute(arguments.skeleton.join(OBSERVE))?;
    if !program.exists() {
        bail!(
            "{} has no instrumented program: none of its values depends on data, or it was not built here",
            arguments.skeleton.display()
        );
    }
    let words: Vec<OsString> = arguments
        .command
        .iter()
        .map(|word| if word == "{}" { program.clone().into_os_string() } else { word.clone() })
        .collect();
    if words == arguments.command {
        bail!(
            "the command has no placeholder for the program; write {{}} in its place, as in: mpirun -n 4 {{}}"
        );
    }
    let fresh = std::path::absolute(arguments.skeleton.join(OBSERVED).join("new"))?;
    if fresh.exists() {
        std::fs::remove_dir_all(&fresh)?;
    }
    std::fs::create_dir_all(&fresh)?;
    let status = Command::new(&words[0])
        .args(&words[1..])
        .env(VARIABLE, &fresh)
        .status()
        .with_context(|| format!("cannot run {}", words[0].to_string_lossy()))?;
    if !status.success() {
        failure::report("the program failed; its values were discarded");
        std::fs::remove_dir_all(&fresh)?;
        return Ok(ExitCode::from(status.code().map_or(1, |code| code as u8)));
    }
    let ranks = keep_observed(&arguments.skeleton, &fresh)?;
    let ranks =
        ranks.context("no rank wrote values; check that the command starts the program given as {}")?;
    let sizes: Vec<String> =
        read_observed(&arguments.skeleton)?.iter().map(|run| run.ranks.to_string()).collect();
    writeln!(
        text::stdout(),
        "{}: recorded the values of {ranks} ranks; numbers of ranks observed so far: {}",
        arguments.skeleton.display(),
        sizes.join(", ")
    )?;
    Ok(ExitCode::SUCCESS)
}
