//! Loops that are divided into tasks.
//!
//! The runtime makes the tasks of a loop by itself. It writes the bounds of each into the first two words of its data,
//! and looks at the third for reductions. Where the program has a function that copies data, ours is called once for each
//! task, as it is made. Where it has none, it must not get one: the runtime would put the data of all tasks
//! on the stack. Then how many tasks there will be is worked out as the runtime does it, all are recorded as
//! made when the loop is, and each takes one of these names as it begins.

use super::{Body, COUNTED, Copy, place_of, recorder_of_makers, recorder_of_tasks, run_counted};
use crate::budget;
use crate::real::{Real, hooks};
use crate::recorder::Recorder;
use crate::thread;
use kizami_records::threading::{self, TaskName, WaitFor};
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

const FLAG_UP: c_uint = 1 << 8;
const FLAG_GRAINSIZE: c_uint = 1 << 9;
const FLAG_NO_GROUP: c_uint = 1 << 11;
const FLAG_STRICT: c_uint = 1 << 14;

/// Words at the beginning of the data that the runtime knows: two bounds, and what is reduced.
const HEAD_WORDS: usize = 3;

/// Names for tasks that begin.
struct Names {
    stream: u32,
    first: u64,
    count: u64,
    taken: AtomicU64,
}

/// What stands before the data of each task.
#[repr(C)]
struct Before {
    head: [u64; HEAD_WORDS],
    body: Body,
    /// The task's name, unless it is to take one.
    task: TaskName,
    names: *const Names,
    /// Where the data are, from here.
    offset: usize,
    site: u32,
}

/// What our copy gets.
#[repr(C)]
struct Source {
    head: [u64; HEAD_WORDS],
    body: Body,
    data: *mut c_void,
    copy: Copy,
    bytes: usize,
    align: usize,
    site: u32,
    /// Tasks that are still to be made, as far as known. After the last the thread waits, if it does.
    left: u64,
    waits: bool,
}

const NO_TASK: TaskName = TaskName { stream: u32::MAX, number: 0 };

unsafe extern "C" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: what `divide` handed to the runtime, and memory of the size asked for.
    unsafe {
        let source = &mut *from.cast::<Source>();
        let task = thread::recorder().map_or(NO_TASK, |recorder| make(recorder, source.site));
        source.left = source.left.saturating_sub(1);
        if source.left == 0 && source.waits {
            source.waits = false;
            wait(source.site);
        }
        let data = (to as usize + size_of::<Before>()).next_multiple_of(source.align);
        let offset = data - to as usize;
        let (head, body, site) = (source.head, source.body, source.site);
        to.cast::<Before>().write(Before { head, body, task, names: std::ptr::null(), offset, site });
        if let Some(copy) = source.copy {
            copy(data as *mut c_void, source.data);
        }
    }
}

/// One more task of a loop.
fn make(recorder: &mut Recorder, site: u32) -> TaskName {
    if !budget::is_spent() {
        return recorder.create(site);
    }
    recorder.count(1);
    COUNTED
}

/// The thread has made all tasks of a loop.
fn wait(site: u32) {
    if let Some(recorder) = recorder_of_tasks() {
        recorder.wait(WaitFor::Group, site);
    }
}

unsafe extern "C" fn run(block: *mut c_void) {
    // SAFETY: what `copy` or `divide` wrote, and the runtime changed in its first words.
    let (body, data, below) = unsafe {
        let before = &*block.cast::<Before>();
        let data = block.byte_add(before.offset);
        data.cast::<[u64; 2]>().write([before.head[0], before.head[1]]);
        if before.task == COUNTED {
            return run_counted(before.body, data);
        }
        let below = thread::recorder().map(|recorder| {
            let task = name(before, recorder);
            recorder.begin(task);
            recorder.enter()
        });
        (before.body, data, below)
    };
    // SAFETY: as the runtime would have called it.
    unsafe { body(data) };
    if let Some(recorder) = thread::recorder() {
        recorder.put(threading::end());
        recorder.leave(below.unwrap_or_default());
    }
}

