//! A companion of a segment: memory of a fixed size, mapped from a file, so that what is in it survives the process.
//!
//! Who uses the memory decides what is in it. Making it may fail and then returns the error number.

use crate::descriptor::{close, make};
use crate::file::allocate_and_map;
use std::ffi::CStr;

/// Creates a file of so many zeros that must not exist, and maps it for the life of the process. The address is that of
/// a page. The error is an `errno`.
pub fn create(path: &CStr, bytes: usize) -> Result<*mut u8, i32> {
    let (opened, base) = make(path, |descriptor| allocate_and_map(descriptor, bytes))?;
    // The mapping stays without it.
    close(opened);
    Ok(base.cast())
}

/// Takes back what [`create`] made, file and memory, where it cannot serve alone.
///
/// # Safety
/// It is the memory that was made with this path and size, and is not in use.
pub unsafe fn remove(path: &CStr, base: *mut u8, bytes: usize) {
    // SAFETY: plain system calls on what is ours, by contract.
    unsafe {
        libc::unlink(path.as_ptr());
        libc::munmap(base.cast(), bytes);
    }
}
