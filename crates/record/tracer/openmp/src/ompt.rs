//! Runtimes that notify a tool (OMPT): those of LLVM and Intel.
//!
//! They look for `ompt_start_tool` when they start, and take from it what they call back. They keep a word of ours with each task and each
//! region: a task's name, a region's number.

use crate::choice::{self, Way};
use crate::recorder::Recorder;
use crate::running::Running;
use crate::{budget, regions, thread, wanted, word};
use kizami_records::Unrecorded;
use kizami_records::threading::{self, Dependence, Purpose, Runtime, WaitFor};
use kizami_tracer_core::loader::Module;
use kizami_tracer_core::{loader, process, simulator};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// A runtime has our tool. What is called back does not say who calls, so only one may have it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The word a runtime keeps for a tool.
type Kept = *mut u64;
type Lookup = extern "C" fn(*const c_char) -> *const c_void;

/// What a runtime gets from a tool.
#[repr(C)]
pub struct Tool {
    initialize: extern "C" fn(Lookup, c_int, *mut u64) -> c_int,
    finalize: extern "C" fn(*mut u64),
    data: u64,
}

static TOOL: Tool = Tool { initialize, finalize, data: 0 };

/// A runtime asks for a tool. Null where none is wanted, and it goes on as without us.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(_version: c_uint, _runtime: *const c_char) -> *const Tool {
    // Who asks is seen by where it goes on.
    core::arch::naked_asm!("mov rdx, qword ptr [rsp]", "jmp {start}", start = sym start_tool)
}

unsafe extern "C" fn start_tool(version: c_uint, name: *const c_char, caller: usize) -> *const Tool {
    type Start = unsafe extern "C" fn(c_uint, *const c_char) -> *const Tool;
    let next = loader::symbol(libc::RTLD_NEXT, c"ompt_start_tool");
    // SAFETY: a function of that name has this signature; it is called as ours was.
    let other = next.map_or(std::ptr::null(), |next| unsafe {
        std::mem::transmute::<*mut c_void, Start>(next)(version, name)
    });
    if !wanted::openmp() || process::is_forked() || simulator::get().is_some() {
        return other;
    }
    let file =
        || loader::file_of(caller).map_or_else(String::new, |file| file.to_string_lossy().into_owned());
    if !other.is_null() || expects_other_tool() {
        process::note_unrecorded(Unrecorded::OtherTool, file());
        return other;
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        process::note_unrecorded(Unrecorded::OtherRuntime, file());
        return std::ptr::null();
    }
    choice::offer(Way::Tool, file());
    &raw const TOOL
}

/// Whether the runtime would use another tool if we were not there: one that the user names, or Archer, which it loads by
/// itself into programs made with ThreadSanitizer.
fn expects_other_tool() -> bool {
    let is_named = std::env::var_os("OMP_TOOL_LIBRARIES").is_some_and(|names| !names.is_empty());
    let has_sanitizer = loader::symbol(libc::RTLD_DEFAULT, c"__tsan_init").is_some();
    let archer_is_off = std::env::var("ARCHER_OPTIONS")
        .is_ok_and(|options| options.split_whitespace().any(|word| word == "enable=0"));
    is_named || has_sanitizer && !archer_is_off
}

/// A module uses a runtime that asks for a tool. Where it will not ask us, that is said now.
pub fn found(runtime: &Module) {
    let own_file = loader::file_of(found as *const () as usize);
    let asked = runtime.binding_of(c"ompt_start_tool");
    let is_off = std::env::var_os("OMP_TOOL").is_some_and(|value| value.eq_ignore_ascii_case("disabled"));
    let reason = match asked {
        _ if is_off => Some(Unrecorded::NoTool),
        Some(tool) if loader::file_of(tool) == own_file => None,
        // It has a function of that name itself, which finds what others have behind it.
        Some(tool) if !runtime.contains(tool) => Some(Unrecorded::OtherTool),
        _ => Some(Unrecorded::OpenMp),
    };
    if let Some(reason) = reason {
        process::note_unrecorded(reason, runtime.file());
    }
}

extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: *mut u64) -> c_int {
    let set = lookup(c"ompt_set_callback".as_ptr());
    if set.is_null() {
        TAKEN.store(false, Ordering::Relaxed);
        return 0;
    }
    // SAFETY: the runtime's function of that name.
    let set: extern "C" fn(c_int, *const c_void) -> c_int = unsafe { std::mem::transmute(set) };
    let of_regions: [(c_int, *const c_void); 7] = [
        (3, parallel_begin as *const c_void),
        (4, parallel_end as *const c_void),
        (7, implicit_task as *const c_void),
        (16, sync_wait as *const c_void),
        (23, sync as *const c_void),
        (26, mutex_acquire as *const c_void),
        (27, mutex_acquired as *const c_void),
    ];
    let of_tasks: [(c_int, *const c_void); 3] = [
        (5, task_create as *const c_void),
        (6, task_schedule as *const c_void),
        (18, dependences as *const c_void),
    ];
    of_regions.iter().chain(of_tasks.iter().filter(|_| wanted::tasks())).for_each(|(event, callback)| {
        set(*event, *callback);
    });
    1
}

