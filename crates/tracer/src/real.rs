//! The real MPI functions behind ours.
//!
//! They are found next in the search order (`RTLD_NEXT`) when the program is linked with MPI, and by going
//! through the loaded objects when something loaded MPI privately (`RTLD_LOCAL`), as Python does.

use crate::simulator;
use kizami_model::Op;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// More than the table has lines.
const TABLE_LIMIT: usize = 960;

static FUNCTIONS: [AtomicPtr<c_void>; TABLE_LIMIT] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; TABLE_LIMIT];

/// The library that defines MPI, if it had to be searched for: a handle for `dlsym`. No lock guards it: the
/// search takes the loader's own, and whoever holds that may come here.
static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Address of the MPI library's own version of a function.
#[inline(always)]
pub fn address(op: Op) -> *mut c_void {
    let known = FUNCTIONS[op.0 as usize].load(Ordering::Relaxed);
    if known.is_null() { find(op) } else { known }
}

#[cold]
fn find(op: Op) -> *mut c_void {
    let name = op.name();
    // What the program calls is the profiling name's function: the same code, and never a wrapper of ours.
    let profiling = CString::new(format!("P{name}")).expect("a C name");
    let plain = CString::new(name).expect("a C name");
    let address = if name == "MPI_Pcontrol" && simulator::get().is_some() {
        // SMPI ends the program that calls it.
        nothing as *mut c_void
    } else {
        symbol(&profiling).or_else(|| symbol(&plain)).unwrap_or(missing as *mut c_void)
    };
    FUNCTIONS[op.0 as usize].store(address, Ordering::Relaxed);
    address
}

/// Stands in for a function that has nothing to do.
extern "C" fn nothing() -> c_int {
    0
}

/// Stands in for a function that the MPI library does not have and somebody calls nevertheless.
extern "C" fn missing() -> c_int {
    const SOME_ERROR: c_int = 16;
    SOME_ERROR
}

/// A symbol of the MPI library.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym with a valid name.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return Some(next);
    }
    let mut library = LIBRARY.load(Ordering::Relaxed);
    if library.is_null() {
        library = find_library()?;
        LIBRARY.store(library, Ordering::Relaxed);
    }
    // SAFETY: a handle that dlopen gave us.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Whether MPI is in this process, apart from ourselves.
pub fn is_loaded() -> bool {
    symbol(c"PMPI_Init").is_some()
}

/// Whether the MPI library defines this name.
pub fn defines(name: &CStr) -> bool {
    symbol(name).is_some()
}

/// A global variable of the MPI library. The program may hold a copy of it (copy relocation), and then the
/// copy is the one that counts: it comes first in the default order.
pub fn variable(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: dlsym with a valid name.
    let default = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if default.is_null() { symbol(name) } else { Some(default) }
}

/// File name of the library that defines MPI's functions.
pub fn library_path() -> Option<String> {
    let function = symbol(c"PMPI_Init")?;
    // SAFETY: all zeros is a valid value; dladdr fills it in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let found = unsafe { libc::dladdr(function, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}

/// The loader's own `dlopen`, behind the one we export.
pub fn loader() -> *mut c_void {
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

/// Goes through the loaded objects for one that looks like MPI and defines its functions.
fn find_library() -> Option<*mut c_void> {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object, and `found` is the vector below.
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Vec<CString>>()) };
        if !name.is_null() {
            // SAFETY: the loader's own string.
            let name = unsafe { CStr::from_ptr(name) };
            let file = name.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if [&b"libmpi"[..], b"libpmpi", b"libsimgrid"].iter().any(|start| file.starts_with(start)) {
                found.push(name.to_owned());
            }
        }
        0
    }
    let mut candidates: Vec<CString> = Vec::new();
    // SAFETY: the callback takes exactly this vector.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut candidates).cast()) };
    type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
    // SAFETY: dlopen's own signature.
    let open: Open = unsafe { std::mem::transmute(loader()) };
    candidates.iter().find_map(|path| {
        // SAFETY: asks for an object that is already loaded; nothing new is loaded.
        let handle = unsafe { open(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            return None;
        }
        // SAFETY: a handle that dlopen gave us.
        let defines = unsafe { libc::dlsym(handle, c"PMPI_Init".as_ptr()) };
        (!defines.is_null()).then_some(handle)
    })
}

/// Calls an MPI function for the tracer's own needs. All arguments travel as machine words.
macro_rules! mpi {
    ($name:literal $(, $argument:expr)* $(,)?) => {{
        static OP: std::sync::OnceLock<kizami_model::Op> = std::sync::OnceLock::new();
        let op = *OP.get_or_init(|| kizami_model::Op::by_name($name).expect("a function of the table"));
        type Word = $crate::real::WordOf!($($argument),*);
        // SAFETY: the table says the function takes these arguments, each passed as a machine word.
        let function: Word = unsafe { std::mem::transmute($crate::real::address(op)) };
        // SAFETY: the caller made the arguments what MPI asks for.
        unsafe { function($($argument as usize),*) }
    }};
}
pub(crate) use mpi;

/// The type of a function of as many words.
macro_rules! WordOf {
    () => { unsafe extern "C" fn() -> i32 };
    ($a:expr) => { unsafe extern "C" fn(usize) -> i32 };
    ($a:expr, $b:expr) => { unsafe extern "C" fn(usize, usize) -> i32 };
    ($a:expr, $b:expr, $c:expr) => { unsafe extern "C" fn(usize, usize, usize) -> i32 };
    ($a:expr, $b:expr, $c:expr, $d:expr) => { unsafe extern "C" fn(usize, usize, usize, usize) -> i32 };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr) => {
        unsafe extern "C" fn(usize, usize, usize, usize, usize) -> i32
    };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr) => {
        unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> i32
    };
    ($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr) => {
        unsafe extern "C" fn(usize, usize, usize, usize, usize, usize, usize) -> i32
    };
}
pub(crate) use WordOf;
