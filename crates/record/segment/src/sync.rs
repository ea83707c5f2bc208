//! What records are committed by: the standard library's atomics, or loom's in a build with `--cfg loom`, where tests try
//! what a reader can see of a record that is being written. There they are larger: such a build maps no files.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
