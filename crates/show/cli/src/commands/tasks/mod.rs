//! `kizami tasks`: how parallel a program is, apart from any machine, and how long it takes on so many processors.

mod arguments;
mod plot;
mod run;
mod show;

pub use arguments::TasksArguments;
#[cfg(test)]
pub use run::TasksReport;
pub use run::run;
