//! How each launcher hands variables to the processes it starts.
//!
//! The tracer should be loaded into the ranks and into nothing else, so a launcher that has an option for
//! the ranks' environment gets that option, directly behind its name where no argument of the application
//! can be meant. Everything else gets the variables in its own environment, which its children inherit.
//! What the user gave the launcher stays as it is, except an `LD_PRELOAD` and options for
//! AddressSanitizer of theirs, which are kept behind ours.

use super::command_line::{Context, contexts};
use super::launcher::Launcher;
use super::sanitizer;
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

/// Open MPI's own list of variables, `NAME=VALUE;NAME=VALUE`, overrides the environment: ours goes in front of what it
/// holds.
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
        let mut merged = Vec::new();
        for index in 1..options {
            if matches!(words[index - 1].to_str(), Some("-x" | "--x")) {
                merged.extend(merge_assignment(&mut words[index], variables));
            }
        }
        for (name, value) in variables.iter().filter(|(name, _)| !merged.contains(name)) {
            changed.extend(["-x".into(), assignment(name, value)]);
        }
        changed.extend(words);
    }
    Launch { command: changed, needs_environment: false }
}

fn hydra(command: &[OsString], contexts: &[Context], variables: &Variables) -> Launch {
    let mut words = command.to_vec();
    let mut merged_globally = Vec::new();
    for context in contexts {
        for index in context.begin + 1..context.program.unwrap_or(0) {
            let option = words[index - 1].to_str();
            let global = matches!(option, Some("-genv" | "--genv"));
            if !global && !matches!(option, Some("-env" | "--env")) {
                continue;
            }
            // The variable in two words, or in one.
            let merged = match words[index].to_str().and_then(|name| of_both(name, variables)) {
                Some(ours) if index + 1 < context.end => {
                    words[index + 1] = behind_ours(ours, &words[index + 1]);
                    Some(ours.0)
                }
                _ => merge_assignment(&mut words[index], variables),
            };
            merged_globally.extend(merged.filter(|_| global));
        }
    }
    let mut changed = vec![words.remove(0)];
    for (name, value) in variables.iter().filter(|(name, _)| !merged_globally.contains(name)) {
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
        // What comes last counts: where theirs takes ours in, ours is left out.
        let theirs = inherited.as_deref().map_or(Vec::new(), |list| merged_in(list, ',', variables));
        let merged = inherited.map(|list| merge_list(&list, ',', variables));
        let ours = variables.iter().zip(&assignments).filter(|((name, _), _)| !theirs.contains(name));
        let all: Vec<String> = merged.into_iter().chain(ours.map(|(_, ours)| ours.clone())).collect();
        changed.push(format!("--export={}", all.join(",")).into());
        changed.extend(rest);
    }
    Some(Launch { command: changed, needs_environment: false })
}

/// A list of assignments in which ours is in front of what is theirs.
fn merge_list(list: &str, separator: char, variables: &Variables) -> String {
    let merged = |item: &str| match item.split_once('=') {
        Some((name, theirs)) => of_both(name, variables).map_or(item.to_owned(), |ours| {
            format!("{name}={}", behind_ours(ours, OsStr::new(theirs)).to_string_lossy())
        }),
        None => item.to_owned(),
    };
    list.split(separator).map(merged).collect::<Vec<_>>().join(&separator.to_string())
}

/// Variables of ours that such a list assigns.
fn merged_in(list: &str, separator: char, variables: &Variables) -> Vec<&'static str> {
    let names = list.split(separator).filter_map(|item| item.split_once('='));
    names.filter_map(|(name, _)| Some(of_both(name, variables)?.0)).collect()
}

/// If `word` sets what we set as well, puts ours in front of it; gives the variable.
fn merge_assignment(word: &mut OsString, variables: &Variables) -> Option<&'static str> {
    let text = word.to_str()?;
    let (name, theirs) =
        text.split_once('=').map_or((text, None), |(name, theirs)| (name, Some(OsStr::new(theirs))));
    let ours = of_both(name, variables)?;
    // Exported as it is in the environment: our value holds that one already.
    let value = theirs.map_or_else(|| ours.1.clone(), |theirs| behind_ours(ours, theirs));
    *word = assignment(ours.0, &value);
    Some(ours.0)
}

/// Our value of a variable that users set for themselves, too.
fn of_both<'a>(name: &str, variables: &'a Variables) -> Option<&'a (&'static str, OsString)> {
    let ours = variables.iter().find(|(ours, _)| *ours == name);
    ours.filter(|_| ["LD_PRELOAD", sanitizer::OPTIONS].contains(&name))
}

fn behind_ours((name, ours): &(&'static str, OsString), theirs: &OsStr) -> OsString {
    // Of these our value may hold what is in the environment, which counts no more.
    if *name == sanitizer::OPTIONS {
        return sanitizer::with_any_order(theirs);
    }
    let mut both = ours.clone();
    if !theirs.is_empty() {
        both.push(":");
        both.push(theirs);
    }
    both
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
