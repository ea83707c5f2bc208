//! The helper thread: prepares chunks and writes full ones out while the program computes.
//!
//! It exists only once there is something for it to do, and only where it has a core: see [`has_a_core`].

use crate::stream::{Stream, lock};
use crate::{launcher, loader, process};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, OnceLock};

/// What the helper does.
pub enum Job {
    /// Write a full chunk out.
    Drain {
        /// Whose.
        stream: &'static Stream,
        /// Its place in the window.
        index: usize,
    },
    /// Fault in the pages of a chunk of a large window.
    Populate {
        /// Whose.
        stream: &'static Stream,
        /// Its place in the window.
        index: usize,
    },
}

struct Helper {
    jobs: Mutex<VecDeque<Job>>,
    wake: Condvar,
}

static HELPER: OnceLock<Option<&'static Helper>> = OnceLock::new();

/// Whether there is a core for the helper beside those of the ranks. If the number of ranks is unknown, there is.
/// What else the program's processes do with the cores, like computing in several threads, is not known.
pub fn has_a_core() -> bool {
    static HAS_A_CORE: OnceLock<bool> = OnceLock::new();
    *HAS_A_CORE.get_or_init(|| launcher::ranks_here().is_none_or(|ranks| ranks < cores()))
}

/// Cores of this host that are switched on.
pub fn cores() -> u32 {
    // SAFETY: a plain question.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.clamp(1, i64::from(u32::MAX)) as u32
}

/// Gives the helper something to do. Where no thread could be started, the owner of a chunk drains it when it
/// needs it, and pages fault in when they are touched.
pub fn hand_over(job: Job) {
    if let Some(helper) = HELPER.get_or_init(start_helper) {
        lock(&helper.jobs).push_back(job);
        helper.wake.notify_one();
    }
}

/// Of the helper's stack.
const STACK_BYTES: usize = 128 << 10;

fn start_helper() -> Option<&'static Helper> {
    let helper: &'static Helper =
        Box::leak(Box::new(Helper { jobs: Mutex::new(VecDeque::new()), wake: Condvar::new() }));
    // The program's signals are the program's: the helper must never be the thread that gets one.
    // SAFETY: plain calls on local signal sets.
    let old = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        old
    };
    let started = start_thread(helper);
    // SAFETY: restores what was read above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut()) };
    started.then_some(helper)
}

/// Starts the thread by the C library alone: the standard one ends the process where there is no memory for a thread.
fn start_thread(helper: &'static Helper) -> bool {
    let helper = std::ptr::from_ref(helper).cast_mut().cast();
    // SAFETY: attributes and thread are local and made before they are used; the helper lives for ever.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_attr_init(&mut attributes) != 0 {
            return false;
        }
        let stack = STACK_BYTES + least_stack(&attributes);
        let mut thread: libc::pthread_t = std::mem::zeroed();
        let started = libc::pthread_attr_setstacksize(&mut attributes, stack) == 0
            && libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED) == 0
            && libc::pthread_create(&mut thread, &attributes, begin, helper) == 0;
        libc::pthread_attr_destroy(&mut attributes);
        started
    }
}

/// What a stack has before a thread can use any of it: the C library puts thread-local variables of the program there.
fn least_stack(attributes: &libc::pthread_attr_t) -> usize {
    type LeastStack = unsafe extern "C" fn(*const libc::pthread_attr_t) -> libc::size_t;
    let Some(found) = loader::symbol(libc::RTLD_DEFAULT, c"__pthread_get_minstack") else { return 0 };
    // SAFETY: the function of that name in the C library has this form and only asks.
    let least = unsafe { std::mem::transmute::<*mut libc::c_void, LeastStack>(found)(attributes) };
    least.next_multiple_of(4096)
}

extern "C" fn begin(helper: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `start_thread` was given a helper that lives for ever; the name ends with a zero.
    let helper = unsafe {
        libc::pthread_setname_np(libc::pthread_self(), c"kizami".as_ptr());
        &*helper.cast::<Helper>()
    };
    // Whatever goes wrong here, the program goes on.
    let _ = std::panic::catch_unwind(|| help(helper));
    std::ptr::null_mut()
}

fn help(helper: &'static Helper) {
    leave_the_core();
    loop {
        let mut jobs = lock(&helper.jobs);
        while jobs.is_empty() {
            jobs = helper.wake.wait(jobs).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        let job = jobs.pop_front();
        drop(jobs);
        if process::is_forked() {
            continue;
        }
        match job {
            Some(Job::Drain { stream, index }) => stream.drain(index),
            Some(Job::Populate { stream, index }) => stream.populate(index),
            None => {}
        }
    }
}

/// Launchers bind a rank to a core; the helper is to use another. Where it may not, it stays.
fn leave_the_core() {
    // SAFETY: a set of all cores on the stack, for this thread alone.
    unsafe {
        let mut all: libc::cpu_set_t = std::mem::zeroed();
        (0..libc::CPU_SETSIZE as usize).for_each(|core| libc::CPU_SET(core, &mut all));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &all);
    }
}
