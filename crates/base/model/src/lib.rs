//! The words of the house: ranks, times, MPI functions, calls and definitions as plain types.
//!
//! Every other crate but `clock` speaks in these types. Nothing here reads or writes anything, and nothing here
//! depends on another crate, so the tracer can link it into the process of an application.
//!
//! - [`rank`], [`time`]: newtypes, so a rank is never a byte count and a tick never a nanosecond;
//! - [`function`]: the tables of functions, of MPI and on files, from which wrappers, op codes and names are made;
//! - [`meaning`]: the shape of a function, and what it does with requests;
//! - [`role`]: what each argument of a function is for;
//! - [`kind`]: what each function does, as types;
//! - [`call`]: one row of a trace, as everything after sealing sees it;
//! - [`counter`]: what can be counted with each call;
//! - [`spread`]: how exchanges spread what they give;
//! - [`definition`]: communicators, call sites, objects and how a rank ended.

pub mod call;
pub mod counter;
pub mod definition;
pub mod entry;
pub mod function;
pub mod kind;
pub mod meaning;
pub mod rank;
pub mod role;
pub mod spread;
pub mod time;

pub use call::{Call, Peer};
pub use definition::{CommKind, Ending, ObjectKind, StopReason};
pub use entry::EntryNote;
pub use function::{Family, Function, Op, Shape};
pub use kind::Kind;
pub use rank::{Rank, ThreadIndex};
pub use role::{Role, role_of};
pub use spread::SpreadCount;
pub use time::{Length, Moment, Ticks};
