//! A long list that lies in memory until it outgrows a limit, and in a file without a name from then on; or in a part of
//! a file that was written before, which cannot be changed.
//!
//! The file is mapped, so that the kernel can take memory back whenever somebody else needs it, and nothing is left
//! behind however the process ends.

use crate::GraphError;
use bytemuck::Pod;
use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes by which the file grows, at least.
const GROWTH_BYTES: u64 = 64 << 20;

/// A list of plain values.
#[derive(Debug)]
pub struct List<T> {
    /// What is in memory; empty once the list has moved.
    near: Vec<T>,
    far: Option<Far>,
    /// All of a list that was written before.
    written: Option<Written>,
    /// Bytes it may have in memory.
    limit: usize,
    folder: PathBuf,
}

/// The part of a list that is in a file: all of it.
#[derive(Debug)]
struct Far {
    file: File,
    map: MmapMut,
    len: usize,
}

/// A part of a file that was written before.
#[derive(Debug)]
struct Written {
    map: Arc<Mmap>,
    bytes: Range<usize>,
}

impl<T: Pod> List<T> {
    /// The list that begins at a byte of a mapped file; nothing if it does not fit there.
    pub(crate) fn mapped(map: Arc<Mmap>, at: usize, len: usize) -> Option<List<T>> {
        let bytes = at..at.checked_add(len.checked_mul(size_of::<T>())?)?;
        bytemuck::try_cast_slice::<u8, T>(map.get(bytes.clone())?).ok()?;
        let (near, folder) = (Vec::new(), PathBuf::new());
        Some(List { near, far: None, written: Some(Written { map, bytes }), limit: 0, folder })
    }

    /// An empty list that keeps up to `limit` bytes in memory and the rest in `folder`.
    pub fn new(folder: &Path, limit: usize) -> List<T> {
        List { near: Vec::new(), far: None, written: None, limit, folder: folder.to_path_buf() }
    }

    /// A list of so many equal values.
    pub(crate) fn filled(folder: &Path, limit: usize, value: T, len: usize) -> Result<List<T>, GraphError> {
        let mut list = List::new(folder, limit);
        if len.saturating_mul(size_of::<T>()) <= limit {
            list.near = vec![value; len];
        } else {
            (0..len).try_for_each(|_| list.push(value))?;
        }
        Ok(list)
    }

    /// Forgets what is behind the first so many.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.near.truncate(len);
        self.near.shrink_to_fit();
        if let Some(far) = &mut self.far {
            far.len = far.len.min(len);
        }
    }

    /// Adds a value; not to a list that was written before.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), GraphError> {
        if self.far.is_none() && (self.near.len() + 1) * size_of::<T>() <= self.limit {
            self.near.push(value);
            return Ok(());
        }
        self.push_far(value)
    }

    /// The value at an index there is, to be changed.
    #[inline]
    pub fn at_mut(&mut self, index: usize) -> &mut T {
        match &mut self.far {
            None => &mut self.near[index],
            Some(far) => &mut bytemuck::cast_slice_mut(&mut far.map[..far.len * size_of::<T>()])[index],
        }
    }

    /// The values, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match &mut self.far {
            None => &mut self.near,
            Some(far) => bytemuck::cast_slice_mut(&mut far.map[..far.len * size_of::<T>()]),
        }
    }

    #[cold]
    fn push_far(&mut self, value: T) -> Result<(), GraphError> {
        let failed = scratch(&self.folder);
        if self.far.is_none() {
            let file = tempfile::tempfile_in(&self.folder);
            let file = file.map_err(scratch(&self.folder))?;
            let bytes: &[u8] = bytemuck::cast_slice(&self.near);
            file.write_all_at(bytes, 0).map_err(failed)?;
            let map = enlarge(&file, bytes.len() as u64, GROWTH_BYTES).map_err(failed)?;
            self.far = Some(Far { file, map, len: self.near.len() });
            self.near = Vec::new();
        }
        let Some(far) = &mut self.far else { return Ok(()) };
        let at = far.len * size_of::<T>();
        if at + size_of::<T>() > far.map.len() {
            let old = far.map.len() as u64;
            far.map = enlarge(&far.file, old, (old / 2).max(GROWTH_BYTES)).map_err(failed)?;
        }
        far.map[at..at + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        far.len += 1;
        Ok(())
    }
}

impl<T: Pod> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match (&self.far, &self.written) {
            (Some(far), _) => bytemuck::cast_slice(&far.map[..far.len * size_of::<T>()]),
            (None, Some(written)) => bytemuck::cast_slice(&written.map[written.bytes.clone()]),
            (None, None) => &self.near,
        }
    }
}

/// For `map_err` after an operation on a file in this folder.
fn scratch(folder: &Path) -> impl Fn(std::io::Error) -> GraphError + Copy {
    move |source| GraphError::Scratch { folder: folder.to_path_buf(), source }
}

/// Makes the file longer by writing zeros: storing into a hole of a mapped file on a full disk would end the
/// process.
fn enlarge(file: &File, old_bytes: u64, more_bytes: u64) -> std::io::Result<MmapMut> {
    let zeros = vec![0; 1 << 20];
    let mut at = old_bytes;
    while at < old_bytes + more_bytes {
        let count = (old_bytes + more_bytes - at).min(zeros.len() as u64);
        file.write_all_at(&zeros[..count as usize], at)?;
        at += count;
    }
    // SAFETY: the file has no name, so nobody else can reach it.
    unsafe { MmapMut::map_mut(file) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_outgrows_memory_goes_on_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut list: List<u64> = List::new(folder.path(), 1 << 16);
        for value in 0..10_000_000 {
            list.push(value).unwrap();
        }
        *list.at_mut(5) = 11;
        assert_eq!((list.len(), list[4], list[5], list[9_999_999]), (10_000_000, 4, 11, 9_999_999));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_take_a_list_is_named_with_what_to_do() {
        let mut list: List<u64> = List::new(Path::new("/nowhere/at/all"), 0);
        let error = list.push(1).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("run the same command again"), "{error}");
    }
}
