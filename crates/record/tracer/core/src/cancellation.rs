//! Cancellation kept away from what the tracer does for itself.
//!
//! A thread that another cancels (`pthread_cancel`) ends at its next cancellation point, such as `open` or `write`. MPI calls
//! need not be one, so a program may cancel a thread that holds a lock around them. What the tracer does beside an ordinary
//! call (set-up, changing a chunk, looking up a call site) uses such functions, and must not become the place where the
//! thread ends; nor may it leave half a segment behind.
//!
//! The program's own function is never called under it: where that is a cancellation point, it stays one.

use std::ffi::c_int;

// Declared here and not by `libc`: a thread that was cancelled meanwhile, with cancellation of the asynchronous type, is
// unwound from where it is allowed again.
unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

const DISABLED: c_int = 1;

/// As long as it lives, the thread that made it cannot be cancelled.
#[must_use = "cancellation is possible again as soon as it is dropped"]
#[derive(Debug)]
pub struct Uncancelled {
    before: c_int,
}

impl Uncancelled {
    /// From now on. To be made before any lock is taken and before anything else that must not be left half done, so that it
    /// is dropped last.
    pub fn new() -> Uncancelled {
        let mut before = DISABLED;
        // SAFETY: a place for the state, which is restored below. It cannot fail with this value.
        unsafe { pthread_setcancelstate(DISABLED, &mut before) };
        Uncancelled { before }
    }
}

impl Default for Uncancelled {
    fn default() -> Uncancelled {
        Uncancelled::new()
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        if self.before != DISABLED {
            // SAFETY: the state as it was found.
            unsafe { pthread_setcancelstate(self.before, std::ptr::null_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State of this thread, which is left as it is.
    fn state() -> c_int {
        let before = Uncancelled::new();
        before.before
    }

    #[test]
    fn the_state_is_restored_as_it_was_found() {
        let enabled = state();
        assert_ne!(enabled, DISABLED);
        {
            let _outer = Uncancelled::new();
            assert_eq!(state(), DISABLED);
            drop(Uncancelled::new());
            assert_eq!(state(), DISABLED, "the inner one does not end the outer one");
        }
        assert_eq!(state(), enabled);
    }
}
