//! Which libraries an object file brings along, before it is loaded.
//!
//! Files are looked for where the loader looks: in the search paths of the file that needs them, of the environment and of
//! the system. It need not be exact: a file that is mistaken for one that needs MPI makes our names visible a little early,
//! and one that is overlooked is bound once it is loaded.

use crate::loader::{self, objects};
use std::collections::HashSet;
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the system has libraries.
const DIRECTORIES: [&str; 5] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/lib64", "/usr/lib64"];

/// Whether loading a file loads MPI: it, or a library that comes with it and is not there yet, needs it.
pub fn brings_mpi(file: &CStr) -> bool {
    let path = PathBuf::from(OsStr::from_bytes(file.to_bytes()));
    // MPI's own libraries are found by name.
    if loader::file_name(file).starts_with(b"libmpi") {
        return false;
    }
    let mut seen: HashSet<String> = loaded_names().collect();
    let mut pending = vec![path];
    while let Some(path) = pending.pop() {
        let Some(needs) = MappedFile::open(&path).and_then(|file| Needs::of(file.bytes())) else { continue };
        if needs.libraries.iter().any(|name| name.starts_with("libmpi")) {
            return true;
        }
        let directories = needs.directories(&path);
        let new = needs.libraries.iter().filter(|name| seen.insert((*name).clone()));
        pending.extend(new.filter_map(|name| find(name, &directories)));
    }
    false
}

/// Names of what is loaded: whatever it needs is loaded, too.
fn loaded_names() -> impl Iterator<Item = String> {
    let name = |path: &CStr| String::from_utf8_lossy(loader::file_name(path)).into_owned();
    objects::map(|object| name(object.path)).into_iter()
}

/// The file of a library.
fn find(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    let environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let of_environment = std::env::split_paths(&environment);
    let of_system = DIRECTORIES.iter().map(PathBuf::from);
    let all = directories.iter().cloned().chain(of_environment).chain(of_system);
    all.map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// A file mapped for a look: only the pages that are looked at are read.
struct MappedFile {
    base: *mut c_void,
    length: usize,
}

impl MappedFile {
    fn open(path: &std::path::Path) -> Option<MappedFile> {
        let file = std::fs::File::open(path).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok().filter(|length| *length > 0)?;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        // SAFETY: a private mapping of a file that was just opened.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, descriptor, 0)
        };
        (base != libc::MAP_FAILED).then_some(MappedFile { base, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: mapped in `open`, unmapped only by `drop`.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.length) }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

/// What an ELF file says that it needs.
#[derive(Default)]
struct Needs {
    libraries: Vec<String>,
    /// Directories to look for them in, as they stand in the file.
    paths: Vec<String>,
}

impl Needs {
    fn of(bytes: &[u8]) -> Option<Needs> {
        const PT_LOAD: u64 = 1;
        const PT_DYNAMIC: u64 = 2;
        const DT_NEEDED: u64 = 1;
        const DT_STRTAB: u64 = 5;
        const DT_RPATH: u64 = 15;
        const DT_RUNPATH: u64 = 29;
        let word = |at: u64, length: usize| {
            let at = usize::try_from(at).ok()?;
            let field = bytes.get(at..at.checked_add(length)?)?;
            Some(field.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte)))
        };
        if !bytes.starts_with(b"\x7fELF") {
            return None;
        }
        let (table, size, count) = (word(32, 8)?, word(54, 2)?, word(56, 2)?);
        let headers: Vec<[u64; 4]> = (0..count)
            .map(|index| {
                let at = table.checked_add(index * size)?;
                let behind = |bytes| at.checked_add(bytes);
                Some([word(at, 4)?, word(behind(8)?, 8)?, word(behind(16)?, 8)?, word(behind(32)?, 8)?])
            })
            .collect::<Option<_>>()?;
        let file_offset = |address: u64| {
            let load =
                headers.iter().find(|h| h[0] == PT_LOAD && h[2] <= address && address - h[2] < h[3])?;
            load[1].checked_add(address - load[2])
        };
        let dynamic = headers.iter().find(|header| header[0] == PT_DYNAMIC)?;
        let entry = |index: u64| {
            let at = dynamic[1].checked_add(index * 16)?;
            Some((word(at, 8)?, word(at.checked_add(8)?, 8)?))
        };
        let entries: Vec<(u64, u64)> = (0..dynamic[3] / 16).map_while(entry).collect();
        let strings = file_offset(entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?.1)?;
        let text = |offset: u64| {
            let start = usize::try_from(strings.checked_add(offset)?).ok()?;
            Some(CStr::from_bytes_until_nul(bytes.get(start..)?).ok()?.to_string_lossy().into_owned())
        };
        let texts = |wanted: &[u64]| {
            let of_tag = entries.iter().filter(|(tag, _)| wanted.contains(tag));
            of_tag.filter_map(|(_, value)| text(*value)).collect()
        };
        Some(Needs { libraries: texts(&[DT_NEEDED]), paths: texts(&[DT_RPATH, DT_RUNPATH]) })
    }

    /// The directories that a file at this path means.
    fn directories(&self, file: &Path) -> Vec<PathBuf> {
        let origin = file.parent().map_or_else(String::new, |folder| folder.display().to_string());
        let resolve = |path: &str| path.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
        self.paths
            .iter()
            .flat_map(|paths| paths.split(':'))
            .map(|path| PathBuf::from(resolve(path)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_the_libraries_it_needs() {
        let program = std::env::current_exe().expect("this test");
        let bytes = std::fs::read(program).expect("a file");
        let names = Needs::of(&bytes).expect("a program with a dynamic section").libraries;
        assert!(names.iter().any(|name| name.starts_with("libc.so")), "{names:?}");
    }

    #[test]
    fn bytes_that_are_cut_or_damaged_name_nothing_that_is_not_there() {
        let program = std::env::current_exe().expect("this test");
        let mut bytes = std::fs::read(program).expect("a file");
        for length in [0, 4, 63, 64, 500, 5000] {
            let _ = Needs::of(&bytes[..length]);
        }
        // The table of program headers lies beyond the end.
        bytes[32..40].fill(0xff);
        assert!(Needs::of(&bytes).is_none());
    }
}
