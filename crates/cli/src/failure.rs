//! The errors that need an exit code of their own.

use std::path::Path;

/// The command line asks for something that cannot be meant: exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Refuses to overwrite what is there already and was named by this option.
pub fn must_be_new(output: &Path, option: &str) -> Result<(), UsageError> {
    match output.symlink_metadata() {
        Ok(_) => Err(UsageError(format!(
            "{} exists already; choose another name with {option}, or remove it",
            output.display()
        ))),
        Err(_) => Ok(()),
    }
}

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
