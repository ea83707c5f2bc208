//! `kizami fleng`: runs a program of the language Fleng in virtual time, and writes its tasks as a trace.

mod arguments;
mod run;
mod write;

pub use arguments::FlengArguments;
pub use run::run;
