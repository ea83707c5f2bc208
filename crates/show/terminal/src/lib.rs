//! How a command speaks to the terminal and to other programs: lines, colours, progress bars, errors and JSON.
//!
//! All commands use it, those with a program of their own too, so that they look alike and nothing in a trace steers a
//! terminal. Colours and bars appear only on a terminal; piped output is plain text. It knows nothing of traces.

pub mod failure;
pub mod json;
pub mod progress;
pub mod style;
pub mod text;
pub mod verbose;

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Another process speaks for this one.
static SILENT: AtomicBool = AtomicBool::new(false);
/// The user wants results, warnings and errors only.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Nothing more is said on standard error, and no progress shown: another process does that.
pub fn keep_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

/// From now on only warnings and errors are printed: no progress, and no [remarks](remark).
pub fn keep_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Takes silence back: this process does something of its own.
pub fn speak() {
    SILENT.store(false, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

fn shows_progress() -> bool {
    !is_silent() && !QUIET.load(Ordering::Relaxed) && !verbose::prints_phases()
}

/// Writes lines that a user may do without: what was written where, and what to do next. What a result lacks is no
/// remark.
pub fn remark(lines: &[String]) {
    if !QUIET.load(Ordering::Relaxed) {
        say(lines);
    }
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
