//! `kizami record`: run a program with the tracer preloaded into its ranks, then seal what they left.
//!
//! The application comes first: its streams, signals and exit code are its own, and nothing that goes wrong
//! with the recording keeps it from running, except a mistake on the command line (an output that exists,
//! no tracer to be found), which is said before it starts.

mod child;
mod command_line;
pub mod environment;
mod inside;
pub mod launcher;
mod naming;
mod output;
mod report;

use crate::arguments::RecordArguments;
use crate::failure::UsageError;
use crate::seal;
use crate::show::say;
use anyhow::Result;
use inside::{Noted, Place};
use kizami_store::reduced::ReduceOptions;
use launcher::Launcher;
use output::{Expectation, Output, OutputError};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use output::as_typed;
pub use report::tracer_cost;

/// Runs the command and returns the exit code to end with.
pub fn run(arguments: &RecordArguments) -> Result<u8> {
    let launcher = Launcher::of(&arguments.command[0]);
    let library = environment::find_library(arguments.library.as_deref())?;
    // A launcher inside a launched process starts a job of its own.
    let place = if launcher == Launcher::None { Place::of_this_process() } else { None };
    let policy = &arguments.policy;
    let recording = Recording {
        arguments,
        launcher,
        library,
        expected: expectation(launcher, arguments),
        keep: policy.importance.options(policy.keep, policy.seed)?,
    };
    match place {
        Some(place) => recording.inside(&place),
        None => recording.outside(),
    }
}

fn expectation(launcher: Launcher, arguments: &RecordArguments) -> Expectation {
    let contexts = command_line::contexts(launcher, &arguments.command);
    let application = command_line::first_program(&contexts, &arguments.command)
        .and_then(|(program, rest)| naming::application(program, rest));
    Expectation { application, ranks: command_line::total_ranks(&contexts) }
}

struct Recording<'a> {
    arguments: &'a RecordArguments,
    launcher: Launcher,
    library: PathBuf,
    expected: Expectation,
    /// How much is to be kept, if not all.
    keep: Option<ReduceOptions>,
}

impl Recording<'_> {
    /// The usual way: this process starts the launcher, or the one process there is.
    fn outside(&self) -> Result<u8> {
        let claimed = match &self.arguments.output {
            Some(path) => Output::named(path),
            None => Output::unnamed(self.expected.clone()),
        };
        let mut output = match claimed {
            Ok(output) => output,
            Err(OutputError::Refused(why)) => return Err(UsageError(why).into()),
            Err(OutputError::Unusable(path, error)) => return self.untraced(&path, &error, true),
        };
        let code = self.traced(&output.raw());
        if !has_segments(&output.raw()) {
            output.discard_if_empty();
            if code.ran {
                say(&report::nothing_recorded(output.folder(), code.exit));
            }
        } else if self.arguments.no_seal {
            output.name_after(&Expectation::of_segments(&output.raw()));
            say(&report::not_sealed(&output.directory));
        } else if let Some(run) = self.seal(&output.directory) {
            output.name_after(&Expectation::of_run(&run));
            say(&report::sealed(&output.directory, &run));
        }
        Ok(code.exit)
    }

    /// One of many: the launcher started this process, and others like it.
    fn inside(&self, place: &Place) -> Result<u8> {
        let directory = match place.join(self.arguments.output.as_deref(), &self.expected) {
            Ok(directory) => directory,
            Err(OutputError::Refused(why)) if place.rank == 0 => return Err(UsageError(why).into()),
            Err(OutputError::Refused(_)) => {
                // All ranks find the same and one voice is enough, but launchers end all ranks when one fails.
                std::thread::sleep(Duration::from_millis(500));
                return Ok(crate::USAGE);
            }
            Err(OutputError::Unusable(path, error)) => return self.untraced(&path, &error, place.rank == 0),
        };
        let raw = directory.join(output::RAW);
        let code = self.traced(&raw);
        match place.note_end(&directory, code.exit) {
            Ok(Noted::Last) => self.close(&directory, code.exit),
            // A launcher may now end the others before they can note anything, and then nobody seals.
            Ok(Noted::First) if code.exit != 0 => {
                say(&report::first_failure(&directory, place.rank, code.exit))
            }
            Ok(Noted::Unknown) if place.rank == 0 => say(&report::not_sealed(&directory)),
            Ok(_) => {}
            Err(error) => say(&[report::line("warning", &format!("{}: {error}", as_typed(&directory)))]),
        }
        Ok(code.exit)
    }

    /// What the last process inside a launcher does for all.
    fn close(&self, directory: &Path, exit_code: u8) {
        let recorded = has_segments(&directory.join(output::RAW));
        if self.arguments.no_seal && recorded {
            return say(&report::not_sealed(directory));
        }
        inside::tidy(directory);
        if !recorded {
            say(&report::nothing_recorded(directory.parent().unwrap_or(directory), exit_code));
        } else if let Some(run) = self.seal(directory) {
            say(&report::sealed(directory, &run));
        }
    }

    fn traced(&self, raw: &Path) -> Ended {
        let command = &self.arguments.command;
        let policy = &self.arguments.policy;
        let variables = environment::variables(self.launcher, &self.library, raw, policy, self.keep.as_ref());
        let launch = self.launcher.hand_on(command, &variables);
        let own: Vec<_> = if launch.needs_environment {
            variables.into_iter().map(|(name, value)| (name, Some(value))).collect()
        } else {
            // The tracer of a recording around this one must not wake up in our launcher.
            vec![(environment::RAW_VARIABLE, None)]
        };
        self.start(&launch.command, &own)
    }

    fn untraced(&self, path: &Path, error: &std::io::Error, say_so: bool) -> Result<u8> {
        if say_so {
            say(&[
                report::line("warning", &format!("cannot write to {}: {error}", as_typed(path))),
                report::line("warning", "running without recording; choose another place with -o"),
            ]);
        }
        Ok(self.start(&self.arguments.command, &[(environment::RAW_VARIABLE, None)]).exit)
    }

    fn start(
        &self,
        command: &[std::ffi::OsString],
        variables: &[(&str, Option<std::ffi::OsString>)],
    ) -> Ended {
        match child::run(command, variables) {
            Ok(status) => Ended { exit: child::exit_code(status), ran: true },
            Err(error) => {
                let program = Path::new(&self.arguments.command[0]);
                say(&[report::line("error", &format!("cannot run {}: {error}", program.display()))]);
                Ended { exit: child::start_failure_code(&error), ran: false }
            }
        }
    }

    /// A recording that cannot be sealed is no reason to hide how the application ended.
    fn seal(&self, directory: &Path) -> Option<kizami_store::RunInfo> {
        match seal::seal(directory, self.arguments.keep_raw) {
            Ok(run) => Some(run),
            Err(error) => {
                let mut lines = vec![report::line("error", &error.to_string())];
                lines.extend(report::not_sealed(directory));
                say(&lines);
                None
            }
        }
    }
}

/// How the command ended.
struct Ended {
    exit: u8,
    ran: bool,
}

/// Whether a traced process left anything.
fn has_segments(raw: &Path) -> bool {
    let is_segment =
        |path: PathBuf| path.extension().is_some_and(|ending| ending == "calls" || ending == "defs");
    std::fs::read_dir(raw).into_iter().flatten().flatten().any(|entry| is_segment(entry.path()))
}
