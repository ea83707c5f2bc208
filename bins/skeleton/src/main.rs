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
A skeleton is executable code. `run` and `check` execute it in a sandboxed process that can compute
and read files but cannot write files, start programs, use the network or signal other processes
(Landlock and seccomp; Kizami warns if the kernel lacks one). `observe` runs the whole program
without a sandbox.

Exit codes:
  build, observe  those of the command they run
  check           1  a rank differs from the recording
  all             0  success
                  1  failure, or the program cannot be sliced
                  2  usage error, or the output already exists";

/// Reduce a program to its communication, and trace it at any number of ranks
#[derive(Parser)]
#[command(name = "kizami-skeleton", bin_name = "kizami skeleton", version, max_term_width = 100)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a program and create a skeleton of it
    Build(build::Arguments),
    /// Run the whole program once and record the values that depend on data
    Observe(observe::Arguments),
    Run(run::Arguments),
    Check(check::Arguments),
    /// Compile C with the real compiler, and collect what a skeleton needs
    #[command(disable_help_flag = true)]
    Cc(Compile),
    /// Compile C++ in the same way
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compile),
    /// Compile Fortran in the same way
    #[command(disable_help_flag = true)]
    Fc(Compile),
}

#[derive(clap::Args)]
struct Compile {
    /// Arguments for the real compiler
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
        failure::report(&failure::message(&error));
        ExitCode::from(failure::exit_code(&error))
    })
}
