//! How much memory may be taken where a process may have only so much (`ulimit -v`, a batch system).
//!
//! A program that finds none left may go on, but libraries below it do not: some end the process, some hang. What a
//! thread needs is a small part of what is left, and as many as there are threads never take all.

use std::ffi::CStr;

/// The part of what is left that a mapping may take.
const PART: u64 = 8;

/// Whether to take so many bytes leaves enough to the program. Where that is unknown, it does.
pub fn leaves_enough(bytes: usize) -> bool {
    left_bytes().is_none_or(|left| (bytes as u64).saturating_mul(PART) <= left)
}

/// Bytes that this process may still map; nothing if there is no limit, or it is unknown. Allocates nothing.
pub fn left_bytes() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    if limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    Some(limit.rlim_cur.saturating_sub(mapped_bytes()?))
}

/// Bytes of all that this process has mapped. Allocates nothing.
fn mapped_bytes() -> Option<u64> {
    let mut text = [0; 64];
    // SAFETY: plain system calls, with a path that ends with a zero and a buffer of that size.
    let length = unsafe {
        let path: &CStr = c"/proc/self/statm";
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        length
    };
    let text = str::from_utf8(text.get(..usize::try_from(length).ok()?)?).ok()?;
    let pages: u64 = text.split(' ').next()?.parse().ok()?;
    // SAFETY: a plain question.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(u64::try_from(page).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_grows_with_what_is_taken() {
        const BYTES: u64 = 64 << 20;
        let before = mapped_bytes().expect("/proc is there");
        // SAFETY: a new mapping that is not in use.
        let taken = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BYTES as usize,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(taken, libc::MAP_FAILED);
        assert!(mapped_bytes().expect("/proc is there") >= before + BYTES);
        assert!(leaves_enough(1 << 20), "tests run without a limit");
    }
}
