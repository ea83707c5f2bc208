//! How things look on a terminal: quantities, tables, colours and progress bars; and JSON for programs.
//!
//! Everything a person reads goes through here, so that all commands speak the same way, and nothing in a trace
//! reaches a terminal as it is. Colours and bars appear only on a terminal; piped output is plain text.

pub mod functions;
pub mod json;
pub mod path;
pub mod progress;
pub mod provenance;
pub mod quantity;
pub mod style;
pub mod table;
pub mod text;

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Another process speaks for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Nothing more is said on standard error, and no progress shown: another process does that.
pub fn keep_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Takes that back: this process does something of its own.
pub fn speak() {
    SILENT.store(false, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Writes lines to standard error, in one piece, so that the lines of several ranks do not mix. A closed
/// standard error is no reason to fail.
pub fn say(lines: &[String]) {
    if !is_silent() {
        say_in_any_case(lines);
    }
}

/// The same, even if another process speaks for this one.
pub fn say_in_any_case(lines: &[String]) {
    let text: String = lines.iter().map(|line| text::line(line) + "\n").collect();
    let _ = io::stderr().write_all(text.as_bytes());
}
