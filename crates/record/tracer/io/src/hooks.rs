//! The functions that stand before those of the C library: their names, what each does, and the stubs.
//!
//! All of them take at most five arguments, and all of these travel in registers, as does the result. So one
//! body serves them all: the stub adds, as a sixth argument, where on the stack it was called from, and leaves the rest
//! untouched. A function with fewer arguments hands on what happens to be in the other registers, and is not read.

use crate::record::{self, Arguments};
use crate::switch::SWITCH;
use kizami_model::{Op, Shape};
use kizami_tracer_core::loader;
use kizami_tracer_mpi::outside;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU16, Ordering};

/// What a function does, and which of its arguments name the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Returns a descriptor of the file with a path.
    Open {
        /// Which argument is the path; a folder's descriptor stands before it if it is not the first.
        path: usize,
    },
    /// Closes the descriptor.
    Close,
    /// Reads from the descriptor as many bytes as it says.
    Read,
    /// Writes to it as many bytes as it says.
    Write,
    /// Waits until what was written to the descriptor is safe.
    Sync,
    /// Puts something else behind the descriptor that is the second argument. Not recorded.
    Replace,
    /// Returns a stream of the file whose path is the first argument; one that was open before stands there, if any.
    OpenStream {
        /// Which argument was.
        before: Option<usize>,
    },
    /// Closes the stream.
    CloseStream,
    /// Writes what the buffer of the stream, or of all of them, holds.
    FlushStream,
    /// Reads so many items.
    ReadStream(Items),
    /// Writes so many items.
    WriteStream(Items),
    /// Writes text.
    WriteText(Text),
    /// Reads text.
    ReadText(Text),
}

/// Which arguments are the size of an item, how many there are, and the stream; the result is how many moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items {
    pub size: usize,
    pub count: usize,
    pub stream: usize,
}

/// Which argument is the stream, and what gives the length of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub stream: usize,
    pub length: TextLength,
}

/// What gives the length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLength {
    /// The result.
    Result,
    /// The string that is the first argument.
    FirstArgument,
    /// The string that is the result, if there is one.
    ResultString,
}

const fn text(stream: usize, length: TextLength) -> Text {
    Text { stream, length }
}

const ITEMS: Items = Items { size: 1, count: 2, stream: 3 };
/// Behind the size of the buffer.
const CHECKED_ITEMS: Items = Items { size: 2, count: 3, stream: 4 };

impl Act {
    /// What the words of its records mean: the shape of its function in the table.
    pub const fn shape(self) -> Shape {
        match self {
            Act::Open { .. } | Act::Close | Act::Sync | Act::Replace | Act::OpenStream { .. } => {
                Shape::Object
            }
            Act::Read | Act::ReadStream(_) | Act::ReadText(_) => Shape::ObjectIn,
            Act::Write | Act::WriteStream(_) | Act::WriteText(_) | Act::FlushStream | Act::CloseStream => {
                Shape::ObjectOut
            }
        }
    }
}

/// One function.
pub struct Hook {
    symbol: &'static CStr,
    /// Its name in the trace.
    function: &'static str,
    pub act: Act,
    /// Its number, as long as the switch is on.
    number: AtomicU16,
}

impl Hook {
    /// Its number in the trace.
    #[inline]
    pub fn op(&self) -> Op {
        Op(self.number.load(Ordering::Relaxed))
    }
}

/// A function with all its arguments, as its caller sees it. A thread may be cancelled in it, which unwinds the
/// stack.
pub type Real = unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize) -> usize;

macro_rules! hooks {
    ($($symbol:ident $function:literal $act:expr;)+) => {
        #[expect(non_camel_case_types, reason = "the names of the functions")]
        #[derive(Clone, Copy)]
        enum Name {
            $($symbol,)+
        }

        const HOOK_COUNT: usize = [$(Name::$symbol),+].len();

        /// All of them.
        static HOOKS: [Hook; HOOK_COUNT] = [$(Hook {
            // SAFETY: the name with a zero behind it, and none in it.
            symbol: unsafe { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($symbol), "\0").as_bytes()) },
            function: $function,
            act: $act,
            number: AtomicU16::new(0),
        },)+];

        /// The functions behind ours; each finds itself when it is called first.
        static REAL: [AtomicPtr<c_void>; HOOK_COUNT] =
            [$(AtomicPtr::new(find_and_call::<{ Name::$symbol as usize }> as *mut c_void),)+];

        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $symbol() {
                core::arch::naked_asm!(
                    "cmp byte ptr [rip + {switch}], 0",
                    "jne 2f",
                    "jmp qword ptr [rip + {real} + {place}]",
                    "2:",
                    "mov r9, rsp",
                    "jmp {around}",
                    switch = sym SWITCH,
                    real = sym REAL,
                    place = const size_of::<usize>() * Name::$symbol as usize,
                    around = sym around::<{ Name::$symbol as usize }>,
                )
            }
        )+
    };
}

