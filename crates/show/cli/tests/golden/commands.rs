//! What is run over which trace: `commands.txt`, read.

use crate::place;

const COMMANDS: &str = include_str!("commands.txt");

/// The command lines of a transcript, in order, each with the commands it is made of.
pub fn of(transcript: &str) -> Vec<Vec<String>> {
    let sealed = place::sealed();
    lines()
        .filter(|(names, _)| match *names {
            "every" => sealed.iter().any(|name| name == transcript),
            names => names.split(',').any(|name| name.trim() == transcript),
        })
        .map(|(_, chain)| chain.replace("RUN", transcript).split("&&").map(|one| one.trim().into()).collect())
        .collect()
}

/// The names of all transcripts, sorted.
pub fn transcripts() -> Vec<String> {
    let named = lines().filter(|(names, _)| *names != "every");
    let named = named.flat_map(|(names, _)| names.split(',').map(|name| name.trim().to_owned()));
    let mut all: Vec<String> = named.chain(place::sealed()).collect();
    all.sort();
    all.dedup();
    all
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let meant = COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    meant.map(|line| line.split_once(':').expect("a transcript, a colon and a command"))
}