/// # Safety
/// Names, if there are any, live as long as tasks of the loop.
unsafe fn name(before: &Before, recorder: &mut Recorder) -> TaskName {
    if before.task != NO_TASK {
        return before.task;
    }
    // SAFETY: by contract.
    let taken = unsafe { before.names.as_ref() }.and_then(|names| {
        let number = names.taken.fetch_add(1, Ordering::Relaxed);
        (number < names.count).then(|| TaskName { stream: names.stream, number: names.first + number })
    });
    // One more than was worked out: made here, as far as known.
    taken.unwrap_or_else(|| recorder.create(before.site))
}

/// How many tasks the runtime makes of so many rounds, with `request` being how many or how large they should be.
fn tasks_of(rounds: u64, request: u64, flags: c_uint) -> u64 {
    let request = if request == 0 && flags & FLAG_GRAINSIZE == 0 { threads() } else { request.max(1) };
    match (flags & FLAG_GRAINSIZE != 0, flags & FLAG_STRICT != 0) {
        (false, _) => request.min(rounds),
        (true, true) => rounds.div_ceil(request),
        (true, false) => (rounds / request).max(1),
    }
}

/// The runtime's function that returns how many threads a region has.
pub static THREADS: Real = Real::new(c"omp_get_num_threads");

fn threads() -> u64 {
    // SAFETY: the runtime's function, which has this signature.
    unsafe {
        let number: extern "C" fn() -> c_int = std::mem::transmute(THREADS.address());
        number().max(1) as u64
    }
}

/// Rounds of a loop from `start` to `end`, both as 64 bits, by `step`.
fn rounds(start: u64, end: u64, step: u64, up: bool) -> u64 {
    let (length, step) = match up {
        true => (end.wrapping_sub(start), step),
        false => (start.wrapping_sub(end), step.wrapping_neg()),
    };
    // An empty loop is seen by the runtime, too, and makes no task.
    if length as i64 <= 0 || step == 0 { 0 } else { length.div_ceil(step) }
}

type Divide =
    unsafe extern "C" fn(Body, *mut c_void, Copy, c_long, c_long, c_uint, usize, c_int, u64, u64, u64);

/// What a program asks for.
struct LoopRequest {
    body: Body,
    data: *mut c_void,
    copy: Copy,
    bytes: usize,
    align: usize,
    flags: c_uint,
    tasks: usize,
    priority: c_int,
    bounds: [u64; 3],
}

impl LoopRequest {
    unsafe fn pass(&self, real: Divide) {
        let [start, end, step] = self.bounds;
        let (bytes, align) = (self.bytes as c_long, self.align as c_long);
        // SAFETY: as it was called.
        unsafe {
            real(
                self.body,
                self.data,
                self.copy,
                bytes,
                align,
                self.flags,
                self.tasks,
                self.priority,
                start,
                end,
                step,
            );
        }
    }

    /// The first words of the data, as many as there are.
    unsafe fn head(&self) -> [u64; HEAD_WORDS] {
        let mut head = [0; HEAD_WORDS];
        let bytes = self.bytes.min(size_of_val(&head));
        // SAFETY: the data are that long.
        unsafe { std::ptr::copy_nonoverlapping(self.data.cast::<u8>(), head.as_mut_ptr().cast(), bytes) };
        head
    }

    /// Where the data lie behind what stands before them.
    fn offset(&self) -> usize {
        size_of::<Before>().next_multiple_of(self.align.max(align_of::<Before>()))
    }

    /// How many tasks it becomes.
    fn count(&self) -> u64 {
        let [start, end, step] = self.bounds;
        match rounds(start, end, step, self.flags & FLAG_UP != 0) {
            0 => 0,
            rounds => tasks_of(rounds, self.tasks as u64, self.flags),
        }
    }

    /// Whether the thread waits for them.
    fn waits(&self) -> bool {
        self.flags & FLAG_NO_GROUP == 0
    }

    unsafe fn divide_with_copy(&self, real: Divide, site: u32) {
        let align = self.align.max(align_of::<Before>());
        // SAFETY: the program's data.
        let head = unsafe { self.head() };
        let (body, data, copy_data, bytes) = (self.body, self.data, self.copy, self.bytes);
        let (left, waits) = (self.count(), self.waits());
        let mut source = Source { head, body, data, copy: copy_data, bytes, align, site, left, waits };
        let request = LoopRequest {
            body: run,
            data: (&raw mut source).cast(),
            copy: Some(copy),
            bytes: self.offset() + self.bytes,
            align,
            ..*self
        };
        // SAFETY: as it was called, but for body and data; the source is copied before the function returns.
        unsafe { request.pass(real) };
        if source.waits {
            // There were fewer than was worked out.
            wait(site);
        }
    }

