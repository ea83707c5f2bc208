//! `kizami predict`: how long a program would take with other numbers of ranks, on another machine, and what would stop it.

mod arguments;
mod check;
mod inputs;
mod plot;
mod points;
mod predicted;
mod run;
mod show;
mod sums;

pub use arguments::PredictArguments;
pub use points::{RankCounts, parse_ranks};
#[cfg(test)]
pub use predicted::Predicted;
pub use run::run;
#[cfg(test)]
pub use sums::Sums;
