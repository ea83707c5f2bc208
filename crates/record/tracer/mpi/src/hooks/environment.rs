//! The beginning and the end of MPI, and what a program passes to the tracer.

use super::timed;
use crate::binding::{self, When};
use crate::call::Call;
use crate::cancellation::Uncancelled;
use crate::process::{self, World};
use crate::real::own;
use crate::stream::lock;
use crate::{abi, clock, communicators, launcher, rendezvous, requests, simulator, status};
use kizami_model::Ending;
use kizami_records::Definition;
use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// `MPI_Init` or `MPI_Init_thread` has returned: now MPI knows the rank.
#[inline(never)]
pub fn initialised(mut call: Call) {
    let _uncancelled = Uncancelled::new();
    let record = call.record();
    call.store(&record);
    // Nothing is missed of what was loaded until now: there was no MPI to call.
    binding::look(When::Loaded);
    if !call.failed()
        && let Some(process) = process::existing()
    {
        simulator::measures(true);
        let abi = abi::get();
        let (mut rank, mut size, mut level) = (0i32, 0i32, 0i32);
        // SAFETY: MPI has just been initialised; places for numbers.
        unsafe {
            own::MPI_Comm_rank(abi.comm_world, &raw mut rank);
            own::MPI_Comm_size(abi.comm_world, &raw mut size);
            own::MPI_Query_thread(&raw mut level);
        }
        if level >= abi.thread_multiple {
            requests::expect_several_threads();
        }
        let key = world_key(rank);
        let (rank, size) = (rank as u32, size as u32);
        process.enter_world(World { rank, size, key, abi: abi.kind as u32, library: library_version() });
        WORLD_OF_LAUNCHER.store(false, Ordering::Relaxed);
        communicators::enter_world(process, key);
        status::confirm_layout();
        rendezvous::begin(&mut call, process, size);
    }
    call.release();
}

/// Whether the only world there is, is the one of the launcher.
static WORLD_OF_LAUNCHER: AtomicBool = AtomicBool::new(false);

/// `MPI_Session_init` has returned. A program may live by sessions alone, without a world; then what the
/// launcher says about rank and size is what there is to know.
#[inline(never)]
pub fn session_begun(call: Call) {
    let _uncancelled = Uncancelled::new();
    if !call.failed()
        && let Some(process) = process::existing()
        && process.world_rank().is_none()
        && let Some((rank, size)) = launcher::place()
    {
        requests::expect_several_threads();
        WORLD_OF_LAUNCHER.store(true, Ordering::Relaxed);
        let abi = abi::get().kind as u32;
        process.enter_world(World { rank, size, key: 0, abi, library: library_version() });
    }
    timed(call);
}

/// `MPI_Session_finalize` has returned.
#[inline(never)]
pub fn session_ended(call: Call) {
    let _uncancelled = Uncancelled::new();
    if !call.failed() && WORLD_OF_LAUNCHER.load(Ordering::Relaxed) {
        note_ending(Ending::Finalized, 0);
    }
    timed(call);
    report_losses();
}

/// 0 for the world that the launcher started; for one that `MPI_Comm_spawn` started a number that its ranks
/// agree on.
fn world_key(rank: i32) -> u64 {
    let abi = abi::get();
    if abi.kind == abi::Kind::Smpi {
        // It starts no processes, and does not take the question.
        return 0;
    }
    let mut parent = 0usize;
    // SAFETY: MPI is initialised; a place for a handle.
    unsafe { own::MPI_Comm_get_parent(&raw mut parent) };
    if abi.handle(parent) == abi.comm_null {
        return 0;
    }
    let mut key = if rank == 0 { clock::realtime_ns() ^ u64::from(std::process::id()) << 40 | 1 } else { 0 };
    // SAFETY: all ranks of the world that was spawned do so, each with a place for the number.
    unsafe { own::MPI_Bcast(&raw mut key, size_of::<u64>() as i32, abi.byte, 0, abi.comm_world) };
    key
}

fn library_version() -> String {
    // More than any library's MPI_MAX_LIBRARY_VERSION_STRING.
    let mut text = vec![0u8; 16384];
    let mut length = 0i32;
    // SAFETY: may always be asked; a place longer than any text, and one for its length.
    unsafe { own::MPI_Get_library_version(text.as_mut_ptr(), &raw mut length) };
    let text = CStr::from_bytes_until_nul(&text)
        .map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    // MPICH's version goes on with its configuration.
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    let mut line = words.join(" ");
    if line.contains("SMPI")
        && let Some(chosen) = simulator::chosen_collectives()
    {
        line.push_str(&format!(" ({chosen})"));
    }
    line
}

