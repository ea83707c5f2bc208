//! A companion of a segment: memory of a fixed size, mapped from a file, so that what is in it survives the process.
//!
//! Who uses the memory decides what is in it. Making it may fail and then returns the error number.

use crate::file::{allocate, errno, map, out_of_the_way};
use std::ffi::CStr;

/// Makes a file of so many zeros that must not exist, and maps it for the life of the process. The address is that of
/// a page. The error is an `errno`.
pub fn create(path: &CStr, bytes: usize) -> Result<*mut u8, i32> {
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: a plain system call with a valid C string.
    let opened = unsafe { libc::open(path.as_ptr(), flags, 0o644) };
    if opened < 0 {
        return Err(errno());
    }
    let descriptor = out_of_the_way(opened);
    let mapped = allocate(descriptor, bytes).and_then(|()| map(descriptor, bytes));
    // SAFETY: the descriptor is ours; the mapping stays without it. A useless file is not left behind.
    unsafe {
        libc::close(descriptor);
        if mapped.is_err() {
            libc::unlink(path.as_ptr());
        }
    }
    mapped.map(|base| base.cast())
}
