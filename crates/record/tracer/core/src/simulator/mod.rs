//! SMPI, the simulator of SimGrid: all ranks of a program live in one process and take turns on one thread.
//!
//! What is one for a process elsewhere must be one for a rank here. SMPI gives each rank a copy of the program, so
//! that each has its own variables; [`copies`] gives each of them a copy of this library, too. The library that was
//! preloaded records nothing: it only makes the copies. A copy belongs to one rank, and is to it what the
//! preloaded library is to a process.
//!
//! Time is the simulator's. It measures how long a rank computes between two calls, and lets that time pass when it is
//! notified that the computation has ended. That is the first thing its functions do, so we do it before we look at the
//! clock. What we do after a call is not the program's computation and is forgotten.

pub mod copies;

use crate::loader;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The simulator's functions.
pub struct Simulator {
    clock: unsafe extern "C" fn() -> f64,
    computation_ends: unsafe extern "C" fn(),
    computation_begins: unsafe extern "C" fn(),
    comm_self: unsafe extern "C" fn() -> usize,
}

static SIMULATOR: OnceLock<Simulator> = OnceLock::new();
/// This library is the copy of a rank.
static RECORDS_A_RANK: AtomicBool = AtomicBool::new(false);
/// The rank is between `MPI_Init` and `MPI_Finalize`: only then does the simulator measure it.
static MEASURED: AtomicBool = AtomicBool::new(false);

/// Looks whether this process is the simulator, once, before it does anything.
pub fn on_load() {
    if let Some(found) = Simulator::find() {
        let _ = SIMULATOR.set(found);
    }
}

/// The simulator, if this process is one.
#[inline]
pub fn get() -> Option<&'static Simulator> {
    SIMULATOR.get()
}

/// Whether this library was preloaded into a simulator and belongs to no rank.
pub fn is_without_rank() -> bool {
    get().is_some() && !RECORDS_A_RANK.load(Ordering::Relaxed)
}

/// Called in a copy by the library that made it.
#[unsafe(no_mangle)]
extern "C" fn kizami_record_one_rank() {
    RECORDS_A_RANK.store(true, Ordering::Relaxed);
}

/// Notes that `MPI_Init` or `MPI_Finalize` has returned.
pub fn measures(measured: bool) {
    MEASURED.store(measured, Ordering::Relaxed);
}

impl Simulator {
    fn find() -> Option<Simulator> {
        let symbol = |name: &CStr| loader::symbol(libc::RTLD_DEFAULT, name);
        // SAFETY: SimGrid declares functions of these types under these names.
        unsafe {
            Some(Simulator {
                clock: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> f64>(symbol(
                    c"simgrid_get_clock",
                )?),
                computation_ends: std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(
                    c"smpi_bench_end",
                )?),
                computation_begins: std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(
                    c"smpi_bench_begin",
                )?),
                comm_self: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> usize>(symbol(
                    c"smpi_process_comm_self",
                )?),
            })
        }
    }

    /// Simulated time in nanoseconds. The simulation begins at one second: 0 is no reading of a clock.
    pub fn now_ns(&self) -> u64 {
        const BEGINNING_NS: u64 = 1_000_000_000;
        // SAFETY: reads a number, at any time.
        BEGINNING_NS + (unsafe { (self.clock)() } * 1e9).round() as u64
    }

    /// Lets the time pass that the rank has computed. Other ranks may run meanwhile.
    pub fn catch_up(&self) {
        if MEASURED.load(Ordering::Relaxed) {
            // SAFETY: a rank between MPI_Init and MPI_Finalize, inside none of the simulator's own functions.
            unsafe {
                (self.computation_ends)();
                (self.computation_begins)();
            }
        }
    }

    /// What was done since the call returned was ours: the rank's computation begins now.
    pub fn forget_since_call(&self) {
        if MEASURED.load(Ordering::Relaxed) {
            // SAFETY: as above.
            unsafe { (self.computation_begins)() };
        }
    }

    /// The rank's communicator with itself.
    pub fn comm_self(&self) -> usize {
        // SAFETY: the simulator answers for the rank that runs.
        unsafe { (self.comm_self)() }
    }
}

/// Whether an exception, as the unwinder passes it, is the one by which the simulator ends a rank wherever it is: when all
/// ranks wait for each other, or one of them aborts.
///
/// # Safety
/// The class and the exception must be of one that is being thrown.
pub unsafe fn ends_rank(class: u64, exception: *const c_void) -> bool {
    const GNU_CPP: u64 = u64::from_be_bytes(*b"GNUCC++\0");
    // How far the ABI of C++ has the type of a thrown object lie before the part that the unwinder knows.
    const TYPE_BEFORE: usize = 10 * size_of::<usize>();
    if get().is_none() || class != GNU_CPP {
        return false;
    }
    // SAFETY: an exception of this class lies in such a header, and a type is a table and its name.
    let name = unsafe {
        let kind = exception.byte_sub(TYPE_BEFORE).cast::<*const [*const c_char; 2]>().read();
        CStr::from_ptr((*kind)[1])
    };
    name == c"N7simgrid21ForcefulKillExceptionE"
}

/// Whose collectives the ranks imitate: the launcher says so to its process, and it is a part of what library
/// this is.
pub fn chosen_collectives() -> Option<String> {
    let line = std::fs::read("/proc/self/cmdline").ok()?;
    let mut words = line.split(|byte| *byte == 0).filter_map(|word| word.strip_prefix(b"--cfg="));
    let chosen = words.find(|word| word.starts_with(b"smpi/coll-selector:"))?;
    Some(String::from_utf8_lossy(chosen).into_owned())
}
