//! Crashes of a program, caught: the rank ends, and nobody else.

use crate::process::{CURRENT, Stop, current};
use std::ptr;

const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
const STACK_BYTES: usize = 64 << 10;

/// While it lives, crashes of ranks of this thread end the rank.
pub struct Traps {
    before: [libc::sigaction; 4],
    stack_before: libc::stack_t,
    stack: Vec<u8>,
}

impl Traps {
    /// Sets them.
    pub fn set() -> Traps {
        let mut stack = vec![0u8; STACK_BYTES];
        // SAFETY: plain C structures, filled in before they are used; the stack lives as long as it is set.
        unsafe {
            let own = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
            let mut stack_before: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(&own, &mut stack_before);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = caught as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let before = SIGNALS.map(|signal| {
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &action, &mut before);
                before
            });
            Traps { before, stack_before, stack }
        }
    }
}

impl Drop for Traps {
    fn drop(&mut self) {
        // SAFETY: what was set before is set again.
        unsafe {
            for (signal, before) in SIGNALS.iter().zip(&self.before) {
                libc::sigaction(*signal, before, ptr::null_mut());
            }
            libc::sigaltstack(&self.stack_before, ptr::null_mut());
        }
        self.stack.clear();
    }
}

/// Lets the thread go on in [`ended`], on the rank's own stack, which nobody will use again.
extern "C" fn caught(signal: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let process = CURRENT.get();
    if process.is_null() {
        // Not a program's fault: as if nobody had caught it.
        // SAFETY: the default action, for the instruction that is tried again.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    }
    // SAFETY: the kernel gives the context of the interrupted thread, and goes on with what we leave there.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = ended as *const () as i64;
        registers[libc::REG_RDI as usize] = i64::from(signal);
        registers[libc::REG_RSP as usize] = (*process).stack_top as i64 - 8;
    }
}

extern "C" fn ended(signal: i32) {
    // SAFETY: the rank that crashed is the current one.
    unsafe { current() }.end(Stop::Crashed(signal));
}
