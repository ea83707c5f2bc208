//! The stream of one thread: its segment file, and who drains full chunks.
//!
//! The thread fills the chunks of its window in turn. Where a core is free, a helper thread writes full ones out, so
//! the thread normally finds the next one free. Where every core has its rank, a helper would take its time from one of
//! them at an unknown time: there the thread drains the chunk itself. So it does where the helper did not come
//! to it. The time that takes is recorded as a stop. If a chunk cannot be written out (the disk is full), calls
//! are counted as lost from then on.

use crate::clock;
use crate::helper::{self, Job};
use crate::settings::{self, Spill};
use kizami_segment::{Cursor, SegmentFile, WindowShape};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

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

/// How a thread found the next chunk.
pub enum Room<'a> {
    /// Free.
    Ready(FreeChunk<'a>),
    /// Free after the thread prepared it, or waited until it was prepared.
    Prepared(FreeChunk<'a>),
    /// None can be had.
    None,
}

/// The one who fills a stream, chunk by chunk: there is one for each stream.
pub struct Writer {
    stream: &'static Stream,
    /// Chunks begun so far.
    begun: u64,
    /// Chunks handed in as full.
    handed_in: u64,
}

/// A chunk that is not in use, to be filled next.
pub struct FreeChunk<'a>(&'a mut Writer);

impl Writer {
    /// The stream it fills.
    #[inline(always)]
    pub fn stream(&self) -> &'static Stream {
        self.stream
    }

    /// Hands in the chunk that was filled, with its cursor, and finds room for the next.
    pub fn next(&mut self, _full: Cursor) -> Room<'_> {
        let stream = self.stream;
        let mut prepared = false;
        if self.handed_in < self.begun && !stream.exhausted.load(Ordering::Relaxed) {
            prepared = stream.fill(stream.index(self.begun));
        }
        self.handed_in = self.begun;
        match stream.make_free(self.begun + 1) {
            None => Room::None,
            Some(waited) if waited || prepared => Room::Prepared(FreeChunk(self)),
            Some(_) => Room::Ready(FreeChunk(self)),
        }
    }
}

impl FreeChunk<'_> {
    /// Its index in its stream, from 1.
    pub fn sequence(&self) -> u64 {
        self.0.begun + 1
    }

    /// How large it is.
    pub fn bytes(&self) -> usize {
        self.0.stream.file.chunk_bytes()
    }

    /// Its memory, before it is begun: no reader will see what is written there.
    ///
    /// # Safety
    /// The cursor is not used any more when the chunk is begun.
    pub unsafe fn unannounced(&mut self) -> Cursor {
        let stream = self.0.stream;
        // SAFETY: the cursor of the chunk's former life was handed in, and it was drained since; the rest is the
        // caller's promise.
        unsafe { stream.file.unannounced(stream.index(self.sequence())) }
    }

    /// Begins it.
    pub fn begin(self) -> Cursor {
        let sequence = self.sequence();
        let FreeChunk(writer) = self;
        writer.begun = sequence;
        let stream = writer.stream;
        // SAFETY: the cursors of before are not used any more; it is drained only when its own was handed in.
        unsafe { stream.file.begin(stream.index(sequence), sequence) }
    }
}

impl Stream {
    /// Takes over a new segment file, for one to write to. Streams live as long as the process.
    pub fn create(file: SegmentFile) -> Writer {
        let full = (0..file.window_chunks()).map(|_| AtomicBool::new(false)).collect();
        let stream: &'static Stream = Box::leak(Box::new(Stream {
            file,
            full,
            draining: Mutex::new(()),
            exhausted: AtomicBool::new(false),
        }));
        if helper::has_a_core() {
            (2..=POPULATED_AHEAD)
                .filter(|sequence| stream.is_new(*sequence))
                .for_each(|sequence| stream.populate_later(sequence));
        }
        Writer { stream, begun: 0, handed_in: 0 }
    }

    /// The segment's file.
    pub fn file(&self) -> &SegmentFile {
        &self.file
    }

    /// Whether the `sequence`th chunk is the first in its place, and its pages were not faulted in with the window.
    fn is_new(&self, sequence: u64) -> bool {
        (WindowShape::CALLS.chunks..self.full.len()).contains(&(sequence as usize - 1))
    }

    /// Has the helper fault in the chunk that will be the `sequence`th: a little ahead of use, and not all at once,
    /// which would keep it from draining.
    fn populate_later(&'static self, sequence: u64) {
        helper::hand_over(Job::Populate { stream: self, index: self.index(sequence) });
    }

    /// Place in the window of the `sequence`th chunk (from 1 on).
    fn index(&self, sequence: u64) -> usize {
        (sequence - 1) as usize % self.full.len()
    }

    /// Finds room for the `sequence`th chunk, if there is any; true if that took time.
    fn make_free(&'static self, sequence: u64) -> Option<bool> {
        let next = self.index(sequence);
        let mut prepared = false;
        // Once the disk is full, nothing changes any more.
        if self.exhausted.load(Ordering::Relaxed) && self.full[next].load(Ordering::Relaxed) {
            return None;
        }
        if self.full[next].load(Ordering::Acquire) && settings::get().spill != Spill::Never {
            self.drain(next);
            prepared = true;
        }
        if self.full[next].load(Ordering::Acquire) {
            if settings::get().spill == Spill::Never {
                self.exhausted.store(true, Ordering::Relaxed);
                self.file.header().lost_errno.store(libc::ENOBUFS as u32, Ordering::Relaxed);
            }
            return None;
        }
        if helper::has_a_core() {
            let later = sequence + POPULATED_AHEAD;
            if self.is_new(later) {
                self.populate_later(later);
            }
        } else if self.is_new(sequence) {
            self.populate(next);
            prepared = true;
        }
        Some(prepared)
    }

    /// A chunk is full. True if the thread has drained it itself.
    fn fill(&'static self, index: usize) -> bool {
        self.full[index].store(true, Ordering::Release);
        let drains = settings::get().spill == Spill::Background;
        if drains && helper::has_a_core() {
            helper::hand_over(Job::Drain { stream: self, index });
        } else if drains {
            self.drain(index);
        }
        drains && !helper::has_a_core()
    }

    /// Faults in the pages of a chunk.
    pub fn populate(&self, index: usize) {
        self.file.populate(index);
    }

    /// Drains a chunk if it is its turn and it is not drained yet. A job that was overtaken by the owner may name
    /// a chunk that is full again, while older ones wait: it is skipped, and drained by its own job later.
    pub fn drain(&self, index: usize) {
        let _draining = lock(&self.draining);
        let its_turn = index == self.file.next_to_drain() && self.full[index].load(Ordering::Acquire);
        if !its_turn || self.exhausted.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: it is its turn, the lock is held, and the filling thread handed in the cursor before calling it full.
        match unsafe { self.file.drain(index) } {
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

/// Locks whatever happened to other holders: the data is plain and always whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
