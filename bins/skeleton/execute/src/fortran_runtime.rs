//! The runtime library of Fortran programs: LLVM's archives, made a shared library and loaded.
//!
//! It outlives the ranks, so its memory is the process's own. What a program allocates its runtime may free, so it asks whose a
//! block is. Files it opens as programs in C do: for reading. Whatever else it would do to files, or to the process, it is
//! linked not to do.

use kizami_entry::c_library;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

const MEMORY: &str = "
#include <stddef.h>
void *__real_realloc(void *, size_t); void __real_free(void *);
int (*kizami_owns)(void *); void *(*kizami_realloc)(void *, size_t); void (*kizami_free)(void *);
static int of_rank(void *block) { return kizami_owns && kizami_owns(block); }
void *__wrap_realloc(void *block, size_t bytes) { return of_rank(block) ? kizami_realloc(block, bytes) : __real_realloc(block, bytes); }
void __wrap_free(void *block) { if (of_rank(block)) kizami_free(block); else __real_free(block); }
int (*kizami_open)(const char *, int, int); void (*kizami_exit)(int); void (*kizami_abort)(void);
int __wrap_open(const char *path, int flags, int mode) { return kizami_open(path, flags, mode); }
long __wrap_write(int file, const void *data, size_t bytes) { return bytes; }
long __wrap_pwrite(int file, const void *data, size_t bytes, long at) { return bytes; }
int __wrap_ftruncate(int file, long bytes) { return 0; }
int __wrap_unlink(const char *path) { return 0; }
int __wrap_rename(const char *from, const char *to) { return 0; }
int __wrap_mkstemp(char *path) { return kizami_open(\"/dev/null\", 0, 0); }
int __wrap_system(const char *command) { return -1; }
int __wrap_fork(void) { return -1; }
int __wrap_setsid(void) { return -1; }
unsigned __wrap_sleep(unsigned seconds) { return 0; }
void __wrap_exit(int code) { kizami_exit(code); }
void __wrap_abort(void) { kizami_abort(); }
";

/// What of the C library it does not call itself.
const WRAPPED: [&str; 15] = [
    "realloc",
    "free",
    "open",
    "write",
    "pwrite",
    "ftruncate",
    "unlink",
    "rename",
    "mkstemp",
    "system",
    "fork",
    "setsid",
    "sleep",
    "exit",
    "abort",
];

/// Whether a program calls it. Names stand in bitcode as they are, so nothing need be parsed to find one.
pub fn is_needed(bitcode: &Path) -> bool {
    let name = b"_FortranA";
    std::fs::read(bitcode).is_ok_and(|bytes| bytes.windows(name.len()).any(|window| window == name))
}

/// Loads it, once; says why if that cannot be.
pub fn load() -> Result<(), String> {
    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();
    LOADED.get_or_init(try_to_load).clone()
}

fn try_to_load() -> Result<(), String> {
    let failed = |why: std::io::Error| format!("Fortran's runtime library cannot be loaded: {why}");
    let asked = Command::new("llvm-config-19").arg("--libdir").output().map_err(failed)?;
    let folder = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    let place = tempfile::tempdir().map_err(failed)?;
    let (source, library) = (place.path().join("memory.c"), place.path().join("runtime.so"));
    std::fs::write(&source, MEMORY).map_err(failed)?;
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-w", "-fno-builtin", "-o"])
        .arg(&library)
        .arg(&source)
        .args(WRAPPED.map(|name| format!("-Wl,--wrap={name}")))
        .arg("-Wl,--whole-archive")
        .args(["Runtime", "Decimal"].map(|name| format!("{folder}/libFortran{name}.a")))
        .args(["-Wl,--no-whole-archive", "-lstdc++", "-lm"])
        .output();
    // A library that is loaded needs its file no more.
    match status {
        Ok(done) if done.status.success() => open(&library),
        Ok(done) => Err(format!("cc cannot link it: {}", String::from_utf8_lossy(&done.stderr))),
        Err(why) => Err(failed(why)),
    }
}

fn open(library: &Path) -> Result<(), String> {
    let path = CString::new(library.to_string_lossy().as_bytes()).map_err(|why| why.to_string())?;
    // SAFETY: a library of our own making; its variables are set before anything of it is called.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        if handle.is_null() {
            return Err(std::ffi::CStr::from_ptr(libc::dlerror()).to_string_lossy().into_owned());
        }
        for (name, address) in c_library::for_fortran() {
            let variable: *mut c_void = libc::dlsym(handle, name.as_ptr());
            if variable.is_null() {
                return Err(format!("it lacks the symbol {}", name.to_string_lossy()));
            }
            variable.cast::<usize>().write(address);
        }
    }
    Ok(())
}
