//! What the loader would bind a module's reference to.
//!
//! The order of the search is the module's own: the global scope first, then what it was loaded with, or the other way round
//! (`RTLD_DEEPBIND`). Only the loader knows it, and gives it to the caller of `dlsym(RTLD_DEFAULT, ..)`, by where that call
//! returns to. So the call is made with a return address inside the module: that of any `ret` instruction there, which
//! returns to us. For x86-64.

use super::symbol_address;
use std::arch::{asm, naked_asm};
use std::ffi::{CStr, c_void};
use std::ops::Range;

/// The address that a module gets for a name, of this version if it asks for one; none if that cannot be found out.
pub fn from_module(code: &[Range<usize>], name: &CStr, version: Option<&CStr>) -> Option<usize> {
    if has_shadow_stack() {
        // The processor would refuse to return to an address without a call.
        return None;
    }
    let gadget = code.iter().find_map(return_instruction)?;
    let found = |function: usize, version: *const c_void| {
        // SAFETY: dlsym or dlvsym with valid names; the gadget is a `ret` in a loaded module that the caller holds.
        unsafe {
            call_from(libc::RTLD_DEFAULT, name.as_ptr().cast(), version, function as *const c_void, gadget)
        }
    };
    let with_version = version.map_or(std::ptr::null_mut(), |version| {
        found(libc::dlvsym as *const () as usize, version.as_ptr().cast())
    });
    // An object without versions has the name all the same.
    let address = if with_version.is_null() {
        found(symbol_address() as usize, std::ptr::null())
    } else {
        with_version
    };
    (!address.is_null()).then_some(address as usize)
}

/// Where in a range of code a `ret` stands.
fn return_instruction(code: &Range<usize>) -> Option<usize> {
    const RET: u8 = 0xc3;
    // SAFETY: readable code of a loaded module that the caller holds.
    let bytes = unsafe { std::slice::from_raw_parts(code.start as *const u8, code.len()) };
    bytes.iter().position(|byte| *byte == RET).map(|at| code.start + at)
}

/// Calls a function of up to three arguments with `gadget` as the return address.
#[unsafe(naked)]
unsafe extern "C" fn call_from(
    first: *const c_void,
    second: *const c_void,
    third: *const c_void,
    function: *const c_void,
    gadget: usize,
) -> *mut c_void {
    // Two words more on the stack leave it aligned as at our own entry, which is how a function wants it.
    naked_asm!("lea rax, [rip + 2f]", "push rax", "push r8", "jmp rcx", "2:", "ret")
}

/// Whether the thread's returns are checked against a second stack.
fn has_shadow_stack() -> bool {
    let pointer: u64;
    // SAFETY: without a shadow stack, or on a processor that knows none, the instruction does nothing.
    unsafe { asm!("xor {0:e}, {0:e}", "rdsspq {0}", out(reg) pointer, options(nomem, nostack)) };
    pointer != 0
}
