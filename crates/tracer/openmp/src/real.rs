//! The runtime's own functions behind ours.
//!
//! They come next in the search order, or are in a runtime that was loaded privately, as Python packages do: then it is
//! looked for among what is loaded.

use kizami_tracer_core::loader;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// One of them.
pub struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    /// By its name.
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address.
    #[inline(always)]
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if known.is_null() { self.find() } else { known }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: dlsym with a valid name.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        let found = if next.is_null() { in_private_runtime(self.name) } else { next };
        if found.is_null() {
            // The loader would have ended the program here, too.
            eprintln!("kizami: no OpenMP runtime has {}", self.name.to_string_lossy());
            std::process::abort();
        }
        keep(found);
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// Has the library that holds a function stay, whoever unloads it: the address is remembered.
fn keep(function: *mut c_void) {
    // SAFETY: a struct of pointers, which the loader fills if it knows the address; its path is the library's name then.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(function, &mut info) != 0 && !info.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            let library = loader::open()(info.dli_fname, flags);
            if !library.is_null() {
                libc::dlclose(library);
            }
        }
    }
}

/// The function with the name of an identifier.
macro_rules! real {
    ($name:ident) => {
        $crate::real::Real::new(
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name"),
            },
        )
    };
}
pub(crate) use real;

fn in_private_runtime(name: &CStr) -> *mut c_void {
    struct Search<'a> {
        name: &'a CStr,
        found: *mut c_void,
    }
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object, and `search` is the struct above.
        unsafe {
            let (path, search) = ((*info).dlpi_name, &mut *search.cast::<Search>());
            let is_runtime = !path.is_null()
                && CStr::from_ptr(path).to_bytes().rsplit(|byte| *byte == b'/').next().is_some_and(|file| {
                    [&b"libgomp"[..], b"libomp", b"libiomp"].iter().any(|name| file.starts_with(name))
                });
            if is_runtime {
                let library = loader::open()(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                if !library.is_null() {
                    search.found = libc::dlsym(library, search.name.as_ptr());
                    libc::dlclose(library);
                }
            }
            c_int::from(!search.found.is_null())
        }
    }
    let mut search = Search { name, found: std::ptr::null_mut() };
    // SAFETY: the callback takes exactly this struct.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}
