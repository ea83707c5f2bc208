//! A companion of a segment: memory of a fixed size, mapped from a file, so that what is in it survives the process.
//!
//! Who uses the memory decides what is in it. Making it may fail and then returns the error number.

use crate::descriptor::{close, make};
use crate::file::{allocate, map};
use std::ffi::CStr;

/// Makes a file of so many zeros that must not exist, and maps it for the life of the process. The address is that of
/// a page. The error is an `errno`.
pub fn create(path: &CStr, bytes: usize) -> Result<*mut u8, i32> {
    let (opened, base) =
        make(path, |descriptor| allocate(descriptor, bytes).and_then(|()| map(descriptor, bytes)))?;
    // The mapping stays without it.
    close(opened);
    Ok(base.cast())
}
