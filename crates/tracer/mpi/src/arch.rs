//! What every thread has at hand, and the exported stubs.
//!
//! Rust's own thread-locals in a shared library cost a function call; this block is reached by two loads
//! (initial-exec model), which is possible because a preloaded library is there when the process starts.
//! For x86-64 Linux, as `kizami_tracer_core::processor`.

use crate::biased::Presence;
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
    /// Number of the function last called by its profiling name, until [`crate::real`] has asked for it.
    pub profiling: u32,
    /// Whether it is inside the table of requests, as the one thread that uses it.
    pub presence: Presence,
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
    /// Was ready when it called `vfork`: it may be a child that uses its parent's memory.
    Vforked = 4,
}

pub const FRAME_OFFSET: usize = std::mem::offset_of!(ThreadLocal, frame);
pub const PROFILING_OFFSET: usize = std::mem::offset_of!(ThreadLocal, profiling);

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

/// Exports one MPI function under both its names; the stub notes where it was called from and goes on to
/// the body with all arguments untouched. Only the profiling name, which programs in C seldom call, says which it was:
/// that matters where another wrapper stands behind us.
macro_rules! export {
    ($name:ident, $profiling_name:ident, $op:literal, $body:path) => {
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

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $profiling_name() {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + kizami_thread_local@GOTTPOFF]",
                "mov qword ptr fs:[r11 + {frame}], rsp",
                "mov dword ptr fs:[r11 + {profiling}], {op}",
                "jmp {body}",
                frame = const $crate::arch::FRAME_OFFSET,
                profiling = const $crate::arch::PROFILING_OFFSET,
                op = const $op,
                body = sym $body,
            )
        }
    };
}
pub(crate) use export;
