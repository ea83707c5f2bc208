//! What threads synchronise by: the standard library's, or loom's in a build with `--cfg loom`, where tests try the orders
//! in which threads can run.

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
    thread::yield_now,
};

use std::sync::PoisonError;

/// Locks a mutex whose content is valid at any time, also after a thread has panicked while it held the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a moment: first without giving the core away.
pub(crate) fn pause(pauses: &mut u32, spins: u32) {
    *pauses += 1;
    // Loom takes every turn of a loop for one that may go on for ever unless it yields.
    if *pauses < spins && cfg!(not(loom)) { spin_loop() } else { yield_now() }
}
