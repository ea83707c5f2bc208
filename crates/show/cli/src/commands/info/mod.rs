//! `kizami info`: a trace on one screen.
//!
//! Everything comes from `run.json`, so the answer takes no longer for a large trace than for a small one. Only a reduced
//! trace, which is small, is asked for more: its quantiles.

mod arguments;
mod quantiles;
mod run;
mod show;

pub use arguments::InfoArguments;
pub use run::run;
