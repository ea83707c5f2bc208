//! `kizami seal`, and the sealing at the end of `kizami record`.
//!
//! The work is that of the `seal` crate; here it gets its progress bar and its closing words.

mod arguments;
mod run;

pub use arguments::SealArguments;
pub use run::{run, seal_all};
