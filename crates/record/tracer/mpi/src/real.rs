//! The real MPI functions behind ours.
//!
//! They are found next in the search order (`RTLD_NEXT`) when the program is linked with MPI, and by going
//! through the loaded objects when something loaded MPI privately (`RTLD_LOCAL`), as Python does.
//!
//! Another library with wrappers of its own (Darshan, IPM, mpiP, a site's) may stand between us and MPI. Then
//! `MPI_X` leads to its wrapper, as it would without us, and `PMPI_X`, which the wrapper calls in turn, to MPI. What the
//! tracer calls for itself always goes to MPI.

use crate::cancellation::Uncancelled;
use crate::loader::objects;
use crate::{arch, loader, simulator};
use kizami_model::Op;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// More than the table has lines.
const TABLE_LIMIT: usize = 960;

type Addresses = [AtomicPtr<c_void>; TABLE_LIMIT];

/// What both names of a function lead to; null as long as it is not known, and for ever where they lead to
/// different functions.
static FUNCTIONS: Addresses = [const { AtomicPtr::new(std::ptr::null_mut()) }; TABLE_LIMIT];
/// The MPI library's own function, null as long as it is not known.
static OWN: Addresses = [const { AtomicPtr::new(std::ptr::null_mut()) }; TABLE_LIMIT];
/// What the plain name leads to, where that is a wrapper.
static WRAPPERS: Addresses = [const { AtomicPtr::new(std::ptr::null_mut()) }; TABLE_LIMIT];

/// The library that defines MPI, if it had to be searched for: a handle for `dlsym`. No lock guards it: the
/// search takes the loader's own, and the holder of that may come here.
static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Address of the function behind ours, under the name by which this thread has just called ours.
#[inline(always)]
pub fn address(op: Op) -> *mut c_void {
    let known = FUNCTIONS[op.0 as usize].load(Ordering::Relaxed);
    if known.is_null() { address_by_name(op) } else { known }
}

/// Address of the MPI library's own version of a function.
pub fn own_address(op: Op) -> *mut c_void {
    let known = OWN[op.0 as usize].load(Ordering::Acquire);
    if known.is_null() { find(op) } else { known }
}

#[cold]
fn address_by_name(op: Op) -> *mut c_void {
    let own = own_address(op);
    let wrapper = WRAPPERS[op.0 as usize].load(Ordering::Relaxed);
    // SAFETY: the thread's own block.
    let called = unsafe { std::mem::take(&mut (*arch::thread_local()).profiling) };
    if wrapper.is_null() || called == u32::from(op.0) { own } else { wrapper }
}

/// Finds a function; returns the MPI library's own.
#[cold]
fn find(op: Op) -> *mut c_void {
    let _uncancelled = Uncancelled::new();
    let name = op.name();
    let profiling = CString::new(format!("P{name}")).expect("a C name");
    let plain = CString::new(name).expect("a C name");
    let by_profiling_name = symbol(&profiling);
    let by_plain_name = symbol(&plain);
    let (own, wrapper) = if name == "MPI_Pcontrol" && simulator::get().is_some() {
        // SMPI ends the program that calls it.
        (nothing as *mut c_void, None)
    } else {
        let own = by_profiling_name.or(by_plain_name).unwrap_or(missing as *mut c_void);
        // SMPI has two functions where others have two names of one.
        (own, by_plain_name.filter(|plain| *plain != own && simulator::get().is_none()))
    };
    let place = op.0 as usize;
    match wrapper {
        Some(wrapper) => WRAPPERS[place].store(wrapper, Ordering::Relaxed),
        None => FUNCTIONS[place].store(own, Ordering::Relaxed),
    }
    OWN[place].store(own, Ordering::Release);
    own
}

/// Stands in for a function that has nothing to do.
extern "C" fn nothing() -> c_int {
    0
}

/// Stands in for a function that the MPI library does not have and that is called nevertheless.
extern "C" fn missing() -> c_int {
    const SOME_ERROR: c_int = 16;
    SOME_ERROR
}

/// Has the program's calls of a function lead to one made-up function, and the tracer's own to another.
#[cfg(test)]
pub fn make_up(op: Op, function: *mut c_void, own: *mut c_void) {
    FUNCTIONS[op.0 as usize].store(function, Ordering::Relaxed);
    OWN[op.0 as usize].store(own, Ordering::Release);
}

/// A symbol of the MPI library.
pub fn symbol(name: &CStr) -> Option<*mut c_void> {
    if let Some(next) = loader::symbol(libc::RTLD_NEXT, name) {
        return Some(next);
    }
    let mut library = LIBRARY.load(Ordering::Relaxed);
    if library.is_null() {
        library = find_library()?;
        LIBRARY.store(library, Ordering::Relaxed);
    }
    loader::symbol(library, name)
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
    loader::symbol(libc::RTLD_DEFAULT, name).or_else(|| symbol(name))
}

/// File name of the library that defines MPI's functions.
pub fn library_path() -> Option<String> {
    let function = symbol(c"PMPI_Init")?;
    Some(loader::file_of(function as usize)?.to_string_lossy().into_owned())
}

/// Goes through the loaded objects for one that looks like MPI and defines its functions.
fn find_library() -> Option<*mut c_void> {
    let is_mpi = |path: &CStr| {
        let file = loader::file_name(path);
        [&b"libmpi"[..], b"libpmpi", b"libsimgrid"].iter().any(|start| file.starts_with(start))
    };
    let candidates = objects::map(|object| is_mpi(object.path).then(|| object.path.to_owned()));
    candidates.iter().flatten().find_map(|path| {
        let handle = loader::open_loaded(path);
        if handle.is_null() {
            return None;
        }
        loader::symbol(handle, c"PMPI_Init").map(|_| handle)
    })
}

/// A place in memory that MPI reads or writes.
pub trait Place {
    /// As it travels in a register.
    fn word(self) -> usize;
}

impl<T> Place for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Place for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

/// The MPI library's own functions, for the tracer's own needs, with the arguments that the table gives them.
///
/// # Safety
/// Of all of them: MPI is initialised and not finalised (but for the questions that may always be asked), handles are
/// those of live objects, and places are as large as MPI fills or reads them.
#[expect(non_snake_case, reason = "the functions bear the names MPI gives them")]
#[expect(dead_code, reason = "the tracer needs few of them")]
#[expect(clippy::too_many_arguments, reason = "MPI's functions have so many")]
#[expect(clippy::undocumented_unsafe_blocks, reason = "generated: see above")]
pub mod own {
    include!(concat!(env!("OUT_DIR"), "/own.rs"));
}
