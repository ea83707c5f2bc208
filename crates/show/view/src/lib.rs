//! The viewer: pictures of a run and answers about it, for browsers and for files.
//!
//! Pictures are made from an index: all rows of a run packed by rank and time, and shares of time on many
//! levels. [`query`] has the questions, one file each. What takes long is worked out in the background, see [`layer`].
//! [`server`] answers browsers, [`picture`] makes files.
//!
//! Promises: a browser gets no more than its pixels need. Nothing but the traces that were opened is ever read on
//! request, and nothing is written but what can be made again, in `derived/` of the traces.

mod by_rank;
mod canvas;
mod connections;
mod ideal;
pub mod index;
pub mod insight;
pub mod layer;
pub mod links;
pub mod look;
pub mod picture;
pub mod query;
pub mod schedules;
pub mod server;
mod slot;
pub mod threads;
pub mod verdict;

pub use index::Index;
pub use slot::{Answer, Slot};
