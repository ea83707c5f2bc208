//! Counters of the processor and the kernel, read around each call where requested.
//!
//! They are Linux perf events of one thread, read in one system call, or without any where the kernel lets a
//! program read the processor's counters itself (`rdpmc`). A counter that the kernel refuses is left out, and
//! the refusal is written down.

use crate::process::Process;
use crate::settings;
use kizami_model::counter::COUNTERS;
use kizami_records::Definition;
use std::sync::OnceLock;

/// The counters of one thread.
pub struct Counters {
    events: Vec<Event>,
    /// Values at the beginning of the present call.
    entered: Vec<u64>,
    /// Values at the end of the present call.
    left: Vec<u64>,
    /// Values at the end of the call recorded last.
    last: Vec<u64>,
    /// Words as the kernel gives them: a count, then the values.
    buffer: Vec<u64>,
}

/// One open counter.
struct Event {
    descriptor: i32,
    /// The kernel's own number of the event, which distinguishes it from anything a program puts in its place.
    identity: u64,
    /// The page by which it can be read without the kernel; null if there is none.
    page: *const Page,
}

/// The beginning of Linux's `perf_event_mmap_page`.
#[repr(C)]
struct Page {
    version: u32,
    compat_version: u32,
    lock: u32,
    index: u32,
    offset: i64,
    time_enabled: u64,
    time_running: u64,
    capabilities: u64,
    width: u16,
}

impl Counters {
    /// Opens what was asked for, for the calling thread; `None` if nothing was, or nothing can be counted.
    pub fn open(process: &Process) -> Option<Box<Counters>> {
        static OPENED: OnceLock<Vec<bool>> = OnceLock::new();
        let asked = &settings::get().counters;
        let mut events: Vec<Event> = Vec::new();
        let mut refusals = Vec::new();
        for &number in asked {
            let opened = Event::open(number, events.first());
            refusals.push((number, opened.as_ref().err().copied().unwrap_or(0)));
            events.extend(opened);
        }
        let opened: Vec<bool> = refusals.iter().map(|(_, errno)| *errno == 0).collect();
        let first = OPENED.get_or_init(|| {
            for (number, errno) in refusals {
                process.define(&Definition::Counter { number: number as u8, errno: errno as u32 });
            }
            opened.clone()
        });
        // Records say which counter is which by their order alone, the same for all threads.
        if events.is_empty() || opened != *first {
            return None;
        }
        let count = events.len();
        let values = || vec![0; count];
        let (entered, left, last) = (values(), values(), values());
        let mut counters = Counters { events, entered, left, last, buffer: vec![0; count + 1] };
        counters.leave();
        counters.recorded();
        Some(Box::new(counters))
    }

    /// A call is about to be made.
    pub fn enter(&mut self) {
        let mut values = std::mem::take(&mut self.entered);
        self.read(&mut values);
        self.entered = values;
    }

    /// The call is over.
    pub fn leave(&mut self) {
        let mut values = std::mem::take(&mut self.left);
        self.read(&mut values);
        self.left = values;
    }

    /// What the present call is to be recorded with: for each counter what was counted since the call recorded
    /// before, and inside this one.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = [u64; 2]> + '_ {
        (0..self.events.len()).map(|index| {
            let before = self.entered[index].wrapping_sub(self.last[index]);
            [before, self.left[index].wrapping_sub(self.entered[index])]
        })
    }

    /// The present call was recorded.
    pub fn recorded(&mut self) {
        self.last.copy_from_slice(&self.left);
    }

    /// What was counted since the call was entered was ours, and the call begins now.
    pub fn skip_since_enter(&mut self) {
        let before: Vec<u64> = self.entered.iter().zip(&self.last).map(|(a, b)| a.wrapping_sub(*b)).collect();
        self.enter();
        for ((last, entered), before) in self.last.iter_mut().zip(&self.entered).zip(before) {
            *last = entered.wrapping_sub(before);
        }
    }

    /// What was counted since the last call was recorded was ours.
    pub fn skip_since_call(&mut self) {
        self.leave();
        self.recorded();
    }

    fn read(&mut self, values: &mut [u64]) {
        let direct = self.events.iter().zip(&mut *values).all(|(event, value)| {
            event.read_directly().is_some_and(|read| {
                *value = read;
                true
            })
        });
        if direct {
            return;
        }
        let leader = &self.events[0];
        if event_identity(leader.descriptor) != Some(leader.identity) {
            // Closed by the program: reading would take bytes from whatever file has the number now.
            return;
        }
        let bytes = size_of_val(self.buffer.as_slice());
        // Not by `read`, where a thread that was cancelled would end.
        // SAFETY: our own descriptor, and a buffer that long.
        let read =
            unsafe { libc::syscall(libc::SYS_read, leader.descriptor, self.buffer.as_mut_ptr(), bytes) };
        if read == bytes as libc::c_long {
            values.copy_from_slice(&self.buffer[1..]);
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        for event in &self.events {
            // SAFETY: our own mapping, and our own descriptor as long as it is: a program may have closed it and
            // have a file of its own there.
            unsafe {
                if !event.page.is_null() {
                    libc::munmap(event.page.cast_mut().cast(), PAGE_BYTES);
                }
                if event_identity(event.descriptor) == Some(event.identity) {
                    libc::close(event.descriptor);
                }
            }
        }
    }
}

