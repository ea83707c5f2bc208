//! Which descriptors are files, and which ones: asked once for each, and remembered until it is closed.
//!
//! A descriptor that was closed behind our back and given out again may be taken for what it was.

use kizami_tracer_core::cancellation::Uncancelled;
use kizami_tracer_core::stream::lock;
use kizami_tracer_mpi::outside;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

/// A regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its number in the trace, 0 if it has none.
    pub number: u32,
}

/// Descriptors that are remembered; those beyond are asked for each time.
const REMEMBERED: usize = 1 << 16;
/// Files that are named in the trace, for each process. A program that makes one file after the other does not fill the
/// memory with names.
const NAMED: usize = 10_000;
/// Bytes of a path that are kept: it lies on the stack for a moment, which may be small.
const LONGEST_NAME: usize = 1024;

const UNKNOWN: u32 = 0;
const NO_FILE: u32 = 1;
/// The number of a file counts on from here.
const FIRST_FILE: u32 = 2;

static DESCRIPTORS: [AtomicU32; REMEMBERED] = [const { AtomicU32::new(UNKNOWN) }; REMEMBERED];
static NUMBERS: LazyLock<Mutex<HashMap<Vec<u8>, u32>>> = LazyLock::new(Mutex::default);

/// The file behind a descriptor; `None` if it is something else, or closed.
#[inline]
pub fn file(descriptor: i32) -> Option<File> {
    let place = place(descriptor);
    let known = place.map_or(UNKNOWN, |place| place.load(Ordering::Relaxed));
    let known = if known == UNKNOWN { outside::unseen(|| look_up(descriptor, place, None)) } else { known };
    as_file(known)
}

/// The file behind a descriptor that was just given out, for this path if it is absolute.
pub fn opened(descriptor: i32, path: Option<&CStr>) -> Option<File> {
    as_file(outside::unseen(|| look_up(descriptor, place(descriptor), path)))
}

fn as_file(known: u32) -> Option<File> {
    known.checked_sub(FIRST_FILE).map(|number| File { number })
}

/// A descriptor is about to be closed, or something else to be put behind it.
#[inline]
pub fn forget(descriptor: i32) {
    if let Some(place) = place(descriptor) {
        place.store(UNKNOWN, Ordering::Relaxed);
    }
}

fn place(descriptor: i32) -> Option<&'static AtomicU32> {
    DESCRIPTORS.get(usize::try_from(descriptor).ok()?)
}

#[cold]
fn look_up(descriptor: i32, place: Option<&AtomicU32>, path: Option<&CStr>) -> u32 {
    let _uncancelled = Uncancelled::new();
    // SAFETY: all zeros is a valid value, which is filled in; any descriptor may be asked for.
    let (failed, status) = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(descriptor, &mut status) != 0, status)
    };
    if failed {
        return NO_FILE;
    }
    let regular = status.st_mode & libc::S_IFMT == libc::S_IFREG;
    let known = match path {
        _ if !regular => NO_FILE,
        Some(path) => number(path.to_bytes()),
        // The kernel knows the path of what was opened behind our back, but takes its time.
        None => open_path(descriptor, &mut [0; LONGEST_NAME]).map_or(FIRST_FILE, number),
    };
    if let Some(place) = place {
        place.store(known, Ordering::Relaxed);
    }
    known
}

/// What is remembered of the file with this name.
fn number(name: &[u8]) -> u32 {
    if is_of_the_kernel(name) {
        return NO_FILE;
    }
    let mut numbers = lock(&NUMBERS);
    let number = match numbers.get(name) {
        Some(number) => *number,
        None if numbers.len() >= NAMED || outside::in_signal_handler() => 0,
        None => {
            let number = outside::add_file(String::from_utf8_lossy(name).into_owned());
            numbers.insert(name.to_owned(), number);
            number
        }
    };
    FIRST_FILE.saturating_add(number)
}

/// Files that the kernel makes up while they are read.
fn is_of_the_kernel(name: &[u8]) -> bool {
    name.starts_with(b"/proc/") || name.starts_with(b"/sys/")
}

/// The path of an open file, by the kernel. Nothing is allocated: this may be a signal handler.
fn open_path(descriptor: i32, buffer: &mut [u8]) -> Option<&[u8]> {
    const FOLDER: &[u8] = b"/proc/self/fd/";
    let mut link = [0; FOLDER.len() + DIGITS + 1];
    let mut digits = [0; DIGITS];
    let number = decimal(u32::try_from(descriptor).ok()?, &mut digits);
    link[..FOLDER.len()].copy_from_slice(FOLDER);
    link[FOLDER.len()..FOLDER.len() + number.len()].copy_from_slice(number);
    let link = CStr::from_bytes_until_nul(&link).ok()?;
    // SAFETY: a C string, and a buffer with its length.
    let length = unsafe { libc::readlink(link.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
    buffer.get(..usize::try_from(length).ok()?)
}

/// Digits of the largest descriptor.
const DIGITS: usize = 10;

fn decimal(mut number: u32, digits: &mut [u8; DIGITS]) -> &[u8] {
    let mut start = DIGITS;
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_descriptor_is_found() {
        let file = std::fs::File::open("/proc/self/maps").expect("a file");
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        let mut buffer = [0; LONGEST_NAME];
        let found = open_path(descriptor, &mut buffer).expect("a path");
        assert!(found.ends_with(b"/maps") && is_of_the_kernel(found));
        assert!(!is_of_the_kernel(b"/process/a"));
        for number in [0, 7, 10, 4_294_967_295] {
            assert_eq!(decimal(number, &mut [0; DIGITS]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn other_descriptors_are_distinguished() {
        let mut ends = [0; 2];
        // SAFETY: a place for two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        assert_eq!(file(ends[0]), None);
        assert_eq!(DESCRIPTORS[ends[0] as usize].load(Ordering::Relaxed), NO_FILE);
        forget(ends[0]);
        assert_eq!(DESCRIPTORS[ends[0] as usize].load(Ordering::Relaxed), UNKNOWN);
        assert_eq!(file(-1), None);
        assert_eq!(file(i32::MAX), None);
    }
}
