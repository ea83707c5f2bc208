//! Functions of the C library as a rank sees them: memory of its own, an end that ends only the rank, waits that take no time.
//! Files are in [`crate::files`]; what else may be called is in [`crate::outside`].

use crate::process::{CURRENT, Stop, current};
use std::ffi::{CStr, c_char, c_int};

/// They wait, set up what happens at other times, or ask for more of the machine. The last one would end the whole process;
/// `main` returns right behind it.
const IDLE: &str = "
    atexit on_exit __cxa_atexit __cxa_thread_atexit __cxa_thread_atexit_impl sleep usleep nanosleep clock_nanosleep
    thrd_sleep _FortranASleep alarm setitimer signal sigaction sigprocmask pthread_sigmask sigaltstack setrlimit
    setrlimit64 setpriority nice mlock mlockall munlock munlockall sched_setaffinity pthread_setaffinity_np
    _FortranAProgramEndStatement
";

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
        ("valloc", valloc as *const () as usize),
        ("reallocarray", reallocarray as *const () as usize),
        ("strdup", strdup as *const () as usize),
        ("__strdup", strdup as *const () as usize),
        ("strndup", strndup as *const () as usize),
        ("__strndup", strndup as *const () as usize),
        ("_Znwm", malloc as *const () as usize),
        ("_Znam", malloc as *const () as usize),
        ("_ZnwmRKSt9nothrow_t", malloc as *const () as usize),
        ("_ZnamRKSt9nothrow_t", malloc as *const () as usize),
        ("_ZnwmSt11align_val_t", aligned_new as *const () as usize),
        ("_ZnamSt11align_val_t", aligned_new as *const () as usize),
        ("_ZdlPv", free as *const () as usize),
        ("_ZdaPv", free as *const () as usize),
        ("_ZdlPvm", free as *const () as usize),
        ("_ZdaPvm", free as *const () as usize),
        ("_ZdlPvSt11align_val_t", free as *const () as usize),
        ("_ZdaPvSt11align_val_t", free as *const () as usize),
        ("_ZdlPvmSt11align_val_t", free as *const () as usize),
        ("_ZdaPvmSt11align_val_t", free as *const () as usize),
        ("cfree", free as *const () as usize),
        ("exit", exit as *const () as usize),
        ("_exit", exit as *const () as usize),
        ("_Exit", exit as *const () as usize),
        ("quick_exit", exit as *const () as usize),
        ("err", exit as *const () as usize),
        ("errx", exit as *const () as usize),
        ("abort", abort as *const () as usize),
        ("__assert_fail", abort as *const () as usize),
        ("__assert_perror_fail", abort as *const () as usize),
        ("__stack_chk_fail", abort as *const () as usize),
        ("__chk_fail", abort as *const () as usize),
        // Nothing unwinds through a rank: an exception that nobody caught while slicing ends it.
        ("__cxa_throw", abort as *const () as usize),
        ("__cxa_rethrow", abort as *const () as usize),
        ("_ZSt9terminatev", abort as *const () as usize),
        ("_FortranAStopStatement", exit as *const () as usize),
    ];
    all.extend(IDLE.split_whitespace().map(|name| (name, nothing as *const () as usize)));
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
        process.end(Stop::Refused(format!("malloc of {bytes} bytes exceeds the memory left for a rank")));
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

extern "C" fn strndup(text: *const c_char, most: usize) -> usize {
    // SAFETY: the program gives text that ends or is as long as it says; the copy has room for it and its end.
    unsafe {
        let length = libc::strnlen(text, most);
        let copy = malloc(length + 1);
        std::ptr::copy_nonoverlapping(text.cast::<u8>(), copy as *mut u8, length);
        *((copy + length) as *mut u8) = 0;
        copy
    }
}

extern "C" fn valloc(bytes: usize) -> usize {
    aligned_alloc(4096, bytes)
}

extern "C" fn aligned_new(bytes: usize, alignment: usize) -> usize {
    aligned_alloc(alignment, bytes)
}

extern "C" fn reallocarray(block: usize, count: usize, bytes: usize) -> usize {
    realloc(block, count.saturating_mul(bytes))
}

extern "C" fn exit(code: c_int) {
    // SAFETY: as above.
    unsafe { current() }.end(Stop::Ended(code));
}

extern "C" fn abort() {
    // SAFETY: as above.
    unsafe { current() }.end(Stop::Crashed(libc::SIGABRT));
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
            let what =
                format!("value {number} depends on data and was not observed; run `kizami skeleton observe`");
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

/// Stops the rank that calls a function which a skeleton may not call; the text says why.
///
/// # Safety
/// Only from a program that runs as a rank of this thread, with a C string.
pub unsafe extern "C" fn refused(text: *const c_char) -> ! {
    // SAFETY: by contract.
    unsafe {
        let what = CStr::from_ptr(text).to_string_lossy().into_owned();
        current().end(Stop::Refused(what))
    }
}

/// What Fortran's runtime library calls instead of its own: `realloc`, `free`, what tells whether a block is of the rank that
/// runs, `open`, `exit` and `abort`.
pub fn for_fortran() -> [(&'static CStr, usize); 6] {
    [
        (c"kizami_realloc", realloc as *const () as usize),
        (c"kizami_free", free as *const () as usize),
        (c"kizami_owns", owns as *const () as usize),
        (c"kizami_open", crate::files::opener()),
        (c"kizami_exit", exit as *const () as usize),
        (c"kizami_abort", abort as *const () as usize),
    ]
}