hooks! {
    open "open" Act::Open { path: 0 };
    open64 "open" Act::Open { path: 0 };
    __open_2 "open" Act::Open { path: 0 };
    __open64_2 "open" Act::Open { path: 0 };
    openat "openat" Act::Open { path: 1 };
    openat64 "openat" Act::Open { path: 1 };
    __openat_2 "openat" Act::Open { path: 1 };
    __openat64_2 "openat" Act::Open { path: 1 };
    creat "creat" Act::Open { path: 0 };
    creat64 "creat" Act::Open { path: 0 };
    close "close" Act::Close;
    dup2 "" Act::Replace;
    dup3 "" Act::Replace;
    read "read" Act::Read;
    __read_chk "read" Act::Read;
    pread "pread" Act::Read;
    pread64 "pread" Act::Read;
    __pread_chk "pread" Act::Read;
    __pread64_chk "pread" Act::Read;
    readv "readv" Act::Read;
    preadv "preadv" Act::Read;
    preadv64 "preadv" Act::Read;
    preadv2 "preadv" Act::Read;
    preadv64v2 "preadv" Act::Read;
    write "write" Act::Write;
    pwrite "pwrite" Act::Write;
    pwrite64 "pwrite" Act::Write;
    writev "writev" Act::Write;
    pwritev "pwritev" Act::Write;
    pwritev64 "pwritev" Act::Write;
    pwritev2 "pwritev" Act::Write;
    pwritev64v2 "pwritev" Act::Write;
    fsync "fsync" Act::Sync;
    fdatasync "fdatasync" Act::Sync;
    sync_file_range "sync_file_range" Act::Sync;
    fopen "fopen" Act::OpenStream { before: None };
    fopen64 "fopen" Act::OpenStream { before: None };
    freopen "freopen" Act::OpenStream { before: Some(2) };
    freopen64 "freopen" Act::OpenStream { before: Some(2) };
    fclose "fclose" Act::CloseStream;
    fflush "fflush" Act::FlushStream;
    fread "fread" Act::ReadStream(ITEMS);
    fread_unlocked "fread" Act::ReadStream(ITEMS);
    __fread_chk "fread" Act::ReadStream(CHECKED_ITEMS);
    __fread_unlocked_chk "fread" Act::ReadStream(CHECKED_ITEMS);
    fwrite "fwrite" Act::WriteStream(ITEMS);
    fwrite_unlocked "fwrite" Act::WriteStream(ITEMS);
    fputs "fputs" Act::WriteText(text(1, TextLength::FirstArgument));
    fputs_unlocked "fputs" Act::WriteText(text(1, TextLength::FirstArgument));
    vfprintf "fprintf" Act::WriteText(text(0, TextLength::Result));
    __vfprintf_chk "fprintf" Act::WriteText(text(0, TextLength::Result));
    fgets "fgets" Act::ReadText(text(2, TextLength::ResultString));
    __fgets_chk "fgets" Act::ReadText(text(3, TextLength::ResultString));
    getline "getline" Act::ReadText(text(2, TextLength::Result));
    getdelim "getline" Act::ReadText(text(3, TextLength::Result));
    __getdelim "getline" Act::ReadText(text(3, TextLength::Result));
}

/// The body of all of them, when the switch is on.
///
/// # Safety
/// Called by the stub with the arguments of the function, and with where its return address lies.
unsafe extern "C-unwind" fn around<const HOOK: usize>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    frame: *const usize,
) -> usize {
    outside::tell_of_unwinding();
    // SAFETY: the address of a function that is called like this, or of `find_and_call`, which goes on to it.
    let real = unsafe { std::mem::transmute::<*mut c_void, Real>(REAL[HOOK].load(Ordering::Relaxed)) };
    // SAFETY: the arguments are those the program gave, and the frame is the stub's.
    unsafe { record::around(&HOOKS[HOOK], real, Arguments([a, b, c, d, e]), frame) }
}

