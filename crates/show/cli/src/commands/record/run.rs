//! Runs the application with the tracer loaded into its ranks, seals the recording, and returns the application's exit code.

use super::arguments::RecordArguments;
use super::deaths::Watcher;
use super::inside::{self, Noted, Place};
use super::output::{self, Expectation, Output, OutputError};
use super::{child, naming, show};
use crate::commands::seal::seal_all;
use crate::launch::command_line;
use crate::launch::environment;
use crate::launch::hand_on::hand_on;
use crate::launch::launcher::Launcher;
use crate::launch::sanitizer;
use crate::show::path::as_typed;
use crate::show::{remark, say};
use anyhow::Result;
use kizami_process_group::Single;
use kizami_seal::{CoreTime, RunEnd};
use kizami_terminal::failure::{USAGE, UsageError};
use kizami_trace::RunInfo;
use kizami_trace::write::share;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command and returns the exit code to end with.
pub fn run(arguments: &RecordArguments) -> Result<u8> {
    command_line::refuse_option(&arguments.command, "record")?;
    let launcher = Launcher::of(&arguments.command[0]);
    if arguments.policy.io && launcher == Launcher::Smpi {
        let why = "--io cannot be used with SimGrid: file I/O takes no simulated time; leave it out";
        return Err(UsageError(why.to_owned()).into());
    }
    arguments.policy.check()?;
    let library = environment::find_library(arguments.library.as_deref())?;
    // A launcher inside a launched process starts a job of its own.
    let place = if launcher == Launcher::None { Place::of_this_process() } else { None };
    let recording = Recording { arguments, launcher, library, expected: expectation(launcher, arguments) };
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
                say(&show::nothing_recorded(output.folder(), code.exit));
            }
        } else if self.arguments.no_seal {
            output.name_after(&Expectation::of_segments(&output.raw()));
            self.open(&output.directory);
            say(&show::not_sealed(&output.directory));
        } else {
            self.open(&output.directory);
            let mut sealed = self.seal(&output.directory, code.run_end).into_iter();
            if let Some((_, run)) = sealed.next() {
                output.name_after(&Expectation::of_run(&run));
                say_sealed(&output.directory, &run);
            }
            for (directory, run) in sealed {
                let directory = output.name_beside(directory, &Expectation::of_run(&run));
                self.open(&directory);
                say_sealed(&directory, &run);
            }
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
                return Ok(USAGE);
            }
            Err(OutputError::Unusable(path, error)) => return self.untraced(&path, &error, place.rank == 0),
        };
        let raw = directory.join(output::RAW);
        let code = self.traced(&raw);
        match place.note_end(&directory, code.exit) {
            Ok(Noted::Last) => self.close(&directory, &code),
            // A launcher may now end the others before they can note anything, and then nobody seals.
            Ok(Noted::First) if code.exit != 0 => {
                say(&show::first_failure(&directory, place.rank, code.exit))
            }
            Ok(Noted::Unknown) if place.rank == 0 => say(&show::not_sealed(&directory)),
            Ok(_) => {}
            Err(error) => say(&[show::line("warning", &format!("{}: {error}", as_typed(&directory)))]),
        }
        Ok(code.exit)
    }

    /// Lets others look into a trace, if they shall; what sealing makes there later follows the directory.
    fn open(&self, directory: &Path) {
        share(directory, self.arguments.open_to.mode());
    }

    /// What the last process inside a launcher does for all.
    fn close(&self, directory: &Path, ended: &Ended) {
        let recorded = has_segments(&directory.join(output::RAW));
        if recorded {
            self.open(directory);
        }
        if self.arguments.no_seal && recorded {
            return say(&show::not_sealed(directory));
        }
        inside::tidy(directory);
        if !recorded {
            say(&show::nothing_recorded(directory.parent().unwrap_or(directory), ended.exit));
        } else {
            for (directory, run) in self.seal(directory, ended.run_end.clone()) {
                self.open(&directory);
                say_sealed(&directory, &run);
            }
        }
    }

    fn traced(&self, raw: &Path) -> Ended {
        let command = &self.arguments.command;
        let wishes = self.arguments.policy.variables();
        let mut variables = environment::variables(self.launcher, &self.library, raw, wishes);
        variables.extend(sanitizer::options(command).map(|options| (sanitizer::OPTIONS, options)));
        // It ends with this function: whoever notes an end or seals must not be in its own way.
        let _recording = raw.parent().map(kizami_seal::Recording::begin);
        let watcher = Watcher::begin(raw);
        let launch = hand_on(self.launcher, command, &variables);
        let own: Vec<_> = if launch.needs_environment {
            variables.into_iter().map(|(name, value)| (name, Some(value))).collect()
        } else {
            // The tracer of a recording around this one must not wake up in our launcher.
            vec![(environment::RAW_VARIABLE, None)]
        };
        let before = CoreTime::now();
        let mut ended = self.start(&launch.command, &own);
        ended.run_end = ended.run_end.since(before);
        if let Some(watcher) = watcher {
            ended.run_end = ended.run_end.with(watcher.finish(), child::interrupted_ns());
        }
        ended
    }

    fn untraced(&self, path: &Path, error: &std::io::Error, say_so: bool) -> Result<u8> {
        if say_so {
            say(&[
                show::line("warning", &format!("cannot write to {}: {error}", as_typed(path))),
                show::line("warning", "running without recording; choose another directory with -o"),
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
            Ok(status) => Ended { exit: child::exit_code(status), ran: true, run_end: RunEnd::now() },
            Err(error) => {
                let program = Path::new(&self.arguments.command[0]);
                say(&[show::line("error", &format!("cannot run {}: {error}", program.display()))]);
                Ended { exit: child::start_failure_code(&error), ran: false, run_end: RunEnd::now() }
            }
        }
    }

    /// A recording that cannot be sealed is no reason to hide how the application ended.
    fn seal(&self, directory: &Path, run_end: RunEnd) -> Vec<(PathBuf, RunInfo)> {
        let _patience = child::Patience::begin();
        match seal_all(directory, self.arguments.keep_raw, Some(run_end), &Single) {
            Ok(sealed) => sealed,
            Err(error) => {
                let mut lines = vec![show::line("error", &error.to_string())];
                lines.extend(show::not_sealed(directory));
                say(&lines);
                Vec::new()
            }
        }
    }
}

/// How the command ended.
struct Ended {
    exit: u8,
    ran: bool,
    /// When.
    run_end: RunEnd,
}

/// That a recording is complete is a remark; what is missing is said in any case.
fn say_sealed(directory: &Path, run: &RunInfo) {
    let lines = show::sealed(directory, run);
    if run.health.complete { remark(&lines) } else { say(&lines) }
}

/// Whether a traced process left anything.
fn has_segments(raw: &Path) -> bool {
    let is_segment = |path: PathBuf| {
        path.extension()
            .is_some_and(|ending| ["calls", "defs", "lost"].contains(&ending.to_str().unwrap_or_default()))
    };
    std::fs::read_dir(raw).into_iter().flatten().flatten().any(|entry| is_segment(entry.path()))
}
