//! Measuring a machine: what to ask for, how to read the answers, and when to stop.
//!
//! The measuring itself is done by a program that runs under the launcher, one process for each rank. Its first rank reads
//! questions from its input and answers on its output, a line each ([`session`]). Everything that needs a decision is
//! here, once for all programs that measure: which sizes ([`sizes`]), what the median is and how sure it is
//! ([`statistics`]), whether something else kept the machine busy ([`disturbance`]), and
//! which algorithms a library can be forced to use ([`Algorithms`]).

mod algorithms;
pub mod disturbance;
mod plan;
pub mod session;
pub mod sizes;
pub mod statistics;

pub use algorithms::Algorithms;
pub use plan::{Budget, Progress, measure};