/// The functions with any number of arguments: they make a list of these and go on as the function that takes one,
/// which is what the C library's own do. `$named` arguments come before the others.
macro_rules! with_list {
    ($symbol:ident, $real:ident, $taking_list:ident, $named:literal, $list:literal) => {
        static $real: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $symbol() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "cmp byte ptr [rip + {switch}], 0",
                "jne 2f",
                "mov r11, qword ptr [rip + {real}]",
                "test r11, r11",
                "je 2f",
                "jmp r11",
                "2:",
                // As compilers do it: first the list (24 bytes), at 32 the registers that may hold arguments.
                "sub rsp, {room}",
                ".cfi_adjust_cfa_offset {room}",
                "mov qword ptr [rsp + 32], rdi",
                "mov qword ptr [rsp + 40], rsi",
                "mov qword ptr [rsp + 48], rdx",
                "mov qword ptr [rsp + 56], rcx",
                "mov qword ptr [rsp + 64], r8",
                "mov qword ptr [rsp + 72], r9",
                "test al, al",
                "je 3f",
                "movaps xmmword ptr [rsp + 80], xmm0",
                "movaps xmmword ptr [rsp + 96], xmm1",
                "movaps xmmword ptr [rsp + 112], xmm2",
                "movaps xmmword ptr [rsp + 128], xmm3",
                "movaps xmmword ptr [rsp + 144], xmm4",
                "movaps xmmword ptr [rsp + 160], xmm5",
                "movaps xmmword ptr [rsp + 176], xmm6",
                "movaps xmmword ptr [rsp + 192], xmm7",
                "3:",
                "mov dword ptr [rsp], 8 * {named}",
                "mov dword ptr [rsp + 4], 48",
                "lea r9, [rsp + {room}]",
                "lea r11, [r9 + 8]",
                "mov qword ptr [rsp + 8], r11",
                "lea r11, [rsp + 32]",
                "mov qword ptr [rsp + 16], r11",
                concat!("mov ", $list, ", rsp"),
                "call {around}",
                "add rsp, {room}",
                ".cfi_adjust_cfa_offset -{room}",
                "ret",
                ".cfi_endproc",
                switch = sym SWITCH,
                real = sym $real,
                named = const $named,
                room = const 216,
                around = sym around_or_pass::<{ Name::$taking_list as usize }>,
            )
        }
    };
}

with_list!(fprintf, REAL_FPRINTF, vfprintf, 2, "rdx");
with_list!(__fprintf_chk, REAL_FPRINTF_CHK, __vfprintf_chk, 3, "rcx");

/// As [`around`], for functions that come here also where the switch is off: before the library was initialised.
///
/// # Safety
/// As there.
unsafe extern "C-unwind" fn around_or_pass<const HOOK: usize>(
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    frame: *const usize,
) -> usize {
    if SWITCH.is_on() {
        // SAFETY: the caller's promises.
        return unsafe { around::<HOOK>(a, b, c, d, e, frame) };
    }
    // SAFETY: as in `around`.
    let real = unsafe { std::mem::transmute::<*mut c_void, Real>(REAL[HOOK].load(Ordering::Relaxed)) };
    // SAFETY: what the program called.
    unsafe { real(a, b, c, d, e) }
}

/// Finds the functions with any number of arguments behind ours.
pub fn find_those_with_lists() {
    for (symbol, real) in [(c"fprintf", &REAL_FPRINTF), (c"__fprintf_chk", &REAL_FPRINTF_CHK)] {
        let found = loader::symbol(libc::RTLD_NEXT, symbol).unwrap_or(std::ptr::null_mut());
        real.store(found, Ordering::Relaxed);
    }
}

/// Stands where the real function is not known yet: finds it, and goes on to it with everything untouched.
#[unsafe(naked)]
unsafe extern "C" fn find_and_call<const HOOK: usize>() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "mov edi, {hook}",
        "call {find}",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        hook = const HOOK,
        find = sym find,
    )
}

/// Finds the function behind ours, and remembers it.
extern "C" fn find(hook: usize) -> *mut c_void {
    let found = loader::symbol(libc::RTLD_NEXT, HOOKS[hook].symbol).unwrap_or(missing as *mut c_void);
    REAL[hook].store(found, Ordering::Relaxed);
    found
}

/// Stands in for a function that this C library does not have, which no program can have been linked with.
extern "C" fn missing() -> isize {
    crate::errno::set(libc::ENOSYS);
    -1
}

/// Finds all functions behind ours, and their numbers: before the switch is turned on, so that a signal handler has
/// nothing to look for.
pub fn find_all() {
    for (index, hook) in HOOKS.iter().enumerate() {
        find(index);
        hook.number.store(Op::by_name(hook.function).map_or(0, |op| op.0), Ordering::Relaxed);
    }
}

/// The program's `vfork`: the child uses its parent's memory, our notes on the thread too.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn vfork() {
    core::arch::naked_asm!(
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "jmp rax",
        before = sym before_vfork,
    )
}

/// Returns the address of the real `vfork`.
extern "C" fn before_vfork() -> *mut c_void {
    if SWITCH.is_on() {
        outside::about_to_vfork();
    }
    static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let known = REAL.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let found = loader::symbol(libc::RTLD_NEXT, c"vfork").unwrap_or(std::ptr::null_mut());
    REAL.store(found, Ordering::Relaxed);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_model::function::file_functions;

    #[test]
    fn every_function_of_the_table_has_hooks_of_its_shape() {
        for function in file_functions() {
            let mut hooks = HOOKS.iter().filter(|hook| hook.function == function.name).peekable();
            assert!(hooks.peek().is_some(), "{}", function.name);
            hooks.for_each(|hook| assert_eq!(hook.act.shape(), function.shape, "{:?}", hook.symbol));
        }
        for hook in HOOKS.iter().filter(|hook| hook.act != Act::Replace) {
            assert!(Op::by_name(hook.function).is_some(), "{:?}", hook.symbol);
        }
    }
}
