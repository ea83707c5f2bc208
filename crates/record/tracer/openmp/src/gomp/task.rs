//! Explicit tasks.
//!
//! The runtime copies a task's data into memory of its own and hands them to the body. So the name of a task travels
//! with its data: a block in front of them, which only our copy and our body know.

use super::{Body, COUNTED, Copy, depend, place_of, recorder_of_makers, run_counted};
use crate::budget;
use crate::real::hooks;
use crate::thread;
use kizami_records::threading::{self, TaskName};
use std::ffi::{c_int, c_long, c_uint, c_void};

const FLAG_DEPEND: c_uint = 1 << 3;
const FLAG_DETACH: c_uint = 1 << 13;

/// What our copy gets: the program's data, where they are, and how they are copied.
#[repr(C)]
struct Source {
    /// The first word of the data. Where a task is detached, the runtime writes its event there.
    head: u64,
    is_detached: bool,
    body: Body,
    data: *mut c_void,
    copy: Copy,
    bytes: usize,
    /// Where the data come, behind what stands before them.
    offset: u32,
    task: TaskName,
}

/// What stands before the data of a task in the runtime's memory.
#[repr(C)]
struct Before {
    body: Body,
    number: u64,
    stream: u32,
    /// Where the data are, from here.
    offset: u32,
}

unsafe extern "C" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: what `make` handed to the runtime, and memory of the size asked for.
    unsafe {
        let source = &*from.cast::<Source>();
        let TaskName { stream, number } = source.task;
        to.cast::<Before>().write(Before { body: source.body, number, stream, offset: source.offset });
        let data = to.byte_add(source.offset as usize);
        match source.copy {
            Some(copy) => copy(data, source.data),
            None => std::ptr::copy_nonoverlapping(source.data.cast::<u8>(), data.cast(), source.bytes),
        }
        if source.is_detached {
            data.cast::<u64>().write(source.head);
        }
    }
}

unsafe extern "C" fn run(block: *mut c_void) {
    // SAFETY: what `copy` wrote.
    let (body, task, data) = unsafe {
        let before = &*block.cast::<Before>();
        let task = TaskName { stream: before.stream, number: before.number };
        (before.body, task, block.byte_add(before.offset as usize))
    };
    if task == COUNTED {
        // SAFETY: as the runtime would have called it.
        return unsafe { run_counted(body, data) };
    }
    let below = thread::recorder().map(|recorder| {
        recorder.begin(task);
        recorder.enter()
    });
    // SAFETY: as the runtime would have called it.
    unsafe { body(data) };
    if let Some(recorder) = thread::recorder() {
        recorder.put(threading::end());
        recorder.leave(below.unwrap_or_default());
    }
}

type Make = unsafe extern "C" fn(
    Body,
    *mut c_void,
    Copy,
    c_long,
    c_long,
    bool,
    c_uint,
    *const usize,
    c_int,
    *mut c_void,
);

unsafe extern "C" fn make(
    body: Body,
    data: *mut c_void,
    copy_data: Copy,
    bytes: c_long,
    align: c_long,
    deferred: bool,
    flags: c_uint,
    dependences: *const usize,
    priority: c_int,
    detach: *mut c_void,
) {
    // SAFETY: the runtime's function of that name.
    let real: Make = unsafe { std::mem::transmute(real::GOMP_task.address()) };
    let Some(recorder) = recorder_of_makers() else {
        // SAFETY: as it was called.
        return unsafe {
            real(body, data, copy_data, bytes, align, deferred, flags, dependences, priority, detach)
        };
    };
    let task = if budget::is_spent() {
        recorder.count(1);
        COUNTED
    } else {
        let site = recorder.site(place_of(body));
        let task = recorder.create(site);
        if flags & FLAG_DEPEND != 0 && !dependences.is_null() {
            // SAFETY: the list that the program gave.
            unsafe { depend::record(recorder, dependences) };
        }
        task
    };
    // A power of two: no division, which would take as long as half a record.
    let align = (align as usize).max(align_of::<Before>());
    let offset = (size_of::<Before>() + align - 1) & !(align - 1);
    let bytes = bytes as usize;
    let is_detached = flags & FLAG_DETACH != 0 && bytes >= size_of::<u64>() && !data.is_null();
    // SAFETY: the data have a first word then.
    let head = if is_detached { unsafe { *data.cast::<u64>() } } else { 0 };
    let mark = recorder.mark();
    let mut source =
        Source { head, is_detached, body, data, copy: copy_data, bytes, offset: offset as u32, task };
    let whole = (offset + bytes) as c_long;
    // SAFETY: as it was called, but for body and data; the source is copied before the function returns.
    unsafe {
        let source = (&raw mut source).cast();
        real(run, source, Some(copy), whole, align as c_long, deferred, flags, dependences, priority, detach);
    }
    if let Some(recorder) = thread::recorder() {
        recorder.returned(mark);
    }
}

hooks! { GOMP_task => make; }
