//! One call on its way through the tracer.

use crate::arch::{self, State, ThreadLocal};
use crate::clock;
use crate::thread::Thread;
use kizami_model::{Op, Shape};
use kizami_records::CallRecord;
use kizami_segment::CallNote;
use std::sync::atomic::Ordering;

/// An outermost MPI call that is being made: the thread's recorder belongs to it until it is finished.
pub struct Call {
    block: *mut ThreadLocal,
    site: u32,
    op: Op,
    shape: Shape,
    start_ticks: u64,
    end_ticks: u64,
    failed: bool,
}

impl Call {
    /// Begins a call; `wake` makes a thread ready that is not, if it can be, and `note` says what the call is given, if it
    /// may wait for others. `None` if it is not to be recorded: MPI calling itself, or recording impossible.
    #[inline(always)]
    pub fn enter(
        op: Op,
        shape: Shape,
        wake: impl FnOnce(*mut ThreadLocal) -> bool,
        note: impl FnOnce(&CallNote),
    ) -> Option<Call> {
        let block = arch::thread_local();
        // SAFETY: the thread's own block.
        if unsafe { (*block).state } != State::READY && !wake(block) {
            return None;
        }
        // SAFETY: the thread's own block, which is ready.
        let (frame, frame_pointer) = unsafe { ((*block).frame, (*block).frame_pointer) };
        // SAFETY: as above.
        Some(unsafe {
            Call::begin(block, op, shape, frame, |thread| thread.site(frame, frame_pointer), note)
        })
    }

    /// Begins a call of a thread that is ready, from where `site` says; its return address lies at `frame`.
    ///
    /// # Safety
    /// The block must be the thread's own, and in the ready state.
    #[inline(always)]
    pub unsafe fn begin(
        block: *mut ThreadLocal,
        op: Op,
        shape: Shape,
        frame: *const usize,
        site: impl FnOnce(&mut Thread) -> u32,
        note: impl FnOnce(&CallNote),
    ) -> Call {
        // SAFETY: in the ready state the thread has a recorder.
        let thread = unsafe {
            (*block).state = State::inside(frame);
            Thread::of(block)
        };
        let site = site(thread);
        thread.note().site.store(site, Ordering::Relaxed);
        note(thread.note());
        if let Some(counters) = &mut thread.counters {
            counters.enter();
        }
        // The clock is read last, so that what was done until now lies before the call.
        let mut start_ticks = clock::now_at_entry();
        if let Some(off_core) = &mut thread.off_core
            && off_core.is_due(start_ticks)
        {
            off_core.enter();
            start_ticks = clock::now();
        }
        thread.note_entry(op, thread.relative(start_ticks));
        Call { block, site, op, shape, start_ticks, end_ticks: start_ticks, failed: false }
    }

    /// A process that dies from now on did not die in this call, which will have no record.
    pub fn forget_entry(&mut self) {
        self.thread().note_entry(Op(0), 0);
    }

    /// The real function has returned.
    #[inline(always)]
    pub fn leave(&mut self, code: i32) {
        self.leave_with_value();
        self.failed = code != 0;
    }

    /// As `leave`, for functions whose result is no error code.
    #[inline(always)]
    pub fn leave_with_value(&mut self) {
        self.end_ticks = clock::now();
        let end_ticks = self.end_ticks;
        let thread = self.thread();
        if let Some(off_core) = &mut thread.off_core
            && off_core.is_due(end_ticks)
        {
            off_core.leave();
        }
        if let Some(counters) = &mut thread.counters {
            counters.leave();
        }
    }

    /// What was done until now was ours: the call begins here.
    pub fn restart(&mut self) {
        if let Some(counters) = &mut self.thread().counters {
            counters.skip_since_enter();
        }
        self.start_ticks = clock::now();
    }

    /// Whether the function returned an error.
    #[inline(always)]
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// The thread's recorder.
    #[inline(always)]
    pub fn thread(&mut self) -> &mut Thread {
        // SAFETY: the recorder belongs to this thread, and to this call while the thread is inside it.
        unsafe { Thread::of(self.block) }
    }

    /// The record with its time and call site.
    #[inline(always)]
    pub fn record(&mut self) -> CallRecord {
        let (start, end) = (self.start_ticks, self.end_ticks);
        let mut record = CallRecord::new(self.op, self.thread().relative(start), end.wrapping_sub(start));
        (record.site, record.failed) = (self.site, self.failed);
        record
    }

    /// Stores the record.
    #[inline(always)]
    pub fn store(&mut self, record: &CallRecord) {
        let shape = self.shape;
        self.thread().record(record, shape);
    }

    /// Stores the record and lets go of the thread.
    #[inline(always)]
    pub fn finish(mut self, record: &CallRecord) {
        self.store(record);
        self.release();
    }

    /// Lets go of the thread; the record has been stored already, or there is none.
    #[inline(always)]
    pub fn release(mut self) {
        self.thread().note_return();
        // SAFETY: the thread's own block.
        unsafe { (*self.block).state = State::READY };
        clock::back_to_program();
    }
}
