//! `kizami skeleton observe`: runs the whole program once and keeps what the skeleton cannot know.

use crate::store::Link;
use anyhow::{Context, Result, bail};
use kizami_folder::{OBSERVE, OBSERVED, read_observed};
use kizami_slice::observe::RUNTIME;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Names the folder that ranks write to.
const VARIABLE: &str = "KIZAMI_OBSERVED";

const HELP: &str = "\
Examples:
  kizami skeleton observe cg.skel -- mpirun -n 4 {} 1000

Only needed if `build` says that something depends on data. The whole program runs once; the values
of those places stay in the skeleton.";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The skeleton
    #[arg(value_name = "X.skel")]
    skeleton: PathBuf,
    /// How to start the program, with {} in its place
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Compiles and links the whole program with notes.
pub fn link(link: &Link, skeleton: &Path) -> Result<()> {
    let runtime = skeleton.join("observe.c");
    std::fs::write(&runtime, RUNTIME).with_context(|| format!("cannot write {}", runtime.display()))?;
    let cxx = link.compiled.iter().any(|one| one.language == "c++");
    let fortran = link.compiled.iter().any(|one| one.language == "fortran");
    let output = std::path::absolute(skeleton.join(OBSERVE))?;
    let mut command = Command::new(if cxx { "clang++-19" } else { "clang-19" });
    let mut includes: Vec<&String> = link.compiled.iter().flat_map(|one| &one.includes).collect();
    includes.sort();
    includes.dedup();
    command.args(["-O2", "-w", "-x", "ir"]).arg(std::path::absolute(skeleton.join("observe.bc"))?);
    command.args(["-x", "c"]).arg(std::path::absolute(&runtime)?).args(["-x", "none"]).args(includes);
    command.args(&link.libraries).arg("-lm").current_dir(&link.folder).arg("-o").arg(&output);
    if fortran {
        command.args(["-L/usr/lib/llvm-19/lib", "-lFortranRuntime", "-lFortranDecimal", "-lstdc++"]);
    }
    let result = command.output().context("cannot run clang 19")?;
    if !result.status.success() {
        bail!(
            "cannot link the program that observes what depends on data:\n{}",
            String::from_utf8_lossy(&result.stderr)
        );
    }
    std::fs::remove_file(runtime)?;
    std::fs::remove_file(skeleton.join("observe.bc"))?;
    Ok(())
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let program = std::path::absolute(arguments.skeleton.join(OBSERVE))?;
    if !program.exists() {
        bail!(
            "{} has no program to observe: nothing in it depends on data, or it was not built here",
            arguments.skeleton.display()
        );
    }
    let folder = std::path::absolute(arguments.skeleton.join(OBSERVED))?;
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let words: Vec<OsString> = arguments
        .command
        .iter()
        .map(|word| if word == "{}" { program.clone().into_os_string() } else { word.clone() })
        .collect();
    if words == arguments.command {
        bail!(
            "the command does not say where the program goes; write {{}} in its place, as in: mpirun -n 4 {{}}"
        );
    }
    let status = Command::new(&words[0])
        .args(&words[1..])
        .env(VARIABLE, &folder)
        .status()
        .with_context(|| format!("cannot run {}", words[0].to_string_lossy()))?;
    let ranks = read_observed(&arguments.skeleton)?;
    println!("{}: values of {} ranks", arguments.skeleton.display(), ranks.len());
    Ok(ExitCode::from(status.code().map_or(1, |code| code as u8)))
}
