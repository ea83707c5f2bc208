//! How long a thread could have run, but had no core.
//!
//! The kernel adds this time up for each thread (`/proc/thread-self/schedstat`, the second number): after a preemption, and
//! between a wake-up and the moment at which the thread runs again. Reading it takes some microseconds, too long for each
//! call. Whether it can have changed is known in a nanosecond: in the area that glibc registers for restartable sequences
//! (`rseq`), the kernel clears the field `rseq_cs` whenever the thread leaves its core outside the sequence that is named
//! there. `NOWHERE` is a sequence in which no thread ever is. Where nothing is registered (glibc before 2.35), the time is
//! read at intervals.
//!
//! It promises to cost at most one part in fifty of the time, however often the thread leaves its core; what passes between two
//! readings is then counted with a later call. It does not know why the thread had no core.

use crate::cancellation::Uncancelled;
use crate::{clock, processor, simulator};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// Readings a second, at most.
const MOST_READINGS: u64 = 5_000;
/// The same where it is not known whether the thread has left its core.
const MOST_READINGS_UNASKED: u64 = 1_000;

/// About so many: how often it is read need not be exact.
const TIME_STAMPS_PER_SECOND: u64 = 2_500_000_000;

/// The time one thread had no core.
pub struct OffCore {
    /// What the kernel clears when the thread leaves its core.
    mark: *const AtomicU64,
    /// Ticks between two readings, at least.
    interval_ticks: u64,
    /// From when on it may be read again.
    due_ticks: u64,
    /// As the kernel had it when it was read last.
    waited_ns: u64,
    /// Between the calls recorded last, and the present one.
    before_ns: u64,
    /// In the present call.
    inside_ns: u64,
    /// What reading took meanwhile.
    cost_ticks: u64,
}

/// The kernel's `struct rseq_cs`.
#[repr(C, align(32))]
struct Sequence {
    version: u32,
    flags: u32,
    start: *const u32,
    length: u64,
    abort: *const u32,
}

// SAFETY: nobody writes to it, and it points to a static.
unsafe impl Sync for Sequence {}

/// Before the address at which a sequence would be aborted, the kernel wants to find this.
static SIGNATURE: [u32; 3] = [processor::RSEQ_SIGNATURE, 0, 0];

/// A sequence of no length, outside all code.
static NOWHERE: Sequence = Sequence {
    version: 0,
    flags: 0,
    start: (&raw const SIGNATURE).cast::<u32>().wrapping_add(2),
    length: 0,
    abort: (&raw const SIGNATURE).cast::<u32>().wrapping_add(1),
};

/// Stands where nothing is registered: the thread may always have left its core.
static UNKNOWN: AtomicU64 = AtomicU64::new(0);

impl OffCore {
    /// Begins for the calling thread. None if the kernel does not count the time, or time is simulated.
    pub fn begin() -> Option<Box<OffCore>> {
        if simulator::get().is_some() {
            return None;
        }
        let waited_ns = waited_ns()?;
        let mark = registered();
        let most = if mark.is_some() { MOST_READINGS } else { MOST_READINGS_UNASKED };
        let ticks_per_second = if clock::is_time_stamp() { TIME_STAMPS_PER_SECOND } else { 1_000_000_000 };
        let off_core = OffCore {
            mark: mark.unwrap_or(&raw const UNKNOWN),
            interval_ticks: ticks_per_second / most,
            due_ticks: 0,
            waited_ns,
            before_ns: 0,
            inside_ns: 0,
            cost_ticks: 0,
        };
        off_core.set_mark();
        Some(Box::new(off_core))
    }

    /// Whether the time may have grown, and may be read at this moment.
    #[inline(always)]
    pub fn is_due(&self, ticks: u64) -> bool {
        // SAFETY: a static, or the thread's own area, which lives as long as the thread.
        let mark = unsafe { (*self.mark).load(Ordering::Relaxed) };
        mark != nowhere() && ticks >= self.due_ticks
    }

    /// Reads it before a call.
    #[cold]
    pub fn enter(&mut self) {
        self.before_ns += self.read();
    }

    /// Reads it behind a call.
    #[cold]
    pub fn leave(&mut self) {
        self.inside_ns += self.read();
    }

    /// What passed since the last call that was recorded belongs to no call.
    pub fn skip(&mut self) {
        self.read();
        (self.before_ns, self.inside_ns) = (0, 0);
    }

