//! `kizami whatif`: what could be done about a run, each idea replayed, the best first.

mod arguments;
mod run;
mod show;

pub use arguments::WhatifArguments;
pub use run::run;
