//! `kizami reduce`: a small part of a trace that still tells all sums exactly.
//!
//! The reduction is that of the `reduced` crate; here it gets a progress bar and a few lines that say what was kept. Nothing that
//! exists is overwritten.

mod arguments;
mod run;
mod show;

pub use arguments::ReduceArguments;
pub use run::run;
#[cfg(test)]
pub use show::Summary;
