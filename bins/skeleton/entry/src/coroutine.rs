//! A stack of its own for a rank: it can be left in the middle of anything, and gone back to, or not.
//!
//! Ending a rank is leaving it for good, so `exit`, `MPI_Abort` and a crash need nothing from the program's frames. Nothing
//! unwinds through them.

use crate::reserved::Reserved;
use std::arch::naked_asm;

/// Memory for stacks.
pub struct Stacks(Reserved);

/// A page below each stack that may not be touched.
const GUARD: usize = 4096;

impl Stacks {
    /// So many stacks of so many bytes.
    pub fn reserve(count: usize, each: usize) -> std::io::Result<Stacks> {
        let stacks = Stacks(Reserved::new(count, each.next_multiple_of(4096) + GUARD)?);
        // The kernel keeps a limited number of mappings, so many ranks share what lies below them.
        for index in (0..count).filter(|_| count <= 4096) {
            let (begin, _) = stacks.0.part(index);
            // SAFETY: a page of the mapping made above.
            unsafe { libc::mprotect(begin as *mut libc::c_void, GUARD, libc::PROT_NONE) };
        }
        Ok(stacks)
    }

    /// The upper end of one of them, aligned as the calling convention wants.
    pub fn top(&self, index: usize) -> usize {
        self.0.part(index).1
    }
}

/// A stack pointer to switch to for the first time: `entry` begins there, and must not return.
///
/// # Safety
/// `top` must be the upper end of a stack that nobody uses.
pub unsafe fn prepare(top: usize, entry: extern "C" fn() -> !) -> usize {
    let slots = top as *mut usize;
    // SAFETY: the stack is ours by contract, and larger than eight words.
    unsafe {
        slots.sub(1).write(0);
        slots.sub(2).write(entry as usize);
        for register in 3..=8 {
            slots.sub(register).write(0);
        }
        slots.sub(8) as usize
    }
}

/// Goes on where `to` was left; what comes back to here is stored in `from`.
///
/// # Safety
/// `to` must be what this function or [`prepare`] stored, and be used once.
#[unsafe(naked)]
pub unsafe extern "C" fn switch(from: *mut usize, to: usize) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, rsi",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}
