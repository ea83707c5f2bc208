//! The stream of one thread: its segment file, the chunk it writes to, and the helper thread that has the
//! next chunk ready and closes full ones.
//!
//! A thread asks for the next chunk when the present one is half full and normally finds it ready when it
//! gets there. Where the helper did not come to it (all cores busy), the thread makes the chunk itself, and
//! the time that took is recorded as a stop. If no chunk can be had at all, calls are counted as lost.

use crate::{clock, process};
use kizami_segment::{Chunk, Cursor, SegmentFile};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// The part of a stream that the helper thread shares with the owner.
pub struct Stream {
    file: SegmentFile,
    /// The chunk prepared ahead, if any.
    next: AtomicPtr<Chunk>,
    /// Held while the file grows.
    growing: Mutex<()>,
    /// No chunk can be had any more.
    exhausted: AtomicBool,
}

/// What a thread got when it asked for room.
pub enum Room {
    /// The chunk was ready.
    Ready(Chunk),
    /// The chunk had to be made on the spot.
    Made(Chunk),
    /// None can be had.
    None,
}

enum Job {
    Prepare(&'static Stream),
    Close(Chunk),
}

impl Stream {
    /// Takes over a new segment file. Streams live as long as the process.
    pub fn new(file: SegmentFile) -> &'static Stream {
        Box::leak(Box::new(Stream {
            file,
            next: AtomicPtr::new(std::ptr::null_mut()),
            growing: Mutex::new(()),
            exhausted: AtomicBool::new(false),
        }))
    }

    pub fn file(&self) -> &SegmentFile {
        &self.file
    }

    /// Asks the helper to have the next chunk ready.
    pub fn ask_for_next(&'static self) {
        hand_over(Job::Prepare(self));
    }

    /// The next chunk, made here and now if it must be.
    pub fn take_next(&self) -> Room {
        if let Some(chunk) = self.take_prepared() {
            return Room::Ready(chunk);
        }
        if self.exhausted.load(Ordering::Relaxed) {
            return Room::None;
        }
        let _growing = lock(&self.growing);
        // The helper may have been at it while we waited for the lock.
        if let Some(chunk) = self.take_prepared() {
            return Room::Made(chunk);
        }
        match self.file.grow() {
            Ok(chunk) => Room::Made(chunk),
            Err(error) => {
                self.give_up(error);
                Room::None
            }
        }
    }

    fn take_prepared(&self) -> Option<Chunk> {
        let chunk = self.next.swap(std::ptr::null_mut(), Ordering::Acquire);
        // SAFETY: a non-null pointer came from Box::into_raw in `prepare`, and the swap took it over.
        (!chunk.is_null()).then(|| *unsafe { Box::from_raw(chunk) })
    }

    fn prepare(&self) {
        let _growing = lock(&self.growing);
        if self.next.load(Ordering::Relaxed).is_null() && !self.exhausted.load(Ordering::Relaxed) {
            match self.file.grow() {
                Ok(chunk) => self.next.store(Box::into_raw(Box::new(chunk)), Ordering::Release),
                Err(error) => self.give_up(error),
            }
        }
    }

    fn give_up(&self, error: i32) {
        self.exhausted.store(true, Ordering::Relaxed);
        self.file.header().lost_errno.store(error as u32, Ordering::Relaxed);
    }

    /// Closes a full chunk off the hot path.
    pub fn close_later(chunk: Chunk) {
        hand_over(Job::Close(chunk));
    }

    /// Notes the present on both clocks, so that a reader can turn ticks into time whatever happens next.
    pub fn note_clock(&self) {
        let (ticks, monotonic) = clock::reading();
        let last = &self.file.header().last_reading;
        last.ticks.store(ticks, Ordering::Relaxed);
        last.monotonic_ns.store(monotonic, Ordering::Relaxed);
    }

    /// Gives back the space behind the last record. Only the owning thread may call this, when it will
    /// write no more: the pages behind the new end must not be touched again.
    pub fn finish(&self, chunk: &Chunk, cursor: &Cursor) {
        let _growing = lock(&self.growing);
        self.exhausted.store(true, Ordering::Relaxed);
        self.note_clock();
        self.file.truncate(chunk.offset_of(cursor));
    }
}

struct Helper {
    jobs: Mutex<VecDeque<Job>>,
    wake: Condvar,
}

static HELPER: OnceLock<Option<&'static Helper>> = OnceLock::new();

fn hand_over(job: Job) {
    match HELPER.get_or_init(start_helper) {
        Some(helper) => {
            lock(&helper.jobs).push_back(job);
            helper.wake.notify_one();
        }
        // No thread could be started: chunks are made on the spot, and closed here.
        None => {
            if let Job::Close(chunk) = job {
                chunk.close();
            }
        }
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
        match job {
            Some(Job::Prepare(stream)) if !process::is_forked() => stream.prepare(),
            Some(Job::Close(chunk)) => chunk.close(),
            _ => {}
        }
    }
}

/// Locks whatever happened to other holders: the data is plain and always whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
