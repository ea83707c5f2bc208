//! The program `kizami-fleng`: `kizami fleng` runs it.

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(command::run())
}
