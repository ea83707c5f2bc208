//! Commands that live in programs of their own: `kizami NAME` runs `kizami-NAME`.
//!
//! They keep heavy dependencies out of this program. They are looked for beside it first, then on the PATH.

use crate::programs::{names_behind, on_path};
use anyhow::{Context, Result};
use kizami_terminal::failure::UsageError;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How their names begin.
const PREFIX: &str = "kizami-";

/// A command that comes with Kizami but is built apart.
pub struct External {
    name: &'static str,
    pub about: &'static str,
    /// How to get it.
    how: &'static str,
}

/// Simulates runs.
pub static SIMGRID: External = External {
    name: "simgrid",
    about: "Simulate a run on another network with SimGrid",
    how: "build it with `cargo build --release -p kizami-simgrid` and put it next to kizami",
};

static EXTERNALS: [&External; 3] = [
    &External {
        name: "fleng",
        about: "Run a Fleng program in virtual time",
        how: "build it with `cargo build --release -p kizami-fleng` and put it next to kizami",
    },
    &SIMGRID,
    &External {
        name: "skeleton",
        about: "Reduce a program to its communication skeleton and run it with any number of ranks",
        how: "it needs LLVM 19 (llvm-19-dev and clang-19); build it with `cargo build --release -p kizami-skeleton` \
              and put it next to kizami",
    },
];

/// What the help says about such commands.
pub const HELP: &str = "\
simgrid, skeleton and fleng are separate programs: kizami NAME runs kizami-NAME, next to kizami or on
the PATH.";

/// One that comes with Kizami, by its name.
pub fn external(name: &OsStr) -> Option<&'static External> {
    EXTERNALS.into_iter().find(|external| name == external.name)
}

/// Becomes the other program; returns only if that is not possible. `commands` are those of this program, for who
/// mistyped one of them.
pub fn run(words: &[OsString], commands: &[String]) -> Result<u8> {
    let name = words.first().context("no command")?;
    let mut program = OsString::from(PREFIX);
    program.push(name);
    let Some(path) = find(Path::new(&program)) else {
        if let Some(external) = external(name) {
            return Err(missing(external).into());
        }
        let mut others = names_behind(PREFIX, folders());
        others.extend(EXTERNALS.iter().map(|external| external.name.to_owned()));
        let meant = suggestion(&name.to_string_lossy(), commands.iter().chain(&others));
        let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `kizami {meant}`?"));
        let message = format!(
            "unknown command {name:?}: `kizami --help` lists the commands, and there is no program {} next to kizami or on \
             the PATH{meant}",
            program.display()
        );
        return Err(UsageError(message).into());
    };
    let error = Command::new(&path).args(&words[1..]).exec();
    Err(error).with_context(|| format!("cannot run {}", path.display()))
}

/// What to say where a command that comes with Kizami is not there.
pub fn missing(external: &External) -> UsageError {
    UsageError(format!(
        "`kizami {}` needs the program {PREFIX}{}, which is neither next to kizami nor on the PATH: {}",
        external.name, external.name, external.how
    ))
}

/// Where such a command is.
pub fn path_of(external: &External) -> Option<PathBuf> {
    find(Path::new(&format!("{PREFIX}{}", external.name)))
}

fn find(program: &Path) -> Option<PathBuf> {
    // A slash in the name would lead out of the places that are searched.
    if program.components().count() != 1 {
        return None;
    }
    beside().and_then(|folder| on_path(&folder.join(program))).or_else(|| on_path(program))
}

/// Where this program is.
fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned())
}

/// Everywhere such programs are looked for.
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside().into_iter().chain(std::env::split_paths(&path).collect::<Vec<_>>())
}

/// The name that was most likely meant: one that a third of the letters, typed otherwise, would make.
fn suggestion<'a>(typed: &str, names: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let plain = |name: &&String| name.chars().all(|c| c.is_ascii_graphic());
    let distance = |name: &'a String| (strsim::damerau_levenshtein(typed, name), name.as_str());
    let (far, nearest) = names.filter(plain).map(distance).min()?;
    (far <= (typed.chars().count() / 3).max(1)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_recognised_and_another_word_is_not() {
        let names = ["record", "report", "replay", "diff", "tasks"].map(str::to_owned);
        let meant = |typed| suggestion(typed, names.iter());
        assert_eq!(
            ["repot", "recrod", "dif", "task", "REPLAY"].map(meant),
            [Some("report"), Some("record"), Some("diff"), Some("tasks"), None]
        );
        assert_eq!(["nonsense", "x", ""].map(meant), [None, None, None]);
    }
}
