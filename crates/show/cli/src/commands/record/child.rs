//! Running the application as if nobody were in between.
//!
//! Its streams are ours, untouched. Signals that come to us alone are passed on to it; those that a terminal
//! sends to the whole foreground group reach it by themselves, and must not come twice (a second interrupt
//! makes Open MPI give up on its ranks). We live on to seal what was recorded. Its exit code becomes ours.

use super::deaths::monotonic_ns;
use libc::{c_int, siginfo_t};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

const FORWARDED: [c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

static CHILD: AtomicI32 = AtomicI32::new(0);
static WAITING_SIGNAL: AtomicI32 = AtomicI32::new(0);
/// When the first signal came, in nanoseconds of `CLOCK_MONOTONIC`; 0 if none did.
static INTERRUPTED_NS: AtomicU64 = AtomicU64::new(0);

/// When somebody interrupted the application by a signal to us, if somebody did.
pub fn interrupted_ns() -> Option<u64> {
    Some(INTERRUPTED_NS.load(Ordering::SeqCst)).filter(|ns| *ns > 0)
}

/// Runs a command with some variables set, or removed where there is no value; returns when it has ended.
pub fn run(command: &[OsString], variables: &[(&str, Option<OsString>)]) -> io::Result<ExitStatus> {
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]);
    for (name, value) in variables {
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    let previous = forward_signals();
    let status = process.spawn().and_then(|mut child| {
        CHILD.store(child.id() as i32, Ordering::SeqCst);
        let early = WAITING_SIGNAL.swap(0, Ordering::SeqCst);
        if early != 0 {
            // SAFETY: plain system call; the child has not been waited for, so its number is still its own.
            unsafe { libc::kill(child.id() as i32, early) };
        }
        child.wait()
    });
    CHILD.store(0, Ordering::SeqCst);
    restore_signals(previous);
    status
}

/// The exit code that tells how a process ended: its own, or 128 and the signal that killed it.
pub fn exit_code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => (128 + signal) as u8,
        (None, None) => 1,
    }
}

/// The exit code of a command that could not be run, as shells have it.
pub fn start_failure_code(error: &io::Error) -> u8 {
    if error.kind() == ErrorKind::NotFound { 127 } else { 126 }
}

extern "C" fn pass_on(signal: c_int, info: *mut siginfo_t, _context: *mut libc::c_void) {
    // Reading the clock is allowed in a handler.
    let now_ns = monotonic_ns();
    let _ = INTERRUPTED_NS.compare_exchange(0, now_ns, Ordering::SeqCst, Ordering::SeqCst);
    // SAFETY: the kernel hands a valid structure to a handler installed with SA_SIGINFO.
    let from_terminal = unsafe { (*info).si_code } == libc::SI_KERNEL;
    if from_terminal {
        return;
    }
    match CHILD.load(Ordering::SeqCst) {
        0 => WAITING_SIGNAL.store(signal, Ordering::SeqCst),
        child => {
            // SAFETY: `kill` may be called in a signal handler.
            unsafe { libc::kill(child, signal) };
        }
    }
}

/// What a first signal is answered while the recording is sealed.
const STILL_SEALING: &[u8] =
    b"kizami: sealing   the recording is being sealed; a second signal ends that, and kizami seal does it later\n";

extern "C" fn ask_for_patience(signal: c_int, _info: *mut siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: both calls may be made in a signal handler. From now on the signal does what it always does.
    unsafe {
        libc::write(libc::STDERR_FILENO, STILL_SEALING.as_ptr().cast(), STILL_SEALING.len());
        libc::signal(signal, libc::SIG_DFL);
    }
}

/// Keeps the first signal from ending a sealing, for as long as this value lives: whoever interrupts a program twice
/// means the program. A second one ends it, and nothing is lost: the segments are there until the tables are.
pub struct Patience(Saved);

impl Patience {
    pub fn begin() -> Patience {
        Patience(handle(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP], ask_for_patience))
    }
}

impl Drop for Patience {
    fn drop(&mut self) {
        restore_signals(std::mem::take(&mut self.0));
    }
}

type Saved = Vec<(c_int, libc::sigaction)>;

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut libc::c_void);

fn forward_signals() -> Saved {
    handle(&FORWARDED, pass_on)
}

/// A signal that is ignored (`nohup`) stays ignored, here and in the application.
fn handle(signals: &[c_int], handler: Handler) -> Saved {
    let mut saved = Vec::new();
    for signal in signals.iter().copied() {
        // SAFETY: both structures are valid for the calls, and the handler only does what a handler may.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 || old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&mut new.sa_mask);
            if libc::sigaction(signal, &new, std::ptr::null_mut()) == 0 {
                saved.push((signal, old));
            }
        }
    }
    saved
}

fn restore_signals(saved: Saved) {
    for (signal, old) in saved {
        // SAFETY: `old` is what the same call returned before.
        unsafe { libc::sigaction(signal, &old, std::ptr::null_mut()) };
    }
}
