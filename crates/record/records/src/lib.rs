//! What is in a segment: calls, what they completed, definitions, and what the tracer says about itself.
//!
//! A record is one or more slots of [`kizami_segment`]. Its first word has its kind and its start; the kind of a plain
//! call is the number of its function. Numbers from 960 on are kinds of their own ([`kind`]).
//!
//! # A call
//!
//! ```text
//! word 0   op (10 bits) | start in ticks since the segment's base (54 bits)
//! word 1   duration in ticks (36) | call site (16) | communicator (12)
//! word 2   any-source, any-tag (2) | bytes (38) | peer (24, signed)
//! word 3   a (32) | b (32)
//! ```
//!
//! What `a` and `b` are depends on the function's [`Shape`](kizami_model::Shape): tag and request for messages, bytes in
//! and request for collectives, object and request for windows and files. A call that does not fit (a peer
//! beyond eight million, a wait of half a minute, 256 GB in a message, the kind of a lock) takes the two-slot wide
//! form, in which nothing is narrow. Ranks of a group follow the call that was given the group, as parts of it
//! in wide form. Completions and starts of several requests are followed by slots that list them.
//!
//! What threads do in OpenMP is in segments of its own, by words: see [`threading`].
//!
//! # Promises
//!
//! Packing allocates nothing and is cheap enough for the hot path. [`Records`] takes any bytes at all and never panics.
//! Writing into files, and which bytes count after a crash, is for `kizami-segment` to know; what numbers mean in the whole
//! run is for sealing to find out.

mod call;
mod counted;
mod decode;
mod definition;
mod fold;
pub mod kind;
mod list;
mod read;
mod record;
mod reduced;
pub mod sequence_codec;
pub mod threading;
mod words;

pub use call::{CallRecord, NO_COMM, NO_SITE, PEER_ANY, PEER_NONE, PEER_NULL, PEER_ROOT};
pub use counted::counted_slots;
pub use decode::decode;
pub use definition::{Definition, Unrecorded};
pub use fold::{fold_update, pack_fold};
pub use list::{Completion, ListItems, Started, completion_slots, pack_list_head, start_slots};
pub use read::Records;
pub use record::Record;
pub use reduced::ReducedBy;
pub use words::pair;
