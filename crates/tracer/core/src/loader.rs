//! The loader's own `dlopen`, behind the one the tracer exports.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What `dlopen` is to those who call it.
pub type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// Its address.
pub fn address() -> *mut c_void {
    static LOADER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let known = LOADER.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: dlsym with a valid name.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
    LOADER.store(found, Ordering::Relaxed);
    found
}

/// The function itself.
pub fn open() -> Open {
    // SAFETY: the address of dlopen, which has this signature.
    unsafe { std::mem::transmute(address()) }
}
