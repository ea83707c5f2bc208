//! `kizami skeleton`: from a program to the traces of runs nobody has made.
//!
//! Also the compiler that gathers what skeletons are made of: called as `kizami-cc`, `kizami-c++` or `kizami-fc` it compiles
//! as the real compiler does, and beside that to LLVM's intermediate language.

mod archive;
mod build;
mod check;
mod compiler;
mod observe;
mod progress;
mod run;
mod shared;
mod store;

use clap::{Parser, Subcommand};
use compiler::Language;
use kizami_terminal::failure;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

const AFTER_HELP: &str = "\
A skeleton's folder is a program. `run` and `check` run its code in a process of its own that can
compute and read files, and cannot write files, start programs, use the network or signal others
(Landlock and seccomp; where the kernel lacks one, a line says so). `observe` runs the whole program
as it is.

Exit codes:
  build, observe  those of the command they run
  check           1  a rank does something else than was recorded
  all             0  done
                  1  it failed, or the program cannot be sliced
                  2  the command line is wrong, or the output exists already";

/// From a program to the traces of runs nobody has made.
#[derive(Parser)]
#[command(name = "kizami-skeleton", bin_name = "kizami skeleton", version, max_term_width = 100)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a build and make a skeleton of what it builds
    Build(build::Arguments),
    /// Run the program once, whole, and keep what depends on data
    Observe(observe::Arguments),
    Run(run::Arguments),
    Check(check::Arguments),
    /// Compile C as the real compiler does, and gather what a skeleton needs
    #[command(disable_help_flag = true)]
    Cc(Compile),
    /// The same for C++
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compile),
    /// The same for Fortran
    #[command(disable_help_flag = true)]
    Fc(Compile),
}

#[derive(clap::Args)]
struct Compile {
    /// Arguments of the real compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let called_as = words.next().unwrap_or_default();
    let name = Path::new(&called_as).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if let Some(language) = Language::called_as(name) {
        return ended(compiler::compile(language, words.collect()));
    }
    ended(match Arguments::parse().command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Observe(arguments) => observe::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Cc(compile) => compiler::compile(Language::C, compile.arguments),
        Command::Cxx(compile) => compiler::compile(Language::Cxx, compile.arguments),
        Command::Fc(compile) => compiler::compile(Language::Fortran, compile.arguments),
    })
}

fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        failure::tell(&failure::message(&error));
        ExitCode::from(failure::exit_code(&error))
    })
}
