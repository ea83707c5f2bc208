//! What `--json` prints: every object says first, as `schema`, whose it is and in which version of its form.
//!
//! Fields may be added to a form without notice; if one is renamed, removed or changes its meaning, the number behind the
//! slash grows.

use serde::Serialize;
use std::io::{self, Write};

/// An object with the name of its form before its own fields.
#[derive(Debug, Serialize)]
pub struct Versioned<T> {
    schema: &'static str,
    #[serde(flatten)]
    value: T,
}

impl<T> Versioned<T> {
    /// Puts the name of the form before an object.
    pub fn new(schema: &'static str, value: T) -> Versioned<T> {
        Versioned { schema, value }
    }
}

/// Prints one object over several lines.
pub fn print(schema: &'static str, value: impl Serialize) -> io::Result<()> {
    print_as_is(&Versioned::new(schema, value))
}

/// Prints what has its own schema, or has it in each of its parts.
pub fn print_as_is(value: &impl Serialize) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", harmless(serde_json::to_string_pretty(value)?))
}

/// One object on one line, without its end.
pub fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(harmless(serde_json::to_string(value)?))
}

/// The same JSON with nothing in its texts that a terminal obeys: what JSON itself lets through.
fn harmless(json: String) -> String {
    let obeyed = |letter: char| matches!(letter, '\u{7f}'..='\u{9f}');
    if !json.contains(obeyed) {
        return json;
    }
    let mut harmless = String::with_capacity(json.len());
    for letter in json.chars() {
        match obeyed(letter) {
            true => harmless.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => harmless.push(letter),
        }
    }
    harmless
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_steer_no_terminal_and_stay_the_same() {
        let text = "a\u{1b}[2J\u{7f}\u{9b}31m\u{e9}";
        let json = line(&text).unwrap();
        assert_eq!(json, "\"a\\u001b[2J\\u007f\\u009b31m\u{e9}\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
