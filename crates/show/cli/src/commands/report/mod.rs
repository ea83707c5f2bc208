//! `kizami report`: what is wrong with a run, where, and what fixing it would gain.
//!
//! The reckoning is that of the `explain` crate; here it becomes text, Markdown, one HTML file or JSON. The verdict comes
//! first and fits on half a screen; tables follow, which all forms take from `sections`.

mod arguments;
mod markdown;
mod run;
mod show;

pub use arguments::ReportArguments;
pub use run::run;
