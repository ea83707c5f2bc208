//! `kizami undisturb`: the run as it would have been without the tracer.
//!
//! The reckoning is the replay's; here it gets a progress bar and a few lines that say what was taken out and how
//! far to trust the rest. Nothing that exists is overwritten.

mod arguments;
mod run;
mod show;

pub use arguments::UndisturbArguments;
pub use run::run;
