//! The program's `dlopen`, `dlmopen` and `dlsym`: what comes into the process, and what is looked up in it.
//!
//! A library is not notified when another is loaded, so we stand before them. Our names come back in time for the new object
//! to be bound to them (`exports`); what was bound while they were hidden is led to us once it is loaded (`references`).

use crate::binding::{self, When};
use crate::cancellation::Uncancelled;
use crate::simulator::copies;
use crate::{exports, loader, process, references};
use kizami_records::Unrecorded;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};

/// The program's `dlopen`: looks at what is to be loaded, then goes on to [`load`], or, where the loader must know the
/// caller's search path, to the real one with everything untouched, also the return address.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        before = sym before_dlopen,
    )
}

/// Shows our names if it is time; returns the address of what is to load the file.
extern "C" fn before_dlopen(file: *const c_char) -> *mut c_void {
    let _uncancelled = Uncancelled::new();
    // SAFETY: the program passes a C string or null.
    let Some(file) = (!file.is_null()).then(|| unsafe { CStr::from_ptr(file) }) else {
        return loader::address();
    };
    if copies::is_program_of_rank(file) {
        return copies::load as *mut c_void;
    }
    exports::show_in_time_for(file);
    if !exports::are_wanted() {
        return loader::address();
    }
    if is_found_without_caller(file) {
        load as *mut c_void
    } else {
        binding::note_unwatched();
        loader::address()
    }
}

/// Whether the loader finds a file for any caller: where the caller matters, it must see the caller's return address.
fn is_found_without_caller(file: &CStr) -> bool {
    let file = file.to_bytes();
    file.contains(&b'/') && !file.contains(&b'$')
}

/// Loads a file, and looks at what came with it.
unsafe extern "C-unwind" fn load(file: *const c_char, mode: c_int) -> *mut c_void {
    // SAFETY: the caller's own arguments.
    let library = unsafe { loader::open()(file, mode) };
    if !library.is_null() {
        exports::show_if_loaded();
        binding::look(When::Loaded);
        // What we could not find is no error of the program's.
        // SAFETY: gives or forgets the thread's last error.
        unsafe { libc::dlerror() };
    }
    library
}

/// The program's `dlmopen`: what is loaded into another name space has libraries of its own, which cannot be seen from here.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlmopen(space: c_long, file: *const c_char, mode: c_int) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "call {before}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        before = sym before_dlmopen,
    )
}

/// Says what will not be recorded; returns the address of the real `dlmopen`.
extern "C" fn before_dlmopen(space: c_long, file: *const c_char) -> *mut c_void {
    const BASE: c_long = 0;
    let _uncancelled = Uncancelled::new();
    if exports::are_wanted() && space != BASE && !file.is_null() {
        // SAFETY: the program passes a C string.
        let file = unsafe { CStr::from_ptr(file) }.to_string_lossy().into_owned();
        process::note_unrecorded(Unrecorded::Namespace, file);
    }
    loader::symbol(libc::RTLD_NEXT, c"dlmopen").unwrap_or(std::ptr::null_mut())
}

/// The program's `dlsym`: what was loaded unwatched is looked at before it is used; then it goes on to the real one with
/// everything untouched, also the return address, by which the loader knows what comes next.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        before = sym before_dlsym,
    )
}

/// Returns the address of what is to find a function.
extern "C" fn before_dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    binding::before_use(|| {
        exports::show_if_loaded();
    });
    // SAFETY: the program passes a C string.
    let is_mpi = !name.is_null() && references::is_mpi(unsafe { CStr::from_ptr(name) });
    let by_order = [libc::RTLD_DEFAULT, libc::RTLD_NEXT].contains(&handle);
    if is_mpi && !by_order && exports::are_shown() { find as *mut c_void } else { loader::symbol_address() }
}

/// Finds an MPI function in a library, which is ours if that is what ours would call.
unsafe extern "C" fn find(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's own string.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(found) = loader::symbol(library, name) else { return std::ptr::null_mut() };
    let ours = references::ours_instead_of(name, found as usize);
    ours.map_or(found, |ours| ours as *mut c_void)
}