    /// Whether there is something to record.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.before_ns | self.inside_ns | self.cost_ticks != 0
    }

    /// What is to be recorded with the present call: nanoseconds before and inside it, and ticks that reading took.
    pub fn take(&mut self) -> [u64; 3] {
        let OffCore { before_ns, inside_ns, cost_ticks, .. } = self;
        [before_ns, inside_ns, cost_ticks].map(std::mem::take)
    }

    /// By how much it has grown.
    fn read(&mut self) -> u64 {
        let began = clock::now();
        // First of all: what happens from now on is seen the next time.
        self.set_mark();
        let waited_ns = waited_ns().unwrap_or(self.waited_ns);
        let grown_ns = waited_ns.saturating_sub(self.waited_ns);
        self.waited_ns = waited_ns;
        let now = clock::now();
        self.cost_ticks += now.saturating_sub(began);
        self.due_ticks = now.saturating_add(self.interval_ticks);
        grown_ns
    }

    fn set_mark(&self) {
        if !std::ptr::eq(self.mark, &raw const UNKNOWN) {
            // SAFETY: the thread's own area, and the thread is in no sequence while it is here. A sequence of the program
            // sets the field when it begins.
            unsafe { (*self.mark).store(nowhere(), Ordering::Relaxed) };
        }
    }
}

/// Which cores the process may use, as the kernel lists them. None where it is not recorded how long threads have none.
pub fn allowed_cores() -> Option<String> {
    if simulator::get().is_some() || waited_ns().is_none() {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

fn nowhere() -> u64 {
    &raw const NOWHERE as u64
}

/// Where the kernel clears the mark of the calling thread, if the C library has told it of such a place.
fn registered() -> Option<*const AtomicU64> {
    /// Bytes of the area up to the end of `rseq_cs`.
    const NEEDED: u32 = 16;
    const MARK_OFFSET: isize = 8;
    let symbol = |name: &std::ffi::CStr| -> *const c_void {
        // SAFETY: a plain question with a name.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    };
    let (offset, size) = (symbol(c"__rseq_offset"), symbol(c"__rseq_size"));
    if offset.is_null() || size.is_null() {
        return None;
    }
    // SAFETY: glibc declares them `const ptrdiff_t` and `const unsigned int`; the size is 0 if nothing is registered.
    unsafe {
        (*size.cast::<u32>() >= NEEDED).then(|| {
            let area = processor::thread_pointer().byte_offset(*offset.cast::<isize>());
            area.byte_offset(MARK_OFFSET).cast()
        })
    }
}

/// How long the calling thread could have run but had no core since it began; none if the kernel does not count it. Neither a
/// cancellation point nor a change of `errno`.
pub fn waited_ns() -> Option<u64> {
    let _uncancelled = Uncancelled::new();
    let mut buffer = [0u8; 96];
    // SAFETY: plain system calls with a place for the answer; the descriptor is our own, for a moment.
    let read = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let path = c"/proc/thread-self/schedstat";
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) as c_int;
        let read = match file {
            0.. => {
                let read = libc::syscall(libc::SYS_read, file, buffer.as_mut_ptr(), buffer.len());
                libc::syscall(libc::SYS_close, file);
                read
            }
            _ => -1,
        };
        *errno = before;
        read
    };
    let text = std::str::from_utf8(buffer.get(..usize::try_from(read).ok()?)?).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_that_slept_has_left_its_core() {
        let mut off_core = OffCore::begin().expect("Linux counts it");
        off_core.skip();
        assert!(!off_core.is_due(0), "it may not be read again at once");
        std::thread::sleep(Duration::from_millis(2));
        let due = off_core.is_due(u64::MAX);
        assert!(due, "sleeping leaves the core");
        off_core.enter();
        assert!(off_core.is_any(), "reading costs something");
        let [_, inside_ns, cost_ticks] = off_core.take();
        assert!(inside_ns == 0 && cost_ticks > 0);
        assert!(!off_core.is_any());
    }

    #[test]
    fn threads_that_share_a_core_wait_for_it() {
        let pin_and_spin = || {
            // SAFETY: an empty set is all zeros; the first core of those that are allowed is put into it.
            unsafe {
                let mut allowed: libc::cpu_set_t = std::mem::zeroed();
                libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed);
                let core = (0..libc::CPU_SETSIZE as usize).find(|core| libc::CPU_ISSET(*core, &allowed));
                let mut one: libc::cpu_set_t = std::mem::zeroed();
                libc::CPU_SET(core.expect("a core"), &mut one);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &one);
            }
            let mut off_core = OffCore::begin().expect("Linux counts it");
            let (begin, before) = (Instant::now(), waited_ns().expect("a number"));
            while begin.elapsed() < Duration::from_millis(200) {
                if off_core.is_due(u64::MAX) {
                    off_core.enter();
                }
            }
            if off_core.is_due(u64::MAX) {
                off_core.enter();
            }
            let [seen_ns, ..] = off_core.take();
            (seen_ns, waited_ns().expect("a number") - before)
        };
        let threads = [(); 3].map(|()| std::thread::spawn(pin_and_spin));
        let waited: Vec<(u64, u64)> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        for (seen_ns, told_ns) in &waited {
            assert!(seen_ns.abs_diff(*told_ns) <= told_ns / 20 + 1_000_000, "{waited:?}");
        }
        assert!(waited.iter().map(|(seen_ns, _)| seen_ns).sum::<u64>() > 200_000_000, "{waited:?}");
    }
}
