//! Threads of one process: work shared among them, and a lock that costs a single thread nothing.
//!
//! [`map()`] does something with each item of a list in parallel, [`map_in_turns`] on a given number of threads, [`join`]
//! does two things. Threads that work in rounds meet at a [`Barrier`]; threads that work until none has anything left to
//! do send each other messages by [`Mailboxes`]. Results are in the order of the items, whatever the number of threads.
//! [`Biased`] is for data that nearly always belongs to one thread.
//!
//! A thread that panics never leaves others waiting: they are released, and the panic goes on in the caller. For loops over
//! many small items there is rayon.

mod barrier;
mod biased;
mod mailbox;
mod map;
mod sync;

pub use barrier::Barrier;
pub use biased::{Biased, Inside, Presence, ThreadKey, announce_barriers};
pub use mailbox::{Mailbox, Mailboxes};
pub use map::{join, map, map_in_turns};
pub use sync::lock;
