//! How things look on a terminal: quantities, tables, colours and progress bars.
//!
//! Everything a person reads goes through here, so that all commands speak the same way. Colours and bars
//! appear only on a terminal; piped output is plain text.

pub mod progress;
pub mod quantity;
pub mod style;
pub mod table;

/// Writes lines to standard error, in one piece, so that the lines of several ranks do not mix. A closed
/// standard error is no reason to fail.
pub fn say(lines: &[String]) {
    use std::io::Write;
    let mut text = lines.join("\n");
    text.push('\n');
    let _ = std::io::stderr().write_all(text.as_bytes());
}
