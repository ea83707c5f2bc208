//! What every thread has at hand, and the exported stubs.
//!
//! Rust's own thread-locals in a shared library cost a function call; this block is reached by two loads
//! (initial-exec model), which is possible because a preloaded library is there when the process starts.
//! For x86-64 Linux, as `kizami_tracer_core::processor`.

use kizami_parallel::Presence;
use std::arch::{asm, global_asm};
use std::ffi::c_void;

/// What every thread of the process has, zero when it starts.
#[repr(C)]
pub struct ThreadLocal {
    /// What the tracer is doing on this thread.
    pub state: State,
    /// Stack pointer at the entry of the MPI call last made: it points to the return address.
    pub frame: *const usize,
    /// Frame pointer at that moment.
    pub frame_pointer: usize,
    /// The thread's recorder, null until its first MPI call: see [`crate::thread::Thread::of`].
    pub thread: *mut c_void,
    /// Number of the function last called by its profiling name, until [`crate::real`] has asked for it.
    pub profiling: u32,
    /// Whether it is inside the table of requests, as the one thread that uses it.
    pub presence: Presence,
}

/// What the tracer is doing on a thread. Inside a call it is where the return address of that call lies, so that it costs no
/// more to say which call it is.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State(usize);

impl State {
    /// No MPI call was made on this thread yet: its memory is zero.
    pub const FRESH: State = State(0);
    /// Ready to record the next call.
    pub const READY: State = State(1);
    /// The tracer does something of its own, which is no call.
    pub const BUSY: State = State(2);
    /// Not recording, for good.
    pub const OFF: State = State(3);
    /// Was ready when it called `vfork`: it may be a child that uses its parent's memory.
    pub const VFORKED: State = State(4);

    /// Inside the call whose return address lies there: what happens now is the MPI library's own business.
    #[inline(always)]
    pub fn inside(frame: *const usize) -> State {
        State(frame as usize)
    }

    /// Where the return address lies of the call that the thread is inside, if it is.
    pub fn frame(self) -> Option<*const usize> {
        (self.0 > State::VFORKED.0).then_some(self.0 as *const usize)
    }
}

pub const FRAME_OFFSET: usize = std::mem::offset_of!(ThreadLocal, frame);
pub const POINTER_OFFSET: usize = std::mem::offset_of!(ThreadLocal, frame_pointer);
pub const PROFILING_OFFSET: usize = std::mem::offset_of!(ThreadLocal, profiling);

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".globl kizami_thread_local",
    ".hidden kizami_thread_local",
    ".type kizami_thread_local, @object",
    ".p2align 6",
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
                "mov qword ptr fs:[r11 + {pointer}], rbp",
                "jmp {body}",
                frame = const $crate::arch::FRAME_OFFSET,
                pointer = const $crate::arch::POINTER_OFFSET,
                body = sym $body,
            )
        }

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $profiling_name() {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + kizami_thread_local@GOTTPOFF]",
                "mov qword ptr fs:[r11 + {frame}], rsp",
                "mov qword ptr fs:[r11 + {pointer}], rbp",
                "mov dword ptr fs:[r11 + {profiling}], {op}",
                "jmp {body}",
                frame = const $crate::arch::FRAME_OFFSET,
                pointer = const $crate::arch::POINTER_OFFSET,
                profiling = const $crate::arch::PROFILING_OFFSET,
                op = const $op,
                body = sym $body,
            )
        }
    };
}
pub(crate) use export;
