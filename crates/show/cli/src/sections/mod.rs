//! What a report says, however it is shown: the verdict and the tables. Sentences come from `kizami_phrases`.
//!
//! Text, Markdown and HTML all take them from here. How a heading or a table looks is for those who show them.

pub mod heat;
#[cfg(test)]
pub mod samples;
pub mod tables;
pub mod verdict;
