//! `kizami platform`: networks by a short form or as SimGrid's XML, and what a phase of messages takes on them.

mod arguments;
mod run;

pub use arguments::PlatformArguments;
#[cfg(test)]
pub use run::Described;
pub use run::{open, run};
