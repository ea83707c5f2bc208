//! The functions of the GNU runtime that is recorded, behind ours.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// One of them. Nothing leads to what calls it before its address is known.
pub struct Real {
    pub name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    /// By its name.
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; null if the runtime does not have it.
    #[inline(always)]
    pub fn address(&self) -> *mut c_void {
        self.address.load(Ordering::Relaxed)
    }

    /// It was found.
    pub fn set(&self, address: usize) {
        self.address.store(address as *mut c_void, Ordering::Release);
    }
}

/// What stands before a function of the runtime.
pub struct Hook {
    pub real: &'static Real,
    pub stub: unsafe extern "C" fn(),
}

/// Bodies for functions of the runtime: each gets a stub, and they are listed as `HOOKS`. A body finds the function behind
/// it as `real`.
macro_rules! hooks {
    ($($name:ident => $body:path;)+) => {
        /// What stands before the functions of the runtime.
        pub static HOOKS: &[$crate::real::Hook] = &[$({
            $crate::local::stub!(stub, $body);
            $crate::real::Hook { real: &real::$name, stub }
        }),+];

        /// The functions themselves.
        #[expect(non_upper_case_globals, reason = "functions bear the runtime's names")]
        mod real {
            $(
                pub static $name: $crate::real::Real = $crate::real::Real::new(
                    match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name"),
                    },
                );
            )+
        }
    };
}
pub(crate) use hooks;