/// The runtime ends, or is unloaded: another may come.
extern "C" fn finalize(_data: *mut u64) {
    choice::release(Way::Tool);
    TAKEN.store(false, Ordering::Relaxed);
}

const BEGIN: c_int = 1;
const FLAG_INITIAL: c_int = 1;
const FLAG_EXPLICIT: c_int = 4;

/// Flags in the word of a task: it has made others (one that has not, waits for none),
const HAS_MADE: u64 = word::FLAGS[0];
/// waits for others, which may run meanwhile,
const WAITS: u64 = word::FLAGS[1];
/// is only counted,
const COUNTED: u64 = word::FLAGS[2];
/// and has its time measured, because it runs while a recorded task waits.
const TIMED: u64 = word::FLAGS[3];

/// # Safety
/// What the runtime handed to a callback.
unsafe fn read(kept: Kept) -> u64 {
    // SAFETY: by contract.
    if kept.is_null() { 0 } else { unsafe { *kept } }
}

/// Sets or takes back a flag.
///
/// # Safety
/// What the runtime handed to a callback, for a task that runs on this thread.
unsafe fn flag(kept: Kept, flag: u64, on: bool) {
    // SAFETY: by contract.
    if let Some(word) = unsafe { kept.as_mut() } {
        *word = if on { *word | flag } else { *word & !flag };
    }
}

/// The recorder of this thread, unless another runtime is recorded.
fn any_recorder() -> Option<&'static mut Recorder> {
    if choice::claim(Way::Tool) { thread::recorder() } else { None }
}

/// The same, unless what runs is only counted.
fn recorder() -> Option<&'static mut Recorder> {
    any_recorder().filter(|recorder| !recorder.running().is_counted)
}

extern "C" fn parallel_begin(
    _task: Kept,
    _frame: *const c_void,
    region: Kept,
    _threads: c_uint,
    _flags: c_int,
    address: *const c_void,
) {
    let Some(recorder) = recorder() else {
        // SAFETY: the runtime's word for this region. One begun by a task that is only counted is part of it.
        return unsafe { region.write(0) };
    };
    let number = regions::next();
    // SAFETY: as above.
    unsafe { region.write(number) };
    let site = recorder.site(address as usize);
    recorder.put(threading::region(site, number, Runtime::Llvm));
}

extern "C" fn parallel_end(region: Kept, task: Kept, _flags: c_int, _address: *const c_void) {
    let Some(recorder) = any_recorder() else { return };
    // SAFETY: the runtime's words for the region and the task that began it, which goes on.
    let (number, task) = unsafe { (read(region), read(task)) };
    if number != 0 {
        recorder.record_counted();
        recorder.put(threading::region_end());
    }
    recorder.set_running(Running { is_counted: task & COUNTED != 0, ..Running::default() });
}

extern "C" fn implicit_task(
    endpoint: c_int,
    region: Kept,
    task: Kept,
    _threads: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if flags & FLAG_INITIAL != 0 {
        return;
    }
    let Some(recorder) = any_recorder() else { return };
    if endpoint == BEGIN {
        // SAFETY: the runtime's words for this task and its region.
        let region = unsafe {
            let number = read(region);
            task.write(if number == 0 { COUNTED } else { 0 });
            number
        };
        recorder.set_running(Running { is_counted: region == 0, ..Running::default() });
        if region != 0 {
            recorder.put(threading::share(index, region));
        }
    } else {
        if !recorder.running().is_counted {
            recorder.put(threading::share_end());
        }
        recorder.set_running(Running::default());
    }
}

extern "C" fn task_create(
    making: Kept,
    _frame: *const c_void,
    made: Kept,
    flags: c_int,
    _depends: c_int,
    address: *const c_void,
) {
    let name = match any_recorder() {
        Some(recorder) if flags & FLAG_EXPLICIT != 0 && budget::is_spent() => {
            recorder.count(1);
            COUNTED
        }
        Some(recorder) if flags & FLAG_EXPLICIT != 0 => {
            let site = recorder.site(address as usize);
            word::of(recorder.create(site))
        }
        _ => 0,
    };
    // SAFETY: the runtime's words for the new task and the one that makes it, which runs here.
    unsafe {
        made.write(name);
        flag(making, HAS_MADE, true);
    }
}

