//! What a report says, however it is shown: the verdict and the tables, with the words and numbers in them.
//!
//! Text, Markdown and HTML all take them from here. How a heading or a table looks is for those who show them.

pub mod heat;
mod protocols;
#[cfg(test)]
pub mod samples;
pub mod tables;
pub mod verdict;
