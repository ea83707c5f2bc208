//! Memory that is reserved at once and used as it is touched: parts of one size, one for each rank.

use std::ptr;

/// Reserved memory, given back when it is dropped.
pub(crate) struct Reserved {
    base: *mut u8,
    each: usize,
    count: usize,
}

impl Reserved {
    /// So many parts of so many bytes.
    pub(crate) fn new(count: usize, each: usize) -> std::io::Result<Reserved> {
        // SAFETY: a new mapping, which touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                each * count,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Reserved { base: base.cast(), each, count })
    }

    /// Where one of them begins, and where it ends.
    pub(crate) fn part(&self, index: usize) -> (usize, usize) {
        assert!(index < self.count, "a part for each rank");
        let begin = self.base as usize + index * self.each;
        (begin, begin + self.each)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: what `new` mapped; its ranks have ended.
        unsafe { libc::munmap(self.base.cast(), self.each * self.count) };
    }
}
