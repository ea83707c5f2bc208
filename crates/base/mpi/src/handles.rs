//! Handles as they stand in memory.
//!
//! Handles are pointers in some libraries and 32-bit integers in others. As an argument both travel as a word, since
//! a callee that expects an `int` takes the lower half (in a register, and on the stack of Linux on x86-64 and
//! AArch64, where each argument has eight bytes). In arrays they stand side by side in their own size; that is what
//! this is for.

/// A handle as an argument.
pub(crate) type Handle = usize;

/// An array of handles.
#[derive(Debug)]
pub(crate) struct HandleArray {
    words: Vec<u64>,
    handle_bytes: usize,
    len: usize,
}

impl HandleArray {
    /// `len` handles, all alike.
    pub(crate) fn filled(len: usize, handle: Handle, handle_bytes: usize) -> HandleArray {
        // Never empty: see the trap in `collective.rs`.
        let mut array = HandleArray { words: vec![0; len.max(1)], handle_bytes, len };
        for index in 0..len {
            array.set(index, handle);
        }
        array
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn set(&mut self, index: usize, handle: Handle) {
        if self.handle_bytes == 8 {
            self.words[index] = handle as u64;
        } else {
            let shift = 32 * (index % 2);
            let word = &mut self.words[index / 2];
            *word = (*word & !(0xffff_ffff << shift)) | ((handle as u32 as u64) << shift);
        }
    }

    /// Where the first handle stands, for MPI to read.
    pub(crate) fn as_ptr(&self) -> *const Handle {
        self.words.as_ptr().cast()
    }

    /// Where the `index`th handle stands, for MPI to write.
    pub(crate) fn place(&mut self, index: usize) -> *mut Handle {
        assert!(index < self.len.max(1), "there are only {} requests", self.len);
        self.words.as_mut_ptr().cast::<u8>().wrapping_add(index * self.handle_bytes).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::HandleArray;

    #[test]
    fn small_handles_stand_side_by_side() {
        let mut array = HandleArray::filled(3, 0x4c00_010d, 4);
        let step = array.place(2) as usize - array.place(0) as usize;
        assert_eq!(step, 8);
        assert_eq!(array.words[0], 0x4c00_010d_4c00_010d);
        assert_eq!(array.words[1], 0x4c00_010d);
    }

    #[test]
    fn pointers_take_a_word_each() {
        let mut array = HandleArray::filled(2, usize::MAX - 1, 8);
        assert_eq!(array.place(1) as usize - array.place(0) as usize, 8);
        assert_eq!(array.words, [u64::MAX - 1; 2]);
    }
}
