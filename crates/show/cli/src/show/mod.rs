//! How things look on a terminal: quantities, tables, and what a trace is; JSON for programs.
//!
//! Everything a person reads goes through here or through `kizami_terminal`, so that all commands speak the same way.

pub mod functions;
pub mod json;
pub mod path;
pub mod provenance;
pub mod table;

pub use kizami_phrases::quantity;
pub use kizami_terminal::{keep_silent, progress, remark, say, say_in_any_case, speak, style, text};

/// Tells how far sealing is.
pub fn set_sealing(bar: &progress::Bar, progress: kizami_seal::Progress) {
    let events = || quantity::counted(progress.events, "event");
    bar.set(progress.done_bytes, progress.total_bytes, events);
}
