//! A copy of this library for each simulated rank, and the rank's calls led into it.
//!
//! SMPI copies the program into a file of its own for each rank, named `PROGRAM_PID_RANK.so`, and loads that so
//! that it finds the simulator's functions before any preloaded ones. We stand before `dlopen`: when such a file
//! has been loaded, a copy of this library is loaded too, and the addresses of MPI functions that the loader has
//! put into the program's copy, or will put there at the first call, are replaced by those of our copy.
//!
//! Ranks that share one image of the program (`-no-privatize`, `smpi/privatization:mmap`) cannot be distinguished by
//! this and are not recorded. Neither are calls out of libraries that ranks share.

use super::get;
use crate::loader::{self, Module};
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether a file is the simulator's copy of a program for one rank.
pub fn is_program_of_rank(file: &CStr) -> bool {
    get().is_some() && name_of_program(Path::new(OsStr::from_bytes(file.to_bytes()))).is_some()
}

/// Name of the program of which a file is the copy for one rank.
fn name_of_program(copy: &Path) -> Option<&str> {
    let (rest, rank) = copy.file_name()?.to_str()?.strip_suffix(".so")?.rsplit_once('_')?;
    let (name, pid) = rest.rsplit_once('_')?;
    let of_this_process = pid.parse() == Ok(std::process::id()) && rank.parse::<u32>().is_ok();
    of_this_process.then_some(name)
}

/// The program itself, of which a loaded file is the copy for one rank: the copy is gone when it is needed to
/// read it. The simulator was given the program as its first argument.
pub fn original(copy: &str) -> Option<String> {
    get()?;
    let name = name_of_program(Path::new(copy))?;
    let program = program()?;
    (program.file_name()?.to_str()? == name).then(|| program.display().to_string())
}

/// The program that is simulated.
pub fn program() -> Option<PathBuf> {
    std::env::args_os().nth(1).and_then(|program| std::fs::canonicalize(program).ok())
}

/// What it was called with: the simulator was given the program, its network, and then the program's own arguments.
pub fn command_line() -> Vec<OsString> {
    std::env::args_os().skip(1).take(1).chain(std::env::args_os().skip(3)).collect()
}

/// The `dlopen` of a rank's program.
///
/// # Safety
/// As for `dlopen`.
pub unsafe extern "C-unwind" fn load(file: *const c_char, mode: c_int) -> *mut c_void {
    // SAFETY: the caller's own arguments.
    let program = unsafe { loader::open()(file, mode) };
    if !program.is_null()
        && let Some(tracer) = load_copy()
    {
        lead_calls(program, tracer);
    }
    program
}

/// Loads one more copy of this library, for the rank whose program has just been loaded.
fn load_copy() -> Option<*mut c_void> {
    static COPIES: AtomicU32 = AtomicU32::new(0);
    static IMAGE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let image = IMAGE.get_or_init(own_image).as_ref()?;
    let number = COPIES.fetch_add(1, Ordering::Relaxed);
    let directory = PathBuf::from(std::env::var_os("KIZAMI_RAW")?);
    let path = directory.join(format!("tracer-{}-{number}.so", std::process::id()));
    std::fs::write(&path, image).ok()?;
    let name = CString::new(path.clone().into_os_string().into_vec()).ok()?;
    // SAFETY: a valid name.
    let tracer = unsafe { loader::open()(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let wake = if tracer.is_null() { None } else { loader::symbol(tracer, c"kizami_record_one_rank") };
    let tracer = wake.map(|wake| {
        // SAFETY: a function of our own copy, by its own type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn()>(wake)() };
        tracer
    });
    // What is loaded stays.
    let _ = std::fs::remove_file(&path);
    tracer
}

/// This library's file as far as it is loaded; what lies behind that is for debuggers.
fn own_image() -> Option<Vec<u8>> {
    // SAFETY: all zeros is a valid value; dladdr fills it in.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let found = unsafe { libc::dladdr(own_image as *const c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own string.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    let mut bytes = std::fs::read(OsStr::from_bytes(path.to_bytes())).ok()?;
    let end = loaded_bytes(&bytes)?;
    bytes.truncate(end);
    Some(bytes)
}

/// Where the last part of an ELF file that is loaded ends.
fn loaded_bytes(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize, length: usize| {
        let field = bytes.get(at..at.checked_add(length)?)?;
        Some(field.iter().rev().fold(0usize, |value, byte| value << 8 | usize::from(*byte)))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let ends = (0..count).filter_map(|index| {
        let header = table + index * size;
        let is_loaded = number(header, 4)? == libc::PT_LOAD as usize;
        is_loaded.then_some(number(header + 8, 8)? + number(header + 32, 8)?)
    });
    ends.max()
}

/// Makes a program call the MPI functions of a tracer, as far as that has them.
fn lead_calls(program: *mut c_void, tracer: *mut c_void) {
    let Some(module) = Module::of_handle(program) else { return };
    for reference in module.references(is_mpi) {
        if let Some(ours) = loader::symbol(tracer, reference.name) {
            reference.lead_to(ours as usize);
        }
    }
}

fn is_mpi(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(b"MPI_") && name != b"MPI_COMM_WORLD" || name.starts_with(b"PMPI_")
}
