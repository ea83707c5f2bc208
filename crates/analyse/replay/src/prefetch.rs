//! Asking for memory before it is needed: what a walk needs next lies far from what it needs now.

/// Asks for the memory of some lines of a list from an index on, without waiting for it.
#[inline]
pub fn prefetch<T>(list: &[T], index: usize, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = list.as_ptr().wrapping_add(index).cast::<i8>().wrapping_add(line * LINE_BYTES);
        // SAFETY: asking for memory is allowed whatever the address is.
        unsafe { _mm_prefetch(address, _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (list, index, lines);
}

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 64;
