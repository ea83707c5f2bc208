//! What `--json` prints: every object says first, as `schema`, whose it is and in which version of its form.
//!
//! Fields may be added to a form without notice; if one is renamed, removed or changes its meaning, the number behind the
//! slash grows. `docs/src/reference/json.md` describes all of them. `kizami info --json` prints the trace's `run.json`,
//! which has a schema of its own.

use serde::Serialize;
use std::io::{self, Write};

/// The forms, named like the commands that print them.
pub const CLOCKS: &str = "kizami-clocks/1";
pub const DIFF: &str = "kizami-diff/1";
pub const DOCTOR: &str = "kizami-doctor/1";
pub const EVENTS: &str = "kizami-events/1";
pub const FLENG: &str = "kizami-fleng/1";
pub const MACHINES: &str = "kizami-machines/1";
pub const PLATFORM: &str = "kizami-platform/1";
pub const PREDICT: &str = "kizami-predict/1";
pub const PREDICT_CHECK: &str = "kizami-predict-check/1";
pub const PREDICT_SUM: &str = "kizami-predict-sum/1";
pub const REDUCE: &str = "kizami-reduce/1";
pub const REPLAY: &str = "kizami-replay/1";
pub const REPORT: &str = "kizami-report/1";
pub const TASKS: &str = "kizami-tasks/1";
pub const UNDISTURB: &str = "kizami-undisturb/1";
pub const WHATIF: &str = "kizami-whatif/1";

/// An object with the name of its form before its own fields.
#[derive(Debug, Serialize)]
pub struct Versioned<T> {
    schema: &'static str,
    #[serde(flatten)]
    value: T,
}

impl<T> Versioned<T> {
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
