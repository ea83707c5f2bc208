//! The dynamic loader: its own `dlopen` and `dlsym` behind those the tracer exports, what is loaded, and where the references
//! of a module lead.

mod lookup;
mod module;
pub mod objects;

pub use module::{ListedModule, Module, Reference, loaded};

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What `dlopen` is to those who call it. A constructor that it runs may throw.
pub type Open = unsafe extern "C-unwind" fn(*const c_char, c_int) -> *mut c_void;

/// Its address.
pub fn address() -> *mut c_void {
    static LOADER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let known = LOADER.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let found = symbol(libc::RTLD_NEXT, c"dlopen").unwrap_or(std::ptr::null_mut());
    LOADER.store(found, Ordering::Relaxed);
    found
}

/// The function itself.
pub fn open() -> Open {
    // SAFETY: the address of dlopen, which has this signature.
    unsafe { std::mem::transmute(address()) }
}

/// What a name is in a library, or by `RTLD_NEXT` behind this one: by the loader's own `dlsym`, not by ours.
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "a handle is a number to everybody but the loader")]
pub fn symbol(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym, which has this signature, with a valid name and a handle that the caller got from the loader.
    let found = unsafe {
        let find: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
            std::mem::transmute(symbol_address());
        find(library, name.as_ptr())
    };
    (!found.is_null()).then_some(found)
}

/// The address of `dlsym`, for those who have to call it with a return address that is not ours.
pub fn symbol_address() -> *mut c_void {
    static LOADER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let known = LOADER.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // The version that every glibc for x86-64 has.
    // SAFETY: dlvsym with valid names.
    let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), c"GLIBC_2.2.5".as_ptr()) };
    LOADER.store(found, Ordering::Relaxed);
    found
}

/// A handle of something that is loaded already; null if it is not. Whoever gets one closes it.
pub fn open_loaded(path: &CStr) -> *mut c_void {
    // SAFETY: a valid name; nothing new is loaded.
    unsafe { open()(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// The file of the object that holds an address.
pub fn file_of(address: usize) -> Option<&'static CStr> {
    // SAFETY: all zeros is a valid value; dladdr fills it in. The name is the loader's own string.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(address as *const c_void, &mut info) != 0 && !info.dli_fname.is_null();
        found.then(|| CStr::from_ptr(info.dli_fname))
    }
}

/// The last part of a path.
pub fn file_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}
