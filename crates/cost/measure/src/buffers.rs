//! Buffers that are kept from one measurement to the next.
//!
//! Their pages are there before anything is measured, and they begin at a page's start, as large arrays of a program
//! nearly do.

const PAGE_BYTES: usize = 4096;

/// What a rank gives, and where it gets to.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    give: Vec<u8>,
    get: Vec<u8>,
}

impl Buffers {
    /// Both, in the sizes asked for.
    pub(crate) fn take(&mut self, give_bytes: usize, get_bytes: usize) -> (&mut [u8], &mut [u8]) {
        (slice(&mut self.give, give_bytes), slice(&mut self.get, get_bytes))
    }
}

fn slice(buffer: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if buffer.len() < bytes + PAGE_BYTES {
        // Bytes other than zero, so that the pages are there. As numbers they are tiny, and sums of them are, too.
        *buffer = vec![1; bytes + PAGE_BYTES];
    }
    let start = buffer.as_ptr().align_offset(PAGE_BYTES).min(PAGE_BYTES);
    &mut buffer[start..start + bytes]
}
