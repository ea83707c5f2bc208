//! What every thread has at hand, and the stubs that calls come to: as in `kizami-tracer-mpi`, for the same reasons.

use crate::recorder::Recorder;
use std::arch::{asm, global_asm};

/// What every thread of the process has, zero when it starts.
#[repr(C)]
pub struct Local {
    /// The thread's recorder, null where it has none.
    pub recorder: *mut Recorder,
    /// Stack pointer at the entry of the function last called: it points to the return address.
    pub frame: *const usize,
    /// Whether it is to have none.
    pub off: bool,
}

pub const FRAME_OFFSET: usize = std::mem::offset_of!(Local, frame);

global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".globl kizami_openmp_local",
    ".hidden kizami_openmp_local",
    ".type kizami_openmp_local, @object",
    ".p2align 5",
    "kizami_openmp_local:",
    ".zero {size}",
    ".size kizami_openmp_local, {size}",
    ".text",
    size = const size_of::<Local>(),
);

/// This thread's block.
#[inline(always)]
pub fn get() -> *mut Local {
    let block: *mut Local;
    // SAFETY: reads the thread pointer and the block's offset from it; both exist for every thread.
    unsafe {
        asm!(
            "mov {block}, qword ptr fs:[0]",
            "add {block}, qword ptr [rip + kizami_openmp_local@GOTTPOFF]",
            block = out(reg) block,
            options(pure, readonly, nostack),
        );
    }
    block
}

/// The return address of the function that this thread has just entered by a stub.
#[inline(always)]
pub fn return_address() -> usize {
    // SAFETY: the stub noted where the return address of this very call lies.
    unsafe { *(*get()).frame }
}

/// A stub for a function: it notes where it was called from and goes on to the body with all arguments untouched.
macro_rules! stub {
    ($stub:ident, $body:path) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $stub() {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + kizami_openmp_local@GOTTPOFF]",
                "mov qword ptr fs:[r11 + {frame}], rsp",
                "jmp {body}",
                frame = const $crate::local::FRAME_OFFSET,
                body = sym $body,
            )
        }
    };
}
pub(crate) use stub;
