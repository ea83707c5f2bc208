//! `kizami clocks`: how the clocks of a run's hosts were brought together, and how well.
//!
//! A run on one host needs one sentence. For several hosts there is a row for each whose clock was measured,
//! then what that did to messages which seem to arrive before they were sent.

mod arguments;
mod measured;
mod run;
mod show;

pub use arguments::ClocksArguments;
#[cfg(test)]
pub use measured::Report;
pub use run::run;
