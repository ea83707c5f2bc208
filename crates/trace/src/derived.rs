//! What was worked out from a trace and is kept beside it, in `derived/`: the one place that writes there.
//!
//! ```text
//! magic | which file | its version | what it was made from | where checking begins | 10 numbers of its own | crc32
//! ... what is kept ...
//! ```
//!
//! A kept file is believed only if it is of this name and version, was made from exactly this trace, and is whole: its
//! head and all from where checking begins are under the checksum. Anything else is as if nothing had been kept.
//!
//! A trace may come from somebody else. So `derived/` is used only if it is a folder and no link to one; files are written
//! under fresh names that nobody can have prepared, and get their own when they are complete; links are not followed.
//! If the folder cannot be used, all goes on without: files then lie where temporary files do, and are gone with the
//! process.

use crate::run::RUN_JSON;
use crate::schema::DERIVED_FOLDER;
use crate::{Trace, TraceError};
use kizami_columns::checksum_of;
use memmap2::Mmap;
use std::fs::{File, Permissions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Bytes before what is kept.
pub const HEAD_BYTES: usize = 8 * WORDS;
/// Numbers a file has for itself in its head, under the checksum.
pub type Numbers = [u64; 10];

const WORDS: usize = 16;
const MAGIC: u64 = u64::from_le_bytes(*b"kizcache");
/// Changes when something other than a kept file's own version says that all of them are out of date.
const VERSION: u32 = 1;
/// Behind the name of a kept trace: the file that says which it is.
const KEY_ENDING: &str = ".key";

/// The folder `derived/` of one trace.
#[derive(Clone, Debug)]
pub struct Derived {
    folder: PathBuf,
    made_from: u64,
}

impl Derived {
    /// That of a trace, made if it was not there; none if there can be no such folder.
    pub fn of(trace: &Trace) -> Option<Derived> {
        let folder = trace.path().join(DERIVED_FOLDER);
        // Whether it is there is seen next.
        let _ = std::fs::create_dir(&folder);
        let is_folder = std::fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir());
        is_folder.then(|| Derived { folder, made_from: fingerprint(trace) })
    }

    /// A file that was kept, if it can be believed.
    pub fn read(&self, name: &str, version: u32) -> Option<Kept> {
        let mut options = File::options();
        // A pipe of that name must not be waited for.
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(self.folder.join(name)).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let kept = Kept::of(&file)?;
        (kept.identity == self.identity(name, version)).then_some(kept)
    }

    /// Keeps a file with these numbers and these parts, one behind the other.
    pub fn write(&self, name: &str, version: u32, numbers: Numbers, parts: &[&[u8]]) -> io::Result<()> {
        let draft = self.draft(name, version)?;
        let mut at = 0;
        for part in parts {
            draft.write_at(at, part)?;
            at += part.len() as u64;
        }
        draft.complete(numbers, parts)
    }

    /// A trace that was made from this one and kept, if it is the one that was.
    pub fn trace(&self, name: &str, version: u32) -> Option<Trace> {
        let [checksum, ..] = self.read(&key_of(name), version)?.numbers;
        let path = self.folder.join(name);
        let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        let same = || checksum_of(&path.join(RUN_JSON)).is_ok_and(|found| u64::from(found) == checksum);
        // The list of files in `run.json` has their checksums.
        if is_folder && same() { Trace::open(&path).ok() } else { None }
    }

    /// Keeps a trace that was made in [`scratch_folder`] from this one: it is moved.
    pub fn keep_trace(&self, name: &str, version: u32, made: &Path) -> Result<Trace, TraceError> {
        let path = self.folder.join(name);
        let keep = || -> io::Result<()> {
            match std::fs::symlink_metadata(&path) {
                Ok(old) if old.is_dir() => std::fs::remove_dir_all(&path)?,
                Ok(_) => std::fs::remove_file(&path)?,
                Err(_) => {}
            }
            // Whoever may look into the folder may look into what is kept there.
            std::fs::set_permissions(made, std::fs::metadata(&self.folder)?.permissions())?;
            std::fs::rename(made, &path)
        };
        let mut numbers = Numbers::default();
        numbers[0] = u64::from(checksum_of(&made.join(RUN_JSON))?);
        keep().map_err(TraceError::file("put in place", &path))?;
        // Without its key it will be made again.
        let _ = self.write(&key_of(name), version, numbers, &[]);
        Trace::open(&path)
    }

    /// Waits until nobody else makes anything here that takes long. The lock ends with the file, or with the process.
    pub fn lock(&self) -> Option<File> {
        let folder = File::open(&self.folder).ok()?;
        folder.lock().ok().map(|()| folder)
    }

    fn draft(&self, name: &str, version: u32) -> io::Result<Draft> {
        let file = fresh_file(&self.folder)?;
        let place = Some(self.folder.join(name));
        Ok(Draft { file, place, identity: self.identity(name, version) })
    }

    fn identity(&self, name: &str, version: u32) -> Identity {
        let name = crc32fast::hash(name.as_bytes());
        [MAGIC, u64::from(name), u64::from(VERSION) << 32 | u64::from(version), self.made_from]
    }
}

/// What tells kept files apart: magic, name, version and what they were made from.
type Identity = [u64; 4];

fn key_of(name: &str) -> String {
    format!("{name}{KEY_ENDING}")
}

