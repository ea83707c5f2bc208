//! How a program runs on other numbers of ranks and on other machines than those it was recorded on.
//!
//! - [`structure`]: what a program does, apart from how many ranks do it;
//! - [`scaling`]: how long computation takes on another number of ranks, or for another problem, from a few that were
//!   measured;
//! - [`Counts`]: how much work was counted, where a program or its user gives it;
//! - [`generate()`]: the calls of a predicted run, as a trace;
//! - [`costs_of_runs()`]: what calls cost, derived from the runs themselves, where the machine was not measured;
//! - [`spreads_of()`]: to whom a program gives by exchanges that leave it to the program;
//! - [`on_platform()`]: a run's messages on a network whose links they share;
//! - [`OnLinks`]: which of a replay and SimGrid ([`BySimGrid`]) says what messages get of links;
//! - [`point`]: one number of ranks on one machine, with its interval and with what limits it;
//! - [`Runs`]: several of them, and the check that holds out the largest run, predicts it, and returns the error;
//! - [`sum_s`]: the plain sum of computation and measured collectives, for comparison.
//!
//! When it is wrong: what was never measured cannot be predicted. A cache, a memory or an algorithm that changes beyond
//! the largest measured run changes times without a sign of it in the measurements; every predicted time comes with
//! an interval, and that interval knows nothing of such changes.
//!
//! A prediction is a replay: ranks wait for each other in it as they do in runs, so that noise and imbalance act as they
//! do there.

mod by_simgrid;
mod computation;
mod costs_of_runs;
mod counted;
mod counts;
mod error;
mod generate;
mod observe;
mod on_links;
mod on_platform;
pub mod point;
mod prediction;
pub mod scaling;
mod shares;
mod spreads;
pub mod structure;
mod sum;

pub use by_simgrid::BySimGrid;
pub use computation::{Computation, PredictionInputs};
pub use costs_of_runs::costs_of_runs;
pub use counted::recorded_counts;
pub use counts::Counts;
pub use error::PredictError;
pub use generate::generate;
pub use on_links::{LinkModel, OnLinks, PhasesError, simulated_beside};
pub use on_platform::{SharedNetwork, on_platform};
pub use prediction::{Checked, LeftOut, Runs, recorded_s};
pub use shares::{CallShare, Shares};
pub use spreads::spreads_of;
pub use sum::sum_s;
