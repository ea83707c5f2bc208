//! `kizami machines`: lists machines that were measured, and puts their costs side by side.

mod arguments;
mod run;

pub use arguments::MachinesArguments;
#[cfg(test)]
pub use run::Listed;
pub use run::run;
