//! A copy of this library for each simulated rank, and the rank's calls led into it.
//!
//! SMPI copies the program into a file of its own for each rank, named `PROGRAM_PID_RANK.so`, and loads that so
//! that it finds the simulator's functions before any preloaded ones. We stand before `dlopen`: when such a file
//! has been loaded, a copy of this library is loaded too, and the addresses of MPI functions that the loader has
//! put into the program's copy, or will put there at the first call, are replaced by those of our copy.
//!
//! Ranks that share one image of the program (`-no-privatize`, `smpi/privatization:mmap`) cannot be told apart by
//! this and are not recorded. Neither are calls out of libraries that ranks share.

use super::get;
use crate::loader;
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

/// The program itself, of which a loaded file is the copy for one rank: the copy is gone when somebody wants to
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
pub unsafe extern "C" fn load(file: *const c_char, mode: c_int) -> *mut c_void {
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
    // SAFETY: a valid name; then a function of our own copy, by its own type.
    let tracer = unsafe {
        let tracer = loader::open()(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        let wake =
            if tracer.is_null() { tracer } else { libc::dlsym(tracer, c"kizami_record_one_rank".as_ptr()) };
        (!wake.is_null()).then(|| {
            std::mem::transmute::<*mut c_void, extern "C" fn()>(wake)();
            tracer
        })
    };
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

/// What the loader knows of an object; there is more behind it.
#[repr(C)]
struct LinkMap {
    bias: usize,
    name: *const c_char,
    dynamic: *const [usize; 2],
}

/// Makes a program call the MPI functions of a tracer, as far as that has them.
fn lead_calls(program: *mut c_void, tracer: *mut c_void) {
    const DT_PLTRELSZ: usize = 2;
    const DT_STRTAB: usize = 5;
    const DT_SYMTAB: usize = 6;
    const DT_RELA: usize = 7;
    const DT_RELASZ: usize = 8;
    const DT_JMPREL: usize = 23;
    let mut map: *const LinkMap = std::ptr::null();
    // SAFETY: a handle that dlopen gave us, and a place for the answer.
    let failed = unsafe { libc::dlinfo(program, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) } != 0;
    if failed || map.is_null() {
        return;
    }
    // SAFETY: the object is loaded, so its dynamic section is there and ends with a zero; the loader has made its
    // pointers absolute, and has applied the relocations they lead to.
    unsafe {
        let bias = (*map).bias;
        let entry = |wanted: usize| {
            let mut entry = (*map).dynamic;
            while (*entry)[0] != 0 && (*entry)[0] != wanted {
                entry = entry.add(1);
            }
            (*entry)[1]
        };
        let symbols = entry(DT_SYMTAB) as *const libc::Elf64_Sym;
        let strings = entry(DT_STRTAB) as *const c_char;
        for (table, bytes) in [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)] {
            let (table, bytes) = (entry(table) as *const libc::Elf64_Rela, entry(bytes));
            if table.is_null() {
                continue;
            }
            for relocation in std::slice::from_raw_parts(table, bytes / size_of::<libc::Elf64_Rela>()) {
                let symbol = symbols.add((relocation.r_info >> 32) as usize);
                let name = CStr::from_ptr(strings.add((*symbol).st_name as usize));
                if is_address_of_function(relocation.r_info as u32) && is_mpi(name) {
                    let ours = libc::dlsym(tracer, name.as_ptr());
                    if !ours.is_null() {
                        store((bias + relocation.r_offset as usize) as *mut usize, ours as usize);
                    }
                }
            }
        }
    }
}

/// Whether a relocation puts the plain address of a function into memory.
fn is_address_of_function(kind: u32) -> bool {
    const R_X86_64_64: u32 = 1;
    const R_X86_64_GLOB_DAT: u32 = 6;
    const R_X86_64_JUMP_SLOT: u32 = 7;
    matches!(kind, R_X86_64_64 | R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT)
}

fn is_mpi(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.starts_with(b"MPI_") && name != b"MPI_COMM_WORLD" || name.starts_with(b"PMPI_")
}

/// Stores an address where the loader may have forbidden it since.
///
/// # Safety
/// The place must be one that the loader has relocated.
unsafe fn store(place: *mut usize, address: usize) {
    const PAGE: usize = 4096;
    let page = (place as usize & !(PAGE - 1)) as *mut c_void;
    // SAFETY: by contract a page of data.
    unsafe {
        if libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 {
            *place = address;
        }
    }
}
