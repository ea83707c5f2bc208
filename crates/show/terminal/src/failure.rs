//! The errors that need an exit code of their own, and how an error is told.

use crate::style::Paint;

/// Exit code of what failed.
const FAILURE: u8 = 1;
/// Exit code of a command line that is wrong.
pub const USAGE: u8 = 2;

/// The exit code that an error deserves.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<UsageError>() { USAGE } else { FAILURE }
}

/// Tells what an error says, as the last thing before the end.
pub fn report(message: &str) {
    crate::say(&[line(message)]);
}

/// What an error says, as a line of standard error.
pub fn line(message: &str) -> String {
    format!("{} {message}", Paint::stderr().bad("kizami: error:"))
}

/// The command line asks for something that cannot be meant: exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// An error and its causes in one line. A cause that is said already is not said twice.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.contains(&cause) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_said_once() {
        let plain: Result<(), _> = Err(std::io::Error::other("disk full"));
        let error = plain.context("cannot write a.kz: disk full").context("cannot seal").unwrap_err();
        assert_eq!(message(&error), "cannot seal: cannot write a.kz: disk full");
    }
}
