//! What the README and the book show is what commands print.
//!
//! A help text is compared with that of its command. A block for the terminal is run if the line before it is a comment
//! that says on which golden traces:
//!
//! ```text
//! <!-- golden: run.kz is late-sender.kz -->
//! ```
//!
//! In such a block a line `...` stands for any lines, and what `kizami record` prints is not compared: it needs an MPI.
//!
//! `KIZAMI_WRITE_BOOK=1 cargo nextest run -p kizami-cli --test golden book` writes what is printed now, but for blocks that
//! leave lines out.

use crate::place::Place;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = vec![Path::new(ROOT).join("README.md")];
    let mut folders = vec![Path::new(ROOT).join("docs/src")];
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
    let text = |page: &PathBuf| std::fs::read_to_string(page).expect("a page");
    pages.into_iter().map(|page| (page.clone(), text(&page))).collect()
}

/// Blocks of a page: the line before each, and its lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut blocks, mut before, mut open) = (Vec::new(), "", None);
    for line in page.lines() {
        match (line.starts_with("```"), open.take()) {
            (true, Some(block)) => blocks.push(block),
            (true, None) => open = Some((before, Vec::new())),
            (false, Some((before, mut lines))) => {
                lines.push(line);
                open = Some((before, lines));
            }
            (false, None) => {}
        }
        before = line;
    }
    blocks
}

#[test]
fn help_in_the_book_is_what_the_commands_print() {
    let mut seen = Vec::new();
    for (page, text) in pages() {
        for (_, lines) in blocks(&text) {
            let Some(usage) = lines.iter().find_map(|line| line.strip_prefix("Usage: kizami ")) else {
                continue;
            };
            let word = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
            let command = usage.split(' ').take_while(word).collect::<Vec<_>>().join(" ");
            let help = Place::new().output(&format!("{command} --help"));
            let help = String::from_utf8(help.stdout).expect("UTF-8");
            write_instead(&page, &lines.join("\n"), help.trim_end());
            let page = page.display();
            assert!(
                is_written() || lines.join("\n") == help.trim_end(),
                "{page} shows other help of kizami {command}"
            );
            seen.push(command);
        }
    }
    assert_eq!(seen.len(), 26, "{seen:?}");
}

#[test]
fn blocks_on_golden_traces_show_what_is_printed() {
    let mut seen = 0;
    for (page, text) in pages() {
        for (before, lines) in blocks(&text) {
            let Some(traces) = before.strip_prefix("<!-- golden: ") else { continue };
            let place = Place::new();
            for one in traces.trim_end_matches(" -->").split(", ") {
                let (name, source) = one.split_once(" is ").expect("a name, `is` and a golden trace");
                place.bring_as(source, name);
            }
            seen += run(&place, &page, &lines).unwrap_or_else(|wrong| panic!("{}: {wrong}", page.display()));
        }
    }
    assert!(seen > 0, "no block was found");
}

/// Whether pages are written instead of compared.
fn is_written() -> bool {
    std::env::var_os("KIZAMI_WRITE_BOOK").is_some()
}

/// Writes a text of a page anew, if pages are written.
fn write_instead(page: &Path, shown: &str, printed: &str) {
    if is_written() && !printed.is_empty() && shown != printed {
        let text = std::fs::read_to_string(page).expect("a page");
        std::fs::write(page, text.replacen(shown, printed, 1)).expect("the page is written");
    }
}

/// Runs the commands of a block; tells how many were compared.
fn run(place: &Place, page: &Path, lines: &[&str]) -> Result<usize, String> {
    let mut seen = 0;
    let starts = (0..lines.len()).filter(|line| lines[*line].starts_with("$ "));
    for start in starts {
        let command = lines[start].trim_start_matches("$ ");
        let shown = lines[start + 1..].iter().take_while(|line| !line.starts_with("$ "));
        let shown: Vec<&str> = shown.copied().collect();
        let shown = shown.join("\n").trim_end().to_owned();
        let Some(arguments) = command.strip_prefix("kizami ").filter(|words| !words.starts_with("record"))
        else {
            continue;
        };
        let output = place.output(arguments);
        let printed = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
        let printed = printed.concat().trim_end().to_owned();
        if !is_shown(&shown, &printed) {
            if is_written() && !shown.contains("\n...") {
                write_instead(page, &shown, &printed);
                continue;
            }
            return Err(format!("`{command}` is shown with\n{shown}\nand prints\n{printed}"));
        }
        seen += 1;
    }
    Ok(seen)
}

/// Whether a text is what was printed, where lines `...` stand for any lines.
fn is_shown(shown: &str, printed: &str) -> bool {
    let parts: Vec<&str> = shown.split("\n...").collect();
    let Some(mut left) = printed.strip_prefix(parts[0]) else { return false };
    for part in &parts[1..] {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.is_empty() || parts.last().is_some_and(|last| parts.len() > 1 && last.is_empty())
}
