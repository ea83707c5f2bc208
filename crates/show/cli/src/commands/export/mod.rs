//! `kizami export`: a trace in another tool's format.
//!
//! The writing is that of the `export` crate; here it gets a name, a progress bar and closing words. Nothing that exists is
//! overwritten.

mod arguments;
mod run;

pub use arguments::ExportArguments;
pub use run::run;
