//! Text for people, on its way out: names of a trace cannot steer the terminal they are shown on.
//!
//! Names of regions, communicators, hosts, files and whatever else a program or a trace says may hold anything, also what
//! terminals obey: escape sequences, carriage returns, marks that turn the direction of writing. Everything a person
//! reads goes through here, line by line, and such characters come out as they would be written in a program:
//! `\u{1b}`. Colours of our own are known by a mark that nobody can guess. What other programs read (JSON, CSV) does not
//! come here.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::sync::LazyLock;

/// What [`crate::style::Paint`] writes instead of the first character of an escape sequence.
pub static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{:016x}", RandomState::new().hash_one("colour")));

/// A writer of lines for people. Each `write!` is one line, which may have empty ones before and behind it.
#[derive(Debug)]
pub struct Text<W: Write>(pub W);

impl<W: Write> Write for Text<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(with_colours(&String::from_utf8_lossy(bytes), "\n").as_bytes())?;
        Ok(bytes.len())
    }

    fn write_fmt(&mut self, line: Arguments<'_>) -> io::Result<()> {
        let text = line.to_string();
        let inner = text.trim_matches('\n');
        let before = text.len() - text.trim_start_matches('\n').len();
        let behind = text.len() - before - inner.len();
        self.0.write_all(&b"\n".repeat(before))?;
        self.0.write_all(with_colours(inner, "").as_bytes())?;
        self.0.write_all(&b"\n".repeat(behind))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Standard output, for people.
pub fn stdout() -> Text<io::StdoutLock<'static>> {
    Text(io::stdout().lock())
}

/// A line for people, with the colours of our own.
pub fn line(text: &str) -> String {
    with_colours(text, "")
}

/// The widest line that is printed, in columns.
pub const COLUMNS: usize = 100;

/// Breaks a text into lines of at most [`COLUMNS`], with so many spaces before each but the first, for which `first` stands. A
/// word that is longer stays whole.
pub fn wrapped(first: &str, indent: usize, text: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("begins with one");
        let width = line.chars().count();
        if width > indent && width + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("{}{word}", " ".repeat(indent)));
        } else {
            line.push_str(if width > indent { " " } else { "" });
            line.push_str(word);
        }
    }
    lines
}

/// A name with nothing in it that a terminal obeys.
pub fn visible(name: &str) -> Cow<'_, str> {
    escaped(name, "")
}

fn with_colours(text: &str, allowed: &str) -> String {
    let parts: Vec<Cow<'_, str>> = text.split(MARK.as_str()).map(|part| escaped(part, allowed)).collect();
    parts.join("\u{1b}")
}

fn escaped<'a>(text: &'a str, allowed: &str) -> Cow<'a, str> {
    let hidden = |c: char| steers(c) && !allowed.contains(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Control characters, and what changes the order or the lines in which others are shown.
fn steers(c: char) -> bool {
    let order =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || order || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        let text = "word ".repeat(40) + &"x".repeat(120);
        let lines = wrapped("1. ", 3, &text);
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("1. word") && lines[1].starts_with("   word"));
        assert!(lines[..3].iter().all(|line| line.len() <= COLUMNS && !line.ends_with(' ')));
        assert_eq!(wrapped("   ", 3, "short text"), ["   short text"]);
    }

    fn written(write: impl Fn(&mut Text<Vec<u8>>)) -> String {
        let mut out = Text(Vec::new());
        write(&mut out);
        String::from_utf8(out.0).unwrap()
    }

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let name = "a\u{1b}[2J\u{9b}31m\u{7f}\r\n\u{202e}b\u{2066}\u{1b}]52;c;eA==\u{7}\t\u{e9}";
        let shown = r"a\u{1b}[2J\u{9b}31m\u{7f}\r\n\u{202e}b\u{2066}\u{1b}]52;c;eA==\u{7}\té";
        assert_eq!(visible(name), shown);
        assert_eq!(line(name), shown);
        assert_eq!(written(|out| writeln!(out, "\n{name}\n").unwrap()), format!("\n{shown}\n\n"));
    }

    #[test]
    fn colours_are_our_own() {
        let green = format!("{}[32mgood{}[0m", *MARK, *MARK);
        assert_eq!(line(&green), "\u{1b}[32mgood\u{1b}[0m");
        assert_eq!(line("\u{1b}[32mgood"), r"\u{1b}[32mgood");
    }

    #[test]
    fn several_lines_at_once_stay_lines() {
        assert_eq!(written(|out| out.write_all(b"a\nb\x1bc\n").unwrap()), "a\nb\\u{1b}c\n");
    }
}
