//! Where threads wait: barriers, for tasks, for groups, for locks.

use super::{recorder, recorder_of_tasks};
use crate::real::{Real, hooks};
use crate::recorder::Recorder;
use crate::{local, thread};
use kizami_records::threading::{self, WaitFor};

/// All of these functions have one argument at most.
type Wait = unsafe extern "C" fn(usize) -> usize;

#[inline(always)]
unsafe fn wait(real: &Real, what: WaitFor, argument: usize) -> usize {
    let address = local::return_address();
    // SAFETY: the runtime's function of that name.
    let real: Wait = unsafe { std::mem::transmute(real.address()) };
    let of_tasks = matches!(what, WaitFor::Children | WaitFor::Group);
    let recorder = if of_tasks { recorder_of_tasks() } else { recorder() };
    // Who has made no task has none to wait for, and the runtime returns at once.
    let is_empty = |recorder: &&mut Recorder| what == WaitFor::Children && !recorder.running().has_made;
    let Some(recorder) = recorder.filter(|recorder| !is_empty(recorder)) else {
        // SAFETY: as it was called.
        return unsafe { real(argument) };
    };
    let site = recorder.site(address);
    recorder.wait(what, site);
    // SAFETY: as it was called.
    let result = unsafe { real(argument) };
    if let Some(recorder) = thread::recorder() {
        recorder.waited(what);
    }
    result
}

unsafe extern "C" fn group(argument: usize) -> usize {
    // SAFETY: the runtime's function of that name, called as ours was.
    let result = unsafe {
        let real: Wait = std::mem::transmute(real::GOMP_taskgroup_start.address());
        real(argument)
    };
    if let Some(recorder) = recorder_of_tasks() {
        recorder.put(threading::group());
    }
    result
}

macro_rules! waits {
    ($($name:ident, $body:ident, $what:ident;)+) => {
        $(
            unsafe extern "C" fn $body(argument: usize) -> usize {
                // SAFETY: called as the function of that name.
                unsafe { wait(&real::$name, WaitFor::$what, argument) }
            }
        )+
        hooks! {
            GOMP_taskgroup_start => group;
            $($name => $body;)+
        }
    };
}

waits! {
    GOMP_barrier, barrier, Barrier;
    GOMP_barrier_cancel, barrier_cancel, Barrier;
    GOMP_loop_end, loop_end, Barrier;
    GOMP_loop_end_cancel, loop_end_cancel, Barrier;
    GOMP_sections_end, sections_end, Barrier;
    GOMP_sections_end_cancel, sections_end_cancel, Barrier;
    GOMP_taskwait, taskwait, Children;
    GOMP_taskwait_depend, taskwait_depend, Children;
    GOMP_taskgroup_end, taskgroup_end, Group;
    GOMP_critical_start, critical, Lock;
    GOMP_critical_name_start, critical_name, Lock;
    GOMP_ordered_start, ordered, Lock;
    omp_set_lock, set_lock, Lock;
    omp_set_nest_lock, set_nest_lock, Lock;
}