extern "C" fn task_schedule(before: Kept, status: c_int, after: Kept) {
    const COMPLETE: c_int = 1;
    const YIELD: c_int = 2;
    const CANCEL: c_int = 3;
    const DETACH: c_int = 4;
    const SWITCH: c_int = 7;
    let Some(recorder) = any_recorder() else { return };
    // SAFETY: the runtime's words for both tasks.
    let (word_before, word_after) = unsafe { (read(before), read(after)) };
    if (word_before | word_after) & COUNTED != 0 {
        let timed = pass_counted(recorder, word_before, word_after);
        // SAFETY: the runtime's word for the task that runs here now.
        unsafe { flag(after, TIMED, timed) };
    }
    let (before, after) = (word::task(word_before), word::task(word_after));
    match status {
        COMPLETE | CANCEL | DETACH if before.is_some() => recorder.put(threading::end()),
        YIELD | SWITCH => {
            if let Some(task) = after {
                recorder.begin(task);
            }
        }
        _ => {}
    }
}

/// A thread goes on from one task to another, and one of them at least is only counted. Returns whether the time of the
/// other is measured.
#[cold]
fn pass_counted(recorder: &mut Recorder, before: u64, after: u64) -> bool {
    match (before & COUNTED != 0, after & COUNTED != 0) {
        (false, true) => {
            let waits = before & WAITS != 0 || after & TIMED != 0;
            recorder.set_running(Running { waits, ..Running::default() });
            recorder.enter_counted();
            waits
        }
        (true, false) => {
            recorder.leave_counted(Running::default());
            false
        }
        _ => (before | after) & TIMED != 0,
    }
}

/// A dependence as runtimes list it.
#[repr(C)]
struct Listed {
    address: u64,
    kind: c_int,
}

extern "C" fn dependences(task: Kept, list: *const Listed, count: c_int) {
    let Some(recorder) = any_recorder() else { return };
    // SAFETY: the runtime's word for the task.
    if unsafe { read(task) } & COUNTED != 0 {
        return;
    }
    let count = count.max(0) as usize;
    let of = |index: usize| {
        // SAFETY: the list is as long as the runtime says.
        let listed = unsafe { &*list.add(index) };
        let purpose = match listed.kind {
            1 => Purpose::In,
            4 => Purpose::Exclusive,
            7 => Purpose::Set,
            _ => Purpose::Out,
        };
        Dependence { address: listed.address, purpose }
    };
    recorder.depend(count, (0..count).map(of));
}

const TASKWAIT: c_int = 5;
const TASKGROUP: c_int = 6;

/// What a thread waits for where it meets others.
fn meeting(kind: c_int) -> Option<WaitFor> {
    match kind {
        // A barrier of an unspecified kind, explicit, the runtime's own, or at the end of a loop.
        1 | 3 | 4 | 8 => Some(WaitFor::Barrier),
        2 | 9 => Some(WaitFor::EndOfRegion),
        TASKWAIT => Some(WaitFor::Children),
        TASKGROUP => Some(WaitFor::Group),
        _ => None,
    }
}

extern "C" fn sync(kind: c_int, endpoint: c_int, _region: Kept, task: Kept, address: *const c_void) {
    let Some(what) = meeting(kind) else { return };
    // SAFETY: the runtime's word for the task that waits.
    if what == WaitFor::Children && unsafe { read(task) } & HAS_MADE == 0 {
        return;
    }
    let Some(recorder) = recorder() else { return };
    match (what, endpoint == BEGIN) {
        (WaitFor::Group, true) => recorder.put(threading::group()),
        (_, true) => {
            let site = recorder.site(address as usize);
            recorder.wait(what, site);
        }
        (_, false) => recorder.waited(what),
    }
    // SAFETY: as above. A group is opened before it is waited for.
    unsafe { flag(task, WAITS, endpoint == BEGIN && what != WaitFor::Group) };
}

extern "C" fn sync_wait(kind: c_int, endpoint: c_int, _region: Kept, task: Kept, address: *const c_void) {
    // A group is opened long before it is waited for; all others wait as soon as they are there.
    if kind == TASKGROUP
        && endpoint == BEGIN
        && let Some(recorder) = recorder()
    {
        let site = recorder.site(address as usize);
        recorder.wait(WaitFor::Group, site);
        // SAFETY: the runtime's word for the task that waits.
        unsafe { flag(task, WAITS, true) };
    }
}

/// Whether one that wants a mutex gets it, sooner or later.
fn waits_for_mutex(kind: c_int) -> bool {
    const TEST_LOCK: c_int = 2;
    const TEST_NEST_LOCK: c_int = 4;
    kind != TEST_LOCK && kind != TEST_NEST_LOCK
}

extern "C" fn mutex_acquire(kind: c_int, _hint: c_uint, _how: c_uint, _which: u64, address: *const c_void) {
    if waits_for_mutex(kind)
        && let Some(recorder) = recorder()
    {
        let site = recorder.site(address as usize);
        recorder.put(threading::wait(WaitFor::Lock, site));
    }
}

extern "C" fn mutex_acquired(kind: c_int, _which: u64, _address: *const c_void) {
    if waits_for_mutex(kind)
        && let Some(recorder) = recorder()
    {
        recorder.put(threading::waited(WaitFor::Lock));
    }
}
