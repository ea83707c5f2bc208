//! Every command line in the README and the book is one that the command understands.
//!
//! Only the words are looked at: nothing runs, and no trace needs to be there. What commands print about golden traces is
//! compared by the test `golden`.

use crate::arguments::Arguments;
use clap::Parser;
use std::path::{Path, PathBuf};

/// Pages that people read.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."));
    let mut pages = vec![root.join("README.md")];
    let mut folders = vec![root.join("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the book").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// The command lines of a page that call kizami, from that word on: those in blocks for the terminal, and the examples
/// of help texts.
fn command_lines(page: &str) -> Vec<Vec<String>> {
    let (mut lines, mut in_block, mut in_examples) = (Vec::new(), false, false);
    for line in page.lines() {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            in_block = !kind.is_empty();
            in_examples = false;
        }
        in_examples = (in_examples || line == "Examples:") && !line.is_empty();
        let command = line.strip_prefix("$ ").or_else(|| line.strip_prefix("  ").filter(|_| in_examples));
        if let Some(command) = command.filter(|_| in_block) {
            lines.extend(kizami_in(&words(command)));
        }
    }
    lines
}

/// Words as a shell would make them, up to a comment, a pipe, or what an example says about itself behind two spaces.
fn words(line: &str) -> Vec<String> {
    let line = line.split("  ").next().unwrap_or(line);
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (letter, quoted) {
            (letter, Some(quote)) if letter == quote => quoted = None,
            ('\'' | '"', None) => {
                quoted = Some(letter);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    let end = words.iter().position(|word| matches!(word.as_str(), "|" | ">" | ">>" | "#" | "&&" | "\\"));
    words.truncate(end.unwrap_or(words.len()));
    words
}

/// The command itself, also behind a launcher; none if another program runs.
fn kizami_in(words: &[String]) -> Option<Vec<String>> {
    let start = words.iter().position(|word| word == "kizami")?;
    (words[0] != "cd").then(|| words[start..].to_vec())
}

#[test]
fn every_command_line_of_the_documents_is_understood() {
    let mut seen = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        for words in command_lines(&text) {
            let parsed = Arguments::try_parse_from(&words);
            if let Err(error) = parsed.as_ref().map(|_| ()).map_err(ToString::to_string) {
                panic!("{}: {}\n{error}", page.display(), words.join(" "));
            }
            let known = match parsed.expect("parsed").command {
                crate::arguments::Command::Other(words) => crate::external::external(&words[0]).is_some(),
                _ => true,
            };
            assert!(known, "{}: {}: there is no such command", page.display(), words.join(" "));
            seen += 1;
        }
    }
    assert!(seen > 80, "only {seen} command lines were found");
}

#[test]
fn words_are_those_of_a_shell() {
    let line = "kizami diff a.kz b.kz --fail-if 'efficiency < 0.8' --json | jq '.changes[0]'";
    let expected = ["kizami", "diff", "a.kz", "b.kz", "--fail-if", "efficiency < 0.8", "--json"];
    assert_eq!(kizami_in(&words(line)).expect("kizami"), expected);
    assert_eq!(kizami_in(&words("mpirun -n 4 kizami info x")).expect("kizami"), ["kizami", "info", "x"]);
    assert_eq!(kizami_in(&words("cd kizami")), None);
}
