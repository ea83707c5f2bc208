//! `kizami replay`: how long the run would take if something were different.
//!
//! The walk is the replay's; here options become changes, and what comes out a few lines that say what it rests on.
//! Nothing that exists is overwritten.

mod arguments;
mod links;
mod plan;
mod run;
mod show;
mod threads;

pub use arguments::ReplayArguments;
pub use run::run;
pub use threads::{regions_of, threads_of};
