//! SimGrid in a process of its own: it ends the process it is in where it is not content, and what it says then is for people
//! who know it.
//!
//! [`watched`] starts this program once more with the same arguments and waits; what SimGrid said last becomes part of a
//! sentence.

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

/// Set in the process that simulates.
const SIMULATES: &str = "KIZAMI_SIMGRID_SIMULATES";

/// Set in one that must play all rounds of loops.
const ALL: &str = "KIZAMI_SIMGRID_ALL";
/// The exit code of one that left out what it must not.
pub const PLAY_ALL: u8 = 75;

/// Whether all rounds of loops are to be played, since they differ.
pub fn plays_all() -> bool {
    std::env::var_os(ALL).is_some()
}

/// Whether this process is the one that simulates.
pub fn simulates() -> bool {
    std::env::var_os(SIMULATES).is_some()
}

/// Runs this command line in another process, and once more if that finds out that it must play all; gives its exit code.
pub fn watched() -> Result<u8> {
    let program = std::env::current_exe().context("cannot locate the kizami-simgrid executable")?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(SIMULATES, "1").stderr(Stdio::piped());
    match watch(&mut command)? {
        PLAY_ALL => {
            let what = "kizami: note      iterations of the loop differ: all of them are simulated";
            kizami_terminal::say(&[what.to_owned()]);
            watch(command.env(ALL, "1"))
        }
        code => Ok(code),
    }
}

fn watch(command: &mut Command) -> Result<u8> {
    let mut child = command.spawn().context("cannot start the simulation")?;
    let mut said = Vec::new();
    let mut shown = Shown::default();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            match line.strip_prefix(OWN) {
                Some(own) => match own.strip_prefix(PROGRESS) {
                    Some(made) => shown.report(made),
                    None => eprintln!("{own}"),
                },
                None => said.push(line),
            }
        }
    }
    drop(shown);
    let ended = child.wait().context("cannot wait for the simulation")?;
    match (ended.code(), ended.signal()) {
        (Some(code), _) if said.is_empty() || code == 0 || code == i32::from(PLAY_ALL) => {
            Ok(u8::try_from(code).unwrap_or(1))
        }
        (_, signal) => {
            let why = reason(&said);
            let how = if signal == Some(libc::SIGKILL) {
                "the process was killed, possibly out of memory"
            } else {
                why
            };
            bail!("SimGrid could not simulate the run: {how}")
        }
    }
}

/// How lines begin that this program writes itself.
pub const OWN: &str = "kizami:";

/// How far it is: calls made, a slash, calls in all.
const PROGRESS: &str = "@";

/// Says something to people: a word on what it is, and a sentence.
pub fn say(what: &str) {
    kizami_terminal::say(&[format!("{OWN}kizami: {what}")]);
}

/// Tells who watches how many calls are made.
pub fn report_progress(made: u64, all: u64) {
    eprintln!("{OWN}{PROGRESS}{made}/{all}");
}

/// A bar, for people at a terminal and simulations that take a while.
#[derive(Default)]
struct Shown(Option<ProgressBar>);

impl Shown {
    fn report(&mut self, progress: &str) {
        let Some((Ok(made), Ok(all))) =
            progress.split_once('/').map(|(made, all)| (made.parse(), all.parse()))
        else {
            return;
        };
        let bar = self.0.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("simulating [{bar:30}] {percent:>3} %  {elapsed}, {eta} left");
            ProgressBar::new(all).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(made);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// What SimGrid found wrong, without its marks.
fn reason(said: &[String]) -> &str {
    let marks = ["Uncaught exception ", "CRITICAL] ", "ERROR] "];
    let marked = marks.iter().find_map(|mark| said.iter().find_map(|line| Some(line.split_once(mark)?.1)));
    marked.or(said.first().map(String::as_str)).unwrap_or("the process ended without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_simgrid_is_found_among_its_marks() {
        let said = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let thrown = said(&[
            "[0.0] x.cpp:48: [xbt/CRITICAL] Uncaught exception simgrid::ParseError: no such host",
            "other",
        ]);
        assert_eq!(reason(&thrown), "simgrid::ParseError: no such host");
        assert_eq!(reason(&said(&["plain"])), "plain");
        assert_eq!(reason(&[]), "the process ended without a message");
    }
}
