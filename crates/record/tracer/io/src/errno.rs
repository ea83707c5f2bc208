//! `errno`, which is the program's.

/// The value the program would see now.
pub fn get() -> i32 {
    // SAFETY: every thread has a place for it.
    unsafe { *libc::__errno_location() }
}

/// Lets the program see this value.
pub fn set(value: i32) {
    // SAFETY: every thread has a place for it.
    unsafe { *libc::__errno_location() = value };
}
