//! An MPI for ranks without processes: answers what a program asks, and notes what it does.
//!
//! The state of one rank is in plain tables: [`datatype`]s, [`group`]s, [`communicator`]s with their [`topology`]. What ranks
//! mean to each other is in [`process_group`]: a rank is either alone, and gets what others gave in an earlier pass, or all
//! ranks are there and messages are really handed over. What a rank did is an [`event`] stream of a few words a call, written
//! so that ranks which do the same have the same words.
//!
//! Nothing here reads or writes a program's memory, knows a library's handles, or waits: the caller does that. Nothing
//! is sent anywhere.

pub mod communicator;
pub mod datatype;
pub mod event;
pub mod group;
pub mod process_group;
pub mod reduction;
pub mod topology;
