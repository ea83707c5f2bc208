//! Crashes of a program, caught: the rank ends, and nobody else. And system calls that the kernel was told to deny.

use crate::files::open_to_read;
use crate::process::{CURRENT, Stop, current};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];
const STACK_BYTES: usize = 64 << 10;

/// While it lives, crashes of ranks of this thread end the rank.
pub struct Traps {
    before: [libc::sigaction; 5],
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

/// A system call that a rank may not make: where it is noted before the process ends.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Denied(AtomicU64);

impl Denied {
    fn note(&self, call: u32, rank: u32) {
        self.0.store(u64::from(call) << 32 | u64::from(rank), Ordering::Relaxed);
    }

    /// The call's number and the rank, if there was one. Call 0, which is `read`, is never denied.
    pub fn get(&self) -> Option<(u32, u32)> {
        let noted = self.0.load(Ordering::Relaxed);
        (noted != 0).then_some(((noted >> 32) as u32, noted as u32))
    }
}

static DENIED: AtomicPtr<Denied> = AtomicPtr::new(ptr::null_mut());
/// A descriptor of `/dev/null`, open for writing.
static NOWHERE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);

/// Answers system calls that are denied by a signal. A file that a library opens for writing is `nowhere`, an open `/dev/null`.
/// Any other call of a rank is noted, and ends the process: the rank may be in the middle of anything. Code that is no rank's
/// is told that it may not.
pub fn answer_system_calls(denied: &'static Denied, nowhere: i32) {
    DENIED.store(ptr::from_ref(denied).cast_mut(), Ordering::Relaxed);
    NOWHERE.store(nowhere, Ordering::Relaxed);
    // SAFETY: a plain C structure, filled in before it is used.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = answer as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &action, ptr::null_mut());
    }
}

extern "C" fn answer(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives the context of the thread: the call's number is where its result goes. Paths are those the call
    // was made with.
    unsafe {
        let errno = *libc::__errno_location();
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let of = |register: i32| registers[register as usize];
        let call = of(libc::REG_RAX);
        let (first, second, third) = (of(libc::REG_RDI), of(libc::REG_RSI), of(libc::REG_RDX));
        let result = match call {
            libc::SYS_open => opened(libc::AT_FDCWD, first as *const _, second as i32),
            libc::SYS_openat => opened(first as i32, second as *const _, third as i32),
            _ => {
                let process = CURRENT.get();
                if !process.is_null() {
                    let denied = DENIED.load(Ordering::Relaxed);
                    (*denied).note(call as u32, (*process).rank);
                    libc::_exit(1);
                }
                -i64::from(libc::EPERM)
            }
        };
        registers[libc::REG_RAX as usize] = result;
        *libc::__errno_location() = errno;
    }
}

/// What a call to open a file for writing gives.
unsafe fn opened(folder: i32, path: *const libc::c_char, flags: i32) -> i64 {
    // SAFETY: the path of a system call; a wrong one would have failed there, and crashes the rank here.
    let file = unsafe { open_to_read(folder, path, flags) };
    // SAFETY: descriptors of this process.
    unsafe {
        if file < 0 {
            return -i64::from(*libc::__errno_location());
        }
        if flags & libc::O_ACCMODE == libc::O_WRONLY {
            libc::close(file);
            return i64::from(libc::fcntl(NOWHERE.load(Ordering::Relaxed), libc::F_DUPFD_CLOEXEC, 0));
        }
    }
    i64::from(file)
}
