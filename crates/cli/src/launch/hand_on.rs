//! How each launcher hands variables to the processes it starts.
//!
//! The tracer should be loaded into the ranks and into nothing else, so a launcher that has an option for
//! the ranks' environment gets that option, directly behind its name where no argument of the application
//! can be meant. Everything else gets the variables in its own environment, which its children inherit.
//! What the user gave the launcher stays as it is, except an `LD_PRELOAD` of theirs, which is kept behind
//! ours.

use super::command_line::{Context, contexts};
use super::launcher::Launcher;
use std::ffi::{OsStr, OsString};

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

/// The command changed so that the ranks it starts have these variables.
pub fn hand_on(launcher: Launcher, command: &[OsString], variables: &Variables) -> Launch {
    let as_it_is = Launch { command: command.to_vec(), needs_environment: true };
    let contexts = contexts(launcher, command);
    match launcher {
        Launcher::OpenMpi if open_mpi_refuses_x(command) => open_mpi_list(as_it_is, &contexts, variables),
        Launcher::OpenMpi => open_mpi(command, &contexts, variables),
        Launcher::Hydra => hydra(command, &contexts, variables),
        Launcher::Srun => srun(command, &contexts, variables).unwrap_or(as_it_is),
        Launcher::Smpi | Launcher::None => as_it_is,
    }
}

/// Open MPI stops with an error if `-x` comes together with `mca_base_env_list`, and reads no other option
/// beside an application file.
fn open_mpi_refuses_x(command: &[OsString]) -> bool {
    std::env::var_os("OMPI_MCA_mca_base_env_list").is_some()
        || command.iter().any(|word| word == "mca_base_env_list" || word == "--app" || word == "-app")
}

/// Open MPI's own list of variables, `NAME=VALUE;NAME=VALUE`, overrides the environment: ours goes in front of a preload
/// that it holds.
fn open_mpi_list(mut launch: Launch, contexts: &[Context], variables: &Variables) -> Launch {
    for context in contexts {
        for index in context.begin + 1..context.program.unwrap_or(0) {
            if launch.command[index - 1] == "mca_base_env_list"
                && let Some(list) = launch.command[index].to_str()
            {
                launch.command[index] = merge_list(list, ';', variables).into();
            }
        }
    }
    launch
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
        for index in context.begin + 1..context.program.unwrap_or(0) {
            let option = words[index - 1].to_str();
            let global = matches!(option, Some("-genv" | "--genv"));
            if !global && !matches!(option, Some("-env" | "--env")) {
                continue;
            }
            // The variable in two words, or in one.
            let merged = if words[index] == "LD_PRELOAD" && index + 1 < context.end {
                words[index + 1] = behind_ours(&words[index + 1], variables);
                true
            } else {
                merge_assignment(&mut words[index], variables)
            };
            merged_globally |= merged && global;
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
        // What comes last counts: a preload of theirs takes ours in, and ours is left out.
        let merged = inherited.as_deref().map(|list| merge_list(list, ',', variables));
        let theirs = merged != inherited;
        let ours = assignments.iter().filter(|ours| !(theirs && ours.starts_with("LD_PRELOAD=")));
        let all: Vec<String> = merged.into_iter().chain(ours.cloned()).collect();
        changed.push(format!("--export={}", all.join(",")).into());
        changed.extend(rest);
    }
    Some(Launch { command: changed, needs_environment: false })
}

/// A list of assignments in which ours is in front of the preload, if there is one.
fn merge_list(list: &str, separator: char, variables: &Variables) -> String {
    let merged = |item: &str| match item.split_once('=') {
        Some(("LD_PRELOAD", theirs)) => {
            format!("LD_PRELOAD={}", behind_ours(OsStr::new(theirs), variables).to_string_lossy())
        }
        _ => item.to_owned(),
    };
    list.split(separator).map(merged).collect::<Vec<_>>().join(&separator.to_string())
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
#[path = "hand_on_tests.rs"]
mod tests;