/// `MPI_Finalize` has returned.
#[inline(never)]
pub fn finalised(call: Call) {
    let _uncancelled = Uncancelled::new();
    binding::look(When::Later);
    if !call.failed() {
        simulator::measures(false);
        note_ending(Ending::Finalized, 0);
    }
    timed(call);
    report_losses();
}

/// `MPI_Abort` is about to be called and will not return: its record is stored now.
#[inline(never)]
pub fn aborting(call: &mut Call, code: i32) {
    let _uncancelled = Uncancelled::new();
    note_ending(Ending::Aborted, code);
    call.leave(0);
    let record = call.record();
    call.thread().record(&record, kizami_model::Shape::Timed);
    report_losses();
}

/// The last call counts as well, and nothing may come after it.
fn report_losses() {
    process::existing().into_iter().for_each(process::Process::report_losses);
}

fn note_ending(ending: Ending, code: i32) {
    let Some(process) = process::existing() else { return };
    process.note_clock();
    process.for_each_header(|header| {
        header.abort_code.store(code, Ordering::Relaxed);
        header.ending.store(ending as u8, Ordering::Relaxed);
    });
}

/// `kizami.h`: a named region begins.
const REGION_BEGIN: i32 = 0x6b_7a01;
/// `kizami.h`: a named region ends.
const REGION_END: i32 = 0x6b_7a02;
/// `kizami.h`: the program counts an amount of work.
const COUNT: i32 = 0x6b_7a03;
/// The standard's level for "profiling is disabled".
const OFF: i32 = 0;

/// What `kizami.h` points to when it counts an amount of work.
#[repr(C)]
struct CountArgument {
    name: *const c_char,
    amount: i64,
}

/// `MPI_Pcontrol`: the standard's levels switch recording off (0) and on (1 and more); `kizami.h` marks
/// regions and counts work with levels of its own, and only then is there a second argument to look at.
#[inline(never)]
pub fn pcontrol(mut call: Call, level: i32, name: usize) {
    match level {
        REGION_BEGIN | REGION_END => {
            let record = call.record();
            let region = region_number(name);
            // The region encloses everything between the two calls, and not the calls themselves.
            if level == REGION_END {
                call.thread().record_region(region, false);
            }
            call.thread().record(&record, kizami_model::Shape::Timed);
            if level == REGION_BEGIN {
                call.thread().record_region(region, true);
            }
            call.release();
        }
        COUNT => {
            let record = call.record();
            if name != 0 {
                // SAFETY: kizami.h passes the place of a struct of this form with this level; it lives during the call.
                let counted = unsafe { &*(name as *const CountArgument) };
                let number =
                    if counted.name.is_null() { 0 } else { count_number(&name_at(counted.name as usize)) };
                // Less than no work is a mistake of the program; the table of counts has none of it.
                let amount = u64::try_from(counted.amount).unwrap_or(0);
                call.thread().record_count(number, amount, record.site);
            }
            call.thread().record(&record, kizami_model::Shape::Timed);
            call.release();
        }
        OFF => {
            let record = call.record();
            call.thread().record(&record, kizami_model::Shape::Timed);
            call.thread().pause();
            call.release();
        }
        _ => {
            call.thread().resume();
            timed(call);
        }
    }
}

/// A name that the program gives.
fn name_at(name: usize) -> String {
    // SAFETY: kizami.h passes a C string with its levels.
    unsafe { CStr::from_ptr(name as *const c_char) }.to_string_lossy().into_owned()
}

fn region_number(name: usize) -> u32 {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    if name == 0 {
        0
    } else {
        number_of(&name_at(name), &NAMES, |local, name| Definition::Region { local, name })
    }
}

/// The number under which amounts of this name are recorded.
pub fn count_number(name: &str) -> u32 {
    static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    number_of(name, &NAMES, |local, name| Definition::Count { local, name })
}

/// The number of a name, which is defined at its first use.
fn number_of(name: &str, names: &Mutex<Vec<String>>, definition: fn(u32, String) -> Definition) -> u32 {
    let _uncancelled = Uncancelled::new();
    let mut names = lock(names);
    if let Some(index) = names.iter().position(|known| known == name) {
        return index as u32 + 1;
    }
    names.push(name.to_owned());
    let local = names.len() as u32;
    if let Some(process) = process::existing() {
        process.define(&definition(local, name.to_owned()));
    }
    local
}
