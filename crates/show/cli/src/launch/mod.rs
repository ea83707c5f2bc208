//! Starting an application under its launcher, with the tracer in its ranks and nowhere else.
//!
//! `record` starts what the user named, `doctor` tries every launcher it finds; both go this way. Nothing here runs the
//! application or says anything: it finds the launcher, understands its command line as far as needed, and hands
//! variables on.

pub mod command_line;
pub mod environment;
pub mod hand_on;
pub mod launcher;
pub mod library;
pub mod sanitizer;
