//! The stream of one thread: its segment file, and the helper thread that drains full chunks.
//!
//! The thread fills the chunks of its window in turn. The helper writes full ones out, so the thread
//! normally finds the next one free. Where the helper did not come to it (all cores busy), the thread
//! drains the chunk itself, and the time that took is recorded as a stop. If a chunk cannot be written out (the
//! disk is full), calls are counted as lost from then on.

use crate::settings::{self, Spill};
use crate::{clock, process};
use kizami_segment::{Cursor, SegmentFile, WindowShape};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// The part of a stream that the helper thread shares with the owner.
pub struct Stream {
    file: SegmentFile,
    /// Which chunks of the window are full and wait to be drained.
    full: Vec<AtomicBool>,
    /// Held while a chunk is drained.
    draining: Mutex<()>,
    /// No chunk can be drained any more.
    exhausted: AtomicBool,
}

/// What a thread got when it asked for the next chunk.
pub enum Room {
    /// The chunk was ready.
    Ready(Cursor),
    /// The thread had to drain it itself, or to wait for the helper to do so.
    Drained(Cursor),
    /// None can be had.
    None,
}

impl Stream {
    /// Takes over a new segment file. Streams live as long as the process.
    pub fn new(file: SegmentFile) -> &'static Stream {
        let full = (0..file.window_chunks()).map(|_| AtomicBool::new(false)).collect();
        let stream: &'static Stream = Box::leak(Box::new(Stream {
            file,
            full,
            draining: Mutex::new(()),
            exhausted: AtomicBool::new(false),
        }));
        (2..=POPULATED_AHEAD).for_each(|sequence| stream.populate_later(sequence));
        stream
    }

    pub fn file(&self) -> &SegmentFile {
        &self.file
    }

    /// Has the helper fault in the chunk that will be the `sequence`th, if it is new: a little ahead of use, and not
    /// all at once, which would take the time of ranks that share the core.
    fn populate_later(&'static self, sequence: u64) {
        let index = sequence as usize - 1;
        if index >= WindowShape::CALLS.chunks && index < self.full.len() {
            hand_over(Job::Populate { stream: self, index });
        }
    }

    /// Begins the `sequence`th chunk (from 1 on). The one before it, if any, is full and quiet from now on.
    pub fn next_chunk(&'static self, sequence: u64) -> Room {
        let index = |sequence: u64| (sequence - 1) as usize % self.full.len();
        if sequence > 1 && !self.exhausted.load(Ordering::Relaxed) {
            self.full[index(sequence - 1)].store(true, Ordering::Release);
            if settings::get().spill == Spill::Background {
                hand_over(Job::Drain { stream: self, index: index(sequence - 1) });
            }
        }
        let next = index(sequence);
        // Once the disk is full, nothing changes any more.
        if self.exhausted.load(Ordering::Relaxed) && self.full[next].load(Ordering::Relaxed) {
            return Room::None;
        }
        let ready = !self.full[next].load(Ordering::Acquire);
        if !ready && settings::get().spill != Spill::Never {
            self.drain(next);
        }
        if self.full[next].load(Ordering::Acquire) {
            if settings::get().spill == Spill::Never {
                self.exhausted.store(true, Ordering::Relaxed);
                self.file.header().lost_errno.store(libc::ENOBUFS as u32, Ordering::Relaxed);
            }
            return Room::None;
        }
        self.populate_later(sequence + POPULATED_AHEAD);
        let cursor = self.file.begin(next, sequence);
        if ready { Room::Ready(cursor) } else { Room::Drained(cursor) }
    }

    /// Drains a chunk if it is its turn and nobody has meanwhile. A job that was overtaken by the owner may name
    /// a chunk that is full again, while older ones wait: it is skipped, and drained by its own job later.
    fn drain(&self, index: usize) {
        let _draining = lock(&self.draining);
        let its_turn = index == self.file.next_to_drain() && self.full[index].load(Ordering::Acquire);
        if !its_turn || self.exhausted.load(Ordering::Relaxed) {
            return;
        }
        match self.file.drain(index) {
            Ok(()) => {
                self.full[index].store(false, Ordering::Release);
                if let Some(bytes) = settings::get().cached_bytes() {
                    self.file.let_go(bytes);
                }
            }
            Err(error) => {
                self.exhausted.store(true, Ordering::Relaxed);
                self.file.header().lost_errno.store(error as u32, Ordering::Relaxed);
            }
        }
    }

    /// Bytes of full chunks, waiting to be written out.
    pub fn filled_bytes(&self) -> u64 {
        let full = self.full.iter().filter(|full| full.load(Ordering::Relaxed)).count();
        (full * self.file.chunk_bytes()) as u64
    }

    /// Writes all full chunks out.
    pub fn write_out(&self) {
        for _ in 0..self.full.len() {
            self.drain(self.file.next_to_drain());
        }
    }

    /// Notes the present on both clocks, so that a reader can turn ticks into time whatever happens next.
    pub fn note_clock(&self) {
        let (ticks, monotonic) = clock::reading();
        let last = &self.file.header().last_reading;
        last.ticks.store(ticks, Ordering::Relaxed);
        last.monotonic_ns.store(monotonic, Ordering::Relaxed);
    }
}

/// Chunks of a new window that are faulted in before they are used.
const POPULATED_AHEAD: u64 = 6;

/// What the helper does.
enum Job {
    /// Write a full chunk out.
    Drain { stream: &'static Stream, index: usize },
    /// Fault in the pages of a chunk of a large window.
    Populate { stream: &'static Stream, index: usize },
}

struct Helper {
    jobs: Mutex<VecDeque<Job>>,
    wake: Condvar,
}

static HELPER: OnceLock<Option<&'static Helper>> = OnceLock::new();

/// Gives the helper something to do. Where no thread could be started, the owner of a chunk drains it when it
/// needs it, and pages fault in when they are touched.
fn hand_over(job: Job) {
    if let Some(helper) = HELPER.get_or_init(start_helper) {
        lock(&helper.jobs).push_back(job);
        helper.wake.notify_one();
    }
}

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
    let started = std::thread::Builder::new()
        .name("kizami".into())
        .stack_size(128 << 10)
        .spawn(move || help(helper))
        .is_ok();
    // SAFETY: restores what was read above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut()) };
    started.then_some(helper)
}

fn help(helper: &'static Helper) {
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
            Some(Job::Populate { stream, index }) => stream.file.populate(index),
            None => {}
        }
    }
}

/// Locks whatever happened to other holders: the data is plain and always whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
