//! Call sites: from the return address of a call to a small number.
//!
//! C and C++ programs call us directly, and the word on top of the stack is the call site. Fortran programs
//! call a binding library which calls us: the first time such a call comes along, the stack is unwound to
//! the program, and the distance on the stack is remembered for the next time. Where paths are recorded, [`paths`] does that
//! for MPI calls.

use crate::cancellation::Uncancelled;
use crate::process::{self, Process};
use crate::stream::lock;
use crate::unwinder::{_Unwind_Backtrace, _Unwind_GetCFA, _Unwind_GetIP, _Unwind_GetIPInfo, GO_ON, STOP};
use crate::{modules, paths};
use kizami_records::{Definition, NO_SITE};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{LazyLock, Mutex};

const CACHED: usize = 256;
const _: () = assert!(NO_SITE == 0, "an empty cache knows no site");

/// The call sites a thread used last, by return address. All zeros when it is empty.
pub struct Cache([Entry; CACHED]);

#[derive(Clone, Copy)]
struct Entry {
    address: usize,
    what: What,
}

#[derive(Clone, Copy)]
#[repr(u32)]
enum What {
    /// A call site of the program; [`NO_SITE`] where nothing is known.
    Site(u32) = 0,
    /// A place in a language binding: the program's return address lies so many bytes up the stack.
    Binding { distance: usize },
}

/// A place in a language's library, which is reached on many ways: the stack is unwound each time. No kind of its own,
/// which would cost MPI calls an instruction each.
const RUNTIME: What = What::Binding { distance: 0 };

impl Cache {
    #[inline(always)]
    fn entry(&mut self, address: usize) -> &mut Entry {
        &mut self.0[(address ^ address >> 8) % CACHED]
    }
}

/// Numbers of the call sites of this process by address and calling frame (0 if that is not known). What is 0 is no site.
static NUMBERS: LazyLock<Mutex<HashMap<(usize, u32), u32>>> = LazyLock::new(Mutex::default);

/// Number of the call site whose return address `frame` points to, whatever path led there.
#[inline(always)]
pub fn number(cache: &mut Cache, frame: *const usize) -> u32 {
    if frame.is_null() {
        return NO_SITE;
    }
    // SAFETY: the stub noted where the return address of this very call lies.
    let address = unsafe { *frame };
    let entry = cache.entry(address);
    if entry.address == address {
        match entry.what {
            What::Site(number) => return number,
            What::Binding { distance } => return behind_binding(cache, frame, distance),
        }
    }
    look_up(cache, frame, address)
}

/// The same for a call that is not MPI's: what language libraries call is the program's doing. Such a call may be made in
/// a signal handler, where a call site that is not known yet stays unknown.
#[inline]
pub fn number_outside(cache: &mut Cache, frame: *const usize) -> u32 {
    // SAFETY: the stub noted where the return address of this very call lies.
    let address = unsafe { *frame };
    let entry = cache.entry(address);
    match entry.what {
        What::Site(number) if entry.address == address => number,
        What::Binding { .. } if entry.address == address => behind_runtime(cache, frame, address),
        _ => look_up_outside(cache, frame, address).unwrap_or(NO_SITE),
    }
}

#[cold]
fn look_up_outside(cache: &mut Cache, frame: *const usize, address: usize) -> Option<u32> {
    let _uncancelled = Uncancelled::new();
    let process = process::existing()?;
    let known = lock(&NUMBERS).get(&(address, 0)).copied();
    if let Some(number) = known {
        *cache.entry(address) = Entry { address, what: What::Site(number) };
        return known;
    }
    if in_signal_handler() {
        return None;
    }
    if modules::place(process, address).is_some_and(|place| place.is_runtime) {
        *cache.entry(address) = Entry { address, what: RUNTIME };
        return Some(behind_runtime(cache, frame, address));
    }
    look_up_program_site(cache, address)
}

fn behind_runtime(cache: &mut Cache, frame: *const usize, address: usize) -> u32 {
    let _uncancelled = Uncancelled::new();
    let Some(process) = process::existing() else { return NO_SITE };
    let found = unwind_to_program(process, frame, address, |place| place.is_runtime);
    // Where there is no program behind it, the library is all that is known.
    let address = found.map_or(address, |(program_address, _)| program_address);
    let entry = cache.entry(address);
    match entry.what {
        What::Site(number) if entry.address == address => number,
        _ => look_up_program_site(cache, address).unwrap_or(NO_SITE),
    }
}

