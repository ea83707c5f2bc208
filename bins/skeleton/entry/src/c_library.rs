//! Functions of the C library as a rank sees them: memory of its own, an end that ends only the rank, output that goes nowhere,
//! files that can be read and not written. Everything else is the C library's own.

use crate::process::{CURRENT, Stop, current};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Names, and what is called instead.
pub fn replacements() -> Vec<(&'static str, usize)> {
    let mut all: Vec<(&'static str, usize)> = vec![
        ("malloc", malloc as *const () as usize),
        ("calloc", calloc as *const () as usize),
        ("realloc", realloc as *const () as usize),
        ("free", free as *const () as usize),
        ("posix_memalign", posix_memalign as *const () as usize),
        ("aligned_alloc", aligned_alloc as *const () as usize),
        ("memalign", aligned_alloc as *const () as usize),
        ("strdup", strdup as *const () as usize),
        ("_Znwm", malloc as *const () as usize),
        ("_Znam", malloc as *const () as usize),
        ("_ZdlPv", free as *const () as usize),
        ("_ZdaPv", free as *const () as usize),
        ("_ZdlPvm", free as *const () as usize),
        ("_ZdaPvm", free as *const () as usize),
        ("exit", exit as *const () as usize),
        ("_exit", exit as *const () as usize),
        ("abort", abort as *const () as usize),
        ("__assert_fail", abort as *const () as usize),
        ("fopen", fopen as *const () as usize),
        ("fopen64", fopen as *const () as usize),
        ("_FortranAStopStatement", exit as *const () as usize),
    ];
    // They print, or say how much they would have: nobody reads it.
    for name in [
        "printf",
        "vprintf",
        "fprintf",
        "vfprintf",
        "puts",
        "putchar",
        "fputs",
        "fputc",
        "putc",
        "fflush",
        "perror",
        "setvbuf",
        "setbuf",
        "setlinebuf",
        "remove",
        "unlink",
        "rename",
        "mkdir",
        "fwrite",
        "write",
        "atexit",
        "__cxa_atexit",
        "sleep",
        "usleep",
        "nanosleep",
        "signal",
        "sigaction",
        // It would end the whole process; `main` returns right behind it.
        "_FortranAProgramEndStatement",
    ] {
        all.push((name, nothing as *const () as usize));
    }
    all
}

extern "C" fn nothing() -> c_int {
    0
}

extern "C" fn malloc(bytes: usize) -> usize {
    // SAFETY: called by the program as a rank of this thread; the same below.
    let process = unsafe { current() };
    given(process.heap.allocate(bytes, false), bytes)
}

/// Ends a rank that has no memory left: few programs look.
fn given(block: usize, bytes: usize) -> usize {
    if block == 0 {
        // SAFETY: as above.
        let process = unsafe { current() };
        process.end(Stop::Refused(format!("malloc asks for {bytes} bytes, more than a rank has left here")));
    }
    block
}

extern "C" fn calloc(count: usize, bytes: usize) -> usize {
    // SAFETY: as above.
    let process = unsafe { current() };
    let all = count.saturating_mul(bytes);
    given(process.heap.allocate(all, true), all)
}

extern "C" fn realloc(block: usize, bytes: usize) -> usize {
    // SAFETY: as above.
    let process = unsafe { current() };
    given(process.heap.reallocate(block, bytes), bytes)
}

extern "C" fn free(block: usize) {
    // SAFETY: as above.
    unsafe { current() }.heap.free(block);
}

extern "C" fn posix_memalign(place: *mut usize, alignment: usize, bytes: usize) -> c_int {
    // SAFETY: as above; the program gives a place for the address.
    unsafe { *place = given(current().heap.allocate_aligned(bytes, alignment), bytes) };
    0
}

extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> usize {
    // SAFETY: as above.
    given(unsafe { current() }.heap.allocate_aligned(bytes, alignment), bytes)
}

extern "C" fn strdup(text: *const c_char) -> usize {
    // SAFETY: the program gives a C string; the copy is as long.
    unsafe {
        let bytes = CStr::from_ptr(text).to_bytes_with_nul();
        let copy = malloc(bytes.len());
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy as *mut u8, bytes.len());
        copy
    }
}

extern "C" fn exit(code: c_int) {
    // SAFETY: as above.
    unsafe { current() }.end(Stop::Ended(code));
}

extern "C" fn abort() {
    // SAFETY: as above.
    unsafe { current() }.end(Stop::Crashed(libc::SIGABRT));
}

extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: the program gives two C strings.
    unsafe {
        let reads = CStr::from_ptr(mode).to_bytes().first() == Some(&b'r')
            && !CStr::from_ptr(mode).to_bytes().contains(&b'+');
        let path = if reads { path } else { c"/dev/null".as_ptr() };
        libc::fopen(path, mode).cast()
    }
}

/// Functions of MPI's headers that copy attributes, or do not: by their names in each library.
pub fn attribute_functions() -> Vec<(String, usize)> {
    let mut all = vec![("MPIR_Dup_fn".to_owned(), copy_attribute as *const () as usize)];
    for of in ["", "COMM_", "TYPE_", "WIN_"] {
        all.push((format!("OMPI_C_MPI_{of}NULL_COPY_FN"), no_attribute as *const () as usize));
        all.push((format!("OMPI_C_MPI_{of}NULL_DELETE_FN"), nothing as *const () as usize));
        all.push((format!("OMPI_C_MPI_{of}DUP_FN"), copy_attribute as *const () as usize));
    }
    all
}

extern "C" fn no_attribute(_: usize, _: c_int, _: usize, _: usize, _: *mut usize, flag: *mut c_int) -> c_int {
    // SAFETY: whoever copies attributes gives a place for the answer.
    unsafe { *flag = 0 };
    0
}

extern "C" fn copy_attribute(
    _: usize,
    _: c_int,
    _: usize,
    value: usize,
    copy: *mut usize,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: as above, and one for the copy.
    unsafe {
        *copy = value;
        *flag = 1;
    }
    0
}

/// The functions of skeletons' own.
pub fn own_functions() -> [(&'static str, usize); 4] {
    [
        ("__kizami_site", site as *const () as usize),
        ("__kizami_oracle", oracle as *const () as usize),
        ("__kizami_trips", trips as *const () as usize),
        ("__kizami_leaning", crate::leaning::leaning as *const () as usize),
    ]
}

extern "C" fn site(number: i32) {
    // SAFETY: as above.
    unsafe { current() }.site = number as u16;
}

extern "C" fn oracle(number: i32) -> i64 {
    // SAFETY: as above.
    let process = unsafe { current() };
    match process.oracles.next(number as u32) {
        Some(value) => value,
        None => {
            let what = format!(
                "place {number} depends on data, and no run was observed that tells it; `kizami skeleton observe` runs the program and keeps it"
            );
            process.end(Stop::Refused(what))
        }
    }
}

extern "C" fn trips(number: i32, count: i64) {
    // SAFETY: as above.
    let all = &mut unsafe { current() }.trips;
    match all.iter_mut().find(|(known, _)| *known == number as u32) {
        Some((_, sum)) => *sum += count,
        None => all.push((number as u32, count)),
    }
}

extern "C" fn owns(block: usize) -> c_int {
    let process = CURRENT.get();
    // SAFETY: the rank that runs, if one does.
    c_int::from(!process.is_null() && unsafe { (*process).heap.owns(block) })
}

/// `realloc`, `free`, and what tells whether a block is of the rank that runs.
pub fn memory() -> [usize; 3] {
    [realloc as *const () as usize, free as *const () as usize, owns as *const () as usize]
}
