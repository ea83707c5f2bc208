//! When the system took the thread off its processor although it could have gone on.
//!
//! The kernel reports to any thread its own switches (`perf_event_open` with `context_switch`), without privileges where
//! `perf_event_paranoid` is 2 or less. Where it does not, nothing is known, and nothing is taken out. A thread that sleeps or waits is not off in this
//! sense: that is its own doing. It is the runtime's where the runtime makes it wait, and then it is asked for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the ring that the kernel fills: a power of two.
const RING_BYTES: usize = 64 * PAGE_BYTES;
const PAGE_BYTES: usize = 4096;
/// Where the first page has the places up to which the kernel has written, and we have read.
const HEAD_OFFSET: usize = 1024;
const TAIL_OFFSET: usize = 1032;

const RECORD_SWITCH: u32 = 14;
const SWITCHED_OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;

/// The switches of the thread that opened it.
pub struct Switches {
    page: *mut u8,
    tail: u64,
    /// Since when the thread is off its processor, on `CLOCK_MONOTONIC`, and whether it was preempted.
    out_since: Option<(u64, bool)>,
}

/// A stretch that a thread was off its processor, on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Off {
    pub from: u64,
    pub to: u64,
    /// It could have gone on; else it slept or waited of its own will.
    pub preempted: bool,
}

/// The kernel's `perf_event_attr`, as far as it is needed here.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint: [u32; 1],
    unused: [u64; 4],
    registers_stack_user: u32,
    clock: i32,
    rest: [u64; 4],
}

const _: () = assert!(size_of::<Attributes>() == 128 && std::mem::offset_of!(Attributes, clock) == 92);

impl Switches {
    /// Starts the reports of the kernel; none if it refuses.
    pub fn open() -> Option<Switches> {
        const SOFTWARE: u32 = 1;
        const DUMMY: u64 = 9;
        const SAMPLE_TIME: u64 = 1 << 2;
        const EXCLUDE_KERNEL: u64 = 1 << 5;
        const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
        const WATERMARK: u64 = 1 << 14;
        const SAMPLE_ID_ALL: u64 = 1 << 18;
        const USE_CLOCK: u64 = 1 << 25;
        const CONTEXT_SWITCH: u64 = 1 << 26;
        const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: DUMMY,
            sample_type: SAMPLE_TIME,
            flags: EXCLUDE_KERNEL
                | EXCLUDE_HYPERVISOR
                | WATERMARK
                | SAMPLE_ID_ALL
                | USE_CLOCK
                | CONTEXT_SWITCH,
            // Nobody waits for it.
            wakeup_watermark: 1 << 30,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        // SAFETY: plain system calls with valid arguments; the mapping outlives the descriptor.
        unsafe {
            let opened = libc::syscall(libc::SYS_perf_event_open, &attributes, 0, -1, -1, CLOSE_ON_EXEC);
            let descriptor = i32::try_from(opened).ok().filter(|descriptor| *descriptor >= 0)?;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let length = PAGE_BYTES + RING_BYTES;
            let page = libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, descriptor, 0);
            libc::close(descriptor);
            (page != libc::MAP_FAILED).then(|| Switches { page: page.cast(), tail: 0, out_since: None })
        }
    }

    /// Where the kernel says how far it has written.
    pub fn written(&self) -> *const AtomicU64 {
        self.place(HEAD_OFFSET)
    }

    /// How far that was read.
    pub fn read(&self) -> u64 {
        self.tail
    }

    /// The next stretch that the thread was off its processor.
    pub fn next(&mut self) -> Option<Off> {
        let head = self.place(HEAD_OFFSET).load(Ordering::Acquire);
        let mut found = None;
        while found.is_none() && self.tail < head {
            let (kind, flags, bytes) = self.record();
            // The time comes last.
            let time = self.word(self.tail + u64::from(bytes) - 8);
            self.tail += u64::from(bytes);
            if kind != RECORD_SWITCH {
                // Some were lost: what is known is not enough for a stretch.
                self.out_since = None;
            } else if flags & SWITCHED_OUT != 0 {
                self.out_since = Some((time, flags & PREEMPTED != 0));
            } else {
                found = self.out_since.take().map(|(from, preempted)| Off { from, to: time, preempted });
            }
        }
        self.place(TAIL_OFFSET).store(self.tail, Ordering::Release);
        found
    }

    /// Kind, flags and length of the record that is to be read.
    fn record(&self) -> (u32, u16, u16) {
        let word = self.word(self.tail);
        // A length that cannot be would have us go round for ever.
        (word as u32, (word >> 32) as u16, ((word >> 48) as u16).max(8))
    }

    /// A word of the ring. Records are whole words, so none lies around its end.
    fn word(&self, at: u64) -> u64 {
        self.place(PAGE_BYTES + at as usize % RING_BYTES).load(Ordering::Relaxed)
    }

    fn place(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, which lives as long as this; offsets are multiples of eight. The kernel writes there.
        unsafe { &*self.page.add(offset).cast::<AtomicU64>() }
    }
}

impl Drop for Switches {
    fn drop(&mut self) {
        // SAFETY: our own mapping; with it the event ends.
        unsafe { libc::munmap(self.page.cast(), PAGE_BYTES + RING_BYTES) };
    }
}
