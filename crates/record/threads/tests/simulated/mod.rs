//! Made-up programs: what they do, how long they take with as many processors as wanted, and a small runtime that runs them
//! on some threads and leaves the events that a recorder would.

pub mod program;
pub mod runtime;
