//! `kizami doctor`: whether runs can be recorded here, and what to do where they cannot.
//!
//! The checks do what `kizami record` would do (preload the tracer, launch a process with every launcher,
//! reserve space on the disk) instead of guessing from settings. Nothing is left behind.

mod arguments;
mod arrived;
mod finding;
mod launch;
mod machine;
mod run;
mod show;

pub use arguments::DoctorArguments;
pub use arrived::arrived;
#[cfg(test)]
pub use finding::Checks;
pub use run::run;
