//! `kizami events`: the rows of a trace, as a table or as JSON, one object a line.
//!
//! Rows are read and printed as they come, so the output of any length needs little memory, and a limit ends
//! the reading.

mod arguments;
mod filter;
mod json;
mod names;
mod run;
mod show;

pub use arguments::EventsArguments;
#[cfg(test)]
pub use json::Row;
pub use run::run;
