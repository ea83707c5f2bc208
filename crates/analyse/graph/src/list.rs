//! A long list: in memory, or in a part of a file that was written before, which cannot be changed.

use bytemuck::Pod;
use memmap2::Mmap;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A list of plain values.
#[derive(Debug)]
pub enum List<T> {
    /// One that was made just now.
    Made(Vec<T>),
    /// All of a list that was written before.
    Written(Written),
}

/// A part of a file that was written before.
#[derive(Debug)]
pub struct Written {
    map: Arc<Mmap>,
    bytes: Range<usize>,
}

impl<T: Pod> List<T> {
    /// The list that begins at a byte of a mapped file; nothing if it does not fit there.
    pub(crate) fn mapped(map: Arc<Mmap>, at: usize, len: usize) -> Option<List<T>> {
        let bytes = at..at.checked_add(len.checked_mul(size_of::<T>())?)?;
        bytemuck::try_cast_slice::<u8, T>(map.get(bytes.clone())?).ok()?;
        Some(List::Written(Written { map, bytes }))
    }
}

impl<T: Pod> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            List::Made(values) => values,
            List::Written(written) => bytemuck::cast_slice(&written.map[written.bytes.clone()]),
        }
    }
}
