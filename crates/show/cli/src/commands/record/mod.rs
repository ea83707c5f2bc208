//! `kizami record`: run a program with the tracer preloaded into its ranks, then seal what they left.
//!
//! The application comes first: its streams, signals and exit code are its own, and nothing that goes wrong
//! with the recording keeps it from running, except a mistake on the command line (an output that exists,
//! no tracer to be found), which is said before it starts.

mod arguments;
mod child;
mod deaths;
mod inside;
mod naming;
mod output;
mod policy;
mod run;
mod show;

pub use arguments::RecordArguments;
pub use run::run;
