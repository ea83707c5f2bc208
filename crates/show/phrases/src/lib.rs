//! How results read: number formats that every command uses, and every sentence of a finding, a hang or an idea.
//!
//! It turns data into text for people and decides nothing: what is worth saying is for the analysis. Programs read `--json`,
//! whose texts are these as well ([`report::in_words`]). Each variant of what analysis gives has a function of its own, and
//! `tests/snapshots` shows what all of them say.

pub mod cores;
pub mod finding;
pub mod hang;
pub mod idea;
pub mod links;
pub mod location;
pub mod loss;
pub mod nothing;
pub mod program;
pub mod protocols;
pub mod quantity;
mod ranks;
pub mod report;
pub mod tasks;
pub mod verdict;
