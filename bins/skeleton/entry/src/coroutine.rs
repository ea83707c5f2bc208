//! A stack of its own for a rank: it can be left in the middle of anything, and gone back to, or not.
//!
//! Ending a rank is leaving it for good, so `exit`, `MPI_Abort` and a crash need nothing from the program's frames. Nothing
//! unwinds through them.

use std::arch::naked_asm;
use std::ptr;

/// Memory for stacks: reserved at once, used as it is touched.
pub struct Stacks {
    base: *mut u8,
    each: usize,
    count: usize,
}

/// A page below each stack that may not be touched.
const GUARD: usize = 4096;

impl Stacks {
    /// So many stacks of so many bytes.
    pub fn reserve(count: usize, each: usize) -> std::io::Result<Stacks> {
        let each = each.next_multiple_of(4096) + GUARD;
        // SAFETY: a new mapping, which touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                each * count,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let stacks = Stacks { base: base.cast(), each, count };
        // The kernel keeps a limited number of mappings, so many ranks share what lies below them.
        for index in (0..count).filter(|_| count <= 4096) {
            // SAFETY: a page of the mapping made above.
            unsafe { libc::mprotect(stacks.base.add(index * each).cast(), GUARD, libc::PROT_NONE) };
        }
        Ok(stacks)
    }

    /// The upper end of one of them, aligned as the calling convention wants.
    pub fn top(&self, index: usize) -> usize {
        assert!(index < self.count, "a stack for each rank");
        self.base as usize + (index + 1) * self.each
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: what `reserve` mapped; nobody runs on it any more.
        unsafe { libc::munmap(self.base.cast(), self.each * self.count) };
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