/// Tells traces apart by all that `run.json` says, which includes the checksums of their tables.
fn fingerprint(trace: &Trace) -> u64 {
    let mut hash = rustc_hash::FxHasher::default();
    // What cannot be written as JSON was not read from it.
    serde_json::to_vec(trace.run()).unwrap_or_default().hash(&mut hash);
    kizami_model::function::fingerprint().hash(&mut hash);
    hash.finish()
}

/// A folder for what does not fit into memory: `derived/` if it can be written to.
pub fn scratch_folder(trace: &Trace) -> PathBuf {
    let derived = Derived::of(trace).map(|derived| derived.folder);
    let usable = |folder: &PathBuf| tempfile::tempfile_in(folder).is_ok();
    derived.filter(usable).unwrap_or_else(std::env::temp_dir)
}

/// A file of a name that nobody could know, for all to read once it has its own.
fn fresh_file(folder: &Path) -> io::Result<NamedTempFile> {
    let permissions = Permissions::from_mode(0o666);
    tempfile::Builder::new().suffix(".tmp").permissions(permissions).tempfile_in(folder)
}

/// A file that is being written; several threads may. Without [`Draft::finish`] nothing is left of it.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    /// Where it belongs, if it is kept.
    place: Option<PathBuf>,
    identity: Identity,
}

impl Draft {
    /// One that is kept under this name, if it can be.
    pub fn kept(trace: &Trace, name: &str, version: u32) -> io::Result<Draft> {
        let draft = Derived::of(trace).and_then(|derived| derived.draft(name, version).ok());
        draft.map_or_else(|| Draft::fleeting(trace), Ok)
    }

    /// One that is gone with the process.
    pub fn fleeting(trace: &Trace) -> io::Result<Draft> {
        let file = fresh_file(&scratch_folder(trace))?;
        Ok(Draft { file, place: None, identity: [MAGIC, 0, 0, 0] })
    }

    /// Where it lies until it is finished, for messages.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes bytes; `at` counts from behind the head.
    pub fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.as_file().write_all_at(bytes, HEAD_BYTES as u64 + at)
    }

    /// What was written so far, from behind the head. What is written from now on must lie behind it.
    pub fn map(&self) -> io::Result<Mmap> {
        // SAFETY: nobody else knows the name of the file, and its writers leave what is mapped alone.
        unsafe { memmap2::MmapOptions::new().offset(HEAD_BYTES as u64).map(self.file.as_file()) }
    }

    /// Maps the complete file, and gives it its name if it has one. All from `checked_from` on, counted from behind the
    /// head, is checked whenever it is read.
    pub fn finish(self, numbers: Numbers, checked_from: u64) -> io::Result<Kept> {
        let mut words = self.words(numbers, checked_from);
        let file = self.file.as_file();
        file.write_all_at(&bytes_of(words), 0)?;
        // SAFETY: the file is never changed once its checksum, which is in front of what is summed up, is written.
        let map = unsafe { Mmap::map(file) }?;
        let wrong = || io::Error::other("it is not as it was written");
        words[15] = checksum(&map, words).ok_or_else(wrong)?;
        file.write_all_at(&bytes_of(words), 0)?;
        let kept = Kept { map, numbers, identity: self.identity };
        if let Some(place) = self.place {
            // It can be used all the same if that fails.
            let _ = self.file.persist(place);
        }
        Ok(kept)
    }
}

impl Draft {
    /// Gives the file its name; it consists of these parts, which are summed up where they are.
    fn complete(self, numbers: Numbers, parts: &[&[u8]]) -> io::Result<()> {
        let mut words = self.words(numbers, 0);
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&bytes_of(words)[..HEAD_BYTES - 8]);
        parts.iter().for_each(|part| checksum.update(part));
        words[15] = u64::from(checksum.finalize());
        self.file.as_file().write_all_at(&bytes_of(words), 0)?;
        if let Some(place) = self.place {
            self.file.persist(place)?;
        }
        Ok(())
    }

    fn words(&self, numbers: Numbers, checked_from: u64) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[..4].copy_from_slice(&self.identity);
        words[4] = checked_from;
        words[5..15].copy_from_slice(&numbers);
        words
    }
}

/// A file that was kept: mapped, and checked as far as it is.
#[derive(Debug)]
pub struct Kept {
    /// All of it, with its head.
    pub map: Mmap,
    /// Those it was finished with.
    pub numbers: Numbers,
    identity: Identity,
}

impl Kept {
    fn of(file: &File) -> Option<Kept> {
        // SAFETY: files get their names when they are complete and are never changed, only replaced by others.
        let map = unsafe { Mmap::map(file) }.ok()?;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let mut words = [0; WORDS];
        let head = map.get(..HEAD_BYTES)?.chunks_exact(8).map(word);
        words.iter_mut().zip(head).for_each(|(place, word)| *place = word);
        if checksum(&map, words)? != words[15] {
            return None;
        }
        let identity = words[..4].try_into().ok()?;
        Some(Kept { map, numbers: words[5..15].try_into().ok()?, identity })
    }

    /// What is behind the head.
    pub fn content(&self) -> &[u8] {
        self.map.get(HEAD_BYTES..).unwrap_or_default()
    }
}

fn bytes_of(words: [u64; WORDS]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Of the head without its checksum, and of all from where checking begins; none if that is not there.
fn checksum(map: &[u8], words: [u64; WORDS]) -> Option<u64> {
    let checked_from = usize::try_from(words[4]).ok()?.checked_add(HEAD_BYTES)?;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes_of(words)[..HEAD_BYTES - 8]);
    checksum.update(map.get(checked_from..)?);
    Some(u64::from(checksum.finalize()))
}
