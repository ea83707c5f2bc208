//! The runtime library of Fortran programs: LLVM's archives, made a shared library and loaded.
//!
//! It outlives the ranks, so its memory is the process's own. What a program allocates its runtime may free, so it asks whose a
//! block is.

use kizami_entry::c_library;
use std::ffi::{CString, c_void};
use std::process::Command;
use std::sync::OnceLock;

const MEMORY: &str = "
#include <stddef.h>
void *__real_realloc(void *, size_t); void __real_free(void *);
int (*kizami_owns)(void *); void *(*kizami_realloc)(void *, size_t); void (*kizami_free)(void *);
static int of_rank(void *block) { return kizami_owns && kizami_owns(block); }
void *__wrap_realloc(void *block, size_t bytes) { return of_rank(block) ? kizami_realloc(block, bytes) : __real_realloc(block, bytes); }
void __wrap_free(void *block) { if (of_rank(block)) kizami_free(block); else __real_free(block); }
";

/// Loads it, once; says why if that cannot be.
pub fn load() -> Result<(), String> {
    static LOADED: OnceLock<Result<(), String>> = OnceLock::new();
    LOADED.get_or_init(try_to_load).clone()
}

fn try_to_load() -> Result<(), String> {
    let told = |why: std::io::Error| format!("Fortran's runtime library cannot be loaded: {why}");
    let asked = Command::new("llvm-config-19").arg("--libdir").output().map_err(told)?;
    let folder = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    let place = std::env::temp_dir().join(format!("kizami-fortran-{}", std::process::id()));
    std::fs::create_dir(&place).map_err(told)?;
    let (source, library) = (place.join("memory.c"), place.join("runtime.so"));
    std::fs::write(&source, MEMORY).map_err(told)?;
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source)
        .args(["realloc", "free"].map(|name| format!("-Wl,--wrap={name}")))
        .arg("-Wl,--whole-archive")
        .args(["Runtime", "Decimal"].map(|name| format!("{folder}/libFortran{name}.a")))
        .args(["-Wl,--no-whole-archive", "-lstdc++", "-lm"])
        .output();
    let result = match status {
        Ok(done) if done.status.success() => open(&library),
        Ok(done) => Err(format!("cc cannot link it: {}", String::from_utf8_lossy(&done.stderr))),
        Err(why) => Err(told(why)),
    };
    // A library that is loaded needs its file no more.
    drop(std::fs::remove_dir_all(&place));
    result
}

fn open(library: &std::path::Path) -> Result<(), String> {
    let path = CString::new(library.to_string_lossy().as_bytes()).map_err(|why| why.to_string())?;
    let [realloc, free, owns] = c_library::memory();
    // SAFETY: a library of our own making; its variables are set before anything of it is called.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        if handle.is_null() {
            return Err(std::ffi::CStr::from_ptr(libc::dlerror()).to_string_lossy().into_owned());
        }
        for (name, address) in [(c"kizami_realloc", realloc), (c"kizami_free", free), (c"kizami_owns", owns)]
        {
            let variable: *mut c_void = libc::dlsym(handle, name.as_ptr());
            if variable.is_null() {
                return Err(format!("{} is missing in it", name.to_string_lossy()));
            }
            variable.cast::<usize>().write(address);
        }
    }
    Ok(())
}

/// While it lives, what is printed goes nowhere: Fortran's runtime prints by itself.
pub struct Silence {
    output: i32,
}

impl Silence {
    /// Sends standard output nowhere.
    pub fn begin() -> Silence {
        // SAFETY: file descriptors of this process.
        unsafe {
            let output = libc::dup(1);
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(nowhere, 1);
            libc::close(nowhere);
            Silence { output }
        }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe {
            libc::dup2(self.output, 1);
            libc::close(self.output);
        }
    }
}