/// Whether the thread is in a signal handler, according to its stack: there nothing may be allocated.
#[cold]
pub fn in_signal_handler() -> bool {
    /// Handlers are not deeper than that.
    const FRAMES: u32 = 64;
    struct Search {
        frames: u32,
        found: bool,
    }
    extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
        let mut interrupted: c_int = 0;
        // SAFETY: the unwinder passes a valid context, and `search` is the struct above.
        let search = unsafe {
            _Unwind_GetIPInfo(context, &raw mut interrupted);
            &mut *search.cast::<Search>()
        };
        search.frames += 1;
        search.found |= interrupted != 0;
        if search.found || search.frames == FRAMES { STOP } else { GO_ON }
    }
    let mut search = Search { frames: 0, found: false };
    // SAFETY: the callback takes exactly this struct.
    unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
    search.found
}

fn behind_binding(cache: &mut Cache, frame: *const usize, distance: usize) -> u32 {
    // SAFETY: the distance was measured for this return address; the stack reaches up there.
    let address = unsafe { *frame.byte_add(distance) };
    let entry = cache.entry(address);
    if entry.address == address
        && let What::Site(number) = entry.what
    {
        return number;
    }
    look_up_program_site(cache, address).unwrap_or(NO_SITE)
}

#[cold]
fn look_up(cache: &mut Cache, frame: *const usize, address: usize) -> u32 {
    let _uncancelled = Uncancelled::new();
    let Some(process) = process::existing() else { return NO_SITE };
    let in_binding = modules::place(process, address).is_some_and(|place| place.belongs_to_mpi);
    if in_binding
        && let Some((program_address, distance)) =
            unwind_to_program(process, frame, address, |place| place.belongs_to_mpi)
    {
        *cache.entry(address) = Entry { address, what: What::Binding { distance } };
        return look_up_program_site(cache, program_address).unwrap_or(NO_SITE);
    }
    look_up_program_site(cache, address).unwrap_or(NO_SITE)
}

fn look_up_program_site(cache: &mut Cache, address: usize) -> Option<u32> {
    let number = program_site(address)?;
    *cache.entry(address) = Entry { address, what: What::Site(number) };
    Some(number)
}

/// Number of a call site of the program by its return address.
pub fn program_site(address: usize) -> Option<u32> {
    numbered(address, 0)
}

/// The same of a call in a function that this frame has called; 0 if that is not known.
pub fn numbered(address: usize, caller: u32) -> Option<u32> {
    let _uncancelled = Uncancelled::new();
    let process = process::existing()?;
    let mut numbers = lock(&NUMBERS);
    let caller = if paths::are_exhausted(numbers.len()) { 0 } else { caller };
    let number = match numbers.get(&(address, caller)) {
        Some(number) => *number,
        None => {
            // Code that was made at run time lies in no module; its site has a number all the same.
            let module = modules::place(process, address).map_or(0, |place| place.module);
            let number = numbers.len() as u32 + 1;
            process.define(&Definition::Site { local: number, address: address as u64, module, caller });
            numbers.insert((address, caller), number);
            number
        }
    };
    Some(number)
}

/// Goes up the stack from the call at `frame`, whose return address lies in a binding, to the first that
/// does not; returns that address and how far above `frame` it lies.
fn unwind_to_program(
    process: &Process,
    frame: *const usize,
    address: usize,
    is_binding: fn(modules::Place) -> bool,
) -> Option<(usize, usize)> {
    struct Search<'a> {
        process: &'a Process,
        is_binding: fn(modules::Place) -> bool,
        binding: usize,
        in_binding: bool,
        found: Option<(usize, usize)>,
    }
    extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
        // SAFETY: the unwinder passes a valid context, and `search` is the struct above.
        let (search, ip, stack) =
            unsafe { (&mut *search.cast::<Search>(), _Unwind_GetIP(context), _Unwind_GetCFA(context)) };
        search.in_binding |= ip == search.binding;
        if !search.in_binding {
            return GO_ON;
        }
        match modules::place(search.process, ip) {
            Some(place) if (search.is_binding)(place) => GO_ON,
            Some(_) => {
                // The return address was pushed just below the caller's stack.
                search.found = Some((ip, stack - size_of::<usize>()));
                STOP
            }
            None => STOP,
        }
    }
    let mut search = Search { process, is_binding, binding: address, in_binding: false, found: None };
    // SAFETY: the callback takes exactly this struct.
    unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
    let (program_address, slot) = search.found?;
    // SAFETY: the slot lies on this thread's stack, above our own frame.
    let holds = unsafe { *(slot as *const usize) } == program_address;
    holds.then(|| (program_address, slot - frame as usize))
}
