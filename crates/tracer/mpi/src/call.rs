//! One call on its way through the tracer.

use crate::arch::{self, State, ThreadLocal};
use crate::thread::Thread;
use crate::{clock, lifecycle, sites};
use kizami_model::{Op, Shape};
use kizami_records::CallRecord;

/// An outermost MPI call that is being made: the thread's recorder belongs to it until it is finished.
pub struct Call {
    block: *mut ThreadLocal,
    frame: *const usize,
    op: Op,
    shape: Shape,
    start_ticks: u64,
    end_ticks: u64,
    failed: bool,
}

impl Call {
    /// Begins a call. `None` if it is not to be recorded: MPI calling itself, recording paused or impossible.
    #[inline(always)]
    pub fn enter(op: Op, shape: Shape) -> Option<Call> {
        let block = arch::thread_local();
        // SAFETY: the thread's own block.
        if unsafe { (*block).state } != State::Ready && !lifecycle::wake(block) {
            return None;
        }
        // SAFETY: the thread's own block; in the ready state it has a recorder.
        let (frame, thread) = unsafe {
            (*block).state = State::Inside;
            ((*block).frame, &mut *(*block).thread)
        };
        if let Some(counters) = &mut thread.counters {
            counters.enter();
        }
        // The clock is read last, so that what was done until now lies before the call.
        let start_ticks = clock::now_at_entry();
        thread.note_entry(op, thread.relative(start_ticks));
        Some(Call { block, frame, op, shape, start_ticks, end_ticks: start_ticks, failed: false })
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
        if let Some(counters) = &mut self.thread().counters {
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
        // SAFETY: the recorder belongs to this thread, and to this call while the state is `Inside`.
        unsafe { &mut *(*self.block).thread }
    }

    /// The record with its time and call site.
    #[inline(always)]
    pub fn record(&mut self) -> CallRecord {
        let frame = self.frame;
        let (start, end) = (self.start_ticks, self.end_ticks);
        let (op, failed) = (self.op, self.failed);
        let thread = self.thread();
        let mut record = CallRecord::new(op, thread.relative(start), end.wrapping_sub(start));
        record.site = sites::number(thread, frame);
        record.failed = failed;
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
    pub fn release(self) {
        // SAFETY: the thread's own block.
        unsafe { (*self.block).state = State::Ready };
        clock::back_to_program();
    }
}
