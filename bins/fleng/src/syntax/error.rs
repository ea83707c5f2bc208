//! What is wrong with a text, where, and what to do about it.

use thiserror::Error;

/// A text that is not a program or not a query.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {problem}; {advice}")]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// What was expected and what was found.
    pub problem: String,
    /// What to do.
    pub advice: String,
}

/// A place in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Position {
    /// The error that is found here.
    pub(crate) fn error(self, problem: impl Into<String>, advice: impl Into<String>) -> SyntaxError {
        SyntaxError { line: self.line, column: self.column, problem: problem.into(), advice: advice.into() }
    }
}
