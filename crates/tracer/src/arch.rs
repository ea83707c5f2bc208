//! What depends on the processor: thread-local storage, the time-stamp counter, and the exported stubs.
//!
//! Rust's own thread-locals in a shared library cost a function call; this block is reached by two loads
//! (initial-exec model), which is possible because a preloaded library is there when the process starts.
//! Only x86-64 Linux is supported so far.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the tracer supports x86-64 Linux only; see docs: supported systems");

use crate::thread::Thread;
use std::arch::{asm, global_asm};

/// What every thread of the process has, zero when it starts.
#[repr(C)]
pub struct ThreadLocal {
    /// What the tracer is doing on this thread.
    pub state: State,
    /// Stack pointer at the entry of the MPI call last made: it points to the return address.
    pub frame: *const usize,
    /// The thread's recorder, null until its first MPI call.
    pub thread: *mut Thread,
}

/// What the tracer is doing on a thread.
#[repr(u64)]
#[derive(Clone, Copy, PartialEq, Eq)]
#[expect(dead_code, reason = "threads are born `Fresh`: their memory is zero")]
pub enum State {
    /// No MPI call was made on this thread yet.
    Fresh = 0,
    /// Ready to record the next call.
    Ready = 1,
    /// Inside a call: what happens now is the MPI library's own business.
    Inside = 2,
    /// Not recording, for good.
    Off = 3,
}

pub const FRAME_OFFSET: usize = std::mem::offset_of!(ThreadLocal, frame);

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".globl kizami_thread_local",
    ".hidden kizami_thread_local",
    ".type kizami_thread_local, @object",
    ".p2align 5",
    "kizami_thread_local:",
    ".zero {size}",
    ".size kizami_thread_local, {size}",
    ".text",
    size = const size_of::<ThreadLocal>(),
);

/// This thread's block.
#[inline(always)]
pub fn thread_local() -> *mut ThreadLocal {
    let block: *mut ThreadLocal;
    // SAFETY: reads the thread pointer and the block's offset from it; both exist for every thread.
    unsafe {
        asm!(
            "mov {block}, qword ptr fs:[0]",
            "add {block}, qword ptr [rip + kizami_thread_local@GOTTPOFF]",
            block = out(reg) block,
            options(pure, readonly, nostack),
        );
    }
    block
}

/// The time-stamp counter, as it is: no serialisation, which would cost more than the call it times.
#[inline(always)]
pub fn time_stamp() -> u64 {
    // SAFETY: every x86-64 has the instruction; processes that forbid it are not MPI programs.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Whether the counter runs at one rate, whatever the processor's frequency and sleep states.
pub fn time_stamp_is_invariant() -> bool {
    let highest = std::arch::x86_64::__cpuid(0x8000_0000).eax;
    highest >= 0x8000_0007 && std::arch::x86_64::__cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// Exports one MPI function under both its names; the stub notes where it was called from and goes on to
/// the body with all arguments untouched.
macro_rules! export {
    ($name:ident, $profiling_name:ident, $body:path) => {
        $crate::arch::export!(@one $name, $body);
        $crate::arch::export!(@one $profiling_name, $body);
    };
    (@one $name:ident, $body:path) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + kizami_thread_local@GOTTPOFF]",
                "mov qword ptr fs:[r11 + {frame}], rsp",
                "jmp {body}",
                frame = const $crate::arch::FRAME_OFFSET,
                body = sym $body,
            )
        }
    };
}
pub(crate) use export;

/// One of the processor's performance counters, as `rdpmc` gives it.
///
/// # Safety
/// The kernel must have said that this counter may be read, or the processor raises a fault.
pub unsafe fn performance_counter(index: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: by contract; changes nothing but the two registers.
    unsafe { asm!("rdpmc", in("ecx") index, out("eax") low, out("edx") high, options(nomem, nostack)) };
    u64::from(high) << 32 | u64::from(low)
}