    unsafe fn divide_plainly(&self, real: Divide, recorder: &mut Recorder, site: u32) {
        let is_counted = budget::is_spent();
        if is_counted {
            recorder.count(self.count());
        }
        let count = if is_counted { 0 } else { self.count() };
        let first = (0..count).map(|_| recorder.create(site)).next();
        let names = first.map(|first| {
            // The others; the first was made to know its number.
            (1..count).for_each(|_| {
                recorder.create(site);
            });
            Names { stream: first.stream, first: first.number, count, taken: AtomicU64::new(0) }
        });
        if self.waits() {
            wait(site);
        }
        // Tasks of a loop that no rank waits for may begin at any time, and the last is unknown: a few bytes
        // for each such loop are never given back.
        let names = names.map_or(std::ptr::null(), |names| Box::leak(Box::new(names)) as *const Names);
        let align = self.align.max(align_of::<Before>());
        let mut block = vec![0u8; self.offset() + self.bytes + align];
        // SAFETY: within the block, which is as large; the runtime copies it for each task, or is done with it when it
        // returns.
        unsafe {
            let place = block.as_mut_ptr().add(block.as_ptr().align_offset(align));
            let (head, offset) = (self.head(), self.offset());
            let task = if is_counted { COUNTED } else { NO_TASK };
            place.cast::<Before>().write(Before { head, body: self.body, task, names, offset, site });
            std::ptr::copy_nonoverlapping(self.data.cast::<u8>(), place.add(offset), self.bytes);
            let request =
                LoopRequest { body: run, data: place.cast(), bytes: offset + self.bytes, align, ..*self };
            request.pass(real);
            if self.waits() && !names.is_null() {
                drop(Box::from_raw(names.cast_mut()));
            }
        }
    }
}

unsafe fn divide(real: &Real, request: &LoopRequest) {
    // SAFETY: the runtime's function of that name.
    let real: Divide = unsafe { std::mem::transmute(real.address()) };
    let Some(recorder) = recorder_of_makers() else {
        // SAFETY: as it was called.
        return unsafe { request.pass(real) };
    };
    let site = recorder.site(place_of(request.body));
    if request.waits() && !recorder.running().is_counted {
        recorder.put(threading::group());
    }
    // SAFETY: as it was called.
    unsafe {
        match request.copy {
            Some(_) => request.divide_with_copy(real, site),
            None => request.divide_plainly(real, recorder, site),
        }
    }
    if request.waits()
        && let Some(recorder) = recorder_of_tasks()
    {
        recorder.waited(WaitFor::Group);
    }
}

macro_rules! loops {
    ($($name:ident, $body:ident;)+) => {
        $(
            unsafe extern "C" fn $body(
                body: Body, data: *mut c_void, copy: Copy, bytes: c_long, align: c_long, flags: c_uint,
                tasks: usize, priority: c_int, start: u64, end: u64, step: u64,
            ) {
                let (bytes, align) = (bytes as usize, align as usize);
                let bounds = [start, end, step];
                // SAFETY: called as the function of that name.
                unsafe { divide(&real::$name, &LoopRequest { body, data, copy, bytes, align, flags, tasks, priority, bounds }) }
            }
        )+
        hooks! { $($name => $body;)+ }
    };
}

loops! {
    GOMP_taskloop, signed;
    GOMP_taskloop_ull, unsigned;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_a_loop_are_as_many_as_the_runtime_makes() {
        assert_eq!(tasks_of(100, 10, FLAG_GRAINSIZE), 10);
        assert_eq!(tasks_of(105, 10, FLAG_GRAINSIZE), 10);
        assert_eq!(tasks_of(105, 10, FLAG_GRAINSIZE | FLAG_STRICT), 11);
        assert_eq!(tasks_of(3, 10, FLAG_GRAINSIZE), 1);
        assert_eq!(tasks_of(3, 10, 0), 3);
        assert_eq!(rounds(0, 10, 3, true), 4);
        assert_eq!(rounds(10, 0, 3u64.wrapping_neg(), false), 4);
        assert_eq!(rounds(10, 0, 1, true), 0);
    }
}
