//! Runtimes of any kind that report their tasks themselves, by `include/kizami_tasks.h`.
//!
//! The header looks for `kizami_tasks_1` at the first report, and calls what it finds there.

use crate::local::{self, stub};
use crate::recorder::Recorder;
use crate::{thread, wanted, word};
use kizami_records::threading::{self, Dependence, Purpose, WaitFor};
use std::ffi::{c_int, c_void};

/// As the header has it: its functions, in its order.
#[repr(C)]
pub struct Listener {
    create: unsafe extern "C" fn(),
    begin: extern "C" fn(u64),
    end: extern "C" fn(),
    wait_begin: unsafe extern "C" fn(),
    wait_end: extern "C" fn(),
}

/// What the header looks for. One that changes has another number.
#[unsafe(export_name = "kizami_tasks_1")]
pub static LISTENER: Listener = Listener { create: create_stub, begin, end, wait_begin: wait_stub, wait_end };

/// As the header has it.
#[repr(C)]
struct Need {
    of: *const c_void,
    writes: c_int,
}

#[inline(always)]
fn recorder() -> Option<&'static mut Recorder> {
    if wanted::tasks() { thread::recorder() } else { None }
}

unsafe extern "C" fn create(place: *const c_void, needs: *const Need, count: c_int) -> u64 {
    let address = if place.is_null() { local::return_address() } else { place as usize };
    let Some(recorder) = recorder() else { return 0 };
    let site = recorder.site(address);
    let task = recorder.create(site);
    let count = if needs.is_null() { 0 } else { count.max(0) as usize };
    if count > 0 {
        let of = |index: usize| {
            // SAFETY: the list is as long as the program says.
            let need = unsafe { &*needs.add(index) };
            let purpose = if need.writes != 0 { Purpose::Out } else { Purpose::In };
            Dependence { address: need.of as u64, purpose }
        };
        recorder.depend(count, (0..count).map(of));
    }
    word::of(task)
}

extern "C" fn begin(task: u64) {
    // Nothing is known of a task that was created without a listener.
    let Some(task) = word::task(task) else { return };
    if let Some(recorder) = recorder() {
        recorder.begin(task);
    }
}

extern "C" fn end() {
    if let Some(recorder) = recorder() {
        recorder.put(threading::end());
    }
}

unsafe extern "C" fn wait() {
    let address = local::return_address();
    if let Some(recorder) = recorder() {
        let site = recorder.site(address);
        recorder.wait(WaitFor::Children, site);
    }
}

extern "C" fn wait_end() {
    if let Some(recorder) = recorder() {
        recorder.waited(WaitFor::Children);
    }
}

stub!(create_stub, create);
stub!(wait_stub, wait);
