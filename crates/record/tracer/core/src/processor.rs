//! What only the processor provides: its time-stamp counter and its performance counters.
//!
//! Only x86-64 Linux is supported so far.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the tracer supports x86-64 Linux only; see docs: supported systems");

use std::arch::asm;

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

/// What stands before the address at which a restartable sequence is aborted, as glibc has told the kernel.
pub const RSEQ_SIGNATURE: u32 = 0x5305_3053;

/// Where the C library keeps what belongs to the calling thread.
pub fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    // SAFETY: on Linux the word at this place is its own address, in every thread.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(pure, readonly, nostack)) };
    pointer
}

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
