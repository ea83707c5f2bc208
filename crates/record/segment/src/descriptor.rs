//! The descriptor of a segment's file, in a process whose descriptors are not ours to keep.
//!
//! A program may close every descriptor it does not know (`closefrom`) and then open files of its own under the same
//! numbers. So before a descriptor is used it is asked whether it still leads to our file; if not, the file is opened
//! again by its path. What cannot be opened again is an error, and nothing is written anywhere.
//!
//! What this does not do: between the question and its answer's use another thread may still close the descriptor. That
//! takes a program that closes descriptors of others in one thread while another calls MPI, within a microsecond.

use crate::file::errno;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI32, Ordering};

/// No descriptor is kept: there is none far enough out of the way.
const NONE: i32 = -1;

/// The identity of a file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: libc::dev_t,
    inode: libc::ino_t,
}

impl Identity {
    fn of(descriptor: i32) -> Result<Identity, i32> {
        // SAFETY: all zeros is a valid value; fstat fills it in.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: any number may be asked for; a valid place for the answer.
        if unsafe { libc::fstat(descriptor, &mut status) } != 0 {
            return Err(errno());
        }
        Ok(Identity { device: status.st_dev, inode: status.st_ino })
    }
}

/// A way to a file that was made by this process.
pub(crate) struct Descriptor {
    number: AtomicI32,
    identity: Identity,
    path: CString,
}

impl Descriptor {
    /// Keeps the way to a file that was just made. The error is an `errno`.
    pub(crate) fn keep(path: &CStr, opened: i32) -> Result<Descriptor, i32> {
        let identity = Identity::of(opened)?;
        let number = out_of_the_way(opened).unwrap_or_else(|| {
            close(opened);
            NONE
        });
        Ok(Descriptor { number: AtomicI32::new(number), identity, path: path.to_owned() })
    }

    /// Lets `act` have the file's descriptor. By one thread at a time. The error is an `errno`.
    pub(crate) fn with<T>(&self, act: impl FnOnce(i32) -> Result<T, i32>) -> Result<T, i32> {
        let kept = self.number.load(Ordering::Relaxed);
        if kept != NONE && Identity::of(kept) == Ok(self.identity) {
            return act(kept);
        }
        let opened = open(&self.path, 0)?;
        if Identity::of(opened) != Ok(self.identity) {
            close(opened);
            return Err(libc::ESTALE);
        }
        // The descriptor is used for another file by now, and is left alone.
        match out_of_the_way(opened) {
            Some(moved) => {
                self.number.store(moved, Ordering::Relaxed);
                act(moved)
            }
            None => {
                self.number.store(NONE, Ordering::Relaxed);
                let result = act(opened);
                close(opened);
                result
            }
        }
    }
}

/// Creates a file that must not exist and lets `set_up` have its descriptor, which is the caller's to close. If that fails,
/// no file is left. The error is an `errno`.
pub(crate) fn make<T>(path: &CStr, set_up: impl FnOnce(i32) -> Result<T, i32>) -> Result<(i32, T), i32> {
    let opened = open(path, libc::O_CREAT | libc::O_EXCL)?;
    let value = set_up(opened).inspect_err(|_| {
        close(opened);
        // SAFETY: a plain system call with a valid C string.
        unsafe { libc::unlink(path.as_ptr()) };
    })?;
    Ok((opened, value))
}

fn open(path: &CStr, flags: i32) -> Result<i32, i32> {
    /// Threads that begin together need a descriptor for a moment each, and there may be fewer than threads. On a busy disk a
    /// moment is milliseconds, so this waits for up to a tenth of a second.
    const TRIES: u32 = 500;
    const MOMENT: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 200_000 };
    let flags = flags | libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    for _ in 0..TRIES {
        // SAFETY: a plain system call with a valid C string.
        let opened = unsafe { libc::open(path.as_ptr(), flags, 0o644) };
        if opened >= 0 {
            return Ok(opened);
        }
        if errno() != libc::EMFILE {
            return Err(errno());
        }
        // SAFETY: a plain system call with a valid length of time.
        unsafe { libc::nanosleep(&MOMENT, std::ptr::null_mut()) };
    }
    Err(libc::EMFILE)
}

/// Closes a descriptor that was just opened.
pub(crate) fn close(descriptor: i32) {
    // SAFETY: a plain system call.
    unsafe { libc::close(descriptor) };
}

/// Moves a descriptor up: a program that closed its standard input must not find our file in its place, and one
/// that may open only few files needs them all. `None` where it may not have such numbers.
pub fn out_of_the_way(descriptor: i32) -> Option<i32> {
    const LOWEST: libc::c_int = 64;
    // SAFETY: plain system calls on our own descriptor.
    unsafe {
        let moved = libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, LOWEST);
        if moved < 0 {
            return None;
        }
        libc::close(descriptor);
        Some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn name(path: &Path) -> CString {
        CString::new(path.as_os_str().as_bytes()).expect("a path without zeros")
    }

    /// A file of the tracer's and its descriptor.
    fn kept(path: &Path) -> Descriptor {
        let (opened, ()) = make(&name(path), |_| Ok(())).expect("a new file");
        Descriptor::keep(&name(path), opened).expect("a file that was just made")
    }

    fn write(descriptor: &Descriptor, text: &str) -> Result<(), i32> {
        descriptor.with(|number| {
            // SAFETY: a plain system call with a valid text.
            let written = unsafe { libc::pwrite(number, text.as_ptr().cast(), text.len(), 0) };
            if written == text.len() as isize { Ok(()) } else { Err(errno()) }
        })
    }

    #[test]
    fn a_number_that_leads_elsewhere_is_not_used() {
        let directory = tempfile::tempdir().expect("a directory");
        let (ours, theirs) = (directory.path().join("ours"), directory.path().join("theirs"));
        let descriptor = kept(&ours);
        assert_eq!(write(&descriptor, "first"), Ok(()));
        let other = std::fs::File::create(&theirs).expect("a file");
        let number = descriptor.number.load(Ordering::Relaxed);
        // SAFETY: what a program may do to any descriptor.
        unsafe { libc::dup2(other.as_raw_fd(), number) };
        assert_eq!(write(&descriptor, "again"), Ok(()));
        assert_eq!(std::fs::read_to_string(&ours).expect("ours"), "again");
        assert_eq!(std::fs::read_to_string(&theirs).expect("theirs"), "");
        assert_ne!(descriptor.number.load(Ordering::Relaxed), number);
        close(number);
    }

    #[test]
    fn a_file_that_took_its_name_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("ours");
        let descriptor = kept(&path);
        close(descriptor.number.load(Ordering::Relaxed));
        std::fs::rename(&path, directory.path().join("gone")).expect("renamed");
        assert_eq!(write(&descriptor, "lost"), Err(libc::ENOENT));
        std::fs::write(&path, "theirs").expect("a file of the same name");
        assert_eq!(write(&descriptor, "lost"), Err(libc::ESTALE));
        assert_eq!(std::fs::read_to_string(&path).expect("theirs"), "theirs");
    }

    #[test]
    fn where_nothing_is_kept_the_file_is_opened_for_each_use() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("ours");
        let descriptor = kept(&path);
        close(descriptor.number.swap(NONE, Ordering::Relaxed));
        assert_eq!(write(&descriptor, "text"), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).expect("ours"), "text");
    }
}
