//! `kizami diff`: what changed between two runs, and whether that is good enough.
//!
//! The reckoning is that of the `explain` crate; here are the conditions of `--fail-if`, and the text.

mod arguments;
mod condition;
mod run;
mod show;

pub use arguments::DiffArguments;
pub use run::run;
