//! `kizami view`: a run in a browser, or as a picture.
//!
//! The viewer itself is the `view` crate; here are the address that is printed, the browser that is opened, and the
//! files that are written.

mod arguments;
mod files;
mod ranks;
mod run;

pub use arguments::ViewArguments;
pub use run::run;
