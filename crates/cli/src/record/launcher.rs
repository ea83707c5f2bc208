//! Launchers, and how each hands variables to the processes it starts.
//!
//! The tracer should be loaded into the ranks and into nothing else, so a launcher that has an option for
//! the ranks' environment gets that option, directly behind its name where no argument of the application
//! can be meant. Everything else gets the variables in its own environment, which its children inherit.
//! What the user gave the launcher stays as it is, except an `LD_PRELOAD` of theirs, which is kept behind
//! ours.

use super::command_line::{Context, contexts};
use crate::mpi::{self, Family};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The kinds of launchers that are treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI's: `-x NAME=VALUE` for each program.
    OpenMpi,
    /// MPICH's, Intel's: `-genv NAME VALUE` for all programs.
    Hydra,
    /// Slurm's: `--export=ALL,NAME=VALUE`.
    Srun,
    /// SimGrid's: one process with all ranks, which inherits the plain environment.
    Smpi,
    /// None, or one that is not known: the plain environment.
    None,
}

/// Variables to hand on, `LD_PRELOAD` among them.
pub type Variables = [(&'static str, OsString)];

/// A command that hands variables on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What to run.
    pub command: Vec<OsString>,
    /// Whether the variables must be in the environment of the command itself.
    pub needs_environment: bool,
}

impl Launcher {
    /// What kind of launcher a program is, by its name or, where that does not tell, by its own word.
    pub fn of(program: &OsStr) -> Launcher {
        let Some(found) = mpi::on_path(Path::new(program)) else { return Launcher::None };
        let real = found.canonicalize().unwrap_or_else(|_| found.clone());
        let by_name =
            [&found, &real].into_iter().filter_map(|path| path.file_name()?.to_str()).find_map(by_name);
        match by_name {
            Some(launcher) => launcher,
            None if may_be_launcher(&found) => {
                match mpi::version_text(&found).and_then(|text| Family::from_version_text(&text)) {
                    Some(Family::OpenMpi) => Launcher::OpenMpi,
                    Some(Family::Mpich) => Launcher::Hydra,
                    None => Launcher::None,
                }
            }
            None => Launcher::None,
        }
    }

    /// The MPI it belongs to, if it belongs to one.
    pub fn family(self) -> Option<Family> {
        match self {
            Launcher::OpenMpi => Some(Family::OpenMpi),
            Launcher::Hydra => Some(Family::Mpich),
            Launcher::Srun | Launcher::Smpi | Launcher::None => None,
        }
    }

    /// The command changed so that the ranks it starts have these variables.
    pub fn hand_on(self, command: &[OsString], variables: &Variables) -> Launch {
        let as_it_is = Launch { command: command.to_vec(), needs_environment: true };
        let contexts = contexts(self, command);
        match self {
            Launcher::OpenMpi if open_mpi_refuses_x(command) => as_it_is,
            Launcher::OpenMpi => open_mpi(command, &contexts, variables),
            Launcher::Hydra => hydra(command, &contexts, variables),
            Launcher::Srun => srun(command, &contexts, variables).unwrap_or(as_it_is),
            Launcher::Smpi | Launcher::None => as_it_is,
        }
    }
}

fn by_name(name: &str) -> Option<Launcher> {
    match name {
        "orterun" | "prterun" | "prun" | "prte" | "mpirun.openmpi" | "mpiexec.openmpi" => {
            Some(Launcher::OpenMpi)
        }
        "mpiexec.hydra" | "mpirun.hydra" | "mpirun.mpich" | "mpiexec.mpich" | "mpirun.intel" => {
            Some(Launcher::Hydra)
        }
        "srun" => Some(Launcher::Srun),
        "smpirun" => Some(Launcher::Smpi),
        _ => None,
    }
}

/// Names that several MPIs use.
fn may_be_launcher(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("mpirun") || name.starts_with("mpiexec")
}

/// Open MPI stops with an error if `-x` comes together with `mca_base_env_list`, and reads no other option
/// beside an application file.
fn open_mpi_refuses_x(command: &[OsString]) -> bool {
    std::env::var_os("OMPI_MCA_mca_base_env_list").is_some()
        || command.iter().any(|word| word == "mca_base_env_list" || word == "--app" || word == "-app")
}

fn open_mpi(command: &[OsString], contexts: &[Context], variables: &Variables) -> Launch {
    let mut changed = command[..1].to_vec();
    for context in contexts {
        if context.begin > 1 {
            changed.push(":".into());
        }
        let mut words = command[context.begin..context.end].to_vec();
        let options = context.program.map_or(0, |program| program - context.begin);
        let mut merged = false;
        for index in 1..options {
            if matches!(words[index - 1].to_str(), Some("-x" | "--x")) {
                merged |= merge_assignment(&mut words[index], variables);
            }
        }
        for (name, value) in variables.iter().filter(|(name, _)| !(merged && *name == "LD_PRELOAD")) {
            changed.extend(["-x".into(), assignment(name, value)]);
        }
        changed.extend(words);
    }
    Launch { command: changed, needs_environment: false }
}

fn hydra(command: &[OsString], contexts: &[Context], variables: &Variables) -> Launch {
    let mut words = command.to_vec();
    let mut merged_globally = false;
    for context in contexts {
        for index in context.begin + 2..context.program.unwrap_or(0) {
            let (option, name) = (words[index - 2].to_str(), words[index - 1].to_str());
            let global = matches!(option, Some("-genv" | "--genv"));
            if name == Some("LD_PRELOAD") && (global || matches!(option, Some("-env" | "--env"))) {
                words[index] = behind_ours(&words[index], variables);
                merged_globally |= global;
            }
        }
    }
    let mut changed = vec![words.remove(0)];
    for (name, value) in variables.iter().filter(|(name, _)| !(merged_globally && *name == "LD_PRELOAD")) {
        changed.extend(["-genv".into(), (*name).into(), value.clone()]);
    }
    changed.extend(words);
    Launch { command: changed, needs_environment: false }
}

/// `None` where `--export` cannot say it: its list is separated by commas and knows no quotes.
fn srun(command: &[OsString], contexts: &[Context], variables: &Variables) -> Option<Launch> {
    if variables.iter().any(|(_, value)| value.to_str().is_none_or(|value| value.contains(','))) {
        return None;
    }
    let assignments: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}={}", value.to_string_lossy())).collect();
    let mut changed = command[..1].to_vec();
    for context in contexts {
        if context.begin > 1 {
            changed.push(":".into());
        }
        let options = context.begin..context.program?;
        let mut list = std::env::var("SLURM_EXPORT_ENV").unwrap_or_else(|_| "ALL".to_owned());
        let mut rest = Vec::new();
        let mut words = command[context.begin..context.end].iter().enumerate();
        while let Some((offset, word)) = words.next() {
            let text = word.to_str().filter(|_| options.contains(&(context.begin + offset)));
            match text {
                Some("--export") => list = words.next()?.1.to_str()?.to_owned(),
                Some(text) if text.starts_with("--export=") => list = text["--export=".len()..].to_owned(),
                _ => rest.push(word.clone()),
            }
        }
        // NONE and NIL stand alone; a list of assignments exports nothing else either.
        let inherited = (!matches!(list.as_str(), "NONE" | "NIL" | "")).then_some(list);
        let all: Vec<String> = inherited.into_iter().chain(assignments.iter().cloned()).collect();
        changed.push(format!("--export={}", all.join(",")).into());
        changed.extend(rest);
    }
    Some(Launch { command: changed, needs_environment: false })
}

/// If `word` sets `LD_PRELOAD`, puts ours in front of it.
fn merge_assignment(word: &mut OsString, variables: &Variables) -> bool {
    let Some(text) = word.to_str() else { return false };
    let theirs = match text.split_once('=') {
        Some(("LD_PRELOAD", value)) => OsString::from(value),
        // Exported as it is in the environment: our value holds that one already.
        None if text == "LD_PRELOAD" => OsString::new(),
        _ => return false,
    };
    *word = assignment("LD_PRELOAD", &behind_ours(&theirs, variables));
    true
}

fn behind_ours(theirs: &OsStr, variables: &Variables) -> OsString {
    let ours = variables.iter().find(|(name, _)| *name == "LD_PRELOAD").map(|(_, value)| value.clone());
    match ours {
        Some(mut ours) if !theirs.is_empty() => {
            ours.push(":");
            ours.push(theirs);
            ours
        }
        ours => ours.unwrap_or_default(),
    }
}

fn assignment(name: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(name);
    word.push("=");
    word.push(value);
    word
}

#[cfg(test)]
#[path = "launcher_tests.rs"]
mod tests;
