//! A header that is the name of an empty file.
//!
//! A disk may have no room for the one page of a header, and still take a name into a directory. There a process counts
//! what it loses in its own memory, and says how much by renaming the file: `HOST.PID.NUMBERS.lost`. A kill leaves the
//! number that was said last, and a process that never said how it ended.

use crate::descriptor::{close, make};
use crate::file::errno;
use crate::header::{DEFINITIONS_THREAD, store_text};
use crate::{HEADER_BYTES, Header, MAGIC, WindowShape};
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// What such names end with.
pub const EXTENSION: &str = "lost";
/// Between the numbers. Behind them stands the boot id, which has no such character.
const SEPARATOR: char = '_';

macro_rules! numbers {
    ($($($field:ident).+ : $type:ty),+ $(,)?) => {
        /// The fields in the name, in their order.
        fn numbers(header: &Header) -> Vec<u64> {
            vec![$(header.$($field).+.load(Relaxed) as u64),+]
        }

        /// Stores them again; nothing if there are not as many.
        fn store(header: &Header, mut numbers: impl Iterator<Item = u64>) -> Option<()> {
            $(header.$($field).+.store(numbers.next()? as $type, Relaxed);)+
            numbers.next().is_none().then_some(())
        }
    };
}

numbers! {
    table: u64, pid: u32, rank: u32, world_size: u32, world_key: u64, launch: u64, abi: u32,
    ending: u8, abort_code: i32, lost_calls: u64, lost_errno: u32, clock_is_tsc: u8,
    first_reading.ticks: u64, first_reading.monotonic_ns: u64,
    last_reading.ticks: u64, last_reading.monotonic_ns: u64, realtime_ns: u64,
}

/// The file whose name holds the fields of a header.
#[derive(Debug)]
pub struct NamedHeader {
    /// The path without ending.
    stem: CString,
    path: Mutex<CString>,
}

impl NamedHeader {
    /// Creates the file, `path` with the numbers put before its ending. The error is an `errno`.
    pub fn create(path: &CStr, header: &Header) -> Result<NamedHeader, i32> {
        let stem = path.to_bytes().strip_suffix(EXTENSION.as_bytes()).ok_or(libc::EINVAL)?;
        let stem = CString::new(stem).map_err(|_| libc::EINVAL)?;
        let path = path_of(&stem, header);
        let (opened, ()) = make(&path, |_| Ok(()))?;
        close(opened);
        Ok(NamedHeader { stem, path: Mutex::new(path) })
    }

    /// Renames the file to what the header says now. The error is an `errno`; the old name stays then.
    pub fn update(&self, header: &Header) -> Result<(), i32> {
        let mut path = self.path.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let now = path_of(&self.stem, header);
        // SAFETY: a plain system call with valid C strings.
        if now != *path && unsafe { libc::rename(path.as_ptr(), now.as_ptr()) } != 0 {
            return Err(errno());
        }
        *path = now;
        Ok(())
    }
}

fn path_of(stem: &CStr, header: &Header) -> CString {
    let numbers = numbers(header).into_iter().map(|number| format!("{number:x}{SEPARATOR}"));
    let boot_id = header.boot_id.iter().map(|byte| byte.load(Relaxed)).take_while(|byte| *byte != 0);
    let mut path = stem.to_bytes().to_vec();
    path.extend(numbers.collect::<String>().into_bytes());
    path.extend(boot_id);
    path.extend(format!(".{EXTENSION}").into_bytes());
    CString::new(path).unwrap_or_default()
}

/// The page of the header that a file's name is, if it is one.
pub fn page(name: &str) -> Option<Vec<u8>> {
    let (process, numbers) = name.strip_suffix(EXTENSION)?.strip_suffix('.')?.rsplit_once('.')?;
    let (host, _) = process.rsplit_once('.')?;
    let (numbers, boot_id) = numbers.rsplit_once(SEPARATOR)?;
    let numbers: Option<Vec<u64>> =
        numbers.split(SEPARATOR).map(|number| u64::from_str_radix(number, 16).ok()).collect();
    // SAFETY: a header is made of integers, for all of which zero is a value.
    let header: Header = unsafe { std::mem::zeroed() };
    store(&header, numbers?.into_iter())?;
    header.magic.store(MAGIC, Relaxed);
    header.thread.store(DEFINITIONS_THREAD, Relaxed);
    header.base_ticks.store(header.first_reading.ticks.load(Relaxed), Relaxed);
    // As in a file with no room for a window: one that lies behind its end.
    header.chunk_bytes.store(WindowShape::NONE.chunk_bytes as u32, Relaxed);
    header.window_chunks.store(1, Relaxed);
    store_text(&header.host, host);
    store_text(&header.boot_id, boot_id);
    let mut page = vec![0; HEADER_BYTES];
    // SAFETY: a header fits into its page, and is made of integers, all of whose bytes may be read here.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const header).cast::<u8>(),
            page.as_mut_ptr(),
            size_of::<Header>(),
        );
    }
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeaderView;
    use kizami_model::Ending;
    use std::os::unix::ffi::OsStrExt;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
    }

    #[test]
    fn what_a_header_says_is_read_from_its_name() {
        let folder = tempfile::tempdir().expect("a directory");
        // SAFETY: as in `page`.
        let header: Header = unsafe { std::mem::zeroed() };
        let most = [u64::MAX; 17];
        store(&header, most.into_iter()).expect("as many numbers");
        header.table.store(kizami_model::function::fingerprint(), Relaxed);
        header.rank.store(1, Relaxed);
        header.abort_code.store(-3, Relaxed);
        store_text(&header.boot_id, "a0b1-c2");
        let path = CString::new(folder.path().join("node-7.12.lost").as_os_str().as_bytes()).expect("a path");
        let named = NamedHeader::create(&path, &header).expect("an empty file");
        header.lost_calls.store(20_004, Relaxed);
        header.ending.store(Ending::Finalized as u8, Relaxed);
        named.update(&header).expect("another name");
        let [name] = &names(folder.path())[..] else { panic!("one file") };
        let view = HeaderView::read(&page(name).expect("a header")).expect("a header");
        assert_eq!((view.rank, view.thread, view.lost_calls), (Some(1), None, 20_004));
        assert_eq!((view.ending, view.abort_code, view.launch), (Ending::Finalized, -3, u64::MAX));
        assert_eq!((view.host.as_str(), view.boot_id.as_str()), ("node-7", "a0b1-c2"));
    }

    #[test]
    fn other_names_are_no_headers() {
        let names =
            ["", "lost", ".lost", "a.1.lost", "a.1.0_0_b.lost", "a.1.x_b.lost", "a.1.defs", "a.1.__.lost"];
        assert!(names.iter().all(|name| page(name).is_none()));
    }
}
