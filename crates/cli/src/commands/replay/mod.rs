//! `kizami replay`: how long the run would take if something were different.
//!
//! The walk is the replay's; here options become a setting, and what comes out a few lines that say what it rests on.
//! Nothing that exists is overwritten.

mod arguments;
mod options;
mod places;
mod plan;
mod run;
mod show;
mod threads;

pub use arguments::ReplayArguments;
pub use options::{Times, parse_thread_count, parse_times};
pub use run::run;
pub use threads::{regions_of, threads_of};
