//! A room for each command: what it can be asked for (`arguments`), what it does (`run`) and how the outcome looks
//! (`show`); a small command has fewer files.
//!
//! A command may use what stands beside this folder, and another command only where it really does that command's
//! work: `record` ends with what `seal` does. Exit codes are what `run` gives back; an error is a message and code 1, or 2
//! if the command line is to blame.

pub mod bench;
pub mod clocks;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod events;
pub mod export;
pub mod info;
pub mod machines;
pub mod man;
pub mod platform;
pub mod predict;
pub mod record;
pub mod reduce;
pub mod replay;
pub mod report;
pub mod seal;
pub mod tasks;
pub mod undisturb;
pub mod view;
pub mod whatif;
