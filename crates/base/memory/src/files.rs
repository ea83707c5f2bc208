//! Files without a name in one folder, mapped into memory.
//!
//! Called by the allocator, so nothing here may allocate but [`keep_in`].

use std::ffi::CString;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

/// What the kernel says of a file system that has nothing but memory, and is in no header of the C library.
const RAMFS_MAGIC: u32 = 0x8584_58f6;
/// Written where space cannot be reserved in another way.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Descriptor of the folder they are made in.
static FOLDER: AtomicI32 = AtomicI32::new(-1);

/// Files are made in this folder from now on, if they can be and none was named before.
pub(crate) fn keep_in(folder: &Path) -> io::Result<()> {
    if FOLDER.load(Ordering::Acquire) >= 0 {
        return Ok(());
    }
    let name = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: the name ends with a zero, and the descriptor is ours alone.
    let folder = unsafe {
        let file = libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(file)
    };
    if is_in_memory(&folder) {
        return Err(io::Error::other("it lies in memory itself"));
    }
    let (page, number) = (page_bytes(), folder.as_raw_fd());
    let Some((file, at)) = nameless_file(number).and_then(|file| map_new(file, page)) else {
        return Err(io::Error::last_os_error());
    };
    unmap(at, page, file);
    if FOLDER.compare_exchange(-1, number, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        // It stays open as long as the process runs.
        let _ = folder.into_raw_fd();
    }
    Ok(())
}

/// A new file of zeros, and where it is in memory.
pub(crate) fn mapped(bytes: usize) -> Option<(i32, usize)> {
    let folder = FOLDER.load(Ordering::Acquire);
    if folder < 0 {
        return None;
    }
    nameless_file(folder).and_then(|file| map_new(file, bytes))
}

fn map_new(file: i32, bytes: usize) -> Option<(i32, usize)> {
    let at = if enlarge(file, 0, bytes) { map(file, bytes) } else { None };
    if at.is_none() {
        close(file);
    }
    at.map(|at| (file, at))
}

/// Whether what is written to files of this folder stays in memory.
fn is_in_memory(folder: &OwnedFd) -> bool {
    // SAFETY: all of it is numbers.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the room is as large as it must be.
    let known = unsafe { libc::fstatfs(folder.as_raw_fd(), &mut status) } == 0;
    known && [libc::TMPFS_MAGIC as u32, RAMFS_MAGIC].contains(&(status.f_type as u32))
}

pub(crate) fn page_bytes() -> usize {
    static BYTES: AtomicUsize = AtomicUsize::new(0);
    let known = BYTES.load(Ordering::Relaxed);
    if known > 0 {
        return known;
    }
    // SAFETY: it only asks.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as usize;
    BYTES.store(bytes, Ordering::Relaxed);
    bytes
}

pub(crate) fn whole_pages(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(page_bytes()).filter(|bytes| *bytes <= isize::MAX as usize)
}

/// A file without a name, unreachable for others, that is gone when its descriptor and its mapping are.
fn nameless_file(folder: i32) -> Option<i32> {
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the descriptor of the folder is open, and the name ends with a zero.
    let file = unsafe { libc::openat(folder, c".".as_ptr(), flags, 0o600) };
    if file >= 0 { Some(file) } else { unlinked_file(folder) }
}

/// The same where files cannot be made without a name: it is taken away at once.
fn unlinked_file(folder: i32) -> Option<i32> {
    let mut name = [0u8; 64];
    write!(&mut name[..63], "/proc/self/fd/{folder}/kizami-XXXXXX").ok()?;
    // SAFETY: the name ends with a zero, and the room for it is ours; the descriptor is, too.
    let file = unsafe {
        let file = libc::mkostemp(name.as_mut_ptr().cast(), libc::O_CLOEXEC);
        if file >= 0 {
            libc::unlink(name.as_ptr().cast());
        }
        file
    };
    (file >= 0).then_some(file)
}

fn map(file: i32, bytes: usize) -> Option<usize> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: the kernel chooses the address; no other process can reach the file.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, file, 0) };
    if at == libc::MAP_FAILED {
        return None;
    }
    // Who looks at one step of each of many ranks in turn must not be given what lies around each: that is more than memory
    // holds. And a child would share what is written, which memory never is.
    for advice in [libc::MADV_RANDOM, libc::MADV_DONTFORK] {
        // SAFETY: the mapping is ours.
        unsafe { libc::madvise(at, bytes, advice) };
    }
    Some(at as usize)
}

/// Makes a mapping longer or shorter, which may move it.
pub(crate) fn remap(at: usize, old: usize, new: usize) -> Option<usize> {
    // SAFETY: the mapping is ours and as long; the owner of each piece of it has given it to us for this.
    let moved = unsafe { libc::mremap(at as *mut libc::c_void, old, new, libc::MREMAP_MAYMOVE) };
    (moved != libc::MAP_FAILED).then_some(moved as usize)
}

/// Takes the file and its mapping away.
pub(crate) fn unmap(at: usize, bytes: usize, file: i32) {
    // SAFETY: the mapping is ours, and no piece of it is in use any more.
    unsafe { libc::munmap(at as *mut libc::c_void, bytes) };
    close(file);
}

/// Makes room on the disk: storing into a hole of a mapped file on a full disk would end the process, and so would asking for
/// more than a file may have.
pub(crate) fn enlarge(file: i32, old: usize, new: usize) -> bool {
    if new as u64 > limit_of(libc::RLIMIT_FSIZE) {
        return false;
    }
    let (from, more) = (old as libc::off_t, (new - old) as libc::off_t);
    loop {
        // SAFETY: the descriptor is ours.
        if unsafe { libc::fallocate(file, 0, from, more) } == 0 {
            return true;
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return write_zeros(file, old, new),
            _ => return false,
        }
    }
}

fn write_zeros(file: i32, old: usize, new: usize) -> bool {
    let mut at = old;
    while at < new {
        let count = ZEROS.len().min(new - at);
        // SAFETY: the descriptor is ours, and there are as many zeros.
        let written = unsafe { libc::pwrite(file, ZEROS.as_ptr().cast(), count, at as libc::off_t) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => at += written,
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            _ => return false,
        }
    }
    true
}

pub(crate) fn shorten(file: i32, bytes: usize) {
    // SAFETY: the descriptor is ours. If it fails, the file is longer than it need be.
    unsafe { libc::ftruncate(file, bytes as libc::off_t) };
}

/// How many descriptors this process may have.
pub(crate) fn most_descriptors() -> usize {
    usize::try_from(limit_of(libc::RLIMIT_NOFILE)).unwrap_or(usize::MAX)
}

fn limit_of(what: libc::__rlimit_resource_t) -> u64 {
    let mut most = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it only asks, and the room is ours.
    let known = unsafe { libc::getrlimit(what, &mut most) } == 0;
    if known { most.rlim_cur } else { 0 }
}

fn close(file: i32) {
    // SAFETY: the descriptor is ours, and not used afterwards.
    unsafe { libc::close(file) };
}