impl Event {
    /// Opens a counter for the calling thread, in the group of `leader`. The error is an `errno`.
    fn open(number: usize, leader: Option<&Event>) -> Result<Event, i32> {
        let counter = COUNTERS.get(number).ok_or(libc::EINVAL)?;
        let leader = leader.map_or(-1, |leader| leader.descriptor);
        let attempt = |exclude_kernel| perf_event_open(counter.kind, counter.config, leader, exclude_kernel);
        // Without privileges only what happens outside the kernel may be counted.
        let descriptor = attempt(false).or_else(|_| attempt(true))?;
        let hardware = counter.kind == 0;
        let identity = event_identity(descriptor).ok_or(libc::EBADF)?;
        let page = if hardware { map_page(descriptor) } else { std::ptr::null() };
        Ok(Event { descriptor, identity, page })
    }

    /// Reads the processor's counter without the kernel, if that is possible just now.
    fn read_directly(&self) -> Option<u64> {
        if self.page.is_null() {
            return None;
        }
        const USER_READS: u64 = 1 << 2;
        // SAFETY: the kernel's page, mapped as long as the event; it changes while it is read, which the lock shows.
        unsafe {
            let page = self.page;
            loop {
                let lock = (&raw const (*page).lock).read_volatile();
                std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
                let index = (&raw const (*page).index).read_volatile();
                if index == 0 || (&raw const (*page).capabilities).read_volatile() & USER_READS == 0 {
                    return None;
                }
                let width = u32::from((&raw const (*page).width).read_volatile());
                let unused = 64u32.checked_sub(width).filter(|bits| *bits < 64)?;
                let raw = crate::processor::performance_counter(index - 1);
                let count = (raw << unused) as i64 >> unused;
                let value = (&raw const (*page).offset).read_volatile().wrapping_add(count);
                std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
                if (&raw const (*page).lock).read_volatile() == lock {
                    return Some(value as u64);
                }
            }
        }
    }
}

/// The kernel's number of the event behind a descriptor; `None` if there is something else.
fn event_identity(descriptor: i32) -> Option<u64> {
    const PERF_EVENT_IOC_ID: libc::Ioctl = 0x8008_2407;
    let mut identity = 0u64;
    // SAFETY: a question with a place for the answer; other files refuse it.
    let refused = unsafe { libc::ioctl(descriptor, PERF_EVENT_IOC_ID, &raw mut identity) } != 0;
    (!refused).then_some(identity)
}

const PAGE_BYTES: usize = 4096;

fn map_page(descriptor: i32) -> *const Page {
    // SAFETY: a plain system call on our own descriptor.
    let page = unsafe {
        libc::mmap(std::ptr::null_mut(), PAGE_BYTES, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0)
    };
    if page == libc::MAP_FAILED { std::ptr::null() } else { page.cast() }
}

/// The beginning of Linux's `perf_event_attr`, in its first published size.
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
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

fn perf_event_open(kind: u32, config: u64, leader: i32, exclude_kernel: bool) -> Result<i32, i32> {
    const READ_GROUP: u64 = 1 << 3;
    const EXCLUDE_KERNEL: u64 = 1 << 5;
    const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const CLOSE_ON_EXEC: u64 = 1 << 3;
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: READ_GROUP,
        flags: if exclude_kernel { EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR } else { 0 },
        ..Attributes::default()
    };
    // SAFETY: a system call with a valid description; this thread, on any core.
    let opened = unsafe {
        libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, leader, CLOSE_ON_EXEC)
    };
    if opened < 0 {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
    }
    Ok(kizami_segment::out_of_the_way(opened as i32).unwrap_or(opened as i32))
}
